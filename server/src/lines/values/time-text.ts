/** A point in time: whole milliseconds since 1970, and the nanoseconds beyond them (0 to 999 999). */
export type Instant = { readonly ms: number; readonly ns: number }

const NS_PER_MS = 1_000_000n

export const toNs = ({ ms, ns }: Instant): bigint => BigInt(ms) * NS_PER_MS + BigInt(ns)

export function fromNs(total: bigint): Instant {
  const ns = ((total % NS_PER_MS) + NS_PER_MS) % NS_PER_MS
  return { ms: Number((total - ns) / NS_PER_MS), ns: Number(ns) }
}

/**
 * The instant of a text, and the format in which the instant reproduces exactly that text, if any. A format is
 * - `n`, a unit (`s`, `m`, `u`, `n` for seconds to nanoseconds), and the digits after the point, if any: `ns`, `nm`, `ns6`
 * - `i`, the character between date and time, the character before the fraction, its digits, and the zone as written: `iT.3Z`, `i
 *   ,6+02:00`
 * - another letter in place of `i`, for times in front of text lines (Layout)
 * where the digits are `0` to `9`, or `*` for as many as are needed.
 */
export type ReadTime = { instant: Instant; format: string | undefined }

/** Reads every accepted notation of an event time: numbers by their size, ISO 8601, RFC 2822. */
export function readTime(text: string): ReadTime | undefined {
  if (text.length > TEXT_MAX) return undefined
  const found = readNumber(text) ?? readIso(text) ?? readMailDate(text)
  if (found?.format === undefined) return found
  return formatTime(found.instant, found.format) === text ? found : { instant: found.instant, format: undefined }
}

export const parseTime = (text: string): Instant | undefined => plainNumber(text) ?? nanoseconds(text) ?? readTime(text)?.instant

const SECONDS_DIGITS = 10
const MS_DIGITS = 13
const NS_DIGITS = 19
const FRACTION_DIGITS = 9
const [POINT, ZERO] = [0x2e, 0x30]

/** Reads seconds and milliseconds of this century, as most senders write them, in a tenth of the time. */
function plainNumber(text: string): Instant | undefined {
  const point = digitsEnd(text, 0, MS_DIGITS + 1)
  if ((point !== SECONDS_DIGITS && point !== MS_DIGITS) || text.charCodeAt(0) === ZERO) return undefined
  const digits = text.length - point - 1
  let fraction = 0
  if (digits >= 0) {
    const isFraction = digits > 0 && digits <= FRACTION_DIGITS && text.charCodeAt(point) === POINT
    if (!isFraction || digitsEnd(text, point + 1, text.length) < text.length) return undefined
    fraction = numberIn(text, point + 1, text.length) * 10 ** (FRACTION_DIGITS - digits)
  }
  const whole = numberIn(text, 0, point)
  if (point === MS_DIGITS) return { ms: whole, ns: Math.floor(fraction / 1_000) }
  return { ms: whole * 1_000 + Math.floor(fraction / 1_000_000), ns: fraction % 1_000_000 }
}

/** Reads nanoseconds without big numbers. */
function nanoseconds(text: string): Instant | undefined {
  const isPlain = text.length === NS_DIGITS && text.charCodeAt(0) !== ZERO && digitsEnd(text, 0, NS_DIGITS) === NS_DIGITS
  return isPlain ? { ms: numberIn(text, 0, MS_DIGITS), ns: numberIn(text, MS_DIGITS, NS_DIGITS) } : undefined
}

function digitsEnd(text: string, start: number, end: number): number {
  let at = start
  while (at < end && text.charCodeAt(at) >= ZERO && text.charCodeAt(at) <= ZERO + 9) at += 1
  return at
}

function numberIn(text: string, start: number, end: number): number {
  let number = 0
  for (let at = start; at < end; at += 1) number = number * 10 + text.charCodeAt(at) - ZERO
  return number
}

/** Writes an instant in the format that readTime found. */
export function formatTime(instant: Instant, format: string): string {
  return format.startsWith('n') ? formatNumber(instant, format) : formatIso(instant, format)
}

const TEXT_MAX = 64
const units = { s: 9, m: 6, u: 3, n: 0 } as const
type Unit = keyof typeof units
/** The number of digits decides the unit: below 1e11 seconds, then milliseconds, microseconds, nanoseconds. */
const unitByDigits: readonly (readonly [number, Unit])[] = [
  [11, 's'],
  [14, 'm'],
  [17, 'u'],
  [19, 'n'],
]

function readNumber(text: string): ReadTime | undefined {
  const match = /^\+?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text)
  if (!match) return undefined
  const [, written = '', writtenFraction = '', exponent] = match
  const [whole, fraction] = exponent === undefined ? [written, writtenFraction] : shiftPoint(written, writtenFraction, Number(exponent))
  const digits = whole.replace(/^0+(?=.)/, '')
  const unit = unitByDigits.find(([digitsMax]) => digits.length <= digitsMax)?.[1]
  if (unit === undefined) return undefined
  const scale = units[unit]
  const ns = BigInt(digits) * 10n ** BigInt(scale) + BigInt(fraction.slice(0, scale).padEnd(scale, '0') || '0')
  return { instant: fromNs(ns), format: exponent === undefined ? `n${unit}${digitsCode(writtenFraction)}` : undefined }
}

function shiftPoint(whole: string, fraction: string, exponent: number): [string, string] {
  const digits = whole + fraction
  const point = whole.length + exponent
  if (point <= 0) return ['0', '0'.repeat(-point) + digits]
  return [digits.slice(0, point).padEnd(point, '0'), digits.slice(point)]
}

function formatNumber(instant: Instant, format: string): string {
  const unit = format.charAt(1) as Unit
  const total = toNs(instant)
  const one = 10n ** BigInt(units[unit])
  const fraction = units[unit] === 0 ? '' : (total % one).toString().padStart(units[unit], '0')
  return `${total / one}${fractionText('.', fraction, format.slice(2))}`
}

/** Gives common lengths a code each and all others one code; writers produce those by dropping trailing zeros. */
export function digitsCode(fraction: string): string {
  if (fraction === '') return ''
  return fraction.length % 3 === 0 || fraction.endsWith('0') ? String(fraction.length) : '*'
}

function fractionText(point: string, fraction: string, code: string): string {
  if (code === '' || code === '0') return ''
  const digits = code === '*' ? fraction.replace(/0+$/, '') : fraction.slice(0, Number(code))
  return digits === '' ? '' : point + digits
}

const ISO =
  /^(\d{4})([-/])(\d\d)\2(\d\d)([Tt ])(\d\d):(\d\d)(?::(\d\d)(?:([.,])(\d+))?)?( ?(?:[Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?(?: [A-Z]{2,5})?))?(\[[\w/+-]{1,40}\])?$/

/** Reads dates with dashes or slashes, and the basic form of ISO 8601, which no format reproduces. */
function readIso(text: string): ReadTime | undefined {
  const match = ISO.exec(text)
  if (!match) return readBasicIso(text)
  const [, year, sign, month, day, between, hour, minute, second, point = '.', fraction = '', zone = '', place = ''] = match
  const instant = instantOf([year, month, day, hour, minute, second], fraction, zone)
  if (!instant) return undefined
  const layout: Layout = sign === '/' ? 's' : 'i'
  return { instant, format: second === undefined ? undefined : `${layout}${between}${point}${digitsCode(fraction) || '0'}${zone}${place}` }
}

const BASIC_ISO = /^(\d{4})(\d\d)(\d\d)[Tt](\d\d)(\d\d)(?:(\d\d)(?:[.,](\d+))?)?( ?(?:[Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?))?$/

function readBasicIso(text: string): ReadTime | undefined {
  const match = BASIC_ISO.exec(text)
  if (!match) return undefined
  const [, year, month, day, hour, minute, second, fraction = '', zone = ''] = match
  const instant = instantOf([year, month, day, hour, minute, second], fraction, zone)
  return instant && { instant, format: undefined }
}

/** Takes year to second as written; a time of day may have no seconds. The fraction of the end of a day is zero. */
function instantOf(written: readonly (string | undefined)[], fraction: string, zone: string): Instant | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = written.map((part) => Number(part ?? 0))
  const localMs = civilMs(year, month, day, hour, minute, second)
  const offsetMs = zoneOffsetMs(zone)
  if (localMs === undefined || offsetMs === undefined || (hour === DAY_HOURS && /[1-9]/.test(fraction))) return undefined
  return withFraction(localMs - offsetMs, fraction)
}

/**
 * The order in which a format writes date and time of day:
 * - `i` 2026-11-20T10:00:00 and `s` the same with slashes in the date
 * - `b` Nov 02 10:00:00, `B` with a space in place of the zero; `y` and `Y` the same with the year after the day
 * - `a` 02/Nov/2026:10:00:00
 * - `k` 1102 10:00:00.123456 and `g` 11-02 10:00:00.123, without a year
 * - `w` Mon Nov 02 10:00:00.123 2026, `W` with a space in place of the zero
 */
export type Layout = 'i' | 's' | 'b' | 'B' | 'y' | 'Y' | 'a' | 'k' | 'g' | 'w' | 'W'

function formatIso(instant: Instant, format: string): string {
  const zone = format.slice(4)
  const local = new Date(instant.ms + (zoneOffsetMs(zone.replace(/\[.*/, '')) ?? 0))
  const iso = local.toISOString()
  const fraction = iso.slice(20, 23) + String(instant.ns).padStart(6, '0')
  const clock = iso.slice(11, 19) + fractionText(format.charAt(2), fraction, format.charAt(3))
  const date = iso.slice(0, 10)
  const layout = format.charAt(0) as Layout
  if (layout === 'i') return date + format.charAt(1) + clock + zone
  if (layout === 's') return date.replaceAll('-', '/') + format.charAt(1) + clock + zone
  if (layout === 'k') return `${date.slice(5, 7)}${date.slice(8)} ${clock}`
  if (layout === 'g') return `${date.slice(5)} ${clock}`
  const [year, month, padded] = [date.slice(0, 4), months[local.getUTCMonth()] ?? '', date.slice(8)]
  if (layout === 'a') return `${padded}/${month}/${year}:${clock}${zone}`
  const day = layout === layout.toLowerCase() ? padded : String(local.getUTCDate()).padStart(2, ' ')
  switch (layout.toLowerCase()) {
    case 'y':
      return `${month} ${day} ${year} ${clock}`
    case 'w':
      return `${weekdays[local.getUTCDay()]} ${month} ${day} ${clock} ${year}`
    default:
      return `${month} ${day} ${clock}`
  }
}

function withFraction(ms: number, fraction: string): Instant {
  const digits = fraction.slice(0, 9).padEnd(9, '0')
  return { ms: ms + Number(digits.slice(0, 3)), ns: Number(digits.slice(3)) }
}

const DAY_HOURS = 24

/** Converts a date and time of day in UTC; undefined when no such day or hour exists. A leap second counts as the next minute, 24:00:00 as the next day. */
function civilMs(year: number, month: number, day: number, hour: number, minute: number, second: number): number | undefined {
  if (hour > DAY_HOURS || (hour === DAY_HOURS && minute + second > 0) || minute > 59 || second > 60) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1_000
}

const MS_PER_MINUTE = 60_000
const MS_PER_HOUR = 3_600_000

/** The offset of a zone from UTC. No zone means UTC. */
export function zoneOffsetMs(zone: string): number | undefined {
  const match = /^ ?([+-])(\d\d):?(\d\d)?/.exec(zone)
  if (!match) return (namedZones.get(zone.trim()) ?? 0) * MS_PER_HOUR
  const [, sign, hours, minutes = '0'] = match
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined
  return (sign === '-' ? -1 : 1) * (Number(hours) * MS_PER_HOUR + Number(minutes) * MS_PER_MINUTE)
}

/** The named zones of RFC 2822, in hours ahead of UTC. */
const namedZones: ReadonlyMap<string, number> = new Map(
  Object.entries<number>({ EDT: -4, EST: -5, CDT: -5, CST: -6, MDT: -6, MST: -7, PDT: -7, PST: -8 }),
)
const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
export const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MAIL_DATE =
  /^(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ?)?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d)(?::(\d\d))?( (?:[+-]\d{4}|GMT|UTC?|Z|[ECMP][SD]T))?$/

function readMailDate(text: string): ReadTime | undefined {
  const match = MAIL_DATE.exec(text)
  if (!match) return undefined
  const [, day, monthName = '', year, hour, minute, second = '0', zone = ''] = match
  const month = months.indexOf(monthName) + 1
  const localMs = civilMs(Number(year), month, Number(day), Number(hour), Number(minute), Number(second))
  const offsetMs = zoneOffsetMs(zone)
  if (month === 0 || localMs === undefined || offsetMs === undefined) return undefined
  return { instant: { ms: localMs - offsetMs, ns: 0 }, format: undefined }
}
