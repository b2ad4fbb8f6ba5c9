import { numberOf } from '@dendro/language/number'
import { badField } from '../../../kernel/errors.ts'
import { readLabelValues } from './label-lists.ts'
import { labelNameOf } from './label-names.ts'
import { LINES_MAX } from './limits.ts'
import { parseJsonFields, parseLogfmtFields } from './line-fields.ts'
import { type LogEntry, readEntries } from './log-entries.ts'
import { parseLogqlLogs } from './logql/parse.ts'
import { bytesOf, durationNsOf } from './logql/units.ts'
import { type PlannedLogs, planLogs } from './loki-query.ts'
import { PipelineLabels } from './pipeline-labels.ts'
import { type LokiRequest, recordRead } from './request.ts'

const HOUR_MS = 3_600_000
/** How many lines are read by default to find fields. */
const LINES = 1_000
const FIELDS_MAX = 1_000

type LineParser = 'json' | 'logfmt'
type FieldType = 'int' | 'float' | 'boolean' | 'duration' | 'bytes' | 'string'
/** How often a field has each value, and which parsers find it in lines. Fields of the event itself need none. */
type FoundField = { readonly values: Map<string, number>; readonly parsers: Set<LineParser> }

/** Lists the fields of the newest lines of a query: those of events, those that its stages set, and those that a parser would find. */
export async function detectFields(request: LokiRequest): Promise<unknown> {
  const { logs, range, limit, lines } = parametersOf(request)
  const planned = await planLogs(request, logs)
  const entries = await readEntries(request, logs, { ...range, limit: lines, newestFirst: true })
  recordRead(request)
  const found = [...fieldsOf(entries, planned)].sort((one, other) => frequency(other) - frequency(one) || (one[0] < other[0] ? -1 : 1))
  const fields = found.slice(0, limit).map(([label, { values, parsers }]) => ({
    label,
    type: typeOf(values.keys()),
    cardinality: values.size,
    parsers: parsers.size === 0 ? null : [...parsers].sort(),
  }))
  return { fields: fields.sort((one, other) => (one.label < other.label ? -1 : 1)), limit }
}

/** Lists the values of a field, the most frequent first. Those of a field of events are counted by the store. */
export async function detectFieldValues(request: LokiRequest): Promise<unknown> {
  const [name = ''] = request.segments
  if (labelNameOf(name) !== name) throw badField('name', 'must be the name of a label')
  const { logs, range, limit, lines } = parametersOf(request)
  const planned = await planLogs(request, logs)
  const stored =
    planned.rest.length === 0 && planned.keys.isStored(name)
      ? await readLabelValues(request, planned, { keys: planned.keys.pipelineKeys(name), range, limit })
      : []
  const values = stored.length > 0 ? stored : await valuesInLines(request, planned, { name, range, limit, lines })
  recordRead(request)
  return { values, limit }
}

async function valuesInLines(
  request: LokiRequest,
  planned: PlannedLogs,
  { name, range, limit, lines }: Pick<ReturnType<typeof parametersOf>, 'range' | 'limit' | 'lines'> & { name: string },
): Promise<string[]> {
  const entries = await readEntries(request, planned.logs, { ...range, limit: lines, newestFirst: true })
  const counts = [...(fieldsOf(entries, planned).get(name)?.values ?? [])]
  return counts
    .sort(([, one], [, other]) => other - one)
    .slice(0, limit)
    .map(([value]) => value)
}

function parametersOf({ parameters, world }: LokiRequest) {
  const logs = parseLogqlLogs(parameters.required('query'))
  const range = parameters.range(world.clock.nowMs(), HOUR_MS)
  const lines = parameters.whole('line_limit', { least: 1, most: LINES_MAX, otherwise: LINES })
  return { logs, range, lines, limit: parameters.whole('limit', { least: 1, most: FIELDS_MAX, otherwise: FIELDS_MAX }) }
}

const frequency = ([, { values }]: readonly [string, FoundField]): number => [...values.values()].reduce((sum, count) => sum + count, 0)

function fieldsOf(entries: readonly LogEntry[], { keys }: Pick<PlannedLogs, 'keys'>): Map<string, FoundField> {
  const fields = new Map<string, FoundField>()
  const add = (name: string, value: string, parser: LineParser | undefined): void => {
    if (name.startsWith('__') || value === '') return
    const field = fields.get(name) ?? { values: new Map(), parsers: new Set() }
    fields.set(name, field)
    field.values.set(value, (field.values.get(value) ?? 0) + 1)
    if (parser && !keys.isKnown(name)) field.parsers.add(parser)
  }
  for (const entry of entries) {
    const { parser, found } = parsedLine(entry)
    for (const [name, value] of entry.metadata) add(name, value, undefined)
    for (const [name, value] of entry.parsed) add(name, value, found.has(name) ? parser : undefined)
    for (const [name, value] of found) if (!entry.metadata.has(name) && !entry.parsed.has(name)) add(name, value, parser)
  }
  return fields
}

const ALL_PAIRS = { kind: 'logfmt' as const, fields: [], isStrict: false, keepsEmpty: false, at: { position: 0, length: 0 } }
const logfmtFields = parseLogfmtFields(ALL_PAIRS)

/** Reads a line as JSON, else as logfmt. */
function parsedLine({ line, stream, metadata }: LogEntry): { parser: LineParser; found: ReadonlyMap<string, string> } {
  const parser = line.startsWith('{') ? 'json' : 'logfmt'
  const labels = new PipelineLabels({ stream, metadata })
  if (parser === 'json') parseJsonFields(line, labels)
  else logfmtFields(line, labels)
  return { parser, found: labels.parsed }
}

const types: readonly (readonly [FieldType, (value: string) => boolean])[] = [
  ['int', (value) => /^[+-]?\d+$/.test(value)],
  ['float', (value) => numberOf(value) !== undefined],
  ['boolean', (value) => value === 'true' || value === 'false'],
  ['duration', (value) => durationNsOf(value) !== undefined],
  ['bytes', (value) => bytesOf(value) !== undefined],
]

/** The narrowest type that all values have. */
function typeOf(given: Iterable<string>): FieldType {
  const values = [...given]
  return types.find(([, isOfType]) => values.every(isOfType))?.[0] ?? 'string'
}
