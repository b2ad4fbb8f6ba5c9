import type { World } from '../../../world.ts'
import { upsertKeyUses } from './rows.ts'

/** A key is written at most once per minute by each process, however often it is used. */
const WRITE_EVERY_MS = 60_000
const KEYS_MAX = 100_000

type CollectedUse = { usedMs: number; address: string; previousMs: number | null }

/** Collects when and from where each API key authenticated a request, and writes that in batches. */
export class ApiKeyUses {
  readonly #world: Pick<World, 'meta' | 'clock'>
  /** The last collected use of each secret, also after it was written. */
  readonly #collected = new Map<string, number>()
  #unwritten = new Map<string, CollectedUse>()

  constructor(world: Pick<World, 'meta' | 'clock'>) {
    this.#world = world
  }

  /** `isPrevious` is true for the secret before a rotation. */
  record(keyId: string, address: string, isPrevious = false): void {
    const nowMs = this.#world.clock.nowMs()
    const secret = isPrevious ? `${keyId} previous` : keyId
    const lastMs = this.#collected.get(secret)
    if (lastMs !== undefined && nowMs - lastMs < WRITE_EVERY_MS) return
    if (this.#collected.size >= KEYS_MAX) this.#collected.clear()
    this.#collected.set(secret, nowMs)
    const previousMs = isPrevious ? nowMs : (this.#unwritten.get(keyId)?.previousMs ?? null)
    this.#unwritten.set(keyId, { usedMs: nowMs, address, previousMs })
  }

  /** Writes what was collected; after a failure it is written with the next flush. */
  async flush(): Promise<void> {
    const uses = this.#unwritten
    if (uses.size === 0) return
    this.#unwritten = new Map()
    try {
      await upsertKeyUses(
        this.#world.meta,
        [...uses].map(([id, { usedMs, address, previousMs }]) => ({ id, used_at: usedMs, address, previous_used_at: previousMs })),
      )
    } catch (cause) {
      this.#unwritten = new Map([...uses, ...this.#unwritten])
      throw cause
    }
  }
}
