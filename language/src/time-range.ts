import { diagnosticAt, echo, languageError } from './language-error.ts'
import type { Token } from './token.ts'

/** A half-open time range: `fromMs` is inclusive, `toMs` is exclusive. */
export type TimeRange = { readonly fromMs: number; readonly toMs: number }

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const UNITS: readonly (readonly [ms: number, ...names: string[]])[] = [
  [1, 'ms', 'milli', 'millis', 'millisecond', 'milliseconds'],
  [SECOND_MS, 's', 'sec', 'secs', 'second', 'seconds'],
  [MINUTE_MS, 'm', 'min', 'mins', 'minute', 'minutes'],
  [HOUR_MS, 'h', 'hour', 'hours'],
  [DAY_MS, 'd', 'day', 'days'],
  [7 * DAY_MS, 'w', 'week', 'weeks'],
  [30 * DAY_MS, 'month', 'months'],
  [365 * DAY_MS, 'y', 'year', 'years'],
]
const UNIT_MS: ReadonlyMap<string, number> = new Map(UNITS.flatMap(([ms, ...names]) => names.map((name) => [name, ms] as const)))
const COUNTS: ReadonlyMap<string, number> = new Map(
  ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'].map((word, index) => [word, index + 1]),
)
const CHARS_MAX = 200
const ANY = 'use last N units, a calendar word, or from_ts and to_ts'

/** A calendar period. A `running` one has not ended yet. */
type CalendarPeriod = TimeRange & { running: boolean }

/**
 * Parses a `time_range` in UTC, relative to nowMs. A period that has not ended ends at now; `until` selects its calendar end instead, for
 * comparisons of whole periods.
 */
export function parseTimeRange(text: string, nowMs: number, field = 'time_range', until: 'now' | 'its end' = 'now'): TimeRange {
  if (text.length > CHARS_MAX)
    throw languageError(field, {
      code: 'TOO_LONG',
      position: CHARS_MAX,
      length: text.length - CHARS_MAX,
      message: `has at most ${CHARS_MAX} characters`,
    })
  const words = wordsOf(text)
  if (words.length === 0) return { fromMs: 0, toMs: nowMs }
  const phrase = words.map((word) => word.text).join(' ')
  const calendar = CALENDAR.get(phrase)
  if (calendar) {
    const { fromMs, toMs, running } = calendar(nowMs)
    return { fromMs, toMs: running && until === 'now' ? nowMs : toMs }
  }
  return { fromMs: Math.max(0, nowMs - durationMsOf(text, words, field)), toMs: nowMs }
}

/** Splits a text into lower-case words, and a number from the unit after it. */
const wordsOf = (text: string): Token[] =>
  [...text.matchAll(/\d+(?=[a-z])|[a-z]+(?=\d)|\S+/gi)].map((match) => ({
    text: match[0].toLowerCase(),
    position: match.index,
    length: match[0].length,
  }))

/** Parses `last N units`, `N units` and `N units ago`. */
function durationMsOf(text: string, words: readonly Token[], field: string): number {
  const isLast = words[0]?.text === 'last'
  const rest = isLast ? words.slice(1) : words
  const [first, second] = rest
  const number = first && countOf(first.text)
  const unit = number === undefined ? first : second
  const whole = { text, position: text.search(/\S/), length: text.trim().length }
  if (!first) throw languageError(field, diagnosticAt(whole, 'BAD_TIME_RANGE', 'expected a unit after last', 'for example last 20 minutes'))
  const unitMs = unit && UNIT_MS.get(unit.text)
  if (unitMs === undefined) throw languageError(field, unreadable(whole, first, number === undefined ? undefined : second))
  if (number !== undefined && !(number >= 1)) {
    throw languageError(field, diagnosticAt(first, 'BAD_TIME_RANGE', 'the count must be at least 1', 'for example last 20 minutes'))
  }
  const more = rest.slice(number === undefined ? 1 : 2)
  const isAgo = more[0]?.text === 'ago' && !isLast
  const left = isAgo ? more.slice(1) : more
  const [next] = left
  if (!next) return (number ?? 1) * unitMs
  throw languageError(field, trailingWords(next, left, number ?? 1, unitMs))
}

function countOf(text: string): number | undefined {
  return /^\d{1,12}$/.test(text) ? Number(text) : COUNTS.get(text)
}

function unreadable(whole: Token, first: Token, unit: Token | undefined) {
  if (/^[\d.,-]/.test(first.text) && countOf(first.text) === undefined) {
    const isDate = /^\d{4}-/.test(first.text)
    const message = isDate ? 'dates are not part of a time range' : `'${echo(first.text)}' is not a whole number`
    return diagnosticAt(first, 'BAD_TIME_RANGE', message, isDate ? 'use from_ts and to_ts' : 'use a smaller unit, or from_ts and to_ts')
  }
  if (unit) return diagnosticAt(unit, 'BAD_TIME_RANGE', `unknown unit ${echo(unit.text)}`, 'for example 5 minutes')
  const end = { text: '', position: whole.position + whole.length, length: 0 }
  if (countOf(first.text) !== undefined) return diagnosticAt(end, 'BAD_TIME_RANGE', 'expected a unit', 'for example 5 minutes')
  return diagnosticAt(whole, 'BAD_TIME_RANGE', `'${echo(whole.text.trim())}' is not a time range`, ANY)
}

/** The diagnostic for what follows a complete duration, most often a second one. */
function trailingWords(next: Token, left: readonly Token[], number: number, unitMs: number) {
  const [count, unit] = [countOf(next.text), left[1] && UNIT_MS.get(left[1].text)]
  if (count === undefined || unit === undefined || left.length > 2) {
    return diagnosticAt(next, 'BAD_TIME_RANGE', `unexpected '${echo(next.text)}'`, ANY)
  }
  const [ms, name] = [...UNITS]
    .reverse()
    .map(([size, ...names]) => [size, names.at(-1) ?? ''] as const)
    .find(([size]) => size <= unit) ?? [1, 'ms']
  return diagnosticAt(next, 'BAD_TIME_RANGE', 'one unit only', `write ${(number * unitMs + count * unit) / ms} ${name}`)
}

const CALENDAR: ReadonlyMap<string, (nowMs: number) => CalendarPeriod> = new Map(
  Object.entries<(nowMs: number) => CalendarPeriod>({
    today: (nowMs) => period(nowMs, 'day', 0),
    yesterday: (nowMs) => period(nowMs, 'day', -1),
    'day before yesterday': (nowMs) => period(nowMs, 'day', -2),
    'this day last week': (nowMs) => period(nowMs, 'day', -7),
    'this week': (nowMs) => period(nowMs, 'week', 0),
    'previous week': (nowMs) => period(nowMs, 'week', -1),
    'this month': (nowMs) => period(nowMs, 'month', 0),
    'previous month': (nowMs) => period(nowMs, 'month', -1),
    'this quarter': (nowMs) => period(nowMs, 'quarter', 0),
    'previous quarter': (nowMs) => period(nowMs, 'quarter', -1),
    'this quarter last year': (nowMs) => period(nowMs, 'quarter', -4),
    'this year': (nowMs) => period(nowMs, 'year', 0),
    'previous year': (nowMs) => period(nowMs, 'year', -1),
    // Weeks, months and years are units too; a quarter is none.
    'last quarter': (nowMs) => ({ fromMs: Math.max(0, nowMs - 90 * DAY_MS), toMs: nowMs, running: false }),
  }),
)

/** Returns the day, week (from Monday), month, quarter or year at `offset` from the current one. */
function period(nowMs: number, unit: 'day' | 'week' | 'month' | 'quarter' | 'year', offset: number): CalendarPeriod {
  const fromMs = startMs(nowMs, unit, offset)
  return { fromMs: Math.max(0, fromMs), toMs: startMs(nowMs, unit, offset + 1), running: offset === 0 }
}

function startMs(nowMs: number, unit: 'day' | 'week' | 'month' | 'quarter' | 'year', offset: number): number {
  const now = new Date(nowMs)
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  switch (unit) {
    case 'day':
      return Date.UTC(year, month, day + offset)
    case 'week':
      return Date.UTC(year, month, day - ((now.getUTCDay() + 6) % 7) + offset * 7)
    case 'month':
      return Date.UTC(year, month + offset)
    case 'quarter':
      return Date.UTC(year, month - (month % 3) + offset * 3)
    case 'year':
      return Date.UTC(year + offset, 0)
  }
}
