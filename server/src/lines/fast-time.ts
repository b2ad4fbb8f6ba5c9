import { type Instant, readTime } from './time-text.ts'

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
  private numberDigits = 0
  private numberFormat = ''

  /** Returns false when the text is not a time; otherwise the result is in the fields. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    if (end - start === this.numberDigits) {
      if (this.readNumber(bytes, start, end)) return true
    } else if (end - start === 19 + this.layout.length && this.readIso(bytes, start)) return true
    return this.readAnew(bytes, start, end)
  }

  get instant(): Instant {
    return { ms: this.ms, ns: this.ns }
  }

  private readNumber(bytes: Uint8Array, start: number, end: number): boolean {
    if (bytes[start] === 0x30) return false
    let value = 0
    for (let at = start; at < end; at += 1) {
      const digit = (bytes[at] as number) - 0x30
      if (digit < 0 || digit > 9) return false
      value = value * 10 + digit
    }
    this.ms = this.numberDigits === 10 ? value * 1_000 : value
    this.ns = 0
    this.format = this.numberFormat
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
    if (found.format === 'ns' || found.format === 'nm') {
      this.numberDigits = text.length === (found.format === 'ns' ? 10 : 13) ? text.length : 0
      this.numberFormat = found.format
    } else if (found.format?.startsWith('i')) this.remember(text, found.format, found.instant)
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
