import { type Instant, readTime } from './time-text.ts'

const TEXT_MAX = 64
const [SECONDS_DIGITS, MS_DIGITS] = [10, 13]
const [ZERO, NINE, POINT, DASH, PLUS, COMMA, SPACE, UPPER_E, LOWER_E] = [0x30, 0x39, 0x2e, 0x2d, 0x2b, 0x2c, 0x20, 0x45, 0x65]
const tens = Array.from({ length: 10 }, (_, power) => 10 ** power)
/** The place of the format for a fraction of which each time has other digits. */
const ANY_DIGITS = 10
const formatsOf = (unit: string): readonly string[] => ['', 1, 2, 3, 4, 5, 6, 7, 8, 9, '*'].map((digits) => `n${unit}${digits}`)
const [secondFormats, msFormats, usFormats, nsFormats] = ['s', 'm', 'u', 'n'].map(formatsOf) as [string[], string[], string[], string[]]

/**
 * Parses times from bytes like readTime. For a time with the layout of the previous one it creates no string: day, zone and layout are cached, and only
 * the digits are parsed.
 */
export class TimeReader {
  ms = 0
  ns = 0
  format: string | undefined
  private readonly day = new Uint8Array(10)
  private dayMs = 0
  /** The part after the seconds in the previous text. */
  private layout: Uint8Array = new Uint8Array(0)
  private fractionDigits = 0
  private offsetMs = 0
  private separator = 0
  private isoFormat = ''

  /** Returns false when the text is not a time; otherwise the result is in the fields. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start > TEXT_MAX) return false
    if (this.readNumber(bytes, start, end)) return true
    if (end - start === 19 + this.layout.length && this.readIso(bytes, start)) return true
    return mayBeTime(bytes, start, end) && this.readAnew(bytes, start, end)
  }

  get instant(): Instant {
    return { ms: this.ms, ns: this.ns }
  }

  /** Reads seconds and milliseconds, also with a fraction, and whole micro- and nanoseconds. */
  private readNumber(bytes: Uint8Array, start: number, end: number): boolean {
    const point = digitsEnd(bytes, start, end)
    const digits = point - start
    if ((digits !== SECONDS_DIGITS && digits !== MS_DIGITS && digits !== 16 && digits !== 19) || bytes[start] === ZERO) return false
    let fraction = end - point
    if (fraction > 0) {
      fraction -= 1
      const isFraction = fraction > 0 && digits + fraction <= 19 && bytes[point] === POINT && digitsEnd(bytes, point + 1, end) === end
      if (!isFraction || digits > MS_DIGITS) return false
    }
    let nanos = digits > MS_DIGITS ? numberIn(bytes, start + MS_DIGITS, point) : numberIn(bytes, point + 1, end)
    if (digits === SECONDS_DIGITS) {
      nanos *= tens[9 - fraction] as number
      this.ns = nanos % 1_000_000
      this.ms = numberIn(bytes, start, point) * 1_000 + (nanos - this.ns) / 1_000_000
    } else {
      this.ns = nanos * (tens[digits > MS_DIGITS ? 19 - digits : 6 - fraction] as number)
      this.ms = numberIn(bytes, start, start + MS_DIGITS)
    }
    const code = fraction === 0 || fraction % 3 === 0 || bytes[end - 1] === ZERO ? fraction : ANY_DIGITS
    this.format = (digits === SECONDS_DIGITS ? secondFormats : digits === MS_DIGITS ? msFormats : digits === 16 ? usFormats : nsFormats)[
      code
    ]
    return true
  }

  private readIso(bytes: Uint8Array, start: number): boolean {
    const { day, layout } = this
    for (let at = 0; at < 10; at += 1) if (bytes[start + at] !== day[at]) return false
    if (bytes[start + 10] !== this.separator || bytes[start + 13] !== 0x3a || bytes[start + 16] !== 0x3a) return false
    const hour = twoDigits(bytes, start + 11)
    const minute = twoDigits(bytes, start + 14)
    const second = twoDigits(bytes, start + 17)
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return false
    let nanos = 0
    for (let at = 0; at < layout.length; at += 1) {
      const byte = bytes[start + 19 + at] as number
      if (at > 0 && at <= this.fractionDigits) {
        const digit = byte - 0x30
        if (digit < 0 || digit > 9) return false
        nanos = nanos * 10 + digit
      } else if (byte !== layout[at]) return false
    }
    for (let digits = this.fractionDigits; digits < 9; digits += 1) nanos *= 10
    this.ns = nanos % 1_000_000
    this.ms = this.dayMs + ((hour * 60 + minute) * 60 + second) * 1_000 - this.offsetMs + (nanos - this.ns) / 1_000_000
    this.format = this.isoFormat
    return true
  }

  private readAnew(bytes: Uint8Array, start: number, end: number): boolean {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')
    const found = readTime(text)
    if (!found) return false
    this.ms = found.instant.ms
    this.ns = found.instant.ns
    this.format = found.format
    if (found.format?.startsWith('i')) this.remember(text, found.format, found.instant)
    return true
  }

  private remember(text: string, format: string, { ms }: Instant): void {
    const code = format.charAt(3)
    // Only with these lengths every fraction has the same format; with others the last digit decides.
    if (code !== '0' && code !== '3' && code !== '6' && code !== '9') return
    const dayMs = Date.parse(`${text.slice(0, 10)}T00:00:00Z`)
    const localMs = Date.parse(`${text.slice(0, 10)}T${text.slice(11, 19)}Z`)
    this.fractionDigits = Number(code)
    const fraction = code === '0' ? '' : text.slice(20, 20 + this.fractionDigits)
    this.offsetMs = localMs + Number(fraction.padEnd(3, '0').slice(0, 3)) - ms
    this.dayMs = dayMs
    this.day.set(Buffer.from(text.slice(0, 10), 'latin1'))
    this.separator = text.charCodeAt(10)
    this.layout = Buffer.from(text.slice(19), 'latin1')
    this.isoFormat = format
  }
}

function twoDigits(bytes: Uint8Array, at: number): number {
  const tens = (bytes[at] as number) - 0x30
  const ones = (bytes[at + 1] as number) - 0x30
  return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -1 : tens * 10 + ones
}

function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= NINE) at += 1
  return at
}

function numberIn(bytes: Uint8Array, start: number, end: number): number {
  let number = 0
  for (let at = start; at < end; at += 1) number = number * 10 + (bytes[at] as number) - ZERO
  return number
}

/** False for most texts that are no time: a time is a number, or begins with `YYYY-`, a day of the month and a space, or a weekday and a comma. */
function mayBeTime(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start + 4] === DASH || bytes[start + 1] === SPACE || bytes[start + 2] === SPACE || bytes[start + 3] === COMMA) return true
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number
    const isDigit = byte >= ZERO && byte <= NINE
    if (!isDigit && byte !== POINT && byte !== DASH && byte !== PLUS && byte !== UPPER_E && byte !== LOWER_E) return false
  }
  return start < end
}
