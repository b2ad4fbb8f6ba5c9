import type { FoundEvent } from '../../reading/question.ts'
import { rawText, statusOf } from '../search/shown-event.ts'
import { eventTimeText } from '../search/shown-time.ts'

export type Place = { readonly collection: string; readonly dataset: string }

/**
 * ndjsonLine is an event with its line as it came, and its values by key. What the service says of an event goes before a value of the sender's
 * under the same name, which is still there in the line.
 */
export function ndjsonLine(event: FoundEvent, place: Place): string {
  // An object without prototype takes keys of any name.
  const line: Record<string, unknown> = Object.create(null)
  const ms = Number(event.timeNs / 1_000_000n)
  line['@time'] = eventTimeText(ms)
  line['@timestamp'] = ms
  line['@sequence'] = JSON.rawJSON(String(event.seq))
  line['@raw'] = rawText(event.raw)
  line['@status'] = statusOf(event.severity)
  line.dataset = place.dataset
  line.collection = place.collection
  line.log_id = event.logId
  for (const [path, value] of event.leaves) if (!(path in line)) line[path] = value
  return `${JSON.stringify(line)}\n`
}

const FIXED = ['@time', '@timestamp', '@sequence', '@status', 'collection', 'dataset', 'log_id', '@raw'] as const
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
