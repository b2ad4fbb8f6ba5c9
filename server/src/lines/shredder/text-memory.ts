import { isUtf8 } from 'node:buffer'
import { cleanText } from '../reference/leaf-text.ts'

const NUL = 0
const ASCII_MAX = 0x7f
const ZERO = 0x30
const FIRST_BYTES = 1_024
const LARGE_BYTES = 16_384

/**
 * The texts of records, as positions: from 0 on they lie in the body, below 0 in `own` at -1 minus the position. Texts that the body does not
 * contain as they are stored, such as decoded escapes and written numbers, are in `own`.
 */
export class TextMemory {
  readonly body: Uint8Array
  readonly view: Buffer
  own: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  /** The end of the text that was put last. */
  end = -1
  private used = 0
  private readonly isClean: boolean

  /** `isText` is true for a body that is UTF-8 if it is valid; one that has binary parts is checked text by text. */
  constructor(body: Uint8Array, isText: boolean) {
    this.body = body
    this.view = Buffer.from(body.buffer, body.byteOffset, body.length)
    this.isClean = isText && isUtf8(body) && this.view.indexOf(NUL) < 0
  }

  /** True when a part of the body, or of bytes that were put unchanged, can be stored as it is. */
  isStorable(start: number, end: number): boolean {
    if (start < 0) return isStorableText(this.own, -1 - start, -1 - end)
    return this.isClean || isStorableText(this.body, start, end)
  }

  /** Puts a text without what cannot be stored, and returns its position. */
  put(text: string): number {
    const clean = cleanText(text)
    this.grow(clean.length * 3)
    return this.placed(this.own.write(clean, this.used))
  }

  /** Puts a text of ASCII characters without NUL. */
  putAscii(text: string): number {
    const { length } = text
    this.grow(length)
    const { own, used } = this
    for (let at = 0; at < length; at += 1) own[used + at] = text.charCodeAt(at)
    return this.placed(length)
  }

  /** Puts the digits of a whole number from 0 to 2^53. */
  putInteger(number: number): number {
    let digits = 1
    for (let power = 10; power <= number; power *= 10) digits += 1
    this.grow(digits)
    const { own, used } = this
    let rest = number
    for (let at = used + digits - 1; at >= used; at -= 1) {
      const higher = Math.floor(rest / 10)
      own[at] = rest - higher * 10 + ZERO
      rest = higher
    }
    return this.placed(digits)
  }

  /** Puts bytes unchanged. Room for the texts behind many bytes keeps these from being copied again. */
  putBytes(bytes: Uint8Array): number {
    const { length } = bytes
    this.grow(length >= LARGE_BYTES ? length + (length >> 2) : length)
    this.own.set(bytes, this.used)
    return this.placed(bytes.length)
  }

  /** Makes room for a text of at most so many bytes, and returns its place in `own`; `placed` ends it. */
  reserve(bytes: number): number {
    this.grow(bytes)
    return this.used
  }

  /** Puts the bytes of an id in hexadecimal digits. */
  putHex(start: number, end: number): number {
    this.grow((end - start) * 2)
    const { own, body } = this
    let put = this.used
    for (let at = start; at < end; at += 1) {
      const byte = body[at] as number
      own[put++] = HEX[byte >> 4] as number
      own[put++] = HEX[byte & 15] as number
    }
    return this.placed((end - start) * 2)
  }

  text(start: number, end: number): string {
    return start < 0 ? this.own.toString('utf8', -1 - start, -1 - end) : this.view.toString('utf8', start, end)
  }

  bytes(start: number, end: number): Uint8Array {
    return start < 0 ? this.own.subarray(-1 - start, -1 - end) : this.body.subarray(start, end)
  }

  /** Ends a text that was written into `own`, and returns its position. */
  placed(length: number): number {
    const start = -1 - this.used
    this.used += length
    this.end = -1 - this.used
    return start
  }

  private grow(more: number): void {
    if (this.used + more <= this.own.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.own.length * 2, this.used + more))
    grown.set(this.own.subarray(0, this.used))
    this.own = grown
  }
}

function isStorableText(bytes: Uint8Array, start: number, end: number): boolean {
  let seen = 0
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number
    if (byte === NUL) return false
    seen |= byte
  }
  return seen <= ASCII_MAX || isUtf8(bytes.subarray(start, end))
}

const HEX = Uint8Array.from(Buffer.from('0123456789abcdef'))
