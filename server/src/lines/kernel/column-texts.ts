import { lineKernel } from './kernel.ts'

/** The columns with a meaning, as assembly/columns.ts numbers them. Those of slots follow. */
export const [RAW, MORE_VALUES, MORE_KEYS, MORE_ENDS, MORE_SEEN, FIRST_SLOT] = [0, 1, 2, 3, 4, 5] as const

const COLUMN = { words: 8, rows: 0, first: 1, last: 2, put: 3 }
const CHUNK = { head: 8, next: 0, used: 1 }
const SEEN = { words: 4, count: 0, bits: 1 }
/** Up to this length, writing character by character is faster than a call. */
const SHORT = 40

/**
 * The texts of a block by column. The kernel holds those of the block in progress in its memory; when another block begins before that one has ended, they
 * are put aside.
 */
export class ColumnTexts {
  /** The columns as they were when the kernel put them aside. */
  aside: Uint8Array[] | undefined
  private readonly kernel = lineKernel()

  /** Lets the kernel hold these columns. */
  hold(): void {
    if (this.kernel.held !== this) this.kernel.hold(this)
  }

  /** Adds a text to a row of a column. Rows ascend. */
  add(column: number, row: number, source: Uint8Array, start: number, end: number): void {
    this.hold()
    const at = this.kernel.exports.addText(column, row, end - start)
    this.kernel.copy(source, start, end, at)
  }

  addText(column: number, row: number, text: string): void {
    this.hold()
    const length = Buffer.byteLength(text)
    const at = this.kernel.exports.addText(column, row, length)
    const bytes = this.kernel.viewed()
    if (length > SHORT || length !== text.length) Buffer.from(bytes.buffer, at, length).write(text)
    else for (let char = 0; char < length; char += 1) bytes[at + char] = text.charCodeAt(char)
  }

  /** Adds a value to the overflow map of a row. */
  addOverflow(row: number, key: number, source: Uint8Array, start: number, end: number): void {
    this.hold()
    const { kernel } = this
    const at = kernel.exports.addOverflow(row, key, end - start)
    kernel.copy(source, start, end, at)
    kernel.exports.observe(key, at, end - start)
    kernel.viewed()
  }

  rows(column: number): number {
    this.hold()
    return this.kernel.words[this.wordOf(column) + COLUMN.rows] as number
  }

  /** The bytes of a column in parts, after all rows before `rows` have got a text. The parts are valid until something is added. */
  filled(column: number, rows: number): Uint8Array[] {
    this.hold()
    const { kernel } = this
    if (rows > 0) kernel.exports.fillRows(column, rows)
    const bytes = kernel.viewed()
    const { words } = kernel
    const record = this.wordOf(column)
    const last = words[record + COLUMN.last] as number
    const parts: Uint8Array[] = []
    for (let chunk = words[record + COLUMN.first] as number; chunk !== 0; chunk = words[(chunk >> 2) + CHUNK.next] as number) {
      const start = chunk + CHUNK.head
      const end = chunk === last ? (words[record + COLUMN.put] as number) : start + (words[(chunk >> 2) + CHUNK.used] as number)
      parts.push(bytes.subarray(start, end))
    }
    return parts
  }

  /** How often an overflow key was seen, and with how many distinct values: so many bits of a sketch are set. */
  seen(key: number): { count: number; bits: number } {
    this.hold()
    const { words } = this.kernel
    const record = ((words[this.wordOf(MORE_SEEN) + COLUMN.first] as number) >> 2) + key * SEEN.words
    return { count: words[record + SEEN.count] as number, bits: words[record + SEEN.bits] as number }
  }

  /** The bytes that the columns take in the memory. */
  get used(): number {
    this.hold()
    return this.kernel.exports.arenaEnd() - this.kernel.exports.arenaAt()
  }

  clear(): void {
    this.aside = undefined
    if (this.kernel.held === this) this.kernel.exports.clearBlock()
  }

  private wordOf(column: number): number {
    return (this.kernel.exports.columnsAt() >> 2) + column * COLUMN.words
  }
}
