import { seqAt } from '../../../events/writer/seq.ts'
import type { FoundEvent, TimeBounds } from '../../../reading/event-query.ts'
import type { EventNumber } from '../../../reading/numbers.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { advanced, isNew, knownBy, type TailPosition } from './position.ts'

/** A Tail is what has arrived in one dataset since somebody began to watch it; all who watch it share it. */
export type Tail = {
  readonly logId: string
  readonly orgId: string
  dataset: Watched
  /** events are in the order in which they were found; the first of them has the number `first`. */
  events: Arrived[]
  first: number
  /** bytes is about what the events take in memory. */
  bytes: number
  seen: Set<bigint>
  /** past are numbers of events that were there before anybody watched; they are not read. */
  past: readonly bigint[]
  /** oneOf says how many of the events there are for one that is read, in each pace: 1 unless they come too fast. */
  oneOf: Record<Pace, number>
  /** fromMs is since when all that arrived is here. */
  fromMs: number
  readAtMs: number
  lateAtMs: number
  usedAtMs: number
  reading: Promise<void> | undefined
}

/** An Arrived event is held with about what it takes in memory. */
type Arrived = { readonly event: FoundEvent; readonly bytes: number }

/** A Watched dataset is what a read needs to know of it. */
type Watched = Pick<DatasetRow, 'id' | 'org_id' | 'created_at' | 'collection' | 'dataset' | 'retention'>

/** What has just arrived is read each time; what could not be seen for a while after its number was claimed, now and then. */
type Pace = 'now' | 'late'

/** A Reader reads from the store: first the numbers of what arrived, which is little, then the events that are not here yet. */
export type Reader = {
  /** numbers reads those above `after`, one of so many. */
  numbers(
    datasets: readonly Watched[],
    wish: { after: bigint; oneOf: number; bounds: TimeBounds },
  ): Promise<{ found: readonly EventNumber[]; hasMore: boolean }>
  events(datasets: readonly Watched[], numbers: readonly EventNumber[]): Promise<readonly FoundEvent[]>
}

/** FRESH_MS is how long what was read counts as what there is: however many watch, a dataset is read no more often. */
const FRESH_MS = 500
/** REST_MS is that of a dataset of which one event of RESTING_ONE_OF or more is shown: whoever sends so fast needs the store more than those who watch. */
const REST_MS = 2_000
const RESTING_ONE_OF = 4
/** TOGETHER_MS is how long a dataset that somebody asked for is read along with others of its organization. */
const TOGETHER_MS = 3_000
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
/** NOW_LATE_MS is that of what is read each time: what is older is found now and then. */
const NOW_LATE_MS = 60_000
/** EVENTS_MAX is how many events of a dataset wait for slow watchers. */
const EVENTS_MAX = 10_000
/** HELD_BYTES_MAX is about what the events of all tails of this process take in memory; the tail that has the most gives up its oldest. */
const HELD_BYTES_MAX = 32 * 2 ** 20
/** EVENTS_BYTES is what one read of events is to bring, as far as those before it tell. */
const EVENTS_BYTES = 4 * 2 ** 20
const EVENTS_AT_ONCE_FIRST = 200
const EVENTS_AT_ONCE_MAX = 2_000
const IDLE_MS = 120_000
/** NEWBORN_MS is how far back a new tail looks for what came to a dataset before anybody knew of it. */
const NEWBORN_MS = 60_000

/** Begun are the datasets of which there was no tail, and those of which nothing past is wanted. */
type Begun = { fresh: ReadonlySet<string>; joined: ReadonlySet<string> }

/** Tails are the tails of the datasets that are being watched in this process. */
export class Tails {
  readonly #clock: World['clock']
  readonly #tails = new Map<string, Tail>()

  constructor(clock: World['clock']) {
    this.#clock = clock
  }

  /**
   * refresh brings the tails of datasets up to now by one question for all of the organization that are due. A tail that does not reach back as far as
   * somebody who goes on here needs is read from there; of datasets in `joined` he wants nothing that is past, and
   * those in `watch` he follows here already.
   */
  async refresh(
    datasets: readonly Watched[],
    reader: Reader,
    { backToMs, joined, watch }: { backToMs: number; joined: ReadonlySet<string>; watch: Watch },
  ): Promise<readonly Tail[]> {
    const goesOn = ({ id }: Watched) => !joined.has(id) && !watch.has(id)
    const short = datasets.filter((dataset) => goesOn(dataset) && isShort(this.#tails.get(dataset.id), dataset, backToMs))
    await Promise.all(short.map(({ id }) => this.#tails.get(id)?.reading))
    const nowMs = this.#clock.nowMs()
    const fresh = datasets.filter(({ id }) => !this.#tails.has(id))
    for (const dataset of fresh) {
      const fromMs = Math.min(nowMs - FRESH_MS, Math.max(dataset.created_at, Math.min(nowMs - NEWBORN_MS, backToMs)))
      this.#tails.set(dataset.id, newTail(dataset, fromMs, nowMs))
    }
    for (const dataset of short) {
      const tail = this.#tails.get(dataset.id)
      if (tail && tail.reading === undefined && isShort(tail, dataset, backToMs))
        readFurtherBack(tail, Math.max(dataset.created_at, backToMs))
    }
    const tails: Tail[] = []
    for (const dataset of datasets) {
      const tail = this.#tails.get(dataset.id)
      if (!tail) continue
      tail.usedAtMs = nowMs
      tail.dataset = dataset
      tails.push(tail)
    }
    if (tails.some((tail) => isDue(tail, nowMs))) {
      const due = this.#dueWith(tails, nowMs)
      const reading = this.#readOn(due, { fresh: new Set(fresh.map(({ id }) => id)), joined }, reader, nowMs).finally(() => {
        for (const tail of due) tail.reading = undefined
      })
      for (const tail of due) tail.reading = reading
    }
    await Promise.all(new Set(tails.map(({ reading }) => reading)))
    return tails
  }

  /** #dueWith are the tails that are due, and those of the same organization that others have just asked for. */
  #dueWith(tails: readonly Tail[], nowMs: number): Tail[] {
    const orgs = new Set(tails.map(({ orgId }) => orgId))
    const others = [...this.#tails.values()].filter((tail) => orgs.has(tail.orgId) && nowMs - tail.usedAtMs < TOGETHER_MS)
    return [...new Set([...tails, ...others])].filter((tail) => isDue(tail, nowMs))
  }

  async #readOn(due: readonly Tail[], { fresh, joined }: Begun, reader: Reader, nowMs: number): Promise<void> {
    const late = due.filter((tail) => Math.abs(nowMs - tail.lateAtMs) >= LATE_EVERY_MS)
    // A new tail has to know of all that is past, also of what the late pace would leave out.
    const rest = due.filter((tail) => !late.includes(tail) || fresh.has(tail.logId))
    try {
      const found = (await Promise.all([readAt('late', late, reader, nowMs), readAt('now', rest, reader, nowMs)])).flat()
      for (const tail of due) if (fresh.has(tail.logId) && joined.has(tail.logId)) leavePast(tail, found, nowMs)
      await this.#readEvents(due, found, reader)
    } catch (cause) {
      // What a tail did not find at first would be shown as new: it is begun again.
      for (const logId of fresh) this.#tails.delete(logId)
      throw cause
    }
    for (const tail of due) {
      tail.readAtMs = nowMs
      if (late.includes(tail)) tail.lateAtMs = nowMs
      const oldest = seqAt(nowMs - 2 * OVERLAP_MS.late)
      for (const seq of tail.seen) if (seq < oldest) tail.seen.delete(seq)
      tail.past = tail.past.filter((seq) => seq >= oldest)
    }
  }

  /**
   * #readEvents reads those of the numbers that are not here yet, the oldest first, as many at a time as fit. A number whose event another server of the
   * store does not have yet is asked for again.
   */
  async #readEvents(due: readonly Tail[], found: readonly EventNumber[], reader: Reader): Promise<void> {
    const byLog = new Map(due.map((tail) => [tail.logId, tail]))
    const wanted = new Map(found.flatMap((one) => (byLog.get(one.logId)?.seen.has(one.seq) === false ? [[one.seq, one] as const] : [])))
    const numbers = [...wanted.values()].sort(bySequence)
    let atOnce = EVENTS_AT_ONCE_FIRST
    for (let from = 0; from < numbers.length; ) {
      const part = numbers.slice(from, from + atOnce)
      from += part.length
      const own = new Set(part.map(({ logId }) => logId))
      const datasets = due.flatMap(({ logId, dataset }) => (own.has(logId) ? [dataset] : []))
      const events = (await reader.events(datasets, part)).toSorted(bySequence)
      let bytes = 0
      for (const event of events) {
        const arrived = heldAs(event)
        bytes += arrived.bytes
        const tail = byLog.get(event.logId)
        if (tail) add(tail, arrived)
      }
      this.#keepWithin()
      atOnce = Math.max(1, Math.min(EVENTS_AT_ONCE_MAX, Math.floor((EVENTS_BYTES * part.length) / Math.max(1, bytes))))
    }
  }

  #keepWithin(): void {
    for (const tail of this.#tails.values()) dropOldest(tail, tail.events.length - EVENTS_MAX)
    while (this.heldBytes > HELD_BYTES_MAX) {
      const [largest] = [...this.#tails.values()].sort((one, other) => other.bytes - one.bytes)
      if (!largest) return
      dropOldest(largest, Math.ceil(largest.events.length / 8))
    }
  }

  /** heldBytes is about what the events of all tails take in memory. */
  get heldBytes(): number {
    return this.#tails.values().reduce((sum, { bytes }) => sum + bytes, 0)
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

/** leavePast makes a tail begin now: what was found is past. */
function leavePast(tail: Tail, found: readonly EventNumber[], nowMs: number): void {
  tail.past = found.filter(({ logId }) => logId === tail.logId).map(({ seq }) => seq)
  for (const seq of tail.past) tail.seen.add(seq)
  tail.fromMs = nowMs
}

/** readFurtherBack makes the next read begin earlier; what is here already is not taken twice. */
function readFurtherBack(tail: Tail, fromMs: number): void {
  const past = new Set(tail.past)
  tail.seen = new Set([...[...tail.seen].filter((seq) => !past.has(seq)), ...tail.events.map(({ event }) => event.seq)])
  tail.fromMs = fromMs
  tail.readAtMs = fromMs
  tail.lateAtMs = Number.NEGATIVE_INFINITY
}

/** readAt reads the numbers of what is new in some datasets; of those where more arrived than one read may bring, one of so many that it fits. */
async function readAt(pace: Pace, tails: readonly Tail[], reader: Reader, nowMs: number): Promise<EventNumber[]> {
  const arrived: EventNumber[] = []
  const sinceMs = Math.min(...tails.map(({ readAtMs }) => readAtMs), nowMs) - OVERLAP_MS[pace]
  const bounds = { fromMs: sinceMs - (pace === 'now' ? NOW_LATE_MS : LATE_MS), toMs: nowMs + AHEAD_MS }
  let open = tails
  while (open.length > 0) {
    const over: Tail[] = []
    for (const [oneOf, own] of Map.groupBy(open, (tail) => tail.oneOf[pace])) {
      const datasets = own.map(({ dataset }) => dataset)
      const { found, hasMore } = await reader.numbers(datasets, { after: seqAt(sinceMs), oneOf, bounds })
      const counts = Map.groupBy(found, ({ logId }) => logId)
      if (!hasMore || oneOf >= ONE_OF_MAX) {
        arrived.push(...found)
        for (const tail of own) if ((counts.get(tail.logId)?.length ?? 0) < EVENTS_MAX * SPARSE) tail.oneOf[pace] = Math.max(1, oneOf / 2)
        continue
      }
      // At least one of them has its share or more of what was read.
      for (const tail of own) if ((counts.get(tail.logId)?.length ?? 0) * own.length >= found.length) tail.oneOf[pace] = oneOf * 2
      over.push(...own)
    }
    open = over
  }
  return arrived
}

const newTail = (dataset: Watched, fromMs: number, nowMs: number): Tail => ({
  logId: dataset.id,
  orgId: dataset.org_id,
  dataset,
  events: [],
  first: 0,
  bytes: 0,
  seen: new Set(),
  past: [],
  oneOf: { now: 1, late: 1 },
  fromMs,
  readAtMs: fromMs,
  lateAtMs: Number.NEGATIVE_INFINITY,
  usedAtMs: nowMs,
  reading: undefined,
})

const isDue = ({ reading, readAtMs, oneOf }: Tail, nowMs: number): boolean =>
  reading === undefined && Math.abs(nowMs - readAtMs) >= (oneOf.now >= RESTING_ONE_OF ? REST_MS : FRESH_MS)

/** EVENT_BYTES and LEAF_BYTES are what an event and each of its values take beside their text. */
const EVENT_BYTES = 400
const LEAF_BYTES = 100

/** heldAs is an event with a line of its own: what was read lies in one piece of memory, which would be held as long as any of its lines. */
function heldAs(event: FoundEvent): Arrived {
  const raw = event.raw && new Uint8Array(event.raw)
  const bytes = event.leaves.values().reduce((sum, text) => sum + LEAF_BYTES + text.length, EVENT_BYTES + (raw?.length ?? 0))
  return { event: { ...event, raw }, bytes }
}

function add(tail: Tail, arrived: Arrived): void {
  tail.seen.add(arrived.event.seq)
  tail.events.push(arrived)
  tail.bytes += arrived.bytes
}

function dropOldest(tail: Tail, count: number): void {
  if (count <= 0) return
  for (const { bytes } of tail.events.splice(0, count)) tail.bytes -= bytes
  tail.first += count
}

type Sequenced = Pick<FoundEvent, 'seq'>
const bySequence = (one: Sequenced, other: Sequenced): number => (one.seq < other.seq ? -1 : one.seq > other.seq ? 1 : 0)

/** A Watch is up to where in the tails of this process all was looked at: what lies before is past, does not match, or was given here. */
export type Watch = ReadonlyMap<string, number>

/**
 * A Watcher is who takes events: what he wants, how far he has come, and which datasets chose him only now though they were there before. `thin` leaves
 * out of what he wants what is more than he may have.
 */
export type Watcher = {
  position: TailPosition
  watch: Watch
  matches: (event: FoundEvent) => boolean
  joined: ReadonlySet<string>
  thin?: ((seqs: readonly bigint[]) => (seq: bigint) => boolean) | undefined
}

/** Taken are events for a watcher and where he is after them; one stands for `oneOf`, and `missed` of a dataset were gone before he came to take them. */
export type Taken = { events: FoundEvent[]; oneOf: number; missed: number; watch: Watch; position: TailPosition }

/** takeNew gives a watcher the matching events that he has not had, in the order of their arrival, at most `limit`: the rest stays for the next time. */
export function takeNew(tails: readonly Tail[], { position, watch, matches, joined, thin }: Watcher, limit: number, nowMs: number): Taken {
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
  const [past, wanted] = [found.filter(({ tail }) => joined.has(tail.logId)), found.filter(({ tail }) => !joined.has(tail.logId))]
  const isKept = thin?.(wanted.map(({ event }) => event.seq)) ?? (() => true)
  const waiting = wanted.filter(({ event }) => isKept(event.seq))
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
      given: [...tails.flatMap((tail) => (joined.has(tail.logId) ? tail.past : [])), ...[...past, ...taken].map(({ event }) => event.seq)],
      waiting: rest[0]?.event.seq,
      known: new Set(tails.map(({ logId }) => knownBy(logId))),
      nowMs,
    }),
  }
}

const end = (tail: Tail): number => tail.first + tail.events.length
