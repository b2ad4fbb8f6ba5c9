const ASCII_MAX = 0x7f
/** V8 copies shorter slices of a string; longer ones would keep the whole body in memory as long as they live. */
const COPIED_CHARS_MAX = 12
/** For fewer texts a string of the whole body is not worth it. */
const FEW_TEXTS = 64
const REPEATED_BYTES_MAX = 64
/** A power of two. */
const REPEATED_TEXTS = 64

/** Texts by a hash of their bytes, with their places in the body. */
class RepeatedTexts {
  readonly starts = new Int32Array(REPEATED_TEXTS)
  readonly ends = new Int32Array(REPEATED_TEXTS)
  readonly texts: string[] = new Array(REPEATED_TEXTS).fill('')
}

/** Returns parts of a body as independent strings, for short ones much faster than decoding each. */
export class BodyText {
  readonly #bytes: Buffer
  #latin1: string | undefined
  #count = 0
  #repeated: RepeatedTexts | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Decodes UTF-8; invalid bytes become replacement characters. */
  text(start: number, end: number): string {
    this.#count += 1
    if (end - start > COPIED_CHARS_MAX || this.#count < FEW_TEXTS) return this.#bytes.toString('utf8', start, end)
    for (let at = start; at < end; at += 1) {
      if ((this.#bytes[at] ?? 0) > ASCII_MAX) return this.#bytes.toString('utf8', start, end)
    }
    this.#latin1 ??= this.#bytes.toString('latin1')
    return this.#latin1.slice(start, end)
  }

  /** Decodes a text that many records have, such as a level or a service: one of the last is found by its bytes. */
  repeated(start: number, end: number): string {
    const length = end - start
    if (length > REPEATED_BYTES_MAX) return this.text(start, end)
    if (length === 0) return ''
    const bytes = this.#bytes
    const place = (length + (bytes[start] as number) * 5 + (bytes[end - 1] as number) * 3) & (REPEATED_TEXTS - 1)
    this.#repeated ??= new RepeatedTexts()
    const { starts, ends, texts } = this.#repeated
    const from = starts[place] as number
    let at = (ends[place] as number) - from === length ? 0 : length + 1
    while (at < length && bytes[from + at] === bytes[start + at]) at += 1
    if (at === length) return texts[place] as string
    const text = this.text(start, end)
    starts[place] = start
    ends[place] = end
    texts[place] = text
    return text
  }
}
