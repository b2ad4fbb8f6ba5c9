/** Reads a result in the RowBinary format: values in sequence, each encoded by its type. */
export class BinaryRows {
  readonly #bytes: Buffer
  #at = 0
  #uuid = { high: 0n, low: 0n, text: uuidText(0n, 0n) }

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get atEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  uint8(): number {
    this.#at += 1
    return this.#bytes.readUInt8(this.#at - 1)
  }

  uint64(): bigint {
    this.#at += 8
    return this.#bytes.readBigUInt64LE(this.#at - 8)
  }

  int64(): bigint {
    this.#at += 8
    return this.#bytes.readBigInt64LE(this.#at - 8)
  }

  float64(): number {
    this.#at += 8
    return this.#bytes.readDoubleLE(this.#at - 8)
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
    this.#at += length
    if (this.#at > this.#bytes.length) throw new Error('the event store returned a truncated result')
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  text(): string {
    const length = this.length()
    this.#at += length
    if (this.#at > this.#bytes.length) throw new Error('the event store returned a truncated result')
    return this.#bytes.toString('utf8', this.#at - length, this.#at)
  }

  texts(): string[] {
    return Array.from({ length: this.length() }, () => this.text())
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
}

function uuidText(high: bigint, low: bigint): string {
  const digits = [high, low].map((half) => half.toString(16).padStart(16, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
