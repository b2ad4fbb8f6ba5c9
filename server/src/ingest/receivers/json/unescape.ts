const BACKSLASH = 0x5c
const LOWER_U = 0x75
/** Escapes by the byte after the backslash; 0 for none. */
const short = new Uint8Array(256)
for (const [escapeName, char] of [...'b\bf\fn\nr\rt\t""\\\\//'.matchAll(/(.)(.)/gs)].map(([, ...pair]) => pair)) {
  short[escapeName?.charCodeAt(0) ?? 0] = char?.charCodeAt(0) ?? 0
}
/** The values of hexadecimal digits; negative for other bytes. */
const hexValues = new Int8Array(256).fill(-1)
for (const [value, digits] of [...'0123456789', 'aA', 'bB', 'cC', 'dD', 'eE', 'fF'].entries()) {
  for (const digit of digits) hexValues[digit.charCodeAt(0)] = value
}
const REPLACEMENT = '\ufffd'
const ESCAPE_BYTES = 6
const NO_UNIT = -1

/**
 * Decodes a JSON string into bytes. Only escapes change: invalid UTF-8 and invalid escapes stay. Half a surrogate pair has no bytes and
 * becomes a replacement character.
 */
export function unescapeBytes(source: Uint8Array): Uint8Array {
  if (source.indexOf(BACKSLASH) < 0) return source
  const out = Buffer.allocUnsafe(source.length)
  return out.subarray(0, unescapeInto(source, 0, source.length, out, 0))
}

/** Resolves the escapes of a part of the bytes into others, which need as much room. Returns the end of what was written. */
export function unescapeInto(source: Uint8Array, start: number, stop: number, out: Buffer, place: number): number {
  let from = start
  let to = place
  // Escapes are often close to one another, so bytes are copied one by one instead of in parts.
  while (from < stop) {
    const byte = source[from] as number
    if (byte !== BACKSLASH) {
      out[to++] = byte
      from += 1
      continue
    }
    const char = from + 1 < stop ? (short[source[from + 1] as number] as number) : 0
    if (char !== 0) {
      out[to++] = char
      from += 2
      continue
    }
    const unit = unitAt(source, from, stop)
    const low = isHigh(unit) ? unitAt(source, from + ESCAPE_BYTES, stop) : NO_UNIT
    if (unit === NO_UNIT) {
      out[to++] = byte
      if (from + 1 < stop) out[to++] = source[from + 1] as number
      from += 2
    } else {
      to += out.write(charOf(unit, isLow(low) ? low : NO_UNIT), to)
      from += isLow(low) ? 2 * ESCAPE_BYTES : ESCAPE_BYTES
    }
  }
  return to
}

/** Resolves escapes and returns a text, for any size: replacing escapes one by one would take many times its memory. */
export function unescapeToText(source: Uint8Array): string {
  const bytes = unescapeBytes(source)
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff

function charOf(unit: number, low: number): string {
  if (low !== NO_UNIT) return String.fromCharCode(unit, low)
  return isHigh(unit) || isLow(unit) ? REPLACEMENT : String.fromCharCode(unit)
}

/** Reads an escape of four hexadecimal digits at a backslash. */
function unitAt(source: Uint8Array, at: number, stop: number): number {
  if (at + ESCAPE_BYTES > stop || source[at] !== BACKSLASH || source[at + 1] !== LOWER_U) return NO_UNIT
  let unit = 0
  for (let digit = at + 2; digit < at + ESCAPE_BYTES; digit += 1) {
    const value = hexValues[source[digit] as number] as number
    if (value < 0) return NO_UNIT
    unit = unit * 16 + value
  }
  return unit
}
