import { seqAt } from '../../../events/writer/seq.ts'
import type { FoundEvent, TimeBounds } from '../../../reading/query.ts'
import type { EventNumber } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type Charge, chargesOf, noteWatcher, payerOf, paymentsOf } from './charges.ts'
import {
  addAll,
  bySequence,
  dropNumbers,
  dropOldest,
  endOf,
  type HeldEvent,
  newTail,
  type Pace,
  readFurtherBack,
  release,
  skipPast,
  startsTooLate,
  type Tail,
  type TailDataset,
  toHeldEvent,
} from './tail.ts'
import type { TailOffsets } from './take-new.ts'

/** Reads from the store: first the numbers of new events, which are small, then the events that are not held yet. */
export type TailReader = {
  /** Reads one in `oneOf` of the numbers above `after`. */
  numbers(
    datasets: readonly TailDataset[],
    range: { after: bigint; oneOf: number; bounds: TimeBounds },
  ): Promise<{ found: readonly EventNumber[]; hasMore: boolean; bytes: number }>
  events(datasets: readonly TailDataset[], numbers: readonly EventNumber[]): Promise<{ events: readonly FoundEvent[]; bytes: number }>
  charge(charges: readonly Charge[]): void
}

/** A read of tails for one consumer; see Tails.read. */
export type TailsRequest = { watcherId: string; backToMs: number; joined: ReadonlySet<string>; offsets: TailOffsets }

/** The minimum interval between two reads of a dataset, however many callers tail it. */
const READ_EVERY_MS = 500
/** The minimum interval for a dataset that is sampled at one in SLOW_ONE_OF or more. At such a rate ingestion needs the store more than live tails do. */
const SAMPLED_READ_EVERY_MS = 2_000
const SLOW_ONE_OF = 4
/** For this long after a request for a dataset, reads of other datasets of its organization include it. */
const JOINT_READ_MS = 3_000
/**
 * The overlap of two reads of a pace. It is necessary because sequence numbers come from a claim that may be ten seconds old, and because events become
 * visible some time after their numbers were assigned.
 */
const OVERLAP_MS: Record<Pace, number> = { now: 12_000, late: 30_000 }
/** The interval of reads of the pace `late`. */
const LATE_EVERY_MS = 5_000
/** The coarsest sampling. At higher rates a read returns only a part of its sample. */
const ONE_OF_MAX = 65_536
/** When a read returns less than this share of its maximum, the next one samples more finely. */
const SPARSE = 1 / 4
/** An event is shown on arrival if its time lies no further back than this. */
const LATE_MS = 15 * 60_000
const AHEAD_MS = 60_000
/** How far back the time of an event may lie for reads of the pace `now`. Older events are found by the pace `late`. */
const NOW_LATE_MS = 60_000
/** The number of events of a dataset that wait for slow consumers. */
const EVENTS_MAX = 10_000
/** The approximate memory limit for the events of all tails of this process. Beyond it the largest tail drops its oldest events. */
const HELD_BYTES_MAX = 32 * 2 ** 20
/** The target size of one read of events, estimated from the reads before it. */
const EVENTS_BYTES = 4 * 2 ** 20
const EVENTS_AT_ONCE_FIRST = 200
const EVENTS_AT_ONCE_MAX = 2_000
const IDLE_MS = 120_000
/** A new tail reads this far back to find events of a dataset that was just created. */
const FIRST_READ_BACK_MS = 60_000

/** Waits for a read of datasets and charges its bytes. */
type ChargedRead = <T extends { bytes: number }>(datasets: readonly TailDataset[], read: Promise<T>) => Promise<T>

/** The datasets without a tail so far, and those whose past events are not wanted. */
type NewTails = { fresh: ReadonlySet<string>; joined: ReadonlySet<string> }

/** The tails of all datasets that are tailed in this process. */
export class Tails {
  readonly #clock: World['clock']
  readonly #offsets: () => Iterable<TailOffsets>
  readonly #tails = new Map<string, Tail>()

  /** `offsets` returns those of all jobs in this process. Events that all of them have taken are released. */
  constructor(clock: World['clock'], offsets: () => Iterable<TailOffsets>) {
    this.#clock = clock
    this.#offsets = offsets
  }

  /**
   * Updates the tails of datasets with one query for all due tails of the organization, and passes them to `use`. Their events stay held until `use`
   * returns. A tail that starts too late for a job that continues in this process is read from further back. Past events of datasets in `joined` are not
   * wanted. Datasets in `offsets` are already read by this job in this process.
   */
  async read<T>(
    datasets: readonly TailDataset[],
    reader: TailReader,
    request: TailsRequest,
    use: (tails: readonly Tail[]) => T,
  ): Promise<T> {
    const { joined, offsets, backToMs } = request
    const continuing = datasets.filter(({ id }) => !joined.has(id) && !offsets.has(id))
    const startingTooLate = (): TailDataset[] =>
      continuing.filter((dataset) => startsTooLate(this.#tails.get(dataset.id), dataset, backToMs))
    for (let pending = this.#readingsOf(startingTooLate()); pending.length > 0; pending = this.#readingsOf(startingTooLate()))
      await Promise.all(pending)
    const nowMs = this.#clock.nowMs()
    const fresh = datasets.filter(({ id }) => !this.#tails.has(id))
    for (const dataset of fresh) {
      const fromMs = Math.min(nowMs - READ_EVERY_MS, Math.max(dataset.created_at, Math.min(nowMs - FIRST_READ_BACK_MS, backToMs)))
      this.#tails.set(dataset.id, newTail(dataset, fromMs, nowMs))
    }
    for (const dataset of startingTooLate()) {
      const tail = this.#tails.get(dataset.id)
      if (tail) readFurtherBack(tail, Math.max(dataset.created_at, backToMs))
    }
    const pinned = continuing.flatMap(({ id }) => this.#tails.get(id) ?? [])
    for (const tail of pinned) tail.pins += 1
    try {
      return use(await this.#refresh(datasets, reader, { fresh: new Set(fresh.map(({ id }) => id)), joined }, request.watcherId, nowMs))
    } finally {
      for (const tail of pinned) tail.pins -= 1
    }
  }

  #readingsOf(datasets: readonly TailDataset[]): Promise<void>[] {
    return datasets.flatMap(({ id }) => this.#tails.get(id)?.reading ?? [])
  }

  async #refresh(
    datasets: readonly TailDataset[],
    reader: TailReader,
    newTails: NewTails,
    watcherId: string,
    nowMs: number,
  ): Promise<readonly Tail[]> {
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
      const due = this.#dueTails(tails, nowMs)
      const reading = this.#readDue(due, newTails, reader, nowMs).finally(() => {
        for (const tail of due) tail.reading = undefined
      })
      for (const tail of due) tail.reading = reading
    }
    await Promise.all(new Set(tails.map(({ reading }) => reading)))
    return tails
  }

  /** Returns the due tails, with those of the same organization that other callers have just requested. */
  #dueTails(tails: readonly Tail[], nowMs: number): Tail[] {
    const orgs = new Set(tails.map(({ orgId }) => orgId))
    const others = [...this.#tails.values()].filter((tail) => orgs.has(tail.orgId) && nowMs - tail.usedAtMs < JOINT_READ_MS)
    return [...new Set([...tails, ...others])].filter((tail) => isDue(tail, nowMs))
  }

  async #readDue(due: readonly Tail[], { fresh, joined }: NewTails, reader: TailReader, nowMs: number): Promise<void> {
    this.#release(due, nowMs)
    const charged = chargedReadOf(due, reader, nowMs)
    const numbers: TailReader['numbers'] = (datasets, range) => charged(datasets, reader.numbers(datasets, range))
    const events: TailReader['events'] = (datasets, wanted) => charged(datasets, reader.events(datasets, wanted))
    const late = due.filter((tail) => Math.abs(nowMs - tail.lateAtMs) >= LATE_EVERY_MS)
    // A new tail must know all past events, including those that the pace `late` would leave out.
    const rest = due.filter((tail) => !late.includes(tail) || fresh.has(tail.logId))
    try {
      const found = (await Promise.all([readNumbersOf('late', late, numbers, nowMs), readNumbersOf('now', rest, numbers, nowMs)])).flat()
      for (const tail of due) if (fresh.has(tail.logId) && joined.has(tail.logId)) skipPast(tail, found, nowMs)
      await this.#readEvents(due, found, events)
    } catch (cause) {
      // Events missed by the first read would be shown as new, so the tail starts again.
      for (const logId of fresh) this.#tails.delete(logId)
      throw cause
    }
    for (const tail of due) {
      tail.readAtMs = nowMs
      if (late.includes(tail)) tail.lateAtMs = nowMs
      dropNumbers(tail, seqAt(nowMs - 2 * OVERLAP_MS.late) - 1n)
    }
  }

  /**
   * Reads the events that are not held yet, the oldest first, in batches of bounded size. A number whose event is not yet on the queried replica is
   * requested again by a later read.
   */
  async #readEvents(due: readonly Tail[], found: readonly EventNumber[], read: TailReader['events']): Promise<void> {
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
      for (const [logId, arrived] of Map.groupBy(events.map(toHeldEvent).sort(byEventSequence), ({ event }) => event.logId)) {
        for (const one of arrived) bytes += one.bytes
        const tail = byLog.get(logId)
        if (tail) addAll(tail, arrived)
      }
      this.#limitMemory()
      atOnce = Math.max(1, Math.min(EVENTS_AT_ONCE_MAX, Math.floor((EVENTS_BYTES * part.length) / Math.max(1, bytes))))
    }
  }

  #limitMemory(): void {
    for (const tail of this.#tails.values()) dropOldest(tail, tail.events.length - EVENTS_MAX)
    while (this.heldBytes > HELD_BYTES_MAX) {
      const [largest] = [...this.#tails.values()].sort((one, other) => other.bytes - one.bytes)
      if (!largest) return
      dropOldest(largest, Math.ceil(largest.events.length / 8))
    }
  }

  /** Releases the events that all jobs in this process have taken. */
  release(): void {
    this.#release([...this.#tails.values()], this.#clock.nowMs())
  }

  #release(tails: readonly Tail[], nowMs: number): void {
    const allOffsets = [...this.#offsets()]
    for (const tail of tails) {
      if (tail.events.length === 0) continue
      const taken = allOffsets.reduce((lowest, offsets) => Math.min(lowest, offsets.get(tail.logId) ?? lowest), endOf(tail))
      release(tail, taken, nowMs)
    }
  }

  /** The approximate memory of the events of all tails. */
  get heldBytes(): number {
    return this.#tails.values().reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Releases taken events and removes tails that were not read for a while. */
  removeIdle(): void {
    this.release()
    const nowMs = this.#clock.nowMs()
    for (const [logId, tail] of this.#tails) if (nowMs - tail.usedAtMs > IDLE_MS) this.#tails.delete(logId)
  }
}

/** Reads the numbers of new events of tails. Where more arrived than one read may return, it samples until they fit. */
async function readNumbersOf(pace: Pace, tails: readonly Tail[], read: TailReader['numbers'], nowMs: number): Promise<EventNumber[]> {
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
      // At least one tail has an equal share or more of the numbers, so that the loop ends.
      for (const tail of own) if ((counts.get(tail.logId)?.length ?? 0) * own.length >= found.length) tail.oneOf[pace] = oneOf * 2
      over.push(...own)
    }
    open = over
  }
  return arrived
}

const isDue = ({ reading, readAtMs, oneOf }: Tail, nowMs: number): boolean =>
  reading === undefined && Math.abs(nowMs - readAtMs) >= (oneOf.now >= SLOW_ONE_OF ? SAMPLED_READ_EVERY_MS : READ_EVERY_MS)

/** Charges reads of tails to the callers of the tails. */
function chargedReadOf(tails: readonly Tail[], reader: TailReader, nowMs: number): ChargedRead {
  const byLog = new Map(tails.map((tail) => [tail.logId, tail]))
  const payers = new Map<string, string>()
  for (const tail of tails) {
    const payer = payerOf(tail, nowMs - JOINT_READ_MS)
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

const byEventSequence = (one: HeldEvent, other: HeldEvent): number => bySequence(one.event, other.event)
