/** Reads blocks of the engine's Native format, as far as event blocks need it, so that tests can compare rows. */
export class NativeReader {
  private readonly bytes: Buffer
  private at = 0

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  get done(): boolean {
    return this.at >= this.bytes.length
  }

  /** Reads the next block: its columns by name, texts as latin1 so that no byte is lost. */
  block(): { rows: number; columns: Map<string, unknown[]> } {
    const count = this.varint()
    const rows = this.varint()
    const columns = new Map<string, unknown[]>()
    for (let index = 0; index < count; index += 1) {
      const name = this.text()
      columns.set(name, this.column(this.text(), rows))
    }
    return { rows, columns }
  }

  private column(type: string, rows: number): unknown[] {
    const each = <T>(read: () => T): T[] => Array.from({ length: rows }, read)
    if (type === 'String') return each(() => this.text())
    if (type === 'UInt32') return each(() => this.take(4).readUInt32LE())
    if (type === 'UInt64') return each(() => this.u64())
    if (type.startsWith('DateTime64(9')) return each(() => this.take(8).readBigInt64LE())
    if (type.startsWith('Enum8')) return each(() => this.take(1).readInt8())
    if (type === 'UUID') return each(() => [this.u64(), this.u64()].map((half) => half.toString(16).padStart(16, '0')).join(''))
    if (type === 'LowCardinality(String)') {
      this.u64()
      return this.dictionaryRows()
    }
    if (type === 'Array(LowCardinality(String))') {
      this.u64()
      const ends = each(() => Number(this.u64()))
      // The engine writes no dictionary for no texts.
      const texts = (ends.at(-1) ?? 0) === 0 ? [] : this.dictionaryRows()
      return ends.map((end, row) => texts.slice(ends[row - 1] ?? 0, end))
    }
    if (type !== 'Map(LowCardinality(String), String)') throw new Error(`cannot read ${type}`)
    this.u64()
    const ends = each(() => Number(this.u64()))
    const keys = this.dictionaryRows()
    const values = keys.map(() => this.text())
    return ends.map(
      (end, row) => new Map(keys.slice(ends[row - 1] ?? 0, end).map((key, index) => [key, values[(ends[row - 1] ?? 0) + index]])),
    )
  }

  private dictionaryRows(): string[] {
    const width = 2 ** Number(this.u64() & 0xffn)
    const keys = Array.from({ length: Number(this.u64()) }, () => this.text())
    return Array.from({ length: Number(this.u64()) }, () => keys[this.take(width).readUIntLE(0, width)] ?? 'no such key')
  }

  private varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.take(1).readUInt8()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
  }

  private text = (): string => this.take(this.varint()).toString('latin1')
  private u64 = (): bigint => this.take(8).readBigUInt64LE()

  private take(length: number): Buffer {
    this.at += length
    if (this.at > this.bytes.length) throw new Error('the block ends too early')
    return this.bytes.subarray(this.at - length, this.at)
  }
}
