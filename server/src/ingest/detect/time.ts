import type { PlainText } from '../../lines/plain-text.ts'
import type { FoundTime } from '../../lines/text-line.ts'
import { digitsCode, formatTime, type Instant, type Layout, months, readTime, zoneOffsetMs } from '../../lines/time-text.ts'
import { isAt } from '../../lines/walk.ts'

const DAY_MS = 86_400_000
const [COLON, ZERO, COMMA, DOT, SPACE, TAB, PLUS, MINUS, SLASH, CLOSING, BAR] = [
  0x3a, 0x30, 0x2c, 0x2e, 0x20, 9, 0x2b, 0x2d, 0x2f, 0x5d, 0x7c,
]
const [UPPER_C, UPPER_T, UPPER_U, UPPER_Z] = [0x43, 0x54, 0x55, 0x5a]

/**
 * Caches the pattern of the previous time: the text before the time of day and after its fraction. For a time with the same pattern it
 * parses only the digits.
 */
class Clock {
  private head = ''
  private headBytes: Uint8Array = new Uint8Array()
  private tailBytes: Uint8Array = new Uint8Array()
  private headMs = 0
  private atMs = 0
  private point = ''
  private digits = 0
  private tail = ''
  private format: string | undefined

  /** Returns undefined for other patterns, which may still be times. `arrival` decides the year of a time without one. */
  read(text: string, start: number, at: Instant): FoundTime | undefined {
    const { head, digits } = this
    if (head === '' || at.ms !== this.atMs || !text.startsWith(head, start)) return undefined
    const clock = start + head.length
    if (text.charCodeAt(clock + 2) !== COLON || text.charCodeAt(clock + 5) !== COLON) return undefined
    const [hour, minute, second] = [twoDigits(text, clock), twoDigits(text, clock + 3), twoDigits(text, clock + 6)]
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return undefined
    let end = clock + 8
    let nanos = 0
    if (digits > 0) {
      if (text[end] !== this.point) return undefined
      end += 1
      for (const stop = end + digits; end < stop; end += 1) {
        const digit = text.charCodeAt(end) - ZERO
        if (!(digit >= 0 && digit <= 9)) return undefined
        nanos = nanos * 10 + digit
      }
      for (let digit = digits; digit < 9; digit += 1) nanos *= 10
    }
    if (this.tail !== '' && !text.startsWith(this.tail, end)) return undefined
    const ns = nanos % 1_000_000
    const ms = this.headMs + ((hour * 60 + minute) * 60 + second) * 1_000 + (nanos - ns) / 1_000_000
    return { instant: { ms, ns }, format: this.format, start, end: end + this.tail.length }
  }

  /** The same on the bytes of an ASCII line, as far as the pattern alone decides. False for other patterns. */
  readBytes(bytes: Uint8Array, start: number, end: number, at: Instant, found: PlainText): boolean {
    const { headBytes, tailBytes, digits } = this
    if (at.ms !== this.atMs) return false
    const clock = start + headBytes.length
    const tail = clock + 8 + (digits > 0 ? 1 + digits : 0)
    if (headBytes.length === 0 || tail + tailBytes.length > end || !isAt(bytes, start, headBytes)) return false
    if (bytes[clock + 2] !== COLON || bytes[clock + 5] !== COLON || !isAt(bytes, tail, tailBytes)) return false
    // A list of the three would be garbage for every line.
    const hour = twoDigitBytes(bytes, clock)
    const minute = twoDigitBytes(bytes, clock + 3)
    const second = twoDigitBytes(bytes, clock + 6)
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false
    let nanos = 0
    if (digits > 0) {
      if (bytes[clock + 8] !== this.point.charCodeAt(0)) return false
      for (let place = clock + 9; place < tail; place += 1) {
        const digit = (bytes[place] as number) - ZERO
        if (digit < 0 || digit > 9) return false
        nanos = nanos * 10 + digit
      }
      for (let digit = digits; digit < 9; digit += 1) nanos *= 10
    }
    found.ns = nanos % 1_000_000
    found.ms = this.headMs + ((hour * 60 + minute) * 60 + second) * 1_000 + (nanos - found.ns) / 1_000_000
    found.format = this.format ?? ''
    found.timeStart = start
    found.timeEnd = tail + tailBytes.length
    return true
  }

  isOf({ head, point, fraction, tail }: Pattern): boolean {
    return this.head === head && this.point === point && this.digits === fraction.length && this.tail === tail
  }

  /** Caches the pattern of a time: the text before the time of day, the number of fraction digits, and the text after it. */
  remember(found: FoundTime, at: Instant, { head, clock, point, fraction, tail }: Pattern): FoundTime {
    const code = fraction === '' ? '0' : digitsCode(fraction)
    // Only with these lengths every fraction has the same format; with others the last digit decides.
    if (!found.instant || found.format === undefined || !/^[0369]$/.test(code)) return found
    const [hour = 0, minute = 0, second = 0] = clock.split(':').map(Number)
    const ofDayMs = ((hour * 60 + minute) * 60 + second) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'))
    this.head = head
    this.headBytes = Uint8Array.from(Buffer.from(head))
    this.tailBytes = Uint8Array.from(Buffer.from(tail))
    this.headMs = found.instant.ms - ofDayMs
    this.atMs = at.ms
    this.point = point
    this.digits = fraction.length
    this.tail = tail
    this.format = found.format
    return found
  }
}

type Pattern = { head: string; clock: string; point: string; fraction: string; tail: string }

function twoDigits(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at) - ZERO, text.charCodeAt(at + 1) - ZERO]
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}

const ISO =
  /(\d{4}([-/])\d\d[-/]\d\d([T ]))(\d\d:\d\d:\d\d)(?:([.,])(\d{1,9}))?( ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?)(?=[\s\],|]|$))?(?=[\s\],|]|$)/y
/** Enough for the notations of several programs that share a dataset, on either side of midnight. */
const ISO_CLOCKS = 8
const isoClocks = Array.from({ length: ISO_CLOCKS }, () => new Clock())
let oldestIsoClock = 0
/** A time with its year does not depend on the arrival. */
const ANY_ARRIVAL: Instant = { ms: 0, ns: 0 }
const ISO_ENDS = /[\s\],|]|$/y
/** Text that continues a time thought to have no fraction or no zone. */
const GOES_ON = /[.,]\d| ?(?:Z|UTC|[+-]\d)/y

/** Reads a numeric date and time at a position, also with slashes. The following text must not continue the time. */
export function isoTime(text: string, start: number): FoundTime | undefined {
  if (!isDigit(text.charCodeAt(start))) return undefined
  for (const clock of isoClocks) {
    const known = clock.read(text, start, ANY_ARRIVAL)
    if (known && matchesAt(ISO_ENDS, text, known.end) && !matchesAt(GOES_ON, text, known.end)) return known
  }
  ISO.lastIndex = start
  const match = ISO.exec(text)
  if (!match) return undefined
  const [whole, head = '', sign, , clock = '', point = '.', fraction = '', tail = ''] = match
  const read = readTime(sign === '/' ? whole.replaceAll('/', '-') : whole)
  const format = sign === '/' ? read?.format?.replace(/^i/, 's' satisfies Layout) : read?.format
  const found = { instant: read?.instant, format: isWritten(whole, read?.instant, format), start, end: start + whole.length }
  return rememberIso(found, { head, clock, point, fraction, tail })
}

function rememberIso(found: FoundTime, pattern: Pattern): FoundTime {
  const known = isoClocks.find((clock) => clock.isOf(pattern))
  if (known) return known.remember(found, ANY_ARRIVAL, pattern)
  oldestIsoClock = (oldestIsoClock + 1) % ISO_CLOCKS
  return (isoClocks[oldestIsoClock] as Clock).remember(found, ANY_ARRIVAL, pattern)
}

/** Reads such a time in an ASCII line; false when only isoTime can tell. */
export function readIsoBytes(bytes: Uint8Array, start: number, end: number, found: PlainText): boolean {
  for (let index = 0; index < ISO_CLOCKS; index += 1) {
    const clock = isoClocks[index] as Clock
    if (clock.readBytes(bytes, start, end, ANY_ARRIVAL, found) && endsIso(bytes, found.timeEnd, end)) return true
  }
  found.timeStart = -1
  return false
}

/** True when a time ends here, as ISO_ENDS and GOES_ON say. */
function endsIso(bytes: Uint8Array, at: number, end: number): boolean {
  if (at >= end) return true
  const byte = bytes[at] as number
  if (byte === COMMA || byte === DOT) return byte === COMMA && !isDigit(bytes[at + 1] ?? 0)
  const next = byte === SPACE ? (bytes[at + 1] ?? 0) : 0
  if (next === UPPER_Z || ((next === PLUS || next === MINUS) && isDigit(bytes[at + 2] ?? 0))) return false
  if (next === UPPER_U && bytes[at + 2] === UPPER_T && bytes[at + 3] === UPPER_C) return false
  return byte === SPACE || byte === TAB || byte === CLOSING || byte === BAR
}

/** True for the form of a date before a time: `2026-11-22T`, or with slashes or a space. */
export function mayBeIso(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 'YYYY-MM-DDThh:mm:ss'.length) return false
  for (let place = 0; place < 10; place += 1) {
    const byte = bytes[start + place] as number
    if (place === 4 || place === 7 ? byte !== MINUS && byte !== SLASH : !isDigit(byte)) return false
  }
  return bytes[start + 10] === UPPER_T || bytes[start + 10] === SPACE
}

function twoDigitBytes(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] as number) - ZERO
  const ones = (bytes[at + 1] as number) - ZERO
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

function matchesAt(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}

/** Returns the format if it reproduces the text. */
function isWritten(text: string, instant: Instant | undefined, format: string | undefined): string | undefined {
  return instant && format !== undefined && formatTime(instant, format) === text ? format : undefined
}

/** The parts of a time with a month name. `head` is the text before the time of day. */
export type NamedTime = {
  layout: Layout
  text: string
  head: string
  year?: string | undefined
  month: string
  day: string
  clock: string
  fraction?: string | undefined
  tail: string
}

/** Reads one notation of times with month names. A time without a year is the latest one that is at most a day ahead. */
export class NamedTimes {
  private readonly clock = new Clock()
  private readonly split: (text: string, start: number) => NamedTime | undefined

  constructor(split: (text: string, start: number) => NamedTime | undefined) {
    this.split = split
  }

  read(text: string, start: number, at: Instant): FoundTime | undefined {
    const known = this.clock.read(text, start, at)
    if (known && !isDigit(text.charCodeAt(known.end)) && text[known.end] !== '.') return known
    const named = this.split(text, start)
    if (!named) return undefined
    const { head, clock, fraction = '', tail } = named
    const instant = instantOf(named, at)
    const found = { instant, format: isWritten(named.text, instant, formatOf(named)), start, end: start + named.text.length }
    return this.clock.remember(found, at, { head, clock, point: '.', fraction, tail })
  }

  /** Reads such a time in an ASCII line; false when only read can tell. */
  readBytes(bytes: Uint8Array, start: number, end: number, at: Instant, found: PlainText): boolean {
    if (this.clock.readBytes(bytes, start, end, at, found)) {
      const next = bytes[found.timeEnd] ?? 0
      if (!isDigit(next) && next !== DOT) return true
    }
    found.timeStart = -1
    return false
  }
}

/** Assumes that days are padded with spaces unless a zero shows otherwise. */
function formatOf({ layout, day, fraction = '', tail }: NamedTime): string {
  const hasZero = layout === 'a' || layout === 'k' || layout === 'g'
  const padded = day.startsWith('0') || hasZero ? layout : (layout.toUpperCase() as Layout)
  return `${padded} .${digitsCode(fraction) || '0'}${layout === 'a' ? tail : ''}`
}

function instantOf({ year, month, day, clock, fraction = '', tail, layout }: NamedTime, at: Instant): Instant | undefined {
  const number = months.indexOf(month) + 1
  if (number === 0) return undefined
  const offsetMs = zoneOffsetMs(layout === 'a' ? tail : '')
  if (offsetMs === undefined) return undefined
  const read = (fullYear: number): Instant | undefined => {
    const date = `${String(fullYear).padStart(4, '0')}-${String(number).padStart(2, '0')}-${day.trim().padStart(2, '0')}`
    const local = readTime(`${date}T${clock}${fraction === '' ? '' : `.${fraction}`}Z`)?.instant
    return local && { ms: local.ms - offsetMs, ns: local.ns }
  }
  if (year !== undefined) return read(Number(year))
  const thisYear = new Date(at.ms + DAY_MS).getUTCFullYear()
  const found = read(thisYear)
  return found && found.ms <= at.ms + DAY_MS ? found : read(thisYear - 1)
}
