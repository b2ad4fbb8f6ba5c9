import { type ColumnTexts, MORE_ENDS, MORE_KEYS, MORE_VALUES, RAW } from '../kernel/column-texts.ts'
import { DISTINCT_MAX, type Observation } from '../layout/slots.ts'

const FIRST_ROWS = 256

/** The texts of ascending rows in the Native format: length and bytes, length 0 for rows without a text. */
export class TextColumn {
  readonly number: number
  private readonly texts: ColumnTexts

  constructor(texts: ColumnTexts, number: number = RAW) {
    this.texts = texts
    this.number = number
  }

  get rows(): number {
    return this.texts.rows(this.number)
  }

  add(row: number, source: Uint8Array, start: number, end: number): void {
    this.texts.add(this.number, row, source, start, end)
  }

  addText(row: number, text: string): void {
    this.texts.addText(this.number, row, text)
  }

  /** The encoded texts of all rows before `rows`; those without a text are empty. */
  encoded(rows: number): readonly Uint8Array[] {
    return this.texts.filled(this.number, rows)
  }
}

/** Collects one unsigned 32-bit number per row. */
export class NumberColumn {
  values = new Uint32Array(FIRST_ROWS)

  set(row: number, value: number): void {
    if (row >= this.values.length) {
      const values = new Uint32Array(Math.max(this.values.length * 2, row + 1))
      values.set(this.values)
      this.values = values
    }
    this.values[row] = value
  }
}

/** Collects repeated texts: each text once, and an index per row. */
export class DictionaryColumn {
  readonly rows = new NumberColumn()
  /** Changes when the column is cleared, and with it all indexes. */
  generation = 0
  private readonly known = new Map<string, number>()

  get size(): number {
    return this.known.size
  }

  /** The index of a text within this block. */
  indexOf(text: string): number {
    const known = this.known.get(text)
    if (known !== undefined) return known
    const index = this.known.size
    this.known.set(text, index)
    return index
  }

  /** The texts in index order. */
  distinct(): IterableIterator<string> {
    return this.known.keys()
  }

  clear(): void {
    this.known.clear()
    this.generation += 1
  }
}

/** Collects the parts of shapes: a list of repeated texts per row. */
export class PartsColumn {
  readonly texts = new DictionaryColumn()
  /** ends is the cumulative number of parts at the end of each row. */
  readonly ends = new NumberColumn()
  count = 0
  private rows = 0

  add(row: number, part: string): void {
    this.addIndex(row, this.texts.indexOf(part))
  }

  /** Adds a part by its index among the texts. */
  addIndex(row: number, part: number): void {
    this.fill(row)
    this.texts.rows.set(this.count, part)
    this.count += 1
  }

  /** Ends every row before `rows`; parts arrive in row order. */
  fill(rows: number): void {
    for (; this.rows < rows; this.rows += 1) this.ends.set(this.rows, this.count)
  }

  clear(): void {
    this.texts.clear()
    this.count = 0
    this.rows = 0
  }
}

/** A sketch of this size estimates distinct counts up to a few times its bits (assembly/columns.ts). */
const SKETCH_BITS = 1_024

/** Collects the overflow map: values of keys without a slot. */
export class OverflowColumn {
  readonly keys = new DictionaryColumn()
  private readonly texts: ColumnTexts

  constructor(texts: ColumnTexts) {
    this.texts = texts
  }

  get count(): number {
    return this.texts.rows(MORE_VALUES)
  }

  add(row: number, path: string, source: Uint8Array, start: number, end: number): void {
    this.texts.addOverflow(row, this.keys.indexOf(path), source, start, end)
  }

  /** The encoded values, the key of each as its index, and the number of values at the end of each row before `rows`. */
  values(): readonly Uint8Array[] {
    return this.texts.filled(MORE_VALUES, this.count)
  }
  keyOfEach(): Uint32Array {
    return new Uint32Array(joined(this.texts.filled(MORE_KEYS, 0)).buffer)
  }
  ends(rows: number): BigUint64Array {
    return new BigUint64Array(joined(this.texts.filled(MORE_ENDS, rows)).buffer)
  }

  /** Frequency and distinct values of the overflow keys, for slot decisions. */
  observations(): Observation[] {
    return [...this.keys.distinct()].map((path, key) => {
      const { count, bits } = this.texts.seen(key)
      const free = SKETCH_BITS - bits
      const distinct = free === 0 ? DISTINCT_MAX : Math.round(-SKETCH_BITS * Math.log(free / SKETCH_BITS))
      return { path, count, distinct: Math.min(count, distinct, DISTINCT_MAX) }
    })
  }

  /** The same, with values counted one by one. */
  counted(): Observation[] {
    const texts = Array.from({ length: this.keys.size }, () => new Set<string>())
    const bytes = Buffer.from(joined(this.values()).buffer)
    const starts = startsOf(bytes, this.count)
    for (const [value, key] of this.keyOfEach().entries()) {
      const known = texts[key]
      if (known && known.size < DISTINCT_MAX) known.add(bytes.toString('latin1', starts[value], starts[value + 1]))
    }
    return [...this.keys.distinct()].map((path, key) => ({ path, count: this.texts.seen(key).count, distinct: texts[key]?.size ?? 0 }))
  }
}

/** The position of each encoded text, and the end of the last one. */
export function startsOf(bytes: Uint8Array, rows: number): Uint32Array {
  const starts = new Uint32Array(rows + 1)
  let at = 0
  for (let row = 0; row < rows; row += 1) {
    starts[row] = at
    let length = 0
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++] as number
      length += (byte & 0x7f) * shift
      if (byte <= 0x7f) break
    }
    at += length
  }
  starts[rows] = at
  return starts
}

/** Copies the encoded texts of some rows. */
export function selectTexts(bytes: Uint8Array, starts: Uint32Array, rows: Uint32Array): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let index = 0; index < rows.length; ) {
    const first = rows[index] as number
    let next = first + 1
    for (index += 1; rows[index] === next; index += 1) next += 1
    parts.push(bytes.subarray(starts[first], starts[next]))
  }
  return parts
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
