import type { Filter } from '@dendro/language/tree'
import { seqAt } from '../../../events/writer/seq.ts'
import type { FoundEvent, TimeBounds } from '../../../reading/event-query.ts'
import type { World } from '../../../world.ts'
import { advanced, isNew, knownBy, type TailPosition } from './position.ts'

/** The recent events of one dataset, shared by everyone who watches it. */
export type Tail = {
  readonly logId: string
  /** In the order in which they were found; `first` is the number of the first one. */
  events: Arrived[]
  first: number
  seen: Set<bigint>
  /** The sampling factor of each read: 1 unless events arrive too fast. */
  oneOf: Record<Pace, number>
  /** The tail is complete from this time on. */
  fromMs: number
  readAtMs: number
  lateAtMs: number
  usedAtMs: number
  reading: Promise<void> | undefined
}

/** An event and the number of events it represents. */
type Arrived = { event: FoundEvent; oneOf: number }

/** The id of a dataset and its creation time. */
type Watched = { id: string; created_at: number }

/** `now` reads the newest events each time; `late` repeats a longer overlap now and then for events that became visible late. */
type Pace = 'now' | 'late'

/** Reads the newest events of datasets within bounds and a filter, sampled 1 in N. */
export type ReadNew = (
  logIds: readonly string[],
  filter: Filter,
  bounds: TimeBounds,
  oneOf: number,
) => Promise<{ events: readonly FoundEvent[]; hasMore: boolean }>

/** A dataset is read at most this often, however many clients watch it. */
const FRESH_MS = 500
/** The time that each read repeats. Sequence numbers come from a claim up to ten seconds old, and events become visible some time later. */
const OVERLAP_MS: Record<Pace, number> = { now: 12_000, late: 30_000 }
const LATE_EVERY_MS = 5_000
/** The maximum sampling factor. */
const ONE_OF_MAX = 65_536
/** Below this share of the limit the sampling factor is halved. */
const SPARSE = 1 / 4
/** The maximum age of an event's timestamp to be shown on arrival. */
const LATE_MS = 15 * 60_000
const AHEAD_MS = 60_000
/** The number of events buffered for slow clients. */
const EVENTS_MAX = 10_000
const IDLE_MS = 120_000
/** How far back a new tail reads for events that arrived before it started. */
const NEWBORN_MS = 60_000

/** The tails of the datasets that clients of this process watch. */
export class Tails {
  readonly #clock: World['clock']
  readonly #tails = new Map<string, Tail>()

  constructor(clock: World['clock']) {
    this.#clock = clock
  }

  /** Updates stale tails with one query. A tail that does not reach back far enough for a resumed client is read from that time. */
  async refresh(datasets: readonly Watched[], read: ReadNew, backToMs: number): Promise<readonly Tail[]> {
    const short = datasets.filter((dataset) => isShort(this.#tails.get(dataset.id), dataset, backToMs))
    await Promise.all(short.map(({ id }) => this.#tails.get(id)?.reading))
    const nowMs = this.#clock.nowMs()
    const fresh = datasets.filter(({ id }) => !this.#tails.has(id))
    for (const { id, created_at } of fresh) {
      const fromMs = Math.min(nowMs - FRESH_MS, Math.max(created_at, Math.min(nowMs - NEWBORN_MS, backToMs)))
      this.#tails.set(id, {
        logId: id,
        events: [],
        first: 0,
        seen: new Set(),
        oneOf: { now: 1, late: 1 },
        fromMs,
        readAtMs: fromMs,
        lateAtMs: Number.NEGATIVE_INFINITY,
        usedAtMs: nowMs,
        reading: undefined,
      })
    }
    for (const dataset of datasets) {
      const tail = this.#tails.get(dataset.id)
      if (tail && tail.reading === undefined && isShort(tail, dataset, backToMs))
        readFurtherBack(tail, Math.max(dataset.created_at, backToMs))
    }
    const tails = datasets.flatMap(({ id }) => this.#tails.get(id) ?? [])
    for (const tail of tails) tail.usedAtMs = nowMs
    const due = tails.filter((tail) => tail.reading === undefined && Math.abs(nowMs - tail.readAtMs) >= FRESH_MS)
    if (due.length > 0) {
      const reading = this.#readOn(due, new Set(fresh.map(({ id }) => id)), read, nowMs).finally(() => {
        for (const tail of due) tail.reading = undefined
      })
      for (const tail of due) tail.reading = reading
    }
    await Promise.all(new Set(tails.map(({ reading }) => reading)))
    return tails
  }

  async #readOn(due: readonly Tail[], fresh: ReadonlySet<string>, read: ReadNew, nowMs: number): Promise<void> {
    const late = due.filter((tail) => Math.abs(nowMs - tail.lateAtMs) >= LATE_EVERY_MS)
    // A new tail also needs the late events, which it would otherwise show as new.
    const rest = due.filter((tail) => !late.includes(tail) || fresh.has(tail.logId))
    const found = await Promise.all([readAt('late', late, read, nowMs), readAt('now', rest, read, nowMs)]).catch((cause) => {
      // Events that a new tail missed would be shown as new, so it is started again.
      for (const logId of fresh) this.#tails.delete(logId)
      throw cause
    })
    const byLog = Map.groupBy(
      found.flat().toSorted((one, other) => bySequence(one.event, other.event)),
      ({ event }) => event.logId,
    )
    for (const tail of due) {
      add(tail, byLog.get(tail.logId) ?? [], nowMs)
      tail.readAtMs = nowMs
      if (late.includes(tail)) tail.lateAtMs = nowMs
    }
  }

  /** Removes tails that nobody has used for a while. */
  forget(): void {
    const nowMs = this.#clock.nowMs()
    for (const [logId, tail] of this.#tails) if (nowMs - tail.usedAtMs > IDLE_MS) this.#tails.delete(logId)
  }
}

/** True if the tail does not reach back far enough; before a dataset was created there is nothing. */
const isShort = (tail: Tail | undefined, { created_at }: Watched, backToMs: number): boolean =>
  tail !== undefined && tail.fromMs > Math.max(created_at, backToMs)

/** Makes the next read begin earlier; known events are not added twice. */
function readFurtherBack(tail: Tail, fromMs: number): void {
  tail.seen = new Set([...tail.seen, ...tail.events.map(({ event }) => event.seq)])
  tail.fromMs = fromMs
  tail.readAtMs = fromMs
  tail.lateAtMs = Number.NEGATIVE_INFINITY
}

/** Reads the new events of datasets; where one read cannot return all, it samples 1 in N. */
async function readAt(pace: Pace, tails: readonly Tail[], read: ReadNew, nowMs: number): Promise<Arrived[]> {
  const arrived: Arrived[] = []
  const sinceMs = Math.min(...tails.map(({ readAtMs }) => readAtMs), nowMs) - OVERLAP_MS[pace]
  let open = tails
  while (open.length > 0) {
    const over: Tail[] = []
    for (const [oneOf, own] of Map.groupBy(open, (tail) => tail.oneOf[pace])) {
      const ids = own.map(({ logId }) => logId)
      const { events, hasMore } = await read(ids, arrivedAfter(sinceMs), { fromMs: sinceMs - LATE_MS, toMs: nowMs + AHEAD_MS }, oneOf)
      const counts = Map.groupBy(events, ({ logId }) => logId)
      if (!hasMore || oneOf >= ONE_OF_MAX) {
        arrived.push(...events.map((event) => ({ event, oneOf })))
        for (const tail of own) if ((counts.get(tail.logId)?.length ?? 0) < EVENTS_MAX * SPARSE) tail.oneOf[pace] = Math.max(1, oneOf / 2)
        continue
      }
      // At least one tail has its share or more of the events read.
      for (const tail of own) if ((counts.get(tail.logId)?.length ?? 0) * own.length >= events.length) tail.oneOf[pace] = oneOf * 2
      over.push(...own)
    }
    open = over
  }
  return arrived
}

function add(tail: Tail, found: readonly Arrived[], nowMs: number): void {
  for (const one of found) {
    if (tail.seen.has(one.event.seq)) continue
    tail.seen.add(one.event.seq)
    tail.events.push(one)
  }
  const over = tail.events.length - EVENTS_MAX
  if (over > 0) {
    tail.events.splice(0, over)
    tail.first += over
  }
  const oldest = seqAt(nowMs - 2 * OVERLAP_MS.late)
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

/** The offset up to which each tail of this process was processed. */
export type TailOffsets = ReadonlyMap<string, number>

/** A client: its filter, its position, and the datasets that it selects only now. */
export type Watcher = { position: TailPosition; watch: TailOffsets; matches: (event: FoundEvent) => boolean; joined: ReadonlySet<string> }

/** New events of a client and its position after them. Each stands for `oneOf`; `missed` events were dropped before they were read. */
export type Taken = { events: FoundEvent[]; oneOf: number; missed: number; watch: TailOffsets; position: TailPosition }

/** Returns matching events that the client has not had, in order of arrival, at most `limit`. */
export function takeNew(tails: readonly Tail[], { position, watch, matches, joined }: Watcher, limit: number, nowMs: number): Taken {
  const firstOf = (tail: Tail): number => watch.get(tail.logId) ?? tail.first
  const missed = tails.reduce((sum, tail) => sum + Math.max(0, tail.first - firstOf(tail)), 0)
  const found = tails.flatMap((tail) => {
    const from = Math.max(0, firstOf(tail) - tail.first)
    return tail.events
      .slice(from)
      .flatMap(({ event }, index) =>
        isNew(position, event.seq) && matches(event) ? [{ tail, event, number: tail.first + from + index }] : [],
      )
  })
  const [past, waiting] = [found.filter(({ tail }) => joined.has(tail.logId)), found.filter(({ tail }) => !joined.has(tail.logId))]
  waiting.sort((one, other) => bySequence(one.event, other.event))
  const [taken, rest] = [waiting.slice(0, limit), waiting.slice(limit)]
  const next = new Map(tails.map((tail) => [tail.logId, end(tail)]))
  for (const { tail, number } of rest) next.set(tail.logId, Math.min(number, next.get(tail.logId) ?? number))
  return {
    events: taken.map(({ event }) => event),
    oneOf: Math.max(1, ...tails.map((tail) => tail.oneOf.now)),
    missed,
    watch: next,
    position: advanced(position, {
      given: [...past, ...taken].map(({ event }) => event.seq),
      waiting: rest[0]?.event.seq,
      known: new Set(tails.map(({ logId }) => knownBy(logId))),
      nowMs,
    }),
  }
}

const end = (tail: Tail): number => tail.first + tail.events.length
