import type { World } from '../../../world.ts'
import { upsertSessionUses } from './rows.ts'

/** A session is written at most once per minute by each process, however often it is used. */
const WRITE_EVERY_MS = 60_000
const SESSIONS_MAX = 100_000

type CollectedUse = { usedMs: number; address: string }

/** Collects when and from where each session was used, and writes that in batches. */
export class SessionUses {
  readonly #world: Pick<World, 'meta' | 'clock'>
  /** The last collected use of each session, also after it was written. */
  readonly #collected = new Map<string, number>()
  #unwritten = new Map<string, CollectedUse>()

  constructor(world: Pick<World, 'meta' | 'clock'>) {
    this.#world = world
  }

  record(sessionId: string, address: string): void {
    const usedMs = this.#world.clock.nowMs()
    const lastMs = this.#collected.get(sessionId)
    if (lastMs !== undefined && usedMs - lastMs < WRITE_EVERY_MS) return
    if (this.#collected.size >= SESSIONS_MAX) this.#collected.clear()
    this.#collected.set(sessionId, usedMs)
    this.#unwritten.set(sessionId, { usedMs, address })
  }

  /** Writes what was collected; after a failure it is written with the next flush. */
  async flush(): Promise<void> {
    const uses = this.#unwritten
    if (uses.size === 0) return
    this.#unwritten = new Map()
    try {
      await upsertSessionUses(
        this.#world.meta,
        [...uses].map(([id, { usedMs, address }]) => ({ id, used_at: usedMs, address })),
      )
    } catch (cause) {
      this.#unwritten = new Map([...uses, ...this.#unwritten])
      throw cause
    }
  }
}
