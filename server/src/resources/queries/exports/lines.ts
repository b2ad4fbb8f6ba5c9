import type { FoundEvent } from '../../../reading/query.ts'
import { eventTimeText, rawText, statusOf } from '../../data/event-queries/event-queries.ts'

export type DatasetName = { readonly collection: string; readonly dataset: string }

const FIXED = ['@time', '@timestamp', '@sequence', '@status', 'collection', 'dataset', 'log_id', '@raw'] as const
const fixed: ReadonlySet<string> = new Set(FIXED)

/**
 * Formats an event with its original line and its values by key. Fields of the service take precedence over equal names in the event, which
 * remain in the line. The text is concatenated because building an object for each event costs twice as much.
 */
export function ndjsonLine(event: FoundEvent, place: DatasetName): string {
  const ms = Number(event.timeNs / 1_000_000n)
  const own =
    `{"@time":"${eventTimeText(ms)}","@timestamp":${ms},"@sequence":${event.seq},"@raw":${JSON.stringify(rawText(event.raw))},` +
    `"@status":"${statusOf(event.severity)}","dataset":${quoted(place.dataset)},"collection":${quoted(place.collection)},"log_id":"${event.logId}"`
  let values = ''
  for (const [path, value] of event.leaves) if (!fixed.has(path)) values += `,${quoted(path)}:${JSON.stringify(value)}`
  return `${own}${values}}\n`
}

/** Caches JSON strings of names, since there are few. */
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

/** The last column: an object with the values of keys without a column. */
const REST = '@more'

export const csvHeader = (keys: readonly string[]): string => csvRow([...FIXED, ...keys.map(escapeFormula), REST])

/** Writes a cell for each column. Cells that look like formulas are escaped against CSV injection. */
export function csvLine(event: FoundEvent, place: DatasetName, keys: readonly string[]): string {
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
    escapeFormula(place.collection),
    escapeFormula(place.dataset),
    event.logId,
    escapeFormula(rawText(event.raw)),
    ...keys.map((key) => escapeFormula(event.leaves.get(key) ?? '')),
    hasRest ? JSON.stringify(rest) : '',
  ])
}

/** Prefixes a quote to text that a spreadsheet would evaluate; plain numbers stay. */
export const escapeFormula = (text: string): string => (/^[=+\-@\t\r\n]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) ? `'${text}` : text)

const csvRow = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`
const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
