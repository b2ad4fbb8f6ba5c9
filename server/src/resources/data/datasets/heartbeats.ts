import type { World } from '../../../world.ts'
import { upsertHeartbeats } from './rows.ts'

/** Collects the times at which data arrived for each dataset, and writes them every few seconds at most. */
export class Heartbeats {
  readonly #world: Pick<World, 'meta'>
  #beats = new Map<string, number>()

  constructor(world: Pick<World, 'meta'>) {
    this.#world = world
  }

  beat(logId: string, nowMs: number): void {
    this.#beats.set(logId, nowMs)
  }

  /** Writes the collected times; after a failure they are written with the next flush. */
  async flush(): Promise<void> {
    const beats = this.#beats
    if (beats.size === 0) return
    this.#beats = new Map()
    try {
      await upsertHeartbeats(
        this.#world.meta,
        [...beats].map(([log_id, beat_at]) => ({ log_id, beat_at })),
      )
    } catch (cause) {
      this.#beats = new Map([...beats, ...this.#beats])
      throw cause
    }
  }
}
