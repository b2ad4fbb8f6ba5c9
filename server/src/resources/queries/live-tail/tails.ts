import { seqAt } from '../../../events/writer/seq.ts'
import type { FoundEvent, TimeBounds } from '../../../reading/event-query.ts'
import type { EventNumber } from '../../../reading/numbers.ts'
import type { World } from '../../../world.ts'
import { type Charge, chargesOf, noteWatcher, payerOf, paymentsOf } from './charges.ts'
import {
  type Arrived,
  addAll,
  bySequence,
  dropOldest,
  endOf,
  forgetNumbers,
  heldAs,
  isShort,
  leavePast,
  newTail,
  type Pace,
  readFurtherBack,
  release,
  type Tail,
  type Watched,
} from './tail.ts'
import type { Watch } from './take-new.ts'

/** A Reader reads from the store: first the numbers of what arrived, which is little, then the events that are not here yet. */
export type Reader = {
  /** numbers reads those above `after`, one of so many. */
  numbers(
    datasets: readonly Watched[],
    wish: { after: bigint; oneOf: number; bounds: TimeBounds },
  ): Promise<{ found: readonly EventNumber[]; hasMore: boolean; bytes: number }>
  events(datasets: readonly Watched[], numbers: readonly EventNumber[]): Promise<{ events: readonly FoundEvent[]; bytes: number }>
  charge(charges: readonly Charge[]): void
}

/** A TailsRequest is what a watcher needs of the tails: see Tails.read. */
export type TailsRequest = { watcherId: string; backToMs: number; joined: ReadonlySet<string>; watch: Watch }

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

/** A ReadOnce waits for a read of datasets and charges its bytes. */
type ReadOnce = <T extends { bytes: number }>(datasets: readonly Watched[], read: Promise<T>) => Promise<T>

/** Begun are the datasets of which there was no tail, and those of which nothing past is wanted. */
type Begun = { fresh: ReadonlySet<string>; joined: ReadonlySet<string> }

/** Tails are the tails of the datasets that are being watched in this process. */
export class Tails {
  readonly #clock: World['clock']
  readonly #watches: () => Iterable<Watch>
  readonly #tails = new Map<string, Tail>()

  /** `watches` are those of all who watch in this process: events that all of them have taken are let go. */
  constructor(clock: World['clock'], watches: () => Iterable<Watch>) {
    this.#clock = clock
    this.#watches = watches
  }

  /**
   * read brings the tails of datasets up to now, by one query for all of the organization that are due, and hands them to `use` while nothing of them is let
   * go. A tail that does not reach back as far as a watcher who goes on here needs is read from there; of datasets in `joined` the watcher wants nothing
   * that is past, and those in `watch` it follows here already.
   */
  async read<T>(datasets: readonly Watched[], reader: Reader, request: TailsRequest, use: (tails: readonly Tail[]) => T): Promise<T> {
    const { joined, watch, backToMs } = request
    const goingOn = datasets.filter(({ id }) => !joined.has(id) && !watch.has(id))
    const short = (): Watched[] => goingOn.filter((dataset) => isShort(this.#tails.get(dataset.id), dataset, backToMs))
    for (let busy = this.#readingsOf(short()); busy.length > 0; busy = this.#readingsOf(short())) await Promise.all(busy)
    const nowMs = this.#clock.nowMs()
    const fresh = datasets.filter(({ id }) => !this.#tails.has(id))
    for (const dataset of fresh) {
      const fromMs = Math.min(nowMs - FRESH_MS, Math.max(dataset.created_at, Math.min(nowMs - NEWBORN_MS, backToMs)))
      this.#tails.set(dataset.id, newTail(dataset, fromMs, nowMs))
    }
    for (const dataset of short()) {
      const tail = this.#tails.get(dataset.id)
      if (tail) readFurtherBack(tail, Math.max(dataset.created_at, backToMs))
    }
    const pinned = goingOn.flatMap(({ id }) => this.#tails.get(id) ?? [])
    for (const tail of pinned) tail.pins += 1
    try {
      return use(await this.#upToNow(datasets, reader, { fresh: new Set(fresh.map(({ id }) => id)), joined }, request.watcherId, nowMs))
    } finally {
      for (const tail of pinned) tail.pins -= 1
    }
  }

  #readingsOf(datasets: readonly Watched[]): Promise<void>[] {
    return datasets.flatMap(({ id }) => this.#tails.get(id)?.reading ?? [])
  }

  async #upToNow(datasets: readonly Watched[], reader: Reader, begun: Begun, watcherId: string, nowMs: number): Promise<readonly Tail[]> {
    const tails: Tail[] = []
    for (const dataset of datasets) {
      const tail = this.#tails.get(dataset.id)
      if (!tail) continue
      tail.usedAtMs = nowMs
      tail.dataset = dataset
      noteWatcher(tail, watcherId, nowMs)
      tails.push(tail)
    }
    if (tails.some((tail) => isDue(tail, nowMs))) {
      const due = this.#dueWith(tails, nowMs)
      const reading = this.#readOn(due, begun, reader, nowMs).finally(() => {
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
    this.#release(due, nowMs)
    const charging = chargingOf(due, reader, nowMs)
    const numbers: Reader['numbers'] = (datasets, wish) => charging(datasets, reader.numbers(datasets, wish))
    const events: Reader['events'] = (datasets, wanted) => charging(datasets, reader.events(datasets, wanted))
    const late = due.filter((tail) => Math.abs(nowMs - tail.lateAtMs) >= LATE_EVERY_MS)
    // A new tail has to know of all that is past, also of what the late pace would leave out.
    const rest = due.filter((tail) => !late.includes(tail) || fresh.has(tail.logId))
    try {
      const found = (await Promise.all([readAt('late', late, numbers, nowMs), readAt('now', rest, numbers, nowMs)])).flat()
      for (const tail of due) if (fresh.has(tail.logId) && joined.has(tail.logId)) leavePast(tail, found, nowMs)
      await this.#readEvents(due, found, events)
    } catch (cause) {
      // What a tail did not find at first would be shown as new: it is begun again.
      for (const logId of fresh) this.#tails.delete(logId)
      throw cause
    }
    for (const tail of due) {
      tail.readAtMs = nowMs
      if (late.includes(tail)) tail.lateAtMs = nowMs
      forgetNumbers(tail, seqAt(nowMs - 2 * OVERLAP_MS.late) - 1n)
    }
  }

  /**
   * #readEvents reads those of the numbers that are not here yet, the oldest first, as many at a time as fit. A number whose event another server of the
   * store does not have yet is asked for again.
   */
  async #readEvents(due: readonly Tail[], found: readonly EventNumber[], read: Reader['events']): Promise<void> {
    const byLog = new Map(due.map((tail) => [tail.logId, tail]))
    const wanted = new Map(found.flatMap((one) => (byLog.get(one.logId)?.seen.has(one.seq) === false ? [[one.seq, one] as const] : [])))
    const numbers = [...wanted.values()].sort(bySequence)
    let atOnce = EVENTS_AT_ONCE_FIRST
    for (let from = 0; from < numbers.length; ) {
      const part = numbers.slice(from, from + atOnce)
      from += part.length
      const own = new Set(part.map(({ logId }) => logId))
      const datasets = due.flatMap(({ logId, dataset }) => (own.has(logId) ? [dataset] : []))
      const { events } = await read(datasets, part)
      let bytes = 0
      for (const [logId, arrived] of Map.groupBy(events.map(heldAs).sort(byEvent), ({ event }) => event.logId)) {
        for (const one of arrived) bytes += one.bytes
        const tail = byLog.get(logId)
        if (tail) addAll(tail, arrived)
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

  /** release lets go of the events that all who watch here have taken. */
  release(): void {
    this.#release([...this.#tails.values()], this.#clock.nowMs())
  }

  #release(tails: readonly Tail[], nowMs: number): void {
    const watches = [...this.#watches()]
    for (const tail of tails) {
      if (tail.events.length === 0) continue
      const taken = watches.reduce((least, watch) => Math.min(least, watch.get(tail.logId) ?? least), endOf(tail))
      release(tail, taken, nowMs)
    }
  }

  /** heldBytes is about what the events of all tails take in memory. */
  get heldBytes(): number {
    return this.#tails.values().reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** forget drops tails that nobody has read for a while, and events that nobody needs any more. */
  forget(): void {
    this.release()
    const nowMs = this.#clock.nowMs()
    for (const [logId, tail] of this.#tails) if (nowMs - tail.usedAtMs > IDLE_MS) this.#tails.delete(logId)
  }
}

/** readAt reads the numbers of what is new in some datasets; of those where more arrived than one read may bring, one of so many that it fits. */
async function readAt(pace: Pace, tails: readonly Tail[], read: Reader['numbers'], nowMs: number): Promise<EventNumber[]> {
  const arrived: EventNumber[] = []
  const sinceMs = Math.min(...tails.map(({ readAtMs }) => readAtMs), nowMs) - OVERLAP_MS[pace]
  const bounds = { fromMs: sinceMs - (pace === 'now' ? NOW_LATE_MS : LATE_MS), toMs: nowMs + AHEAD_MS }
  let open = tails
  while (open.length > 0) {
    const over: Tail[] = []
    for (const [oneOf, own] of Map.groupBy(open, (tail) => tail.oneOf[pace])) {
      const datasets = own.map(({ dataset }) => dataset)
      const { found, hasMore } = await read(datasets, { after: seqAt(sinceMs), oneOf, bounds })
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

const isDue = ({ reading, readAtMs, oneOf }: Tail, nowMs: number): boolean =>
  reading === undefined && Math.abs(nowMs - readAtMs) >= (oneOf.now >= RESTING_ONE_OF ? REST_MS : FRESH_MS)

/** chargingOf charges reads of tails to those who watch them. */
function chargingOf(tails: readonly Tail[], reader: Reader, nowMs: number): ReadOnce {
  const byLog = new Map(tails.map((tail) => [tail.logId, tail]))
  const payers = new Map<string, string>()
  for (const tail of tails) {
    const payer = payerOf(tail, nowMs - TOGETHER_MS)
    if (payer !== undefined) payers.set(tail.logId, payer)
  }
  return async (datasets, read) => {
    const result = await read
    const logIds = datasets.map(({ id }) => id)
    const payments = paymentsOf(result.bytes, logIds, payers)
    for (const { logId, identityId, bytes } of payments) {
      const watcher = byLog.get(logId)?.watchers.get(identityId)
      if (watcher) watcher.paidBytes += bytes
    }
    reader.charge(chargesOf(payments))
    return result
  }
}

const byEvent = (one: Arrived, other: Arrived): number => bySequence(one.event, other.event)
