/** The kinds of steps of a walk over a line: a value of one of five kinds, the end of the line, or the position where it is not JSON. */
export const STRING = 0
export const SCALAR = 1
export const ARRAY = 2
/** An object below the maximum depth. It is one value, like an array. */
export const DEEP = 3
export const NULL = 4
export const END = 5
export const BROKEN = 6
export type WalkStep = typeof STRING | typeof SCALAR | typeof ARRAY | typeof DEEP | typeof NULL | typeof END | typeof BROKEN

export const DEPTH_MAX = 16
/** The longest key as written with all its prefixes. Values under longer keys are only in the raw line. */
export const KEY_BYTES_MAX = 1_024
/** Such a key has no name. No other path begins with NUL. */
const NAMELESS = '\0'
export const isNameless = (path: string): boolean => path.startsWith(NAMELESS)

const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
/** The first character in the code of a color of a terminal. */
export const ESCAPE = 0x1b
export const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
export const OPEN_ARRAY = 0x5b
export const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
export const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const NO_BYTE = -1

/** PLAIN bytes do not end a text. SPECIAL ones end a text, begin an escape, or are control characters. */
export const SPECIAL = 1
/** Marks the bytes of numbers, true, false, null, and of non-JSON words such as NaN that some writers use as values. */
export const SCALAR_BYTE = 2
export const byteClass: Uint8Array = makeByteClass()

function makeByteClass(): Uint8Array {
  const classes = new Uint8Array(256)
  for (let byte = 0; byte < SPACE; byte += 1) classes[byte] = SPECIAL
  classes[QUOTE] = SPECIAL
  classes[BACKSLASH] = SPECIAL
  for (const char of '+-._0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ') classes[char.charCodeAt(0)] = SCALAR_BYTE
  return classes
}

/**
 * Goes over a line from value to value. It is lenient where that costs nothing (raw control characters in texts, words as values), reads
 * every JSON object as JSON, and never recurses. The bytes between two values are a literal of the shape:
 * - a text's literal ends with its opening quote, and the next one begins with its closing quote;
 * - a null and an empty object are part of the literal.
 */
export class Walk {
  /** The path prefixes of the open objects: '' for the line itself, `a.b.` two levels down; empty before the line begins. */
  readonly prefixes: string[]
  /** The start of the literal before the value, directly after the previous value. */
  literalStart: number
  valueStart = 0
  valueEnd = 0
  path = ''
  /** Set when a key name contains a raw control character, which a shape cannot hold. */
  rawControl = false
  private readonly bytes: Uint8Array
  private readonly source: Buffer
  private readonly end: number
  private at: number

  /** With prefixes, the walk continues after a value inside these objects. */
  constructor(bytes: Uint8Array, start: number, end: number, prefixes: readonly string[] = []) {
    this.bytes = bytes
    this.source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.at = start
    this.literalStart = start
    this.end = end
    this.prefixes = [...prefixes]
  }

  next(): WalkStep {
    this.literalStart = this.at
    let fresh = false
    if (this.prefixes.length === 0) {
      if (this.byteAfterSpace() !== OPEN_OBJECT) return BROKEN
      this.open('')
      fresh = true
    }
    for (;;) {
      if (this.byteAfterSpace() === CLOSE_OBJECT) {
        this.at += 1
        this.prefixes.pop()
        if (this.prefixes.length === 0) return this.byteAfterSpace() === NO_BYTE ? END : BROKEN
        fresh = false
        continue
      }
      if (!this.readName(fresh)) return BROKEN
      if (this.byteAfterSpace() !== OPEN_OBJECT || this.prefixes.length >= DEPTH_MAX) return this.value()
      this.open(`${this.path}.`)
      fresh = true
    }
  }

  private open(prefix: string): void {
    this.at += 1
    this.prefixes.push(prefix)
  }

  /** Reads a name and its colon, from the comma or the beginning of an object. */
  private readName(fresh: boolean): boolean {
    if (!fresh) {
      if (this.byteAfterSpace() !== COMMA) return false
      this.at += 1
    }
    if (this.byteAfterSpace() !== QUOTE) return false
    const start = this.at + 1
    const close = endOfText(this.bytes, start, this.end)
    if (close < 0) return false
    this.at = close + 1
    if (this.byteAfterSpace() !== COLON) return false
    this.at += 1
    for (let at = start; at < close; at += 1) if ((this.bytes[at] as number) < SPACE) this.rawControl = true
    const prefix = this.prefixes[this.prefixes.length - 1] ?? ''
    const isTooLong = isNameless(prefix) || prefix.length + close - start > KEY_BYTES_MAX
    this.path = isTooLong ? NAMELESS : prefix + namesInLines.of(this.source, start, close)
    return true
  }

  private value(): WalkStep {
    const first = this.bytes[this.at]
    if (this.at >= this.end || first === undefined) return BROKEN
    if (first === QUOTE) {
      this.valueStart = this.at + 1
      this.valueEnd = endOfText(this.bytes, this.valueStart, this.end)
      this.at = this.valueEnd + 1
      return this.valueEnd < 0 ? BROKEN : STRING
    }
    this.valueStart = this.at
    if (first === OPEN_ARRAY || first === OPEN_OBJECT) {
      this.valueEnd = endOfBrackets(this.bytes, this.at, this.end)
      this.at = this.valueEnd
      return this.valueEnd < 0 ? BROKEN : first === OPEN_ARRAY ? ARRAY : DEEP
    }
    this.at = endOfWord(this.bytes, this.at, this.end)
    this.valueEnd = this.at
    if (this.valueEnd === this.valueStart) return BROKEN
    return isNull(this.bytes, this.valueStart, this.valueEnd) ? NULL : SCALAR
  }

  private byteAfterSpace(): number {
    while (this.at < this.end) {
      const byte = this.bytes[this.at] ?? NO_BYTE
      if (byte !== SPACE && byte !== TAB && byte !== LINE_FEED && byte !== CARRIAGE_RETURN) return byte
      this.at += 1
    }
    return NO_BYTE
  }
}

/** The end of the number, true, false, null or other word at a position; the position itself for none. */
export function endOfWord(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && byteClass[bytes[at] as number] === SCALAR_BYTE) at += 1
  return at
}

export const isNull = (bytes: Uint8Array, start: number, end: number): boolean =>
  end - start === 4 && bytes[start] === 0x6e && bytes[start + 1] === 0x75 && bytes[start + 2] === 0x6c && bytes[start + 3] === 0x6c

/** True for a line that begins like an object of JSON. */
export function isObject(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start
  while (at < end && (bytes[at] as number) <= SPACE) at += 1
  return at < end && bytes[at] === OPEN_OBJECT
}

/** Returns the position of the closing quote, -1 for none. */
export function endOfText(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) at += 1
  }
  return -1
}

/**
 * Returns the position after the bracket that closes the one at `start`, -1 for none. It does not check that the kinds of brackets match.
 */
export function endOfBrackets(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      at = endOfText(bytes, at + 1, end)
      if (at < 0) return -1
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth += 1
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      depth -= 1
      if (depth === 0) return at + 1
    }
  }
  return -1
}

/** The name of a key as stored and queried: decoded, without control characters and backslashes, never empty. */
export function keyName(source: Uint8Array): string {
  return nameOf(Buffer.from(source.buffer, source.byteOffset, source.length).toString('utf8'))
}

const nameOf = (written: string): string => cleanName(unescapeText(written))

const NAMES_IN_MEMORY = 1_024
const NAME_BYTES_MAX = 64

/** The names of keys as they were written last. Lines of a program have the same names, and making a text of bytes takes longer than comparing them. */
class RecentNames {
  readonly #names: ({ readonly bytes: Uint8Array; readonly name: string } | undefined)[] = Array.from({ length: NAMES_IN_MEMORY })

  of(source: Buffer, start: number, end: number): string {
    const length = end - start
    if (length > NAME_BYTES_MAX) return nameOf(source.toString('utf8', start, end))
    let hash = length
    for (let at = start; at < end; at += 1) hash = Math.imul(hash, 31) + (source[at] as number)
    const place = (hash ^ (hash >>> 10)) & (NAMES_IN_MEMORY - 1)
    const known = this.#names[place]
    if (known?.bytes.length === length && isAt(known.bytes, source, start)) return known.name
    const name = nameOf(source.toString('utf8', start, end))
    this.#names[place] = { bytes: new Uint8Array(source.subarray(start, end)), name }
    return name
  }
}

const isAt = (bytes: Uint8Array, source: Uint8Array, start: number): boolean => {
  for (let at = 0; at < bytes.length; at += 1) if (bytes[at] !== source[start + at]) return false
  return true
}

const namesInLines = new RecentNames()

/** Most names are made of these characters, for which the test is fast. */
const PLAIN_NAME = /^[\w.@$:/-]+$/

export const cleanName = (name: string): string => (PLAIN_NAME.test(name) ? name : name.toWellFormed().replace(/[\p{Cc}\\]/gu, '_') || '_')

const shortEscapes: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', '/': '/' }),
)

/** Decodes the escapes of JSON. Invalid escapes stay as written. */
export function unescapeText(source: string): string {
  if (!source.includes('\\')) return source
  // The parser of JSON is several times as fast, and reads what it accepts alike.
  try {
    return JSON.parse(`"${source}"`)
  } catch {
    // It has an invalid escape, a control character or a quote.
  }
  return resolveJsonEscapes(source)
}

/** Decodes the escapes of JSON in a text that need not be one between quotes. */
export const resolveJsonEscapes = (source: string): string =>
  source.replace(/\\(?:u([0-9a-fA-F]{4})|([bfnrt"\\/]))/g, (_, hex: string | undefined, short: string) =>
    hex === undefined ? (shortEscapes.get(short) ?? '') : String.fromCharCode(Number.parseInt(hex, 16)),
  )
