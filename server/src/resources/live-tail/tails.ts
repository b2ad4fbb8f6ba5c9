import type { Filter } from '@dendro/language/tree'
import { seqAt } from '../../events/seq.ts'
import type { Bounds, FoundEvent } from '../../reading/question.ts'
import type { World } from '../../world.ts'

/** A Tail is what has arrived in one dataset since somebody began to watch it; all who watch it share it. */
export type Tail = {
  readonly logId: string
  /** events are in the order in which they were found; the first of them has the number `first`. */
  events: FoundEvent[]
  first: number
  seen: Set<bigint>
  readAtMs: number
  usedAtMs: number
  reading: Promise<void> | undefined
}

/** ReadNew reads the newest events of some datasets within bounds that a filter leaves. */
export type ReadNew = (logIds: readonly string[], filter: Filter, bounds: Bounds) => Promise<readonly FoundEvent[]>

/** FRESH_MS is how long what was read counts as what there is: however many watch, a dataset is read no more often. */
const FRESH_MS = 500
/** OVERLAP_MS is read again each time, since numbers may be claimed so long before the events that carry them can be seen. */
const OVERLAP_MS = 30_000
/** LATE_MS is how far in the past the time of an event may lie to be shown as it arrives. */
const LATE_MS = 15 * 60_000
const AHEAD_MS = 60_000
/** EVENTS_MAX is how many events of a dataset wait for slow watchers. */
const EVENTS_MAX = 10_000
const IDLE_MS = 120_000

/** Tails are the tails of the datasets that are being watched in this process. */
export class Tails {
  readonly #clock: World['clock']
  readonly #tails = new Map<string, Tail>()

  constructor(clock: World['clock']) {
    this.#clock = clock
  }

  /** refresh brings the tails of datasets up to now by one question for all that are not; what a new tail finds at first is past. */
  async refresh(logIds: readonly string[], read: ReadNew): Promise<readonly Tail[]> {
    const nowMs = this.#clock.nowMs()
    const fresh = logIds.filter((logId) => !this.#tails.has(logId))
    for (const logId of fresh) {
      this.#tails.set(logId, {
        logId,
        events: [],
        first: 0,
        seen: new Set(),
        readAtMs: nowMs - FRESH_MS,
        usedAtMs: nowMs,
        reading: undefined,
      })
    }
    const tails = logIds.flatMap((logId) => this.#tails.get(logId) ?? [])
    for (const tail of tails) tail.usedAtMs = nowMs
    const due = tails.filter((tail) => tail.reading === undefined && Math.abs(nowMs - tail.readAtMs) >= FRESH_MS)
    if (due.length > 0) {
      const reading = this.#readOn(due, new Set(fresh), read, nowMs).finally(() => {
        for (const tail of due) tail.reading = undefined
      })
      for (const tail of due) tail.reading = reading
    }
    await Promise.all(new Set(tails.map(({ reading }) => reading)))
    return tails
  }

  async #readOn(due: readonly Tail[], fresh: ReadonlySet<string>, read: ReadNew, nowMs: number): Promise<void> {
    const sinceMs = Math.min(...due.map(({ readAtMs }) => readAtMs), nowMs) - OVERLAP_MS
    const ids = due.map(({ logId }) => logId)
    const found = await read(ids, arrivedAfter(sinceMs), { fromMs: sinceMs - LATE_MS, toMs: nowMs + AHEAD_MS }).catch((cause) => {
      // What a tail did not find at first would be shown as new: it is begun again.
      for (const logId of fresh) this.#tails.delete(logId)
      throw cause
    })
    const byLog = Map.groupBy(found.toSorted(bySequence), ({ logId }) => logId)
    for (const tail of due) {
      add(tail, byLog.get(tail.logId) ?? [], nowMs)
      tail.readAtMs = nowMs
      if (!fresh.has(tail.logId)) continue
      tail.first += tail.events.length
      tail.events = []
    }
  }

  /** forget drops tails that nobody has looked at for a while. */
  forget(): void {
    const nowMs = this.#clock.nowMs()
    for (const [logId, tail] of this.#tails) if (nowMs - tail.usedAtMs > IDLE_MS) this.#tails.delete(logId)
  }
}

function add(tail: Tail, found: readonly FoundEvent[], nowMs: number): void {
  for (const event of found) {
    if (tail.seen.has(event.seq)) continue
    tail.seen.add(event.seq)
    tail.events.push(event)
  }
  const over = tail.events.length - EVENTS_MAX
  if (over > 0) {
    tail.events.splice(0, over)
    tail.first += over
  }
  const oldest = seqAt(nowMs - 2 * OVERLAP_MS)
  for (const seq of tail.seen) if (seq < oldest) tail.seen.delete(seq)
}

const arrivedAfter = (ms: number): Filter => ({
  kind: 'compare',
  key: '@sequence',
  operator: '>',
  value: { kind: 'number', text: String(seqAt(ms)) },
  at: { position: 0, length: 0 },
})

export const bySequence = (one: FoundEvent, other: FoundEvent): number => (one.seq < other.seq ? -1 : one.seq > other.seq ? 1 : 0)

/** A Watch is how far a watcher has come in each tail. */
export type Watch = Map<string, number>

/** takeNew gives a watcher the matching events that he has not had, in the order of their arrival, at most `limit`: the rest stays for the next time. */
export function takeNew(tails: readonly Tail[], watch: Watch, matches: (event: FoundEvent) => boolean, limit: number): FoundEvent[] {
  const waiting = tails.flatMap((tail) => {
    const from = Math.max(0, (watch.get(tail.logId) ?? end(tail)) - tail.first)
    return tail.events.slice(from).flatMap((event, index) => (matches(event) ? [{ tail, event, number: tail.first + from + index }] : []))
  })
  waiting.sort((one, other) => bySequence(one.event, other.event))
  for (const tail of tails) watch.set(tail.logId, end(tail))
  for (const { tail, number } of waiting.slice(limit)) watch.set(tail.logId, Math.min(number, watch.get(tail.logId) ?? number))
  return waiting.slice(0, limit).map(({ event }) => event)
}

const end = (tail: Tail): number => tail.first + tail.events.length
