const ASCII_MAX = 0x7f
/** V8 copies shorter slices of a string; longer ones would keep the whole body in memory as long as they live. */
const COPIED_CHARS_MAX = 12

/** Returns parts of a body as independent strings, for short ones much faster than decoding each. */
export class BodyText {
  readonly #bytes: Buffer
  #latin1: string | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Decodes UTF-8; invalid bytes become replacement characters. */
  text(start: number, end: number): string {
    if (end - start > COPIED_CHARS_MAX) return this.#bytes.toString('utf8', start, end)
    for (let at = start; at < end; at += 1) {
      if ((this.#bytes[at] ?? 0) > ASCII_MAX) return this.#bytes.toString('utf8', start, end)
    }
    this.#latin1 ??= this.#bytes.toString('latin1')
    return this.#latin1.slice(start, end)
  }
}
