import { byteAt, copyBytes, isSame } from './bytes'
import { readTime, timeMs, timeNs } from './host'
import { LAYOUT_BYTES, LAYOUTS, LAYOUTS_MAX } from './memory'

/** Reads times as readTime of time-text.ts does. Layouts that are new, and rare notations, are left to it. */
const TEXT_MAX: i32 = 64
const SECONDS_DIGITS: i32 = 10
const MS_DIGITS: i32 = 13
const US_DIGITS: i32 = 16
const NS_DIGITS: i32 = 19
/** Numbers of fewer digits are seconds before 2000, which no event has. */
const EARLY_DIGITS: i32 = 8

/** The formats of numbers are the first ones: for each unit without a fraction, with one of 1 to 9 digits, and with any other. */
const NUMBER_FORMATS: i32 = 11
const OTHER_FRACTION: i32 = 10

const ZERO: i32 = 0x30
const POINT: i32 = 0x2e
const COMMA: i32 = 0x2c
const COLON: i32 = 0x3a
const DASH: i32 = 0x2d
const SLASH: i32 = 0x2f
const SPACE: i32 = 0x20
const DATE_LENGTH: i32 = 10
const CLOCK_END: i32 = 19
const UPPER_T: i32 = 0x54
/** Without this bit, a letter is a capital. */
const CAPITAL: i32 = 0xdf

/** The bit of a layout whose date has slashes: digits and lengths are far below it. */
const SLASHED: i32 = 1 << 30

/** The fields of a layout: the bytes between and behind date, clock and fraction. */
const KEY_LENGTH: i32 = 0
const FORMAT: i32 = 4
const OFFSET_MS: i32 = 8
const KEY_TEXT: i32 = 16

/** The number of the format plus 1, as the host numbers them; 0 for a time that no format reproduces. */
let format: i32 = 0
let ms: f64 = 0
let ns: i32 = 0
export function formatOfTime(): i32 {
  return format
}
export function msOfTime(): f64 {
  return ms
}
export function nsOfTime(): i32 {
  return ns
}

let layouts: i32 = 0
/** The date that was read last. */
let lastDate: u64 = 0
let lastDay: i32 = -1
let lastDayMs: f64 = 0

export function clearTimes(): void {
  layouts = 0
}

/** False for a text that is no time, or that is a time which no event can have. */
export function isTimeOfEvent(start: i32, end: i32): bool {
  const length = end - start
  return !(length <= EARLY_DIGITS && digitsEnd(start, end) === end) && isTime(start, end)
}

/** False for a text that is no time. */
export function isTime(start: i32, end: i32): bool {
  const length = end - start
  if (length === 0 || length > TEXT_MAX) return false
  const digits = digitsEnd(start, end) - start
  if (digits >= SECONDS_DIGITS) {
    if (isNumber(start, end, digits)) return true
  } else if (digits === 4 && length >= CLOCK_END && isDated(start, end)) return true
  return mayBeTime(start, end) && isReadByHost(start, length)
}

function isReadByHost(start: i32, length: i32): bool {
  const number = readTime(start, length)
  if (number < 0) return false
  format = number
  ms = timeMs()
  ns = timeNs()
  return true
}

/** Reads seconds and milliseconds, also with a fraction, and whole micro- and nanoseconds. */
function isNumber(start: i32, end: i32, digits: i32): bool {
  if (byteAt(start) === ZERO || (digits !== SECONDS_DIGITS && digits !== MS_DIGITS && digits !== US_DIGITS && digits !== NS_DIGITS))
    return false
  const point = start + digits
  let fraction = end - point
  if (fraction > 0) {
    fraction -= 1
    if (digits > MS_DIGITS || fraction === 0 || digits + fraction > NS_DIGITS) return false
    if (byteAt(point) !== POINT || digitsEnd(point + 1, end) !== end) return false
  }
  if (digits === SECONDS_DIGITS) {
    let nanos = numberIn(point + 1, end)
    for (let place = fraction; place < 9; place += 1) nanos *= 10
    ns = i32(nanos % 1000000)
    ms = f64(numberIn(start, point) * 1000 + nanos / 1000000)
  } else {
    let nanos = digits > MS_DIGITS ? numberIn(start + MS_DIGITS, point) : numberIn(point + 1, end)
    for (let place = digits > MS_DIGITS ? digits - MS_DIGITS : fraction; place < 6; place += 1) nanos *= 10
    ns = i32(nanos)
    ms = f64(numberIn(start, start + MS_DIGITS))
  }
  const unit = digits === SECONDS_DIGITS ? 0 : digits === MS_DIGITS ? 1 : digits === US_DIGITS ? 2 : 3
  const code = fraction === 0 || fraction % 3 === 0 || byteAt(end - 1) === ZERO ? fraction : OTHER_FRACTION
  format = unit * NUMBER_FORMATS + code + 1
  return true
}

/** Reads a date with dashes or slashes, a clock, a fraction and a zone in a layout that is known. */
function isDated(start: i32, end: i32): bool {
  const sign = byteAt(start + 4)
  if ((sign !== DASH && sign !== SLASH) || byteAt(start + 7) !== sign || byteAt(start + 13) !== COLON || byteAt(start + 16) !== COLON)
    return false
  const dayMs = dayOf(start)
  const hour = twoDigits(start + 11)
  const minute = twoDigits(start + 14)
  const second = twoDigits(start + 17)
  if (dayMs < 0 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false
  let zone = start + CLOCK_END
  let nanos: i64 = 0
  let digits = 0
  const mark = zone < end ? byteAt(zone) : 0
  if (mark === POINT || mark === COMMA) {
    zone = digitsEnd(zone + 1, end)
    digits = zone - start - CLOCK_END - 1
    if (digits === 0 || digits > 9) return false
    nanos = numberIn(start + CLOCK_END + 1, zone)
    for (let place = digits; place < 9; place += 1) nanos *= 10
  }
  const isWhole = digits % 3 === 0 || byteAt(zone - 1) === ZERO
  const layout = layoutOf(start, end, zone, mark, isWhole ? digits : OTHER_FRACTION)
  if (layout === 0) return false
  const localMs = dayMs + f64(((hour * 60 + minute) * 60 + second) * 1000) + f64(nanos / 1000000)
  ns = i32(nanos % 1000000)
  if (load<i32>(layout, FORMAT) >= 0) {
    format = load<i32>(layout, FORMAT)
    ms = localMs - load<f64>(layout, OFFSET_MS)
    return true
  }
  if (!isReadByHost(start, end - start)) {
    layouts -= 1
    return false
  }
  store<i32>(layout, format, FORMAT)
  store<f64>(layout, localMs - ms, OFFSET_MS)
  return true
}

/** The layout of a time; a new one has no format yet. 0 when there is no room. */
function layoutOf(start: i32, end: i32, zone: i32, mark: i32, digits: i32): i32 {
  const length = end - zone
  const isSlashed = byteAt(start + 4) === SLASH ? SLASHED : 0
  const head = byteAt(start + DATE_LENGTH) | isSlashed | (digits << 8) | ((digits > 0 ? mark : 0) << 16) | (length << 24)
  for (let number = 0; number < layouts; number += 1) {
    const layout = LAYOUTS + number * LAYOUT_BYTES
    if (load<i32>(layout, KEY_LENGTH) === head && isSame(zone, layout + KEY_TEXT, length)) return layout
  }
  if (layouts === LAYOUTS_MAX) layouts = 0
  const layout = LAYOUTS + layouts * LAYOUT_BYTES
  layouts += 1
  store<i32>(layout, head, KEY_LENGTH)
  store<i32>(layout, -1, FORMAT)
  copyBytes(layout + KEY_TEXT, zone, length)
  return layout
}

/** The milliseconds of a date since 1970; below 0 for one before, or one that does not exist. */
function dayOf(start: i32): f64 {
  const date = load<u64>(start)
  const day = twoDigits(start + 8)
  if (date === lastDate && day === lastDay) return lastDayMs
  const century = twoDigits(start)
  const years = twoDigits(start + 2)
  const month = twoDigits(start + 5)
  if (century < 0 || years < 0 || month < 1 || month > 12 || day < 1) return -1
  const year = century * 100 + years
  const isLeap = (year & 3) === 0 && (year % 100 !== 0 || year % 400 === 0)
  const last = month === 2 ? (isLeap ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  if (year < 1970 || day > last) return -1
  const shifted = month <= 2 ? year - 1 : year
  const ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  const days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 719468
  lastDate = date
  lastDay = day
  lastDayMs = f64(days) * 86400000
  return lastDayMs
}

function twoDigits(at: i32): i32 {
  const tens = byteAt(at) - ZERO
  const ones = byteAt(at + 1) - ZERO
  return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : tens * 10 + ones
}

function digitsEnd(start: i32, end: i32): i32 {
  let at = start
  while (at < end && byteAt(at) >= ZERO && byteAt(at) <= ZERO + 9) at += 1
  return at
}

function numberIn(start: i32, end: i32): i64 {
  let number: i64 = 0
  for (let at = start; at < end; at += 1) number = number * 10 + i64(byteAt(at) - ZERO)
  return number
}

/** False for most texts that are no time: a time is a number, or begins with `YYYY-`, `YYYY/`, `YYYYMMDDT`, a day of the month and a space, or a weekday and a comma. */
function mayBeTime(start: i32, end: i32): bool {
  if (start + 4 < end && (byteAt(start + 4) === DASH || byteAt(start + 4) === SLASH || byteAt(start + 3) === COMMA)) return true
  if (start + 8 < end && (byteAt(start + 8) & CAPITAL) === UPPER_T) return true
  if (start + 2 < end && (byteAt(start + 1) === SPACE || byteAt(start + 2) === SPACE)) return true
  for (let at = start; at < end; at += 1) {
    const byte = byteAt(at)
    const isDigit = byte >= ZERO && byte <= ZERO + 9
    if (!isDigit && byte !== POINT && byte !== DASH && byte !== 0x2b && byte !== 0x45 && byte !== 0x65) return false
  }
  return true
}
