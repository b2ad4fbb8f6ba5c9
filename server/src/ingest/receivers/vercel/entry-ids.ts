import { hash } from 'node:crypto'
import type { MemberText } from '../json/member-text.ts'

const FIRST_BYTES = 1_024
const LINE_FEED = 0x0a
const ASCII_MAX = 0x7f
/** The longest text that one byte becomes, if it is no UTF-8. */
const REPLACEMENT_BYTES = 3

/** The ids of the entries of a post, one a line. */
export class EntryIds {
  count = 0
  readonly #body: Buffer
  #lines = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #used = 0

  constructor(body: Buffer) {
    this.#body = body
  }

  add(id: MemberText): void {
    this.#grow((id.stop - id.start) * REPLACEMENT_BYTES + 1)
    if (this.count > 0) this.#lines[this.#used++] = LINE_FEED
    this.count += 1
    if (id.escaped || !this.#copy(id)) this.#used += this.#lines.write(id.text() ?? '', this.#used)
  }

  /** Copies an id of ASCII characters; false for any other. */
  #copy({ start, stop }: MemberText): boolean {
    const lines = this.#lines
    const shift = this.#used - start
    for (let at = start; at < stop; at += 1) {
      const byte = this.#body[at] as number
      if (byte > ASCII_MAX) return false
      lines[shift + at] = byte
    }
    this.#used += stop - start
    return true
  }

  hash(): string {
    return hash('sha256', this.#lines.subarray(0, this.#used))
  }

  #grow(more: number): void {
    if (this.#used + more <= this.#lines.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#lines.length * 2, this.#used + more))
    grown.set(this.#lines.subarray(0, this.#used))
    this.#lines = grown
  }
}
