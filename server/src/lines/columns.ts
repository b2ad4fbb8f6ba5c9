import { DISTINCT_MAX, type Observation } from './slots.ts'

const FIRST_BYTES = 1_024
const FIRST_ROWS = 256
/** SHORT is the length up to which copying byte by byte is faster than asking for a copy. */
const SHORT = 40
/** A buffer is kept from one block to the next unless it is large and SPARE times as large as what was in it. */
const LARGE_BYTES = 65_536
const SPARE = 8

/** A TextColumn collects texts of rising rows in the form in which they are sent: length and bytes, 0 for a row without. */
export class TextColumn {
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  used = 0
  rows = 0

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
      bytes.set(source.subarray(start, end), at)
      at += length
    }
    this.used = at
    this.rows = row + 1
  }

  addText(row: number, text: string): void {
    const bytes = Buffer.from(text, 'utf8')
    this.add(row, bytes, 0, bytes.length)
  }

  /** fill gives every row up to `rows` its place. */
  fill(rows: number): void {
    const gap = rows - this.rows
    if (gap <= 0) return
    if (this.used + gap > this.bytes.length) this.grow(gap)
    this.bytes.fill(0, this.used, this.used + gap)
    this.used += gap
    this.rows = rows
  }

  clear(): void {
    if (this.bytes.length >= LARGE_BYTES && this.bytes.length > this.used * SPARE) this.bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
    this.used = 0
    this.rows = 0
  }

  private grow(more: number): void {
    let size = this.bytes.length * 2
    while (size < this.used + more) size *= 2
    const bytes = Buffer.allocUnsafeSlow(size)
    bytes.set(this.bytes.subarray(0, this.used))
    this.bytes = bytes
  }
}

/** NumberColumn collects one unsigned 32-bit number for each row. */
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

/** A DictionaryColumn collects texts that repeat: each once, and a number for each row. */
export class DictionaryColumn {
  readonly texts = new TextColumn()
  readonly rows = new NumberColumn()
  private readonly known = new Map<string, number>()

  get size(): number {
    return this.known.size
  }

  /** indexOf is the number of a text in this block. */
  indexOf(text: string): number {
    const known = this.known.get(text)
    if (known !== undefined) return known
    const index = this.known.size
    this.known.set(text, index)
    this.texts.addText(index, text)
    return index
  }

  /** distinct gives the texts in the order of their numbers. */
  distinct(): IterableIterator<string> {
    return this.known.keys()
  }

  clear(): void {
    this.texts.clear()
    this.known.clear()
  }
}

/** SKETCH_BITS of a sketch tell the number of different values well up to a few times as many. */
const SKETCH_BITS = 1_024

/** A MoreColumn collects the values of keys without a slot. */
export class MoreColumn {
  readonly keys = new DictionaryColumn()
  readonly values = new TextColumn()
  /** ends is the number of values up to the end of each row. */
  readonly ends = new NumberColumn()
  count = 0
  private rows = 0
  private seen: { count: number; sketch: Uint8Array }[] = []

  add(row: number, path: string, source: Uint8Array, start: number, end: number): void {
    this.fill(row)
    const key = this.keys.indexOf(path)
    this.keys.rows.set(this.count, key)
    this.values.add(this.count, source, start, end)
    this.count += 1
    this.observe(key, source, start, end)
  }

  /** fill ends every row before `rows`; values come in the order of rows. */
  fill(rows: number): void {
    for (; this.rows < rows; this.rows += 1) this.ends.set(this.rows, this.count)
  }

  /** observations say what a slot would be worth to the keys in here. */
  observations(): Observation[] {
    return [...this.keys.distinct()].map((path, key) => {
      const { count, sketch } = this.seen[key] ?? { count: 0, sketch: new Uint8Array(SKETCH_BITS) }
      const free = sketch.reduce((sum, bit) => sum + (bit === 0 ? 1 : 0), 0)
      const distinct = free === 0 ? DISTINCT_MAX : Math.round(-SKETCH_BITS * Math.log(free / SKETCH_BITS))
      return { path, count, distinct: Math.min(count, distinct, DISTINCT_MAX) }
    })
  }

  clear(): void {
    this.keys.clear()
    this.values.clear()
    this.count = 0
    this.rows = 0
    this.seen = []
  }

  private observe(key: number, source: Uint8Array, start: number, end: number): void {
    let seen = this.seen[key]
    if (!seen) {
      seen = { count: 0, sketch: new Uint8Array(SKETCH_BITS) }
      this.seen[key] = seen
    }
    let hash = end - start
    for (let at = start; at < end && at < start + 32; at += 1) hash = Math.imul(hash ^ (source[at] as number), 0x01000193)
    seen.count += 1
    seen.sketch[((hash ^ (hash >>> 15)) >>> 0) % SKETCH_BITS] = 1
  }
}
