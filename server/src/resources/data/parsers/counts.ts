import type { World } from '../../../world.ts'
import { addParserMinutes, type ParserMinute, removeParserMinutes } from './rows.ts'

/** ParsedLines is what the parser of a dataset made of the lines of a post. */
export type ParsedLines = { orgId: string; logId: string; lines: number; matched: number; givenUp: number; durationNs: number }

const MINUTE_MS = 60_000
/** MINUTES_MAX bounds what gathers while it cannot be written. */
const MINUTES_MAX = 20_000

/** KEPT_MS is how long the counts are kept. */
const KEPT_MS = 100 * 86_400_000

/** deleteOldParserMinutes drops the counts that are too old. */
export const deleteOldParserMinutes = (world: Pick<World, 'meta' | 'clock'>): Promise<number> =>
  removeParserMinutes(world.meta, world.clock.nowMs() - KEPT_MS)

/** ParserCounts gather what parsers did, by minutes, and write it down every few seconds; what a killed process had not written is lost. */
export class ParserCounts {
  readonly #world: Pick<World, 'meta'>
  #minutes = new Map<string, ParserMinute>()

  constructor(world: Pick<World, 'meta'>) {
    this.#world = world
  }

  record({ orgId, logId, lines, matched, givenUp, durationNs }: ParsedLines, nowMs: number): void {
    this.#add({
      org_id: orgId,
      log_id: logId,
      minute_ms: nowMs - (nowMs % MINUTE_MS),
      lines,
      matched,
      given_up: givenUp,
      duration_ns: durationNs,
    })
  }

  /** flush writes what has gathered; after a failure it is written with what gathers until the next time. */
  async flush(): Promise<void> {
    const minutes = [...this.#minutes.values()]
    if (minutes.length === 0) return
    this.#minutes = new Map()
    try {
      await addParserMinutes(this.#world.meta, minutes)
    } catch (cause) {
      for (const minute of minutes) this.#add(minute)
      throw cause
    }
  }

  #add(minute: ParserMinute): void {
    const key = `${minute.log_id} ${minute.minute_ms}`
    const known = this.#minutes.get(key)
    if (!known && this.#minutes.size >= MINUTES_MAX) return
    this.#minutes.set(key, known ? sum(known, minute) : minute)
  }
}

const sum = (a: ParserMinute, b: ParserMinute): ParserMinute => ({
  ...a,
  lines: a.lines + b.lines,
  matched: a.matched + b.matched,
  given_up: a.given_up + b.given_up,
  duration_ns: a.duration_ns + b.duration_ns,
})
