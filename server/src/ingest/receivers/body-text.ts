const ASCII_MAX = 0x7f
/** COPIED_CHARS_MAX: the engine copies shorter slices of a string; longer ones would keep the whole body in memory for as long as they live. */
const COPIED_CHARS_MAX = 12

/** A BodyText gives pieces of a body as strings of their own, much faster for short ones than decoding each. */
export class BodyText {
  readonly #bytes: Buffer
  #latin1: string | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** text decodes UTF-8; what is none becomes replacement characters. */
  text(start: number, end: number): string {
    if (end - start > COPIED_CHARS_MAX) return this.#bytes.toString('utf8', start, end)
    for (let at = start; at < end; at += 1) {
      if ((this.#bytes[at] ?? 0) > ASCII_MAX) return this.#bytes.toString('utf8', start, end)
    }
    this.#latin1 ??= this.#bytes.toString('latin1')
    return this.#latin1.slice(start, end)
  }
}
