import type { FoundEvent } from '../../../reading/event-query.ts'
import { eventTimeText, rawText, statusOf } from '../../data/event-queries/event-queries.ts'

export type Place = { readonly collection: string; readonly dataset: string }

const FIXED = ['@time', '@timestamp', '@sequence', '@status', 'collection', 'dataset', 'log_id', '@raw'] as const
const fixed: ReadonlySet<string> = new Set(FIXED)

/**
 * ndjsonLine is an event with its line as it came, and its values by key. What the service says of an event goes before a value of the sender's
 * under the same name, which is still there in the line. The text is put together piece by piece: an object for each of millions of events would
 * cost twice as much.
 */
export function ndjsonLine(event: FoundEvent, place: Place): string {
  const ms = Number(event.timeNs / 1_000_000n)
  const own =
    `{"@time":"${eventTimeText(ms)}","@timestamp":${ms},"@sequence":${event.seq},"@raw":${JSON.stringify(rawText(event.raw))},` +
    `"@status":"${statusOf(event.severity)}","dataset":${quoted(place.dataset)},"collection":${quoted(place.collection)},"log_id":"${event.logId}"`
  let values = ''
  for (const [path, value] of event.leaves) if (!fixed.has(path)) values += `,${quoted(path)}:${JSON.stringify(value)}`
  return `${own}${values}}\n`
}

/** quoted remembers names as JSON, since there are few of them. */
function quoted(name: string): string {
  const known = names.get(name)
  if (known !== undefined) return known
  if (names.size >= NAMES_MAX) names.clear()
  const text = JSON.stringify(name)
  names.set(name, text)
  return text
}
const names = new Map<string, string>()
const NAMES_MAX = 10_000

/** REST is the last column: an object with the values of the keys that have no column of their own. */
const REST = '@more'

export const csvHeader = (keys: readonly string[]): string => csvRow([...FIXED, ...keys.map(harmless), REST])

/** csvLine has a cell for each column; what begins like a formula is quoted, so that no program that opens the file computes it. */
export function csvLine(event: FoundEvent, place: Place, keys: readonly string[]): string {
  const ms = Number(event.timeNs / 1_000_000n)
  const own = new Set(keys)
  const rest: Record<string, string> = Object.create(null)
  let hasRest = false
  for (const [path, value] of event.leaves) {
    if (own.has(path)) continue
    rest[path] = value
    hasRest = true
  }
  return csvRow([
    eventTimeText(ms),
    String(ms),
    String(event.seq),
    statusOf(event.severity),
    harmless(place.collection),
    harmless(place.dataset),
    event.logId,
    harmless(rawText(event.raw)),
    ...keys.map((key) => harmless(event.leaves.get(key) ?? '')),
    hasRest ? JSON.stringify(rest) : '',
  ])
}

/** harmless puts a quote mark before what a spreadsheet would take for a formula; a plain number is none. */
export const harmless = (text: string): string => (/^[=+\-@\t\r\n]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) ? `'${text}` : text)

const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`
const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
