import { byteAt, copyBytes, hashOf, isSame } from './bytes'
import { scratchEnd } from './escapes'
import { learnFormat } from './host'
import { TEXT_FORMAT_BYTES, TEXT_FORMATS, TEXT_FORMATS_MAX } from './memory'
import { DIGIT, isByte, isKind, isWordAt, kindAt, LOWER, runEnd, TIME_END, UPPER } from './text-kinds'

/** Reads times in front of texts as ingest/detect/time.ts does. */
const DAY_MS: f64 = 86400000
const DAY_HOURS: i32 = 24
const FRACTION_DIGITS: i32 = 9
const CLOCK_LENGTH: i32 = 8
const DATE_LENGTH: i32 = 11
const NONE: i32 = -1
const NO_OFFSET: f64 = 86400000000
const NO_DAY: i32 = i32.MIN_VALUE

const OTHER_FRACTION: i32 = 0x2a
const ZERO: i32 = 0x30
/** Without this bit, a letter is a capital. */
const CAPITAL: i32 = 0xdf
const SPACE: i32 = 0x20
const DASH: i32 = 0x2d
const SLASH: i32 = 0x2f
const COLON: i32 = 0x3a
const POINT: i32 = 0x2e
const COMMA: i32 = 0x2c
const PLUS: i32 = 0x2b

/** The time that was read last: its place, whether such a day and hour exist, and its instant. */
let start: i32 = NONE
let end: i32 = 0
let exists: bool = false
let ms: f64 = 0
let ns: i32 = 0

/** How it is written: the letter of its layout (time-text.ts), 0 when no format writes it so, the fraction with its sign, and the zone. */
let layout: i32 = 0
/** The number of its format, NONE as long as nobody asked. */
let format: i32 = 0
let between: i32 = SPACE
let point: i32 = 0
let fractionTo: i32 = 0
let zoneTo: i32 = 0

export function clearTextTime(): void {
  start = NONE
  exists = false
}
export function hasTextTime(): bool {
  return start !== NONE
}
export function textTimeExists(): bool {
  return exists
}
export function textTimeEnd(): i32 {
  return end
}
export function msOfText(): f64 {
  return ms
}
export function nsOfText(): i32 {
  return ns
}
/** Puts back what was read before, with the number of its format. */
export function setTextTime(from: i32, to: i32, isThere: bool, fullMs: f64, restNs: i32, number: i32): void {
  start = from
  end = to
  format = number
  exists = isThere
  ms = fullMs
  ns = restNs
}
export function textTimeStart(): i32 {
  return start
}

/** The number of the format that writes the time as it is written, plus 1; 0 for none. */
export function formatOfText(): i32 {
  if (start === NONE || !exists) return 0
  if (format === NONE) format = layout === 0 ? 0 : readFormat()
  return format
}

function readFormat(): i32 {
  const digits = fractionTo - point - 1
  const isWhole = digits <= 0 || digits % 3 === 0 || byteAt(fractionTo - 1) === ZERO
  const text = scratchEnd()
  store<u8>(text, layout)
  store<u8>(text + 1, between)
  store<u8>(text + 2, digits > 0 ? byteAt(point) : POINT)
  store<u8>(text + 3, isWhole ? ZERO + max(digits, 0) : OTHER_FRACTION)
  copyBytes(text + 4, fractionTo, zoneTo - fractionTo)
  return numberOfFormat(text, 4 + zoneTo - fractionTo)
}

/** The host numbers the formats. */
function numberOfFormat(text: i32, length: i32): i32 {
  const known = TEXT_FORMATS + (hashOf(text, length, 0) & (TEXT_FORMATS_MAX - 1)) * TEXT_FORMAT_BYTES
  if (load<i32>(known) === length && isSame(text, known + 8, length)) return load<i32>(known, 4)
  store<i32>(known, length)
  store<i32>(known, learnFormat(text, length), 4)
  copyBytes(known + 8, text, length)
  return load<i32>(known, 4)
}

export function clearTextFormats(): void {
  memory.fill(TEXT_FORMATS, 0, TEXT_FORMATS_MAX * TEXT_FORMAT_BYTES)
}

/** The year of the day after the arrival, and the end of that day: a time without a year is not later. */
let year: i32 = 0
let latestMs: f64 = 0
export function setTextArrival(atMs: f64): void {
  latestMs = atMs + DAY_MS
  year = yearOf(latestMs)
}

/** Reads a numeric date and time, also with slashes. The text behind it must not continue the time. */
export function readIsoTime(from: i32, to: i32): bool {
  const clock = from + DATE_LENGTH
  if (clock + CLOCK_LENGTH > to || !areDigits(from, 4) || !areDigits(from + 5, 2) || !areDigits(from + 8, 2)) return false
  const sign = byteAt(from + 4)
  const second = byteAt(from + 7)
  const separator = byteAt(from + 10)
  if ((sign !== DASH && sign !== SLASH) || (second !== DASH && second !== SLASH) || (separator !== 0x54 && separator !== SPACE))
    return false
  if (!isClock(clock, to)) return false
  const clockEnd = clock + CLOCK_LENGTH
  let fraction = clockEnd
  let tail = NONE
  if (clockEnd < to && (byteAt(clockEnd) === POINT || byteAt(clockEnd) === COMMA)) {
    fraction = runEnd(clockEnd + 1, min(to, clockEnd + 1 + FRACTION_DIGITS), DIGIT)
    if (fraction > clockEnd + 1) tail = zoneEnd(fraction, to)
  } else tail = zoneEnd(clockEnd, to)
  if (tail < 0) {
    // A comma may follow the time.
    if (!isByte(clockEnd, to, COMMA)) return false
    fraction = clockEnd
    tail = clockEnd
  }
  start = from
  end = tail
  exists = false
  format = 0
  if (sign === DASH && second === SLASH) return true
  const day = dayOf(numberIn(from, from + 4), twoDigits(from + 5), twoDigits(from + 8))
  const offset = offsetMs(fraction, tail)
  setInstant(day, clock, clockEnd + 1, fraction, offset)
  setForm(sign !== second ? 0 : sign === DASH ? 0x69 : 0x73, clockEnd, fraction, tail)
  between = separator
  return true
}

/** Notes how the time is written. No format writes a leap second or the end of a day as 24:00:00. */
function setForm(written: i32, from: i32, fraction: i32, zone: i32): void {
  layout = twoDigits(from - 2) > 59 || twoDigits(from - CLOCK_LENGTH) === DAY_HOURS ? 0 : written
  format = NONE
  between = SPACE
  point = from
  fractionTo = fraction
  zoneTo = zone
}

/** The end of a time whose zone may begin here; -1 when the text continues. */
function zoneEnd(at: i32, to: i32): i32 {
  const zone = isByte(at, to, SPACE) ? at + 1 : at
  let last = NONE
  if (zone < to) {
    const first = byteAt(zone)
    if (first === 0x5a) last = zone + 1
    else if (first === 0x55 && isWordAt(zone, to, 'UTC')) last = zone + 3
    else if ((first === PLUS || first === DASH) && zone + 3 <= to && areDigits(zone + 1, 2)) {
      const minutes = isByte(zone + 3, to, COLON) ? zone + 4 : zone + 3
      if (minutes + 2 <= to && areDigits(minutes, 2) && endsAt(minutes + 2, to)) return minutes + 2
      last = zone + 3
    }
  }
  if (last !== NONE && endsAt(last, to)) return last
  return endsAt(at, to) ? at : NONE
}

function endsAt(at: i32, to: i32): bool {
  return at >= to || (kindAt(at) & TIME_END) !== 0
}

/** The offset of a written zone in milliseconds; NO_OFFSET for one that does not exist. */
function offsetMs(zone: i32, to: i32): f64 {
  let at = zone
  if (at < to && byteAt(at) === SPACE) at += 1
  if (at >= to || (byteAt(at) !== PLUS && byteAt(at) !== DASH)) return 0
  const hours = twoDigits(at + 1)
  let minutes = at + 3
  if (isByte(minutes, to, COLON)) minutes += 1
  const rest = minutes + 2 <= to ? twoDigits(minutes) : 0
  if (hours > 23 || rest > 59) return NO_OFFSET
  const offset = f64(hours * 60 + rest) * 60000
  return byteAt(at) === DASH ? -offset : offset
}

/** Reads `Nov 02 10:00:00.123`, also with its year behind the day, followed by a space or a colon and a space. */
export function readSyslogTime(from: i32, to: i32): bool {
  if (!isMonthWord(from, to) || !isByte(from + 3, to, SPACE)) return false
  const day = isByte(from + 4, to, SPACE) ? from + 5 : from + 4
  const dayEnd = runEnd(day, min(to, day + 2), DIGIT)
  if (dayEnd === day || !isByte(dayEnd, to, SPACE)) return false
  let clock = dayEnd + 1
  let written = NONE
  if (!isClock(clock, to)) {
    if (clock + 5 > to || !areDigits(clock, 4) || byteAt(clock + 4) !== SPACE) return false
    written = numberIn(clock, clock + 4)
    clock += 5
    if (!isClock(clock, to)) return false
  }
  const fraction = fractionEnd(clock + CLOCK_LENGTH, to)
  if (!isByte(fraction, to, SPACE) && !(isByte(fraction, to, COLON) && isByte(fraction + 1, to, SPACE))) return false
  setNamed(from, fraction, written, monthAt(from), numberIn(day, dayEnd), clock, fraction, 0)
  // The day takes two places, the first of which is a zero or a space.
  const isPadded = byteAt(from + 4) === ZERO
  const hour = written === NONE ? 0x62 : 0x79
  setForm(dayEnd - from !== 6 ? 0 : isPadded ? hour : hour & CAPITAL, clock + CLOCK_LENGTH, fraction, fraction)
  return true
}

/** Reads `Mon Nov  2 10:00:00.123 2026`, also with a comma behind the weekday. */
export function readWeekdayTime(from: i32, to: i32): bool {
  if (!isWeekday(from, to)) return false
  let month = from + 3
  if (isByte(month, to, COMMA)) month += 1
  if (!isByte(month, to, SPACE)) return false
  month += 1
  if (!isMonthWord(month, to) || !isByte(month + 3, to, SPACE)) return false
  const day = isByte(month + 4, to, SPACE) ? month + 5 : month + 4
  const dayEnd = runEnd(day, min(to, day + 2), DIGIT)
  if (dayEnd === day || !isByte(dayEnd, to, SPACE) || !isClock(dayEnd + 1, to)) return false
  const fraction = fractionEnd(dayEnd + 1 + CLOCK_LENGTH, to)
  if (!isByte(fraction, to, SPACE) || fraction + 5 > to || !areDigits(fraction + 1, 4)) return false
  setNamed(from, fraction + 5, numberIn(fraction + 1, fraction + 5), monthAt(month), numberIn(day, dayEnd), dayEnd + 1, fraction, 0)
  const isWritten = month === from + 4 && dayEnd - month === 6 && isWeekdayOf(from)
  setForm(!isWritten ? 0 : byteAt(month + 4) === ZERO ? 0x77 : 0x57, dayEnd + 1 + CLOCK_LENGTH, fraction, fraction)
  return true
}

/** Reads `02/Nov/2026:10:00:00 +0200`. */
export function readAccessTime(from: i32, to: i32): bool {
  if (from + 26 > to || !areDigits(from, 2) || byteAt(from + 2) !== SLASH || !isMonthWord(from + 3, to)) return false
  if (byteAt(from + 6) !== SLASH || !areDigits(from + 7, 4) || byteAt(from + 11) !== COLON || !isClock(from + 12, to)) return false
  const sign = byteAt(from + 21)
  if (byteAt(from + 20) !== SPACE || (sign !== PLUS && sign !== DASH) || !areDigits(from + 22, 4)) return false
  const offset = offsetMs(from + 20, from + 26)
  setNamed(from, from + 26, numberIn(from + 7, from + 11), monthAt(from + 3), twoDigits(from), from + 12, from + 20, offset)
  setForm(0x61, from + 20, from + 20, from + 26)
  return true
}

/** Reads `1102 10:00:00.123456`, or with a dash in the date, and so many digits behind the point. False also for a time that does not exist. */
export function readShortTime(from: i32, to: i32, dash: i32, digits: i32): bool {
  const clock = from + 5 + dash
  const point = clock + CLOCK_LENGTH
  if (point + 1 + digits > to || !areDigits(from, 2) || !areDigits(from + 2 + dash, 2)) return false
  if (dash === 1 && byteAt(from + 2) !== DASH) return false
  if (byteAt(clock - 1) !== SPACE || !isClock(clock, to) || byteAt(point) !== POINT || !areDigits(point + 1, digits)) return false
  const last = point + 1 + digits
  setNamed(from, last, NONE, twoDigits(from), twoDigits(from + 2 + dash), clock, last, 0)
  setForm(dash === 1 ? 0x67 : 0x6b, point, last, last)
  return exists
}

/** A time without a year is the latest one that is at most a day ahead. */
function setNamed(from: i32, to: i32, written: i32, month: i32, day: i32, clock: i32, fraction: i32, offset: f64): void {
  start = from
  end = to
  const first = clock + CLOCK_LENGTH + 1
  setInstant(dayOf(written === NONE ? year : written, month, day), clock, first, fraction, offset)
  if (written === NONE && !(exists && ms <= latestMs)) setInstant(dayOf(year - 1, month, day), clock, first, fraction, offset)
}

/** The fraction lies from `first` to `last`; there is none when it ends before. */
function setInstant(day: i32, clock: i32, first: i32, last: i32, offset: f64): void {
  const hour = twoDigits(clock)
  const minute = twoDigits(clock + 3)
  const second = twoDigits(clock + 6)
  let nanos = 0
  if (last > first) {
    nanos = numberIn(first, last)
    for (let digits = last - first; digits < FRACTION_DIGITS; digits += 1) nanos *= 10
  }
  const isHour = hour < DAY_HOURS || (hour === DAY_HOURS && (minute | second | nanos) === 0)
  exists = day !== NO_DAY && offset !== NO_OFFSET && isHour && minute <= 59 && second <= 60
  if (!exists) return
  ms = f64(day) * DAY_MS + f64(((hour * 60 + minute) * 60 + second) * 1000 + nanos / 1000000) - offset
  ns = nanos % 1000000
}

/** The end of a point and up to nine digits; where it would begin for none. */
function fractionEnd(at: i32, to: i32): i32 {
  if (!isByte(at, to, POINT)) return at
  const last = runEnd(at + 1, min(to, at + 1 + FRACTION_DIGITS), DIGIT)
  return last > at + 1 ? last : at
}

export function isClock(at: i32, to: i32): bool {
  if (at + CLOCK_LENGTH > to || byteAt(at + 2) !== COLON || byteAt(at + 5) !== COLON) return false
  return areDigits(at, 2) && areDigits(at + 3, 2) && areDigits(at + 6, 2)
}

function areDigits(at: i32, count: i32): bool {
  for (let place = at; place < at + count; place += 1) if (byteAt(place) < ZERO || byteAt(place) > ZERO + 9) return false
  return true
}

function twoDigits(at: i32): i32 {
  return (byteAt(at) - ZERO) * 10 + byteAt(at + 1) - ZERO
}

function numberIn(from: i32, to: i32): i32 {
  let number = 0
  for (let at = from; at < to; at += 1) number = number * 10 + byteAt(at) - ZERO
  return number
}

/** A capital and two small letters, as the names of months have. */
function isMonthWord(at: i32, to: i32): bool {
  return isKind(at, to, UPPER) && isKind(at + 1, to, LOWER) && isKind(at + 2, to, LOWER)
}

const MONTHS: string = 'JanFebMarAprMayJunJulAugSepOctNovDec'
const WEEKDAYS: string = 'MonTueWedThuFriSatSun'

/** The number of a month by its name; 0 for another word. */
function monthAt(at: i32): i32 {
  return 1 + nameAt(MONTHS, at)
}

function isWeekday(at: i32, to: i32): bool {
  return at + 3 <= to && nameAt(WEEKDAYS, at) >= 0
}

/** True when the name is that of the day that was read. */
function isWeekdayOf(at: i32): bool {
  return exists && nameAt(WEEKDAYS, at) === i32((Math.floor(ms / DAY_MS) + 3) % 7)
}

function nameAt(names: string, at: i32): i32 {
  for (let index = 0; index < names.length; index += 3) {
    const name = changetype<usize>(names) + (index << 1)
    if (byteAt(at) === load<u16>(name) && byteAt(at + 1) === load<u16>(name, 2) && byteAt(at + 2) === load<u16>(name, 4)) return index / 3
  }
  return NONE
}

/** The days of a date since 1970; NO_DAY for one that does not exist. */
function dayOf(fullYear: i32, month: i32, day: i32): i32 {
  if (month < 1 || month > 12 || day < 1) return NO_DAY
  const isLeap = (fullYear & 3) === 0 && (fullYear % 100 !== 0 || fullYear % 400 === 0)
  const last = month === 2 ? (isLeap ? 29 : 28) : month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  if (day > last) return NO_DAY
  const shifted = (month <= 2 ? fullYear - 1 : fullYear) + 400
  const ofYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
  return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + ofYear - 865565
}

/** The year of an instant after 1970. */
function yearOf(instant: f64): i32 {
  const days = i32(instant / DAY_MS)
  let guess = 1970 + days / 366
  while (dayOf(guess + 1, 1, 1) <= days) guess += 1
  return guess
}
