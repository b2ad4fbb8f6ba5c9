import type { Explain, SearchResponse } from '@dendro/api'

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** A number of bytes with a decimal unit. */
export function bytesText(bytes: number): string {
  const at = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const value = bytes / 1000 ** at
  return `${at === 0 ? value : value.toFixed(1)} ${UNITS[at]}`
}

export const countText = (count: number | bigint): string => count.toLocaleString('en-US')

/** A count with its noun. */
export const quantity = (count: number | bigint, noun: string): string => `${countText(count)} ${noun}${Number(count) === 1 ? '' : 's'}`

/** The cost of a query in one line: matching events, bytes read, time. */
export function costText(explain: Explain, more: { events?: number | bigint; isExact?: boolean } = {}): string {
  const matching = more.events ?? numberIn(explain['Matching events'])
  const read = numberIn(explain['Bytes searched'])
  return [
    ...(matching === undefined ? [] : [`${more.isExact === false ? 'at least ' : ''}${quantity(matching, 'event')}`]),
    ...(read === undefined ? [] : [`${bytesText(read)} read`]),
    `${Math.round(Number(explain['Execution time (millis)']))} ms`,
  ].join(' · ')
}

export const searchCost = ({ explain, totals, is_exact }: SearchResponse): string =>
  costText(explain, { events: totals.count, isExact: is_exact })

const numberIn = (text: string | undefined): number | undefined => (text === undefined || text === '' ? undefined : Number(text))
