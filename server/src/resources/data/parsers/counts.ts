import type { World } from '../../../world.ts'
import { addParserMinutes, type ParserMinute, removeParserMinutes } from './rows.ts'

/** The result of a dataset's parser for the lines of a request. */
export type ParsedLines = { orgId: string; logId: string; lines: number; matched: number; givenUp: number; durationNs: number }

const MINUTE_MS = 60_000
/** Bounds the counts in memory while they cannot be written. */
const MINUTES_MAX = 20_000

/** How long counts are kept. */
const KEPT_MS = 100 * 86_400_000

/** Deletes old counts. */
export const deleteOldParserMinutes = (world: Pick<World, 'meta' | 'clock'>): Promise<number> =>
  removeParserMinutes(world.meta, world.clock.nowMs() - KEPT_MS)

/** Collects counts of parsers by minute and writes them every few seconds; a killed process loses unwritten counts. */
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

  /** Writes the collected counts; after a failure they are written with the next flush. */
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
