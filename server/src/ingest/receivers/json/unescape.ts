const BACKSLASH = 0x5c
const LOWER_U = 0x75
/** Escapes by the byte after the backslash; 0 for none. */
const short = new Uint8Array(256)
for (const [escapeName, char] of [...'b\bf\fn\nr\rt\t""\\\\//'.matchAll(/(.)(.)/gs)].map(([, ...pair]) => pair)) {
  short[escapeName?.charCodeAt(0) ?? 0] = char?.charCodeAt(0) ?? 0
}
const HEX = /^[0-9a-fA-F]{4}$/
const REPLACEMENT = '\ufffd'
const ESCAPE_BYTES = 6
const NO_UNIT = -1

/**
 * Decodes a JSON string into bytes. Only escapes change: invalid UTF-8 and invalid escapes stay. Half a surrogate pair has no bytes and
 * becomes a replacement character.
 */
export function unescapeBytes(source: Uint8Array): Uint8Array {
  let from = source.indexOf(BACKSLASH)
  if (from < 0) return source
  const out = Buffer.allocUnsafe(source.length)
  let length = 0
  let copied = 0
  for (; from >= 0; from = source.indexOf(BACKSLASH, from)) {
    const char = short[source[from + 1] ?? 0] ?? 0
    const unit = char === 0 ? unitAt(source, from) : NO_UNIT
    if (char === 0 && unit === NO_UNIT) {
      from += 2
      continue
    }
    out.set(source.subarray(copied, from), length)
    length += from - copied
    const low = isHigh(unit) ? unitAt(source, from + ESCAPE_BYTES) : NO_UNIT
    const isPair = isLow(low)
    if (char === 0) length += out.write(charOf(unit, isPair ? low : NO_UNIT), length)
    else out[length++] = char
    from += char === 0 ? (isPair ? 2 * ESCAPE_BYTES : ESCAPE_BYTES) : 2
    copied = from
  }
  out.set(source.subarray(copied), length)
  return out.subarray(0, length + source.length - copied)
}

/** The same as text, for any size: replacing escapes one by one would take many times its memory. */
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
function unitAt(source: Uint8Array, at: number): number {
  if (source[at] !== BACKSLASH || source[at + 1] !== LOWER_U) return NO_UNIT
  const digits = String.fromCharCode(...source.subarray(at + 2, at + ESCAPE_BYTES))
  return HEX.test(digits) ? Number.parseInt(digits, 16) : NO_UNIT
}
