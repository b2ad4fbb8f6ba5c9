import {
  type ActiveSource,
  addSourceCounts,
  advancePosition,
  planPosition,
  type SourcePosition,
} from '../../resources/data/sources/sources.ts'
import type { MessageParser } from '../batch.ts'
import { type Fingerprint, fingerprintAt, matchesPrint, type SourceContent } from './content.ts'
import { BATCH_BYTES, countLines, endOfBatch, endsInLine, halfOf, linesOfBatchFrom } from './lines.ts'
import { type SourceWorld, storeSourceBatch } from './post.ts'

/** What is known of the content of a file or an object up to the end of the batch that is being stored. */
export type ContentDetails = Partial<Fingerprint> & { readonly in_line?: boolean }
type ContentPosition<Details extends ContentDetails> = SourcePosition<Details>

export type ContentPart = {
  readonly content: SourceContent
  /** Whether it does not grow any more. */
  readonly isFinal: boolean
  readonly parser: MessageParser
  readonly query: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** Whether the bytes that were read say later which content it is, as for a file that may be renamed. */
  readonly isKnownByBytes: boolean
}

/** How long reading may go on beyond its time, because the way to the position took as long. */
const STAY_MAX_MS = 30_000

/** Another process has advanced the position. */
export class PositionMoved extends Error {}

export const endOf = ({ position, planned_to }: Pick<SourcePosition, 'position' | 'planned_to'>): number => planned_to ?? position

/** Whether content begins with what was read up to a position. */
export async function isContentOf(row: ContentPosition<ContentDetails>, content: SourceContent): Promise<boolean> {
  const { head, head_bytes, tail, tail_bytes } = row.details
  if (endOf(row) === 0 || head === undefined || head_bytes === undefined || tail === undefined || tail_bytes === undefined) return true
  return matchesPrint(content, endOf(row), { head, head_bytes, tail, tail_bytes })
}

/**
 * Stores the next batch of content, and returns the position after it; undefined when nothing is left to take. A batch that was planned before is
 * stored with the same bytes and under the same key.
 */
export async function advanceContent<Details extends ContentDetails>(
  world: SourceWorld,
  source: ActiveSource,
  row: ContentPosition<Details>,
  part: ContentPart,
): Promise<ContentPosition<Details> | undefined> {
  const { clock } = world
  const sinceMs = row.planned_at === null ? undefined : Math.min(row.planned_at, clock.nowMs())
  let planned = row
  let bytes = await part.content.read(row.position, row.planned_to === null ? BATCH_BYTES : row.planned_to - row.position)
  if (row.planned_to === null) {
    const end = endOfBatch(bytes, part.isFinal)
    if (end === 0) return undefined
    bytes = bytes.subarray(0, end)
    planned = await plan(world, source, row, part, row.position + end)
  }
  for (let isWhole = false; ; ) {
    part.signal.throwIfAborted()
    const to = endOf(planned)
    const lines = linesOfBatchFrom(bytes, planned.details.in_line ?? false)
    const events = countLines(lines)
    const key = `${source.id}/${row.id}/${row.position}-${to}`
    const post = { parser: part.parser, query: part.query, body: Uint8Array.from(lines), key, sinceMs, events, isWhole }
    const end = lines.length === 0 ? NOTHING : await storeSourceBatch(world, source, post)
    if (end.kind === 'stored') return advance(world, source, planned, { ...end, bytes, to })
    const half = halfOf(bytes)
    isWhole = half === 0
    if (isWhole) continue
    bytes = bytes.subarray(0, half)
    planned = await plan(world, source, planned, part, row.position + half)
  }
}

const NOTHING = { kind: 'stored', events: 0, refused: 0 } as const

async function plan<Details extends ContentDetails>(
  world: SourceWorld,
  source: ActiveSource,
  row: ContentPosition<Details>,
  { content, isKnownByBytes }: ContentPart,
  to: number,
): Promise<ContentPosition<Details>> {
  const nowMs = world.clock.nowMs()
  const details = isKnownByBytes ? { ...row.details, ...(await fingerprintAt(content, to)) } : row.details
  if ((await planPosition(world.meta, source.id, row, { to, nowMs, details, waiting: 0 })) === 0) throw new PositionMoved()
  return { ...row, planned_to: to, planned_at: nowMs, details }
}

type StoredBatch = { readonly events: number; readonly refused: number; readonly bytes: Uint8Array; readonly to: number }

async function advance<Details extends ContentDetails>(
  world: SourceWorld,
  source: ActiveSource,
  row: ContentPosition<Details>,
  { events, refused, bytes, to }: StoredBatch,
): Promise<ContentPosition<Details>> {
  const nowMs = world.clock.nowMs()
  const details = { ...row.details, in_line: endsInLine(bytes) }
  await world.meta.write(source.org_id, async (tx) => {
    await move(tx, source, row, { to, details, nowMs })
    await addSourceCounts(tx, source.id, { events, bytes: bytes.length, refused }, nowMs)
  })
  return { ...row, position: to, planned_to: null, planned_at: null, details }
}

/** Saves a position with what is known of its content, unless another process has moved it. */
async function move<Details extends ContentDetails>(
  db: Parameters<typeof advancePosition>[0],
  source: ActiveSource,
  row: ContentPosition<Details>,
  { to, ...end }: { readonly to: number; readonly details: Details; readonly nowMs: number },
): Promise<void> {
  if ((await advancePosition(db, source.id, row, to, { ...end, waiting: 0 })) === 0) throw new PositionMoved()
}

/**
 * Reads content from its position on until `untilMs`. Returns where it ends; undefined when there is more. Where the way to the position is long, as in
 * a compressed file, the time begins there: otherwise a large file would be decompressed for each of its batches.
 */
export async function advanceUntil<Details extends ContentDetails>(
  world: SourceWorld,
  source: ActiveSource,
  first: ContentPosition<Details>,
  part: ContentPart,
  { untilMs, onRow }: { readonly untilMs: number; readonly onRow: (row: ContentPosition<Details>) => void },
): Promise<ContentPosition<Details> | undefined> {
  const { clock } = world
  const startedMs = clock.monotonicMs()
  await part.content.read(first.position, 0, part.signal)
  const wayMs = clock.monotonicMs() - startedMs
  const endMs = Math.max(untilMs, clock.monotonicMs() + Math.min(STAY_MAX_MS, wayMs))
  let row = first
  do {
    const next = await advanceContent(world, source, row, part)
    if (next === undefined) return row
    row = next
    onRow(row)
  } while (clock.monotonicMs() <= endMs)
  return undefined
}

/** Counts content that cannot be read to its end as one event that was refused, and saves that with its position. */
export async function refuseContent<Details extends ContentDetails>(
  world: SourceWorld,
  source: ActiveSource,
  row: ContentPosition<Details>,
  details: Details,
): Promise<ContentPosition<Details>> {
  const nowMs = world.clock.nowMs()
  await world.meta.write(source.org_id, async (tx) => {
    await move(tx, source, row, { to: row.position, details, nowMs })
    await addSourceCounts(tx, source.id, { events: 0, bytes: 0, refused: 1 }, nowMs)
  })
  return { ...row, details }
}

/** Saves what is known of content besides its position. */
export async function saveDetails<Details extends ContentDetails>(
  world: SourceWorld,
  source: ActiveSource,
  row: ContentPosition<Details>,
  details: Details,
): Promise<ContentPosition<Details>> {
  await move(world.meta, source, row, { to: row.position, details, nowMs: world.clock.nowMs() })
  return { ...row, details }
}
