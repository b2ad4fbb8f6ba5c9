import type { Range, Zone } from '@dendro/language/typed-range'

export { boundsOf, calendarRange, type Range, readRange, readTime, timeRangeOf, type Zone } from '@dendro/language/typed-range'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export const DEFAULT_RANGE: Range = { words: 'Last 15 minutes' }

export const presets: readonly { words: string; name: string }[] = [
  { words: 'Last 5 minutes', name: '5 minutes' },
  { words: 'Last 15 minutes', name: '15 minutes' },
  { words: 'Last 1 hour', name: '1 hour' },
  { words: 'Last 4 hours', name: '4 hours' },
  { words: 'Last 24 hours', name: '24 hours' },
  { words: 'Last 7 days', name: '7 days' },
  { words: 'Last 30 days', name: '30 days' },
  { words: 'today', name: 'Today' },
  { words: 'yesterday', name: 'Yesterday' },
]

const roundSteps = [
  1,
  5,
  10,
  50,
  100,
  500,
  1_000,
  2_000,
  5_000,
  10_000,
  15_000,
  30_000,
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7, 14, 30, 90, 365].map((days) => days * DAY_MS),
]

/** A Grid divides a range into round steps that stay aligned while the range slides; it exceeds the range by less than a step. */
export type Grid = { fromMs: number; toMs: number; stepMs: number; slices: number }

export function gridOf({ fromMs, toMs }: { fromMs: number; toMs: number }, slicesMax: number): Grid {
  const wanted = (toMs - fromMs) / slicesMax
  const stepMs = roundSteps.find((step) => step >= wanted) ?? Math.ceil(wanted / (365 * DAY_MS)) * 365 * DAY_MS
  const start = Math.floor(fromMs / stepMs) * stepMs
  const slices = Math.max(1, Math.ceil((toMs - start) / stepMs))
  return { fromMs: start, toMs: start + slices * stepMs, stepMs, slices }
}

const pad = (value: number, width = 2): string => String(value).padStart(width, '0')

/** Formats a time to the millisecond. */
export function clockOf(ms: number, zone: Zone): { day: string; clock: string } {
  const date = new Date(ms)
  const utc = zone === 'utc'
  const day = utc
    ? `${date.getUTCFullYear()}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`
    : `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`
  const parts = utc
    ? [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()]
    : [date.getHours(), date.getMinutes(), date.getSeconds()]
  return { day, clock: `${parts.map((part) => pad(part)).join(':')}.${pad(date.getUTCMilliseconds(), 3)}` }
}

/** The offset of the browser from UTC at that time. */
export function offsetText(ms: number): string {
  const minutes = -new Date(ms).getTimezoneOffset()
  const sign = minutes < 0 ? '−' : '+'
  return `UTC${sign}${pad(Math.floor(Math.abs(minutes) / 60))}:${pad(Math.abs(minutes) % 60)}`
}

/** Names the zone of the browser with its UTC offset at that time. */
export const zoneText = (ms: number): string => `${Intl.DateTimeFormat().resolvedOptions().timeZone}, ${offsetText(ms)}`

/** The label of a range. */
export function nameOf(range: Range, zone: Zone): string {
  if ('words' in range) return range.words
  const [from, to] = [clockOf(range.fromMs, zone), clockOf(range.toMs, zone)]
  const short = (clock: string) => clock.replace(/(:00)?\.000$/, '')
  return `${from.day} ${short(from.clock)} – ${to.day === from.day ? '' : `${to.day} `}${short(to.clock)}`
}
