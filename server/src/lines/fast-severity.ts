import type { Severity } from './severity.ts'

const ENTRIES = 256
const ENTRY_BYTES = 48

/**
 * Caches the severity by the values that decide it: they are few, short and nearly always known. The cache compares the values themselves, not only
 * their hash, so a hash collision cannot give a wrong severity.
 */
export class SeverityMemo {
  private readonly bytes = new Uint8Array(ENTRIES * ENTRY_BYTES)
  private readonly lengths = new Uint8Array(ENTRIES)
  private readonly owners: unknown[] = []
  private readonly severities: (Severity | undefined)[] = []
  private readonly key = new Uint8Array(ENTRY_BYTES)
  private keyLength = 0
  private hash = 0

  start(): void {
    this.keyLength = 0
    this.hash = 0
  }

  /** Appends a value to the cache key; false when the key becomes too long to cache. */
  add(source: Uint8Array, start: number, end: number): boolean {
    if (this.keyLength + end - start + 1 > ENTRY_BYTES) return false
    for (let at = start; at < end; at += 1) {
      const byte = source[at] as number
      this.key[this.keyLength++] = byte
      this.hash = Math.imul(this.hash ^ byte, 0x01000193)
    }
    this.key[this.keyLength++] = 0
    return true
  }

  /** The cached severity for the same values of the same owner. */
  recall(owner: unknown): Severity | undefined {
    const entry = this.entry()
    if (this.owners[entry] !== owner || this.lengths[entry] !== this.keyLength) return undefined
    const from = entry * ENTRY_BYTES
    for (let at = 0; at < this.keyLength; at += 1) if (this.bytes[from + at] !== this.key[at]) return undefined
    return this.severities[entry]
  }

  remember(owner: unknown, severity: Severity): void {
    const entry = this.entry()
    this.owners[entry] = owner
    this.lengths[entry] = this.keyLength
    this.bytes.set(this.key, entry * ENTRY_BYTES)
    this.severities[entry] = severity
  }

  private entry(): number {
    return (this.hash ^ (this.hash >>> 13)) & (ENTRIES - 1)
  }
}
