import type { LineTime } from '@dendro/api'
import type { Arrival, EventLeaf } from '../../lines/reference/event.ts'
import type { FoundText } from '../../lines/reference/text-line.ts'
import { OPEN_OBJECT, QUOTE } from '../../lines/reference/walk.ts'
import { severityOfWord } from '../../lines/values/severity.ts'
import type { Instant } from '../../lines/values/time-text.ts'
import { type DatasetBatch, type Pair, type ReceivedEvents, type ReceivedRecord, recordsOf } from '../batch.ts'
import { detect } from '../detect/detect.ts'
import { zonedTime } from '../detect/zoned-time.ts'
import type { EventLine, TableRow } from './line.ts'
import { withLineTime } from './line-time.ts'
import { afterBlank, BodyLines, splitLines } from './lines.ts'
import type { LineParser, ParsedLine } from './parsing.ts'

/** The data that all events of a request share. */
export type PostContext = { at: Instant; origin: string }

/** The maximum length of an event; a longer one is truncated and marked. */
export const LINE_BYTES_MAX = 2 ** 20
const TRUNCATED: EventLeaf = { path: '$ingest.truncated', text: 'true' }

/** The writer adds the idempotency key. */
const NO_POST = 0n

/** The settings of the dataset: its parser, and where its lines tell their time. */
type LineSettings = { parsing: LineParser | undefined; lineTime: LineTime | undefined }
const NO_SETTINGS: LineSettings = { parsing: undefined, lineTime: undefined }

/** Yields the events of a batch with their metadata; `more` are attributes from the request. */
export function* linesOfBatch(
  { events: arrivals, attributes }: DatasetBatch,
  common: PostContext,
  more: readonly Pair[],
  settings: LineSettings = NO_SETTINGS,
): Generator<EventLine> {
  const base = baseOf(attributes, common, more)
  if (arrivals.kind !== 'lines') {
    let last: ReceivedRecord | undefined
    let arrival = base
    for (const record of recordsOf(arrivals)) {
      if (!last || !isAlike(last, record)) arrival = arrivalOf(record, base)
      last = record
      yield toLine(record.raw, arrival, settings)
    }
    return
  }
  const { bytes: body } = arrivals
  // A second generator between would take longer than finding the lines.
  const lines = new BodyLines(body)
  for (let bytes = lines.next(); bytes; bytes = lines.next()) yield toLine(bytes, base, settings)
}

/** The lines of a batch as they arrived, with what they share; undefined for a batch of records. */
export function bodyOfBatch({ events, attributes }: DatasetBatch, common: PostContext, more: readonly Pair[]): EventBody | undefined {
  return events.kind === 'lines' ? { bytes: events.bytes, arrival: baseOf(attributes, common, more) } : undefined
}
export type EventBody = { readonly bytes: Uint8Array; readonly arrival: Arrival }

/** One line of a body. */
export const lineOf = ({ bytes, arrival }: EventBody, start: number, end: number): EventLine =>
  toLine(bytes.subarray(start, end), arrival, NO_SETTINGS)

/** The records of a batch that are in tables, and the facts that all of them share; undefined for a batch of objects or lines. */
export function rowsOfBatch(
  { events, attributes }: DatasetBatch,
  common: PostContext,
  more: readonly Pair[],
): { facts: Arrival; rows: Generator<TableRow> } | undefined {
  if (events.kind !== 'tables') return undefined
  const facts = baseOf(attributes, common, more)
  return { facts, rows: rowsOf(events, facts) }
}

function* rowsOf({ tables, ruled }: Extract<ReceivedEvents, { kind: 'tables' }>, base: Arrival): Generator<TableRow> {
  for (const [index, table] of tables.entries()) {
    const { dropped = NO_RECORDS, changed = NO_RECORDS } = ruled?.[index] ?? {}
    const row: TableRow = {
      table,
      record: 0,
      bytes: NO_BYTES,
      isChanged: false,
      whole: () => {
        const record = changed.get(row.record) ?? table.at(row.record)
        return toLine(record.raw, arrivalOf(record, base), NO_SETTINGS)
      },
    }
    for (; row.record < table.count; row.record += 1) {
      if (dropped.has(row.record)) continue
      row.isChanged = changed.has(row.record)
      row.bytes = table.raw(row.record)
      yield row
    }
  }
}
const NO_BYTES = new Uint8Array()
const NO_RECORDS: ReadonlyMap<number, ReceivedRecord> = new Map()

export const baseOf = (attributes: readonly Pair[], common: PostContext, more: readonly Pair[]): Arrival => ({
  ...common,
  post: NO_POST,
  attributes: [...attributes, ...more].map(asLeaf),
})

/** True for a line that only `whole` can prepare: it is too long, or a rule changed it. */
export const needsWhole = ({ bytes, isChanged }: TableRow): boolean => isChanged || bytes.length > LINE_BYTES_MAX

/** True for records that differ in their lines only, which then share what is computed for an arrival. */
const isAlike = (a: ReceivedRecord, b: ReceivedRecord): boolean =>
  a.time === undefined &&
  b.time === undefined &&
  a.zone === undefined &&
  b.zone === undefined &&
  a.level === undefined &&
  b.level === undefined &&
  a.origin === b.origin &&
  isSameList(a.keys, b.keys) &&
  isSameList(a.attributes, b.attributes)

const isSameList = (a: readonly Pair[], b: readonly Pair[]): boolean => a === b || (a.length === 0 && b.length === 0)

/** Counts the events of a batch without parsing them. */
export function countEvents(arrivals: ReceivedEvents): number {
  if (arrivals.kind === 'records') return arrivals.records.length
  if (arrivals.kind === 'tables') return arrivals.tables.reduce((sum, { count }) => sum + count, 0)
  let lines = 0
  for (const _ of splitLines(arrivals.bytes)) lines += 1
  return lines
}

/** Truncates a line that is too long, and adds parsed keys. */
function toLine(whole: Uint8Array, common: Arrival, settings: LineSettings): EventLine {
  const { lineTime, parsing } = settings
  const arrival = lineTime ? withLineTime(common, whole, lineTime) : common
  if (whole.length <= LINE_BYTES_MAX) return withDetails(whole, arrival, parsing, NO_MARKS)
  const cut = whole.subarray(0, charBorder(whole, LINE_BYTES_MAX))
  return { ...withDetails(cut, arrival, parsing, [TRUNCATED]), isCut: true }
}
const NO_MARKS: readonly EventLeaf[] = []

function withDetails(bytes: Uint8Array, arrival: Arrival, parsing: LineParser | undefined, marks: readonly EventLeaf[]): EventLine {
  const parsed = parsing?.read(bytes, arrival.at)
  if (parsed) return { bytes, arrival: withParsed(arrival, parsed, marks) }
  const marked = withLeaves(arrival, marks)
  return isObject(bytes) ? { bytes, arrival: marked } : { bytes, arrival: marked, isText: true }
}

/** Reads the parts of a text line. */
export const detectedIn = (bytes: Uint8Array, at: Instant): FoundText | undefined =>
  detect(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8'), at)

function withParsed(arrival: Arrival, { keys, time }: ParsedLine, marks: readonly EventLeaf[]): Arrival {
  const described: Arrival = { ...withLeaves(arrival, [...keys.map(asLeaf), ...marks]), isParsed: true }
  return time && !arrival.time ? { ...described, time } : described
}

/** Adds leaves; attributes from the protocol take precedence. */
function withLeaves(arrival: Arrival, found: readonly EventLeaf[]): Arrival {
  if (found.length === 0) return arrival
  return { ...arrival, attributes: [...found, ...arrival.attributes] }
}

const asLeaf = ([path, text]: Pair): EventLeaf => ({ path, text })

export function arrivalOf({ raw, time: written, timeText, zone, level, keys, attributes, origin }: ReceivedRecord, base: Arrival): Arrival {
  const time = written ?? (zone === undefined ? undefined : zonedTime(raw, zone, base.at))
  const severity = level === undefined ? undefined : severityOfWord(level)
  const addsLevel = level !== undefined && !saysLevel(keys, raw)
  if (!time && !severity && origin === undefined && keys.length + attributes.length === 0 && !addsLevel) return base
  // Copies of lists and objects would take longer than all else here.
  const leaves: EventLeaf[] = []
  for (const leaf of base.attributes) leaves.push(leaf)
  if (addsLevel) leaves.push({ path: 'level', text: level })
  for (const pair of keys) leaves.push(asLeaf(pair))
  for (const pair of attributes) leaves.push(asLeaf(pair))
  const { at, post } = base
  const from = origin ?? base.origin
  if (time && timeText !== undefined) return { at, post, time, timeText, ...(severity && { severity }), origin: from, attributes: leaves }
  if (time && severity) return { at, post, time, severity, origin: from, attributes: leaves }
  if (time) return { at, post, time, origin: from, attributes: leaves }
  return severity ? { at, post, severity, origin: from, attributes: leaves } : { at, post, origin: from, attributes: leaves }
}

export const isObject = (bytes: Uint8Array): boolean => bytes[afterBlank(bytes, 0)] === OPEN_OBJECT

/** True when the sender's level is already among the keys or in the line. */
function saysLevel(keys: readonly Pair[], raw: Uint8Array): boolean {
  for (const pair of keys) if (pair[0] === 'level') return true
  // Most texts have no quote, and this search needs no Buffer.
  if (raw.indexOf(QUOTE) < 0) return false
  return Buffer.from(raw.buffer, raw.byteOffset, raw.length).includes('"level"')
}

const CHAR_BYTES_MAX = 4

/** The nearest position at or before `at` that does not split a UTF-8 character. */
function charBorder(bytes: Uint8Array, at: number): number {
  for (let back = 0; back < CHAR_BYTES_MAX; back += 1) {
    if (((bytes[at - back] ?? 0) & 0xc0) !== 0x80) return at - back
  }
  return at
}
