import type { Filter } from '@dendro/language/tree'
import { seqAt } from '../../../events/writer/seq.ts'
import type { Bounds, FoundEvent } from '../../../reading/question.ts'
import type { World } from '../../../world.ts'
import { advanced, isNew, knownBy, type Position } from './position.ts'

/** A Tail is what has arrived in one dataset since somebody began to watch it; all who watch it share it. */
export type Tail = {
  readonly logId: string
  /** events are in the order in which they were found; the first of them has the number `first`. */
  events: Arrived[]
  first: number
  seen: Set<bigint>
  /** oneOf says how many of the events there are for one that is read, in each pace: 1 unless they come too fast. */
  oneOf: Record<Pace, number>
  /** fromMs is since when all that arrived is here. */
  fromMs: number
  readAtMs: number
  lateAtMs: number
  usedAtMs: number
  reading: Promise<void> | undefined
}

/** An Arrived event stands for so many. */
type Arrived = { event: FoundEvent; oneOf: number }

/** A Watched dataset is known by its id, and when it was made. */
type Watched = { id: string; created_at: number }

/** What has just arrived is read each time; what could not be seen for a while after its number was claimed, now and then. */
type Pace = 'now' | 'late'

/** ReadNew reads the newest events of some datasets within bounds that a filter leaves, one of so many. */
export type ReadNew = (
  logIds: readonly string[],
  filter: Filter,
  bounds: Bounds,
  oneOf: number,
) => Promise<{ events: readonly FoundEvent[]; hasMore: boolean }>

/** FRESH_MS is how long what was read counts as what there is: however many watch, a dataset is read no more often. */
const FRESH_MS = 500
/**
 * OVERLAP_MS is read again: what is usual each time, more of it now and then. Numbers are given out of a claim that may be ten seconds old, and the
 * events that carry them are seen some time later.
 */
const OVERLAP_MS: Record<Pace, number> = { now: 12_000, late: 30_000 }
const LATE_EVERY_MS = 5_000
/** ONE_OF_MAX is where events come so fast that what is read of them is no more than a part of a part. */
const ONE_OF_MAX = 65_536
/** SPARSE is the share of what a read may bring under which one of fewer is read the next time. */
const SPARSE = 1 / 4
/** LATE_MS is how far in the past the time of an event may lie to be shown as it arrives. */
const LATE_MS = 15 * 60_000
const AHEAD_MS = 60_000
/** EVENTS_MAX is how many events of a dataset wait for slow watchers. */
const EVENTS_MAX = 10_000
const IDLE_MS = 120_000
/** NEWBORN_MS is how far back a new tail looks for what came to a dataset before anybody knew of it. */
const NEWBORN_MS = 60_000

/** Tails are the tails of the datasets that are being watched in this process. */
export class Tails {
  readonly #clock: World['clock']
  readonly #tails = new Map<string, Tail>()

  constructor(clock: World['clock']) {
    this.#clock = clock
  }

  /**
   * refresh brings the tails of datasets up to now by one question for all that are not. A tail that does not reach back as far as somebody who goes on here
   * needs is read from there.
   */
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
    // A new tail has to know of all that is past, also of what the late pace would leave out.
    const rest = due.filter((tail) => !late.includes(tail) || fresh.has(tail.logId))
    const found = await Promise.all([readAt('late', late, read, nowMs), readAt('now', rest, read, nowMs)]).catch((cause) => {
      // What a tail did not find at first would be shown as new: it is begun again.
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

  /** forget drops tails that nobody has looked at for a while. */
  forget(): void {
    const nowMs = this.#clock.nowMs()
    for (const [logId, tail] of this.#tails) if (nowMs - tail.usedAtMs > IDLE_MS) this.#tails.delete(logId)
  }
}

/** isShort says that a tail does not reach back far enough; before a dataset was made there is nothing. */
const isShort = (tail: Tail | undefined, { created_at }: Watched, backToMs: number): boolean =>
  tail !== undefined && tail.fromMs > Math.max(created_at, backToMs)

/** readFurtherBack makes the next read begin earlier; what is here already is not taken twice. */
function readFurtherBack(tail: Tail, fromMs: number): void {
  tail.seen = new Set([...tail.seen, ...tail.events.map(({ event }) => event.seq)])
  tail.fromMs = fromMs
  tail.readAtMs = fromMs
  tail.lateAtMs = Number.NEGATIVE_INFINITY
}

/** readAt reads what is new in some datasets; of those where more arrived than one read may bring, one event of so many that it fits. */
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
      // At least one of them has its share or more of what was read.
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

/** A Watch is up to where in the tails of this process all was looked at: what lies before is past, does not match, or was given here. */
export type Watch = ReadonlyMap<string, number>

/** A Watcher is who takes events: what he wants, how far he has come, and which datasets chose him only now though they were there before. */
export type Watcher = { position: Position; watch: Watch; matches: (event: FoundEvent) => boolean; joined: ReadonlySet<string> }

/** Taken are events for a watcher and where he is after them; one stands for `oneOf`, and `missed` of a dataset were gone before he came to take them. */
export type Taken = { events: FoundEvent[]; oneOf: number; missed: number; watch: Watch; position: Position }

/** takeNew gives a watcher the matching events that he has not had, in the order of their arrival, at most `limit`: the rest stays for the next time. */
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
