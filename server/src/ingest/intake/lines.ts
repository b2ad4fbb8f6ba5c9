const TAB = 0x09
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20

/** True for JSON white space; other control bytes are data. */
export const isBlank = (byte: number | undefined): boolean =>
  byte === SPACE || byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === TAB

/** The position of the next byte that is not blank, or the end. */
export function afterBlank(bytes: Uint8Array, start: number, end = bytes.length): number {
  let at = start
  while (at < end && isBlank(bytes[at])) at += 1
  return at
}

/** Returns the bytes as a Buffer on the same memory, whose search for a byte is twice as fast. */
export const searchable = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)

/** The end of the line at a position, before its LF. */
export function endOfLine(bytes: Uint8Array, start: number): number {
  const feed = bytes.indexOf(LINE_FEED, start)
  return feed < 0 ? bytes.length : feed
}

/** The line between two positions without its CR. */
export const lineWithin = (bytes: Uint8Array, start: number, end: number): Uint8Array =>
  bytes.subarray(start, end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end)

/** Reads the lines of a body unchanged, one after the other, and skips blank lines. */
export class BodyLines {
  /** The position of the line that was read last, without its CR. */
  start = 0
  end = 0
  private readonly bytes: Uint8Array
  private readonly found: Buffer
  private rest = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.found = searchable(bytes)
  }

  /** Goes to the next line; false at the end of the body. */
  advance(): boolean {
    const { bytes, found } = this
    while (this.rest < bytes.length) {
      const start = this.rest
      const end = endOfLine(found, start)
      this.rest = end + 1
      if (afterBlank(bytes, start, end) === end) continue
      this.start = start
      this.end = bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end
      return true
    }
    return false
  }

  /** Goes on after a position, which must be the end of a line. */
  skipTo(end: number): void {
    this.rest = end + 1
  }

  /** The next line; undefined at the end of the body. */
  next(): Uint8Array | undefined {
    return this.advance() ? this.bytes.subarray(this.start, this.end) : undefined
  }
}

/** Yields the same lines. A generator, since there may be millions of lines. */
export function* splitLines(bytes: Uint8Array): Generator<Uint8Array> {
  const lines = new BodyLines(bytes)
  for (let line = lines.next(); line; line = lines.next()) yield line
}
