import type { BodyOf, contract, Parser } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, badRequest, forbidden, notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import { type BuiltInParser, builtIns } from '../../../parsers/built-in.ts'
import { inferPattern } from '../../../parsers/infer.ts'
import { compilePattern, type PatternType, typeOfPattern } from '../../../parsers/parsers.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, removeRecord } from '../../records.ts'
import { type DatasetRow, visibleDatasets } from '../datasets/datasets.ts'
import { visibleParsers } from './listing.ts'
import { recentLines } from './recent-lines.ts'
import { countParsers, deleteParser, insertParser, lockParser, type ParserRow, unassignParser, updateParserRow } from './rows.ts'

export { parserOf } from './assignment.ts'
export { deleteOldParserMinutes, type ParsedLines, ParserCounts } from './counts.ts'

export { messageIn, recentEvents } from './recent-lines.ts'
export type { ParserRow } from './rows.ts'

type NewParser = BodyOf<typeof contract.parsers.create>
type ParserChange = BodyOf<typeof contract.parsers.update>

/** Bounds the parsers of an organization, so that all can be tried on a line. */
const PARSERS_MAX = 500

export async function listParsers(world: MetaWorld, actor: Actor): Promise<{ parsers: Parser[] }> {
  const rows = await visibleParsers(world, actor)
  return { parsers: [...builtIns.map(shownBuiltIn), ...rows.map(shownParser)] }
}

/** Finds a parser that may be changed; built-in ones may not. */
export async function findParser(world: MetaWorld, actor: Actor, id: string): Promise<ParserRow> {
  if (builtIns.some((builtIn) => builtIn.id === id)) throw forbidden('a built-in parser cannot be changed or deleted')
  const row = (await visibleParsers(world, actor)).find((candidate) => candidate.id === id)
  if (!row) throw notFound('parser', id)
  return row
}

/** Creates a parser with the given pattern, or one inferred from recent lines of the log. */
export async function createParser(world: World, actor: Actor, request: NewParser, signal: AbortSignal): Promise<Parser> {
  const dataset = await namedDataset(world, actor, request.log_id)
  const inferred = request.pattern === undefined ? await inferFrom(world, actor, dataset, signal) : undefined
  const nowMs = world.clock.nowMs()
  const row: ParserRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    name: request.name ?? `${dataset.collection}/${dataset.dataset}`.slice(0, 100).toWellFormed(),
    ...(inferred ? { type: 'GROK', pattern: inferred.pattern } : checkedPattern(request.pattern ?? '', request.type)),
    log_id: dataset.id,
    enabled: false,
    description: request.description ?? null,
    log_lines: inferred?.log_lines ?? null,
    parsed_lines: inferred?.parsed_lines ?? null,
    ...createdBy(actor, nowMs),
  }
  return createRecord(world, actor, parserRecords, row, async (tx) => {
    if ((await countParsers(tx, actor.orgId)) >= PARSERS_MAX) throw badRequest(`an organization may have ${PARSERS_MAX} parsers`)
  })
}

/** The dataset that a body names. */
async function namedDataset(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<DatasetRow> {
  const row = (await visibleDatasets(world, actor)).find((dataset) => dataset.id === id)
  if (!row) throw badField('log_id', `names no dataset: ${id}`, 'UNKNOWN_DATASET')
  return row
}

const SAMPLES = 10
const LINE_STEPS = 250_000

type InferredPattern = { pattern: string; log_lines: string[]; parsed_lines: Record<string, string>[] }

/** Infers a pattern from the recent lines of a dataset and keeps a few of them as samples. */
async function inferFrom(world: World, actor: Actor, dataset: DatasetRow, signal: AbortSignal): Promise<InferredPattern> {
  const lines = await recentLines(world, actor, dataset, signal)
  if (lines.length === 0) throw badField('pattern', 'cannot be inferred: the log has no events in the last week', 'NO_LINES')
  const pattern = lines.every((line) => line.trimStart().startsWith('{')) ? undefined : inferPattern(lines)
  if (pattern === undefined) throw badField('pattern', 'cannot be inferred: the lines have too little in common', 'NOT_ALIKE')
  const compiled = compilePattern('GROK', pattern)
  const samples = lines.slice(0, SAMPLES).map((line) => ({ line, read: compiled.read(line, { steps: LINE_STEPS }) }))
  return {
    pattern,
    log_lines: samples.map(({ line }) => line.replaceAll('\0', '')),
    parsed_lines: samples.map(({ read }) => Object.fromEntries(read.kind === 'match' ? read.pairs : [])),
  }
}

/** Absent fields stay, except `enabled`, which has a default in the body. */
export async function updateParser(world: World, actor: Actor, { id }: ParserRow, change: ParserChange): Promise<Parser> {
  const dataset = change.log_id === undefined ? undefined : await namedDataset(world, actor, change.log_id)
  return changeRecord(world, actor, parserRecords, {
    id,
    change: (before) => {
      const isSame = change.pattern === undefined && change.type === undefined
      return {
        ...(isSame ? {} : checkedPattern(change.pattern ?? before.pattern, change.type)),
        name: change.name ?? before.name,
        log_id: dataset?.id ?? before.log_id,
        description: change.description ?? before.description,
        enabled: change.enabled,
        parsed_lines: isSame ? before.parsed_lines : null,
      }
    },
  })
}

/** Datasets with the removed parser have none afterwards. */
export async function removeParser(world: World, actor: Actor, record: ParserRow): Promise<undefined> {
  await removeRecord(world, actor, parserRecords, record, {
    afterwards: async (tx) => {
      await unassignParser(tx, actor.orgId, record.id)
    },
  })
}

/** Rejects patterns that could not be applied later. */
function checkedPattern(pattern: string, requested: PatternType | undefined): { type: PatternType; pattern: string } {
  const type = requested ?? typeOfPattern(pattern)
  compilePattern(type, pattern)
  return { type, pattern }
}

const shownBuiltIn = ({ id, name, description }: BuiltInParser): Parser => ({
  id,
  name,
  type: 'JAVA',
  scope: 'SYSTEM',
  ai_generated: false,
  enabled: true,
  description,
})

export function shownParser(row: ParserRow): Parser {
  return {
    id: row.id,
    name: row.name,
    pattern: row.pattern,
    type: row.type,
    scope: 'ORGANISATION',
    ai_generated: false,
    enabled: row.enabled,
    ...(row.log_lines ? { log_lines: row.log_lines } : {}),
    ...(row.parsed_lines ? { parsed_lines: row.parsed_lines } : {}),
    ...(row.description === null ? {} : { description: row.description }),
    metadata: metadataOf(row),
  }
}

const parserRecords: RecordKind<ParserRow, Parser> = {
  noun: 'parser',
  entity: 'parser',
  lock: lockParser,
  insert: insertParser,
  update: updateParserRow,
  remove: deleteParser,
  shown: shownParser,
}
