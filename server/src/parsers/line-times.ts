import type { LineTime, LineTimeFormat } from '@dendro/api'
import { localToUtcMs } from './time-zones.ts'

/** A time in a line: milliseconds since 1970, the nanoseconds beyond them, and its position. */
export type TimeInLine = { ms: number; ns: number; start: number; end: number }
/** `hasYear` and `hasZone` are false when the arrival and the setting decide. */
export type ReadLineTime = TimeInLine & { hasYear: boolean; hasZone: boolean }

/** The time must stand in these first characters of a line. */
export const TIME_WITHIN_CHARS = 400

const DAY_MS = 86_400_000
/** February 29 may be eight years back. */
const YEARS_BACK_MAX = 8
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

const YEAR = '(?<year>(?:19|20)\\d\\d)'
const SHORT_YEAR = '(?<year>\\d\\d)'
const MONTH = '(?<month>0\\d|1[0-2])'
const DAY = '(?<day>[0-2]\\d|3[01])'
const LOOSE_MONTH = '(?<month>0?[1-9]|1[0-2])'
const LOOSE_DAY = '(?<day>0?[1-9]|[12]\\d|3[01])'
const NAME = `(?<month>${months.join('|')})`
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const SIGN = '(?<sign>[-/.])'
const SAME_SIGN = '\\k<sign>'
const CLOCK = '(?<hour>\\d\\d)(?<colon>[:.])(?<minute>\\d\\d)\\k<colon>(?<second>\\d\\d)(?:[.,:](?<fraction>\\d{1,9}))?'
const LOOSE_CLOCK =
  '(?<hour>\\d{1,2})(?<colon>[:.])(?<minute>\\d\\d)\\k<colon>(?<second>\\d\\d)(?:[.,:](?<fraction>\\d{1,9}))?(?: ?(?<half>[AP]M))?'
const COMPACT = '(?<hour>\\d\\d)(?<colon>:?)(?<minute>\\d\\d)\\k<colon>(?<second>\\d\\d)(?:[.,:](?<fraction>\\d{1,9}))?'
const ZONE = '(?: ?(?<zone>Z|UTC|GMT|[+-]\\d\\d:?\\d\\d)(?![\\w:]))?'
/** Between date and clock. */
const GAP = '(?:[T_:-]|,? {1,2})'

/** An expression per notation; \\k<sign> keeps separators alike, so that 2026-11/22 is no date. */
const notations: Record<LineTimeFormat, string> = {
  'YYYY-MM-DD hh:mm:ss': `${YEAR}${SIGN}${MONTH}${SAME_SIGN}${DAY}${GAP}${CLOCK}${ZONE}`,
  'YYYYMMDD hh:mm:ss': `${YEAR}${MONTH}${DAY}${GAP}${COMPACT}${ZONE}`,
  'YYMMDD hh:mm:ss': `${SHORT_YEAR}${MONTH}${DAY}${GAP}${COMPACT}${ZONE}`,
  'Www Mon DD hh:mm:ss YYYY': `${WEEKDAY},? ${NAME} {1,2}${LOOSE_DAY} ${CLOCK}(?: (?<zone>UTC|GMT|Z))? ${YEAR}`,
  'DD Mon YYYY hh:mm:ss': `(?:${WEEKDAY},? )?${LOOSE_DAY}(?<sign>[-/ ])${NAME}${SAME_SIGN}${YEAR}${GAP}${CLOCK}${ZONE}`,
  'Mon DD YYYY hh:mm:ss': `${NAME} {1,2}${LOOSE_DAY},? ${YEAR},? ${LOOSE_CLOCK}${ZONE}`,
  'Mon DD hh:mm:ss': `${NAME} {1,2}${LOOSE_DAY} ${CLOCK}${ZONE}`,
  'YY/MM/DD hh:mm:ss': `${SHORT_YEAR}${SIGN}${MONTH}${SAME_SIGN}${DAY}${GAP}${CLOCK}${ZONE}`,
  'DD/MM/YY hh:mm:ss': `${DAY}${SIGN}${MONTH}${SAME_SIGN}${SHORT_YEAR}${GAP}${CLOCK}${ZONE}`,
  'MM/DD/YY hh:mm:ss': `${MONTH}${SIGN}${DAY}${SAME_SIGN}${SHORT_YEAR}${GAP}${CLOCK}${ZONE}`,
  'DD/MM/YYYY hh:mm:ss': `${LOOSE_DAY}${SIGN}${LOOSE_MONTH}${SAME_SIGN}${YEAR}${GAP}${LOOSE_CLOCK}${ZONE}`,
  'MM/DD/YYYY hh:mm:ss': `${LOOSE_MONTH}${SIGN}${LOOSE_DAY}${SAME_SIGN}${YEAR}${GAP}${LOOSE_CLOCK}${ZONE}`,
  'MM-DD hh:mm:ss': `${MONTH}[-/.]${DAY} ${CLOCK}${ZONE}`,
  'DD-MM hh:mm:ss': `${DAY}[-/.]${MONTH} ${CLOCK}${ZONE}`,
  'MMDD hh:mm:ss': `${MONTH}${DAY} ${CLOCK}${ZONE}`,
  epoch: '(?<epoch>[1-9]\\d{9}|[1-9]\\d{12}|[1-9]\\d{15}|[1-9]\\d{18})(?:\\.(?<fraction>\\d{1,9}))?',
}
/** Brackets, quotes, a syslog priority, and the level letter of glog may precede a time. */
const PREFIX = '(?<prefix>(?:<\\d{1,3}>|[\\[(<{"\'|]+)?)'
const GLOG_PREFIX = '(?<prefix>(?:[IWEF]|[\\[(<{"\'|]+)?)'

const expressions = new Map<LineTimeFormat, RegExp>()

function expressionOf(format: LineTimeFormat): RegExp {
  const known = expressions.get(format)
  if (known) return known
  const prefix = format === 'MMDD hh:mm:ss' ? GLOG_PREFIX : PREFIX
  const made = new RegExp(`${prefix}${notations[format]}(?![\\d])`, 'y')
  expressions.set(format, made)
  return made
}

/** Reads the time at the place that the setting names. A time without a year gets the latest one that is at most a day after arrival. */
export function readLineTime({ format, word, timezone }: LineTime, line: string, arrivalMs: number): ReadLineTime | undefined {
  const place = wordStart(line, word)
  if (place === undefined) return undefined
  const expression = expressionOf(format)
  expression.lastIndex = place
  const match = expression.exec(line)
  if (!match?.groups) return undefined
  const { prefix = '', ...parts } = match.groups
  const [start, end] = [place + prefix.length, place + match[0].length]
  if (parts.epoch !== undefined) return { ...fromEpoch(parts.epoch, parts.fraction), start, end, hasYear: true, hasZone: true }
  const hasYear = parts.year !== undefined
  const fraction = (parts.fraction ?? '').padEnd(9, '0')
  for (const year of hasYear ? [fullYear(parts.year ?? '')] : yearsNear(arrivalMs)) {
    const localMs = localOf(parts, year)
    if (localMs === undefined) continue
    const utcMs = parts.zone === undefined ? localToUtcMs(timezone, localMs) : localMs - zoneMs(parts.zone)
    const ms = utcMs + Number(fraction.slice(0, 3))
    if (hasYear || ms <= arrivalMs + DAY_MS)
      return { ms, ns: Number(fraction.slice(3)), start, end, hasYear, hasZone: parts.zone !== undefined }
  }
  return undefined
}

/** The position of a word; undefined when the line has fewer. Leading blanks do not count. */
function wordStart(line: string, word: number): number | undefined {
  let at = afterBlanks(line, 0)
  for (let left = word; left > 0; left -= 1) {
    while (at < line.length && !isBlank(line.charCodeAt(at))) at += 1
    at = afterBlanks(line, at)
  }
  return at < line.length ? at : undefined
}

function afterBlanks(line: string, start: number): number {
  let at = start
  while (at < line.length && isBlank(line.charCodeAt(at))) at += 1
  return at
}

const isBlank = (code: number): boolean => code === 0x20 || code === 9

/** Two digits count from 2000: earlier times are not acceptable. */
const fullYear = (text: string): number => (text.length === 2 ? 2000 + Number(text) : Number(text))

function yearsNear(arrivalMs: number): number[] {
  const latest = new Date(arrivalMs + 2 * DAY_MS).getUTCFullYear()
  return Array.from({ length: YEARS_BACK_MAX + 2 }, (_, back) => latest - back)
}

type Parts = Readonly<Record<string, string | undefined>>

/** The local time as if it were UTC; undefined when no such day or time of day exists. */
function localOf({ month = '', day, hour: written, minute, second, half }: Parts, year: number): number | undefined {
  const number = /^\d/.test(month) ? Number(month) : months.indexOf(month) + 1
  const hour = half === undefined ? Number(written) : hourOf(Number(written), half)
  if (hour === undefined || hour > 23 || Number(minute) > 59 || Number(second) > 60) return undefined
  const midnight = new Date(Date.UTC(year, number - 1, Number(day)))
  if (midnight.getUTCMonth() !== number - 1 || midnight.getUTCDate() !== Number(day)) return undefined
  return midnight.getTime() + ((hour * 60 + Number(minute)) * 60 + Number(second)) * 1_000
}

const hourOf = (hour: number, half: string): number | undefined =>
  hour < 1 || hour > 12 ? undefined : (hour % 12) + (half === 'PM' ? 12 : 0)

function zoneMs(zone: string): number {
  const match = /^([+-])(\d\d):?(\d\d)$/.exec(zone)
  if (!match) return 0
  const [, sign, hours, minutes] = match
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000
}

const NS_PER_MS = 1_000_000n

/** The number of digits tells the unit: 10 seconds, 13 milliseconds, 16 microseconds, 19 nanoseconds. */
function fromEpoch(digits: string, fraction = ''): { ms: number; ns: number } {
  const scale = 19 - digits.length
  const total = BigInt(digits) * 10n ** BigInt(scale) + BigInt(fraction.slice(0, scale).padEnd(scale, '0') || '0')
  return { ms: Number(total / NS_PER_MS), ns: Number(total % NS_PER_MS) }
}
