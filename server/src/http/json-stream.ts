import { Readable } from 'node:stream'
import { toJson } from '../kernel/exact-json.ts'
import { isJsonLonger, jsonPieces } from '../kernel/json-pieces.ts'

/** JSON that is sent while it is written. No faster than the client reads, so that little of it is in memory. */
export class JsonStream extends Readable {
  readonly #pieces: AsyncIterator<string | Uint8Array>
  #isRead = true

  constructor(pieces: AsyncIterable<string | Uint8Array>) {
    // The next piece is written when this one has left.
    super({ highWaterMark: 1 })
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  override _read(): void {
    if (!this.#isRead) return
    this.#isRead = false
    this.#pieces.next().then(
      ({ done, value }) => {
        this.#isRead = true
        this.push(done ? null : value)
      },
      (cause) => this.destroy(cause),
    )
  }

  override _destroy(cause: Error | null, callback: (cause: Error | null) => void): void {
    const { return: end } = this.#pieces
    if (end) end.call(this.#pieces).catch(() => undefined)
    callback(cause)
  }
}

/** Longer JSON is sent while it is written: it would stop the event loop, and exist three times, as objects, text and bytes. */
const WHOLE_CHARS = 256 * 1_024

/** The JSON of a response, as a whole if it is short. */
export const jsonBody = (value: unknown): string | JsonStream =>
  isJsonLonger(value, WHOLE_CHARS) ? new JsonStream(jsonPieces(value)) : toJson(value)

/** A response whose JSON comes in pieces. Only the type of the value stays, so that the compiler compares it with the contract. */
export class StreamedJson<T> {
  readonly pieces: AsyncIterable<string | Uint8Array>
  declare readonly value: T

  constructor(pieces: AsyncIterable<string | Uint8Array>) {
    this.pieces = pieces
  }
}
