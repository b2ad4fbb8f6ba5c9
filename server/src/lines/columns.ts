import { DISTINCT_MAX, type Observation } from './slots.ts'

const FIRST_BYTES = 1_024
const FIRST_ROWS = 256
/** Up to this length, copying byte by byte is faster than a call to set(). */
const SHORT = 40
/** A buffer is reused for the next block unless it is large and SPARE times larger than its content. */
const LARGE_BYTES = 65_536
const SPARE = 8

/** Collects the texts of ascending rows in the Native format: length and bytes, length 0 for rows without a text. */
export class TextColumn {
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  used = 0
  rows = 0
  private starts: Uint32Array | undefined

  add(row: number, source: Uint8Array, start: number, end: number): void {
    const length = end - start
    const gap = row - this.rows
    if (this.used + gap + length + 5 > this.bytes.length) this.grow(gap + length + 5)
    const { bytes } = this
    let at = this.used
    for (let missing = gap; missing > 0; missing -= 1) bytes[at++] = 0
    let rest = length
    while (rest > 0x7f) {
      bytes[at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    bytes[at++] = rest
    if (length <= SHORT) {
      for (let from = start; from < end; from += 1) bytes[at++] = source[from] as number
    } else {
      // Unlike set(), this needs no object for the part of the source.
      Buffer.prototype.copy.call(source, bytes, at, start, end)
      at += length
    }
    this.used = at
    this.rows = row + 1
  }

  addText(row: number, text: string): void {
    if (text.length <= SHORT && this.addAscii(row, text)) return
    const bytes = Buffer.from(text, 'utf8')
    this.add(row, bytes, 0, bytes.length)
  }

  /** Adds a short text without a buffer of its own; false for a text with other characters. */
  private addAscii(row: number, text: string): boolean {
    const { length } = text
    const gap = row - this.rows
    if (this.used + gap + length + 1 > this.bytes.length) this.grow(gap + length + 1)
    const { bytes } = this
    let at = this.used
    for (let missing = gap; missing > 0; missing -= 1) bytes[at++] = 0
    bytes[at++] = length
    for (let char = 0; char < length; char += 1) {
      const code = text.charCodeAt(char)
      if (code > 0x7f) return false
      bytes[at++] = code
    }
    this.used = at
    this.rows = row + 1
    return true
  }

  /** Pads the column with empty texts up to `rows`. */
  fill(rows: number): void {
    const gap = rows - this.rows
    if (gap <= 0) return
    if (this.used + gap > this.bytes.length) this.grow(gap)
    this.bytes.fill(0, this.used, this.used + gap)
    this.used += gap
    this.rows = rows
  }

  /** Returns the encoded texts of the given rows; the column must have all of them. */
  select(rows: Uint32Array): Buffer {
    this.starts ??= startsOf(this)
    const { bytes, starts } = this
    let length = 0
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index] as number
      length += (starts[row + 1] as number) - (starts[row] as number)
    }
    const selected = Buffer.allocUnsafeSlow(length)
    let at = 0
    for (let index = 0; index < rows.length; ) {
      const first = rows[index] as number
      let next = first + 1
      for (index += 1; rows[index] === next; index += 1) next += 1
      const [start, end] = [starts[first] as number, starts[next] as number]
      if (end - start <= SHORT) for (let from = start; from < end; from += 1) selected[at++] = bytes[from] as number
      else at += bytes.copy(selected, at, start, end)
    }
    return selected
  }

  clear(): void {
    if (this.bytes.length >= LARGE_BYTES && this.bytes.length > this.used * SPARE) this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
    this.used = 0
    this.rows = 0
    this.starts = undefined
  }

  private grow(more: number): void {
    let size = this.bytes.length * 2
    while (size < this.used + more) size *= 2
    const bytes = Buffer.allocUnsafeSlow(size)
    bytes.set(this.bytes.subarray(0, this.used))
    this.bytes = bytes
  }
}

/** The position of each encoded text, and the end of the last one. */
function startsOf({ bytes, rows }: TextColumn): Uint32Array {
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
  readonly texts = new TextColumn()
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
    this.texts.addText(index, text)
    return index
  }

  /** The texts in index order. */
  distinct(): IterableIterator<string> {
    return this.known.keys()
  }

  clear(): void {
    this.texts.clear()
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

/** A sketch of this size estimates distinct counts up to a few times its bits. */
const SKETCH_BITS = 1_024
/** So many bytes at the beginning and at the end tell values apart. */
const HASHED_BYTES = 8

/**
 * How often a key was seen, and with how many distinct values: `bits` of a sketch are set. Most of many keys have one value, which is `first`; the
 * sketch begins with the second.
 */
type SeenKey = { count: number; bits: number; first: number; sketch: Uint8Array | undefined }

/** Collects the overflow map: values of keys without a slot. */
export class OverflowColumn {
  readonly keys = new DictionaryColumn()
  readonly values = new TextColumn()
  /** The cumulative number of values at the end of each row. */
  readonly ends = new NumberColumn()
  count = 0
  private rows = 0
  private seen: SeenKey[] = []
  /** The first value of the row, and the keys of the previous row in order, which most rows repeat. */
  private firstOfRow = 0
  private readonly expectedPaths: string[] = []
  private readonly expectedKeys: number[] = []

  add(row: number, path: string, source: Uint8Array, start: number, end: number): void {
    if (row !== this.rows) this.firstOfRow = this.count
    this.fill(row)
    const key = this.keyOf(path, this.count - this.firstOfRow)
    this.keys.rows.set(this.count, key)
    this.values.add(this.count, source, start, end)
    this.count += 1
    this.observe(key, source, start, end)
  }

  private keyOf(path: string, place: number): number {
    if (this.expectedPaths[place] === path) return this.expectedKeys[place] as number
    const key = this.keys.indexOf(path)
    this.expectedPaths[place] = path
    this.expectedKeys[place] = key
    return key
  }

  /** Ends every row before `rows`; values arrive in row order. */
  fill(rows: number): void {
    for (; this.rows < rows; this.rows += 1) this.ends.set(this.rows, this.count)
  }

  /** Frequency and distinct values of the overflow keys, for slot decisions. */
  observations(): Observation[] {
    return [...this.keys.distinct()].map((path, key) => {
      const { count, bits } = this.seen[key] ?? { count: 0, bits: 0 }
      const free = SKETCH_BITS - bits
      const distinct = free === 0 ? DISTINCT_MAX : Math.round(-SKETCH_BITS * Math.log(free / SKETCH_BITS))
      return { path, count, distinct: Math.min(count, distinct, DISTINCT_MAX) }
    })
  }

  /** The same, with values counted one by one. */
  counted(): Observation[] {
    const texts = Array.from({ length: this.keys.size }, () => new Set<string>())
    const { bytes } = this.values
    const starts = startsOf(this.values)
    for (let value = 0; value < this.count; value += 1) {
      const known = texts[this.keys.rows.values[value] as number]
      if (known && known.size < DISTINCT_MAX) known.add(bytes.toString('latin1', starts[value], starts[value + 1]))
    }
    return [...this.keys.distinct()].map((path, key) => ({
      path,
      count: this.seen[key]?.count ?? 0,
      distinct: texts[key]?.size ?? 0,
    }))
  }

  clear(): void {
    this.keys.clear()
    this.values.clear()
    this.count = 0
    this.rows = 0
    this.seen = []
    this.firstOfRow = 0
    this.expectedPaths.length = 0
  }

  private observe(key: number, source: Uint8Array, start: number, end: number): void {
    let hash = end - start
    const head = Math.min(end, start + HASHED_BYTES)
    for (let at = start; at < head; at += 1) hash = Math.imul(hash ^ (source[at] as number), 0x01000193)
    for (let at = Math.max(head, end - HASHED_BYTES); at < end; at += 1) hash = Math.imul(hash ^ (source[at] as number), 0x01000193)
    const bit = ((hash ^ (hash >>> 15)) >>> 0) % SKETCH_BITS
    const seen = this.seen[key]
    if (!seen) {
      this.seen[key] = { count: 1, bits: 1, first: bit, sketch: undefined }
      return
    }
    seen.count += 1
    if (!seen.sketch) {
      if (bit === seen.first) return
      seen.sketch = new Uint8Array(SKETCH_BITS)
      seen.sketch[seen.first] = 1
    }
    if (seen.sketch[bit] === 0) seen.bits += 1
    seen.sketch[bit] = 1
  }
}
