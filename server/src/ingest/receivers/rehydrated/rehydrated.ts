import { matcherOf } from '../../../query/matcher.ts'
import { parseFilter } from '../../../query/query.ts'
import { type IngestRequest, type MessageParser, type ParsedBody, type ReceivedRecord, recordOfLine } from '../../batch.ts'
import { arrivalOf } from '../../intake/arrivals.ts'
import { ArrivedEvent } from '../../intake/arrived-event.ts'
import { splitLines } from '../../intake/lines.ts'
import { checkLineCount } from '../native/objects.ts'
import { readOwnLine } from '../own-line.ts'

/** Which events of a file are wanted. `earlier` are the selections that were stored before. */
export type Selection = { readonly fromMs: number | null; readonly toMs: number | null; readonly filter: string | null }
export type RehydratedQuery = {
  readonly wanted: Selection
  readonly earlier: readonly Selection[]
  readonly atMs: number
  readonly collection: string
  readonly dataset: string
}
/** How many events of a batch there were, and how many are not to be stored. */
export type RehydratedNotes = { readonly read: number; readonly earlier: number; readonly unselected: number }

/** Accepts lines of files: JSON objects, text, and lines that exports and forwarding have written, which become the lines they were. */
export const rehydrated: MessageParser = { name: 'rehydrated', parse, isLabel: () => false }

const NO_OPEN: ReadonlySet<string> = new Set()

function parse({ body, query }: IngestRequest): ParsedBody {
  checkLineCount(body)
  const { wanted, earlier, atMs, collection, dataset } = JSON.parse(query.rehydration ?? '') as RehydratedQuery
  const base = { at: { ms: atMs, ns: 0 }, origin: '', post: 0n, attributes: [] }
  // Filters know patterns here, and no families of them.
  const facts = { place: { collection, dataset }, run: { familyOf: () => undefined }, open: NO_OPEN }
  const eventOf = (record: ReceivedRecord) => new ArrivedEvent(record.raw, arrivalOf(record, base), facts)
  const isWanted = selects(wanted)
  const wasWanted = earlier.map(selects)
  const records: ReceivedRecord[] = []
  const notes = { read: 0, earlier: 0, unselected: 0 }
  for (const line of splitLines(body)) {
    notes.read += 1
    const record = readOwnLine(line)?.record ?? recordOfLine(line)
    const event = eventOf(record)
    if (!isWanted(event)) notes.unselected += 1
    else if (wasWanted.some((matches) => matches(event))) notes.earlier += 1
    else records.push(record)
  }
  const batches = [{ collection: undefined, dataset: undefined, attributes: [], events: { kind: 'records' as const, records } }]
  return { batches: records.length === 0 ? [] : batches, rejected: [], total: records.length, notes }
}

const NS_PER_MS = 1_000_000n

function selects({ fromMs, toMs, filter }: Selection): (event: ArrivedEvent) => boolean {
  const matches = matcherOf(parseFilter(filter ?? '', 'filter').filter)
  if (fromMs === null && toMs === null) return matches
  const from = fromMs === null ? undefined : BigInt(fromMs) * NS_PER_MS
  const to = toMs === null ? undefined : BigInt(toMs) * NS_PER_MS
  return (event) => {
    const { timeNs } = event
    return (from === undefined || timeNs >= from) && (to === undefined || timeNs < to) && matches(event)
  }
}
