import { joined } from '../../intake/bytes.ts'

export type ChunkBounds = {
  /** Bounds the incomplete messages of all senders, and of one. */
  setsMax: number
  setsPerSenderMax: number
  bytesMax: number
  /** A message must be complete after this time. */
  withinMs: number
}
const BOUNDS: ChunkBounds = { setsMax: 4_096, setsPerSenderMax: 256, bytesMax: 32 * 2 ** 20, withinMs: 5_000 }

const HEAD_BYTES = 12
const CHUNKS_MAX = 128

/** A datagram: a whole message, a part of one that is not complete, or nothing of use. */
export type Assembled = { kind: 'message'; message: Uint8Array } | { kind: 'part' } | { kind: 'malformed' } | { kind: 'full' }

type ChunkSet = { sender: string; parts: (Uint8Array | undefined)[]; missing: number; bytes: number; sinceMs: number }

export const isChunk = (datagram: Uint8Array): boolean => datagram[0] === 0x1e && datagram[1] === 0x0f

/** Puts chunked messages together. Parts of different senders never mix, and what stays incomplete is dropped after a while. */
export class ChunkAssembly {
  readonly #bounds: ChunkBounds
  readonly #sets = new Map<string, ChunkSet>()
  readonly #bySender = new Map<string, number>()
  #bytes = 0

  constructor(bounds: Partial<ChunkBounds> = {}) {
    this.#bounds = { ...BOUNDS, ...bounds }
  }

  get heldBytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#sets.size
  }

  add(datagram: Uint8Array, sender: string, nowMs: number): Assembled {
    if (!isChunk(datagram)) return { kind: 'message', message: datagram }
    const [number = 0, count = 0] = [datagram[10], datagram[11]]
    if (datagram.length <= HEAD_BYTES || count === 0 || count > CHUNKS_MAX || number >= count) return { kind: 'malformed' }
    const part = datagram.subarray(HEAD_BYTES)
    if (count === 1) return { kind: 'message', message: part }
    const id = `${sender} ${Buffer.from(datagram.buffer, datagram.byteOffset + 2, 8).toString('latin1')}`
    const known = this.#sets.get(id)
    if (known && known.parts.length !== count) return { kind: 'malformed' }
    if (known?.parts[number] !== undefined) return { kind: 'part' }
    const set = known ?? this.#open(id, sender, count, nowMs)
    if (!set || this.#bytes + part.length > this.#bounds.bytesMax) return { kind: 'full' }
    set.parts[number] = part
    set.missing -= 1
    set.bytes += part.length
    this.#bytes += part.length
    if (set.missing > 0) return { kind: 'part' }
    this.#remove(id, set)
    return {
      kind: 'message',
      message: joined(
        set.parts.map((one) => one ?? new Uint8Array(0)),
        set.bytes,
      ),
    }
  }

  /** Drops messages that have been incomplete for too long, and returns their number. */
  expire(nowMs: number): number {
    let expired = 0
    for (const [id, set] of this.#sets) {
      // Sets are in the order of their first chunks.
      if (nowMs - set.sinceMs < this.#bounds.withinMs) break
      this.#remove(id, set)
      expired += 1
    }
    return expired
  }

  #open(id: string, sender: string, count: number, nowMs: number): ChunkSet | undefined {
    const own = this.#bySender.get(sender) ?? 0
    if (this.#sets.size >= this.#bounds.setsMax || own >= this.#bounds.setsPerSenderMax) return undefined
    const set: ChunkSet = { sender, parts: Array.from({ length: count }), missing: count, bytes: 0, sinceMs: nowMs }
    this.#sets.set(id, set)
    this.#bySender.set(sender, own + 1)
    return set
  }

  #remove(id: string, { sender, bytes }: ChunkSet): void {
    this.#sets.delete(id)
    this.#bytes -= bytes
    const own = (this.#bySender.get(sender) ?? 1) - 1
    if (own === 0) this.#bySender.delete(sender)
    else this.#bySender.set(sender, own)
  }
}
