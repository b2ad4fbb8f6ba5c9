import type { World } from '../../../world.ts'
import { upsertKeyUses } from './rows.ts'

/** A key is written at most once per minute by each process, however often it is used. */
const WRITE_EVERY_MS = 60_000
const KEYS_MAX = 100_000

/** Collects when each API key authenticated a request, and writes the times in batches. */
export class ApiKeyUses {
  readonly #world: Pick<World, 'meta' | 'clock'>
  /** The last collected use of each key, also after it was written. */
  readonly #collected = new Map<string, number>()
  #unwritten = new Map<string, number>()

  constructor(world: Pick<World, 'meta' | 'clock'>) {
    this.#world = world
  }

  record(keyId: string): void {
    const nowMs = this.#world.clock.nowMs()
    const lastMs = this.#collected.get(keyId)
    if (lastMs !== undefined && nowMs - lastMs < WRITE_EVERY_MS) return
    if (this.#collected.size >= KEYS_MAX) this.#collected.clear()
    this.#collected.set(keyId, nowMs)
    this.#unwritten.set(keyId, nowMs)
  }

  /** Writes the collected times; after a failure they are written with the next flush. */
  async flush(): Promise<void> {
    const uses = this.#unwritten
    if (uses.size === 0) return
    this.#unwritten = new Map()
    try {
      await upsertKeyUses(
        this.#world.meta,
        [...uses].map(([id, used_at]) => ({ id, used_at })),
      )
    } catch (cause) {
      this.#unwritten = new Map([...uses, ...this.#unwritten])
      throw cause
    }
  }
}
