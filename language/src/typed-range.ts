/** Time ranges as people type them, in the web app and on the command line. */

import { readMoment, type Zone } from './typed-moment.ts'

export type { Zone } from './typed-moment.ts'

/** A Range is relative words, resolved at every query, or two fixed times. */
export type Range = { words: string } | { fromMs: number; toMs: number }

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const units: ReadonlyMap<string, { name: string; ms: number }> = new Map(
  Object.entries<{ name: string; ms: number }>({
    s: { name: 'second', ms: 1_000 },
    m: { name: 'minute', ms: MINUTE_MS },
    min: { name: 'minute', ms: MINUTE_MS },
    h: { name: 'hour', ms: HOUR_MS },
    d: { name: 'day', ms: DAY_MS },
    w: { name: 'week', ms: 7 * DAY_MS },
    mo: { name: 'month', ms: 30 * DAY_MS },
    y: { name: 'year', ms: 365 * DAY_MS },
  }),
)
const numerals = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const calendar = [
  'today',
  'yesterday',
  'day before yesterday',
  'this week',
  'previous week',
  'this month',
  'previous month',
  'this quarter',
  'previous quarter',
  'this year',
  'previous year',
]

/**
 * readRange parses a typed range: `15m`, `last 3 weeks`, `yesterday`, `now-1h`, `since 10:30`, one time, or two. Days, and times without a zone, are in the zone of the user.
 * Local days become two times, since the service reads calendar words in UTC.
 */
export function readRange(typed: string, nowMs: number, zone: Zone = 'utc'): Range | undefined {
  const text = typed.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  if (text === '') return undefined
  if (calendar.includes(text)) return calendarRange(text, nowMs, zone)
  return readLast(text) ?? readMoments(typed.trim(), nowMs, zone)
}

/** calendarRange is a range of whole days in a zone. */
export const calendarRange = (words: string, nowMs: number, zone: Zone): Range =>
  zone === 'utc' || !calendar.includes(words) ? { words } : calendarBounds(words, nowMs, zone)

function readLast(text: string): Range | undefined {
  const found = /^(?:last |past )?(?:(\d{1,6}) ?|([a-z]+) )?([a-z]+?)s?(?: ago)?$/.exec(text)
  if (!found) return undefined
  if (text === 'last quarter') return { words: 'Last 90 days' }
  const [, digits, numeral, word = ''] = found
  const amount = digits ?? numeral
  const unit = units.get(word) ?? [...units.values()].find(({ name }) => name === word)
  const number = amount === undefined ? 1 : /^\d/.test(amount) ? Number(amount) : numerals.indexOf(amount) + 1
  if (!unit || number < 1 || (amount === undefined && !text.startsWith('last') && !text.startsWith('past'))) return undefined
  return { words: `Last ${number} ${unit.name}${number === 1 ? '' : 's'}` }
}

/** AROUND_MS is shown before and after a single time. */
const AROUND_MS = 5 * MINUTE_MS

/** SEPARATOR divides two times; a hyphen alone only between two clocks, since it is also a part of dates and offsets. */
const SEPARATOR = /\s+(?:to|until|–|—)\s+|\s+-\s+|(?<=^\d{1,2}:\d\d(?::\d\d)?)[-–—](?=\d{1,2}:\d\d(?::\d\d)?$)/i

function readMoments(text: string, nowMs: number, zone: Zone): Range | undefined {
  const since = /^(?:since|from|after)\s+(.+)$/i.exec(text)?.[1]
  const [first = '', second = since !== undefined && !SEPARATOR.test(since) ? 'now' : undefined] = (since ?? text)
    .replaceAll(/\bnow\s+-\s+(?=\d)/gi, 'now-')
    .split(SEPARATOR)
  const ago = readAgo(first)
  if (ago && (second === undefined || /^now$/i.test(second))) return ago
  const fromMs = readEnd(first, nowMs, zone)
  if (fromMs === undefined) return undefined
  if (second === undefined) return { fromMs: fromMs - AROUND_MS, toMs: fromMs + AROUND_MS }
  const toMs = readEnd(second, nowMs, zone, fromMs)
  return toMs !== undefined && toMs > fromMs ? { fromMs, toMs } : undefined
}

/** readAgo parses `now-1h`, also with spaces. */
const readAgo = (text: string): { words: string } | undefined => {
  const length = /^now\s*-\s*(\d{1,6}\s?[a-z]+)$/i.exec(text.trim())?.[1]
  const range = length === undefined ? undefined : readLast(length.toLowerCase())
  return range && 'words' in range ? range : undefined
}

/** readEnd parses one end of a range; a clock alone belongs to the day of the other end. */
function readEnd(text: string, nowMs: number, zone: Zone, otherMs?: number): number | undefined {
  if (/^now$/i.test(text.trim())) return nowMs
  const ago = readAgo(text)
  if (ago) return boundsOf(ago, nowMs).fromMs
  return readTime(text, zone) ?? readMoment(text, nowMs, zone, otherMs)
}

/** readTime parses a timestamp: a Unix time in seconds to nanoseconds, or a date. A date without a zone is in the zone of the user. */
export function readTime(text: string, zone: Zone = 'utc'): number | undefined {
  const digits = /^(\d{10})(\d{0,9})(?:\.\d+)?$/.exec(text)
  if (digits) return Number(digits[1]) * 1_000 + Number(`${digits[2]}000`.slice(0, 3))
  const date = /^(\d{4}-\d\d-\d\d)(?:[ t](\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?))?\s*(z|utc|[+-]\d\d:?\d\d)?$/i.exec(text)
  if (!date) return undefined
  const [, day, clock = '00:00', written] = date
  // Without an offset, Date.parse reads local time with the rules of that day.
  const offset = written === undefined ? (zone === 'utc' ? 'Z' : '') : /^utc$/i.test(written) ? 'Z' : written.toUpperCase()
  const ms = Date.parse(`${day}T${clock.replace(',', '.')}${offset}`)
  return Number.isNaN(ms) ? undefined : ms
}

/** boundsOf resolves a range to times. Calendar words are in UTC, as in the service. */
export function boundsOf(range: Range, nowMs: number): { fromMs: number; toMs: number } {
  if ('fromMs' in range) return range
  const last = /^Last (\d+) (\w+?)s?$/.exec(range.words)
  const unit = [...units.values()].find(({ name }) => name === last?.[2])
  if (last && unit) return { fromMs: nowMs - Number(last[1]) * unit.ms, toMs: nowMs }
  return calendarBounds(range.words, nowMs)
}

function calendarBounds(words: string, nowMs: number, zone: Zone = 'utc'): { fromMs: number; toMs: number } {
  const now = new Date(nowMs)
  const isUtc = zone === 'utc'
  const [year, month, day] = isUtc
    ? [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
    : [now.getFullYear(), now.getMonth(), now.getDate()]
  const monday = day - (((isUtc ? now.getUTCDay() : now.getDay()) + 6) % 7)
  const quarter = month - (month % 3)
  const at = (...parts: [number, number, number]) => (isUtc ? Date.UTC(...parts) : new Date(...parts).getTime())
  const whole = new Map(
    Object.entries<[number, number]>({
      today: [at(year, month, day), nowMs],
      yesterday: [at(year, month, day - 1), at(year, month, day)],
      'day before yesterday': [at(year, month, day - 2), at(year, month, day - 1)],
      'this week': [at(year, month, monday), nowMs],
      'previous week': [at(year, month, monday - 7), at(year, month, monday)],
      'this month': [at(year, month, 1), nowMs],
      'previous month': [at(year, month - 1, 1), at(year, month, 1)],
      'this quarter': [at(year, quarter, 1), nowMs],
      'previous quarter': [at(year, quarter - 3, 1), at(year, quarter, 1)],
      'this year': [at(year, 0, 1), nowMs],
      'previous year': [at(year - 1, 0, 1), at(year, 0, 1)],
    }),
  )
  const [fromMs, toMs] = whole.get(words) ?? [nowMs - 15 * MINUTE_MS, nowMs]
  return { fromMs, toMs }
}

/** timeRangeOf is a range in the form of the API. */
export const timeRangeOf = (range: Range): { time_range: string } | { from_ts: number; to_ts: number } =>
  'words' in range ? { time_range: range.words } : { from_ts: range.fromMs, to_ts: range.toMs }
