import { incompleteResult } from '../../events/store/reads.ts'
import { Stretch } from '../../kernel/steps.ts'

/**
 * Reads a result in the RowBinary format: values in sequence, each encoded by its type. The format has no end mark, so the rows are compared with the
 * number that the store counted.
 */
export class BinaryRows {
  readonly #bytes: Buffer
  readonly #rows: number
  #begun = 0
  #at = 0
  #uuid = { high: 0n, low: 0n, text: uuidText(0n, 0n) }

  constructor(bytes: Buffer, rows: number) {
    this.#bytes = bytes
    this.#rows = rows
  }

  /** Begins the next row; false after the last. Throws when the result ends before it, or goes on after it. */
  next(): boolean {
    const isEnd = this.#at >= this.#bytes.length
    if (isEnd !== this.#begun >= this.#rows) throw incompleteResult(`has ${this.#rows} rows, but not their bytes`)
    if (!isEnd) this.#begun += 1
    return !isEnd
  }

  uint8(): number {
    return this.#bytes.readUInt8(this.#skip(1))
  }

  uint64(): bigint {
    return this.#bytes.readBigUInt64LE(this.#skip(8))
  }

  int64(): bigint {
    return this.#bytes.readBigInt64LE(this.#skip(8))
  }

  float64(): number {
    return this.#bytes.readDoubleLE(this.#skip(8))
  }

  /** Two numbers of eight bytes, the higher one first. Most rows have the same one as the row before. */
  uuid(): string {
    const [high, low] = [this.uint64(), this.uint64()]
    if (high !== this.#uuid.high || low !== this.#uuid.low) this.#uuid = { high, low, text: uuidText(high, low) }
    return this.#uuid.text
  }

  /** Returns the bytes of a string without copying them. */
  bytes(): Buffer {
    const length = this.length()
    const start = this.#skip(length)
    return this.#bytes.subarray(start, start + length)
  }

  text(): string {
    const length = this.length()
    const start = this.#skip(length)
    return this.#bytes.toString('utf8', start, start + length)
  }

  texts(): string[] {
    return Array.from({ length: this.length() }, () => this.text())
  }

  uint64s(): bigint[] {
    return Array.from({ length: this.length() }, () => this.uint64())
  }

  pairs(): [string, string][] {
    return Array.from({ length: this.length() }, () => [this.text(), this.text()])
  }

  /** Lengths are varints: groups of seven bits, the lowest first. */
  length(): number {
    let value = 0
    for (let weight = 1; ; weight *= 128) {
      const byte = this.uint8()
      value += (byte & 127) * weight
      if (byte < 128) return value
    }
  }

  /** Returns the position before so many bytes, and goes on after them. */
  #skip(length: number): number {
    const start = this.#at
    this.#at += length
    if (this.#at > this.#bytes.length) throw incompleteResult('ends within a row')
    return start
  }
}

function uuidText(high: bigint, low: bigint): string {
  const digits = [high, low].map((half) => half.toString(16).padStart(16, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** Calls the handler for each row of a result that may be long, with pauses for other work. */
export async function eachRow(rows: BinaryRows | undefined, handle: (rows: BinaryRows) => void): Promise<void> {
  const stretch = new Stretch()
  while (rows?.next()) {
    const pause = stretch.pause()
    if (pause) await pause
    handle(rows)
  }
}
