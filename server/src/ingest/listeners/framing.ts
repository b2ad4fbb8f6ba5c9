import type { HeldMessage } from './connection-times.ts'
/** How a stream is divided into messages: by a byte after each, and by a count before it where `isCounted`. */
export type FramingRules = { delimiter: number; isCounted: boolean; messageBytesMax: number }

const [LINE_FEED, CARRIAGE_RETURN, NUL, SPACE, ZERO, NINE, LESS] = [0x0a, 0x0d, 0, 0x20, 0x30, 0x39, 0x3c]
const COUNT_DIGITS_MAX = 9
const HELD_BYTES_MIN = 1_024

/** The part of a message that comes next: its first byte, the digits of its count, or its bytes by delimiter or count. */
type State = 'start' | 'count' | 'delimited' | 'counted'

/**
 * Divides a stream into messages. Each message may have a framing of its own: a decimal count, a blank and `<` begin a counted one, as some
 * senders change the framing between connections or even within one. A message that is too long is cut, and the stream stays in step.
 */
export class MessageFraming {
  readonly #rules: FramingRules
  readonly #held = new HeldBytes()
  #state: State = 'start'
  /** The bytes that the counted message still misses. */
  #missing = 0
  #number = 0

  constructor(rules: FramingRules) {
    this.#rules = rules
  }

  /** The message that has begun; undefined between messages. */
  get held(): HeldMessage | undefined {
    return this.#state === 'start' ? undefined : { number: this.#number, bytes: this.#held.length }
  }

  push(chunk: Uint8Array, take: (message: Uint8Array) => void): void {
    for (let at = 0; at < chunk.length; ) at = this.#step(chunk, at, take)
  }

  /** Ends the stream. A delimited message needs no delimiter then; a counted one that is incomplete is lost, and the result is false. */
  end(take: (message: Uint8Array) => void): boolean {
    const isWhole = this.#state !== 'counted'
    const rest = this.#held.take()
    this.#state = 'start'
    if (isWhole) finish(rest, take)
    return isWhole
  }

  /** Reads on from a position and returns the next one. Each state either advances or is left. */
  #step(chunk: Uint8Array, at: number, take: (message: Uint8Array) => void): number {
    switch (this.#state) {
      case 'start':
        // Between messages some senders write further line ends or NUL bytes.
        if (isPadding(chunk[at])) return at + 1
        this.#number += 1
        this.#state = this.#rules.isCounted && isDigit(chunk[at]) ? 'count' : 'delimited'
        return at
      case 'count':
        return this.#count(chunk, at)
      case 'counted':
        return this.#counted(chunk, at, take)
      case 'delimited':
        return this.#delimited(chunk, at, take)
    }
  }

  /** Reads a byte of the count. Anything else means that the digits are the beginning of a delimited message. */
  #count(chunk: Uint8Array, at: number): number {
    const byte = chunk[at]
    const { length, last } = this.#held
    if (last === SPACE && byte === LESS) {
      this.#missing = Number(Buffer.from(this.#held.take()).toString('latin1'))
      this.#state = this.#missing > 0 ? 'counted' : 'delimited'
    } else if (last !== SPACE && ((isDigit(byte) && length < COUNT_DIGITS_MAX) || (byte === SPACE && length > 0))) {
      this.#held.append(chunk.subarray(at, at + 1))
      return at + 1
    } else this.#state = 'delimited'
    return at
  }

  #delimited(chunk: Uint8Array, at: number, take: (message: Uint8Array) => void): number {
    const found = chunk.indexOf(this.#rules.delimiter, at)
    if (found < 0) {
      this.#hold(chunk.subarray(at))
      return chunk.length
    }
    this.#take(chunk.subarray(at, found), take)
    return found + 1
  }

  #counted(chunk: Uint8Array, at: number, take: (message: Uint8Array) => void): number {
    const end = at + this.#missing
    if (end > chunk.length) {
      this.#hold(chunk.subarray(at))
      this.#missing = end - chunk.length
      return chunk.length
    }
    this.#take(chunk.subarray(at, end), take)
    return end
  }

  /** Ends a message. One that came in a single piece needs no copy. */
  #take(rest: Uint8Array, take: (message: Uint8Array) => void): void {
    this.#state = 'start'
    if (this.#held.length > 0) {
      this.#hold(rest)
      finish(this.#held.take(), take)
    } else finish(rest.length > this.#keptMax ? rest.subarray(0, this.#keptMax) : rest, take)
  }

  /** One byte more than allowed is kept, so that the event is marked as truncated. */
  get #keptMax(): number {
    return this.#rules.messageBytesMax + 1
  }

  #hold(bytes: Uint8Array): void {
    const space = this.#keptMax - this.#held.length
    this.#held.append(bytes.length > space ? bytes.subarray(0, space) : bytes)
  }
}

/** The line ends and NUL bytes after a message belong to the framing, also within a count. */
function finish(message: Uint8Array, take: (message: Uint8Array) => void): void {
  const trimmed = withoutLineEnd(message)
  if (trimmed.length > 0) take(trimmed)
}

const isPadding = (byte: number | undefined): boolean => byte === LINE_FEED || byte === CARRIAGE_RETURN || byte === NUL
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE

/** A message without the line ends and NUL bytes after it. */
export function withoutLineEnd(message: Uint8Array): Uint8Array {
  let end = message.length
  while (end > 0 && isPadding(message[end - 1])) end -= 1
  return end === message.length ? message : message.subarray(0, end)
}

/** The bytes of an incomplete message. It grows by doubling, so that a sender of single bytes costs no more than others. */
export class HeldBytes {
  #bytes = new Uint8Array(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  get last(): number | undefined {
    return this.#bytes[this.#length - 1]
  }

  append(chunk: Uint8Array): void {
    const length = this.#length + chunk.length
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(HELD_BYTES_MIN, length, this.#bytes.length * 2))
      grown.set(this.#bytes.subarray(0, this.#length))
      this.#bytes = grown
    }
    this.#bytes.set(chunk, this.#length)
    this.#length = length
  }

  /** The held bytes, which stay. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  /** Removes bytes from the beginning. */
  drop(count: number): void {
    this.#bytes.copyWithin(0, count, this.#length)
    this.#length -= count
  }

  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#bytes = new Uint8Array(0)
    this.#length = 0
    return taken
  }
}
