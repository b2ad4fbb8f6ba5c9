import { seqAt } from '../../../events/writer/seq.ts'
import type { FoundEvent, TimeBounds } from '../../../reading/event-query.ts'
import type { EventNumber } from '../../../reading/numbers.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { advanced, isNew, knownBy, type TailPosition } from './position.ts'

/** The events that have arrived in one dataset since a stream needed it; all streams share it. */
export type Tail = {
  readonly logId: string
  readonly orgId: string
  dataset: TailedDataset
  /** In the order in which they were found; the first has the number `first`. */
  events: ArrivedEvent[]
  first: number
  /** The approximate memory of the events. */
  bytes: number
  seen: Set<bigint>
  /** Numbers of events that existed before the tail; they are not read. */
  past: readonly bigint[]
  /** For each pace, the sampling rate: 1 unless events arrive too fast. */
  oneOf: Record<Pace, number>
  /** All arrivals since this time are in the tail. */
  fromMs: number
  readAtMs: number
  lateAtMs: number
  usedAtMs: number
  reading: Promise<void> | undefined
}

/** An event with its approximate memory. */
type ArrivedEvent = { readonly event: FoundEvent; readonly bytes: number }

/** The fields of a dataset that a read needs. */
type TailedDataset = Pick<DatasetRow, 'id' | 'org_id' | 'created_at' | 'collection' | 'dataset' | 'retention'>

/** `now` reads recent arrivals each time; `late` reads, now and then, events that became visible long after their number was claimed. */
type Pace = 'now' | 'late'

/** Reads from the store: first the numbers of new events, which is little data, then the events that are not in memory. */
export type TailReader = {
  /** Reads the numbers above `after`, sampled. */
  numbers(
    datasets: readonly TailedDataset[],
    request: { after: bigint; oneOf: number; bounds: TimeBounds },
  ): Promise<{ found: readonly EventNumber[]; hasMore: boolean }>
  events(datasets: readonly TailedDataset[], numbers: readonly EventNumber[]): Promise<readonly FoundEvent[]>
}

/** How long a read counts as current: a dataset is read no more often, however many streams there are. */
const FRESH_MS = 500
/** The same for a dataset that is sampled at RESTING_ONE_OF or more: its sender needs the store more than the streams. */
const REST_MS = 2_000
const RESTING_ONE_OF = 4
/** How long a requested dataset is read along with others of its organization. */
const SHARED_READ_MS = 3_000
/**
 * The overlap of reads: short each time, longer now and then. Numbers come from a claim that may be ten seconds old, and their events become visible
 * some time later.
 */
const OVERLAP_MS: Record<Pace, number> = { now: 12_000, late: 30_000 }
const LATE_EVERY_MS = 5_000
/** The highest sampling rate, where a read returns a part of a part. */
const ONE_OF_MAX = 65_536
/** If a read returns less than this share of its limit, the next one samples less. */
const SPARSE_SHARE = 1 / 4
/** The maximum age of an event at its arrival. */
const LATE_MS = 15 * 60_000
const AHEAD_MS = 60_000
/** The maximum age in frequent reads; older events are found now and then. */
const NOW_LATE_MS = 60_000
/** The maximum number of events of a dataset that wait for slow streams. */
const EVENTS_MAX = 10_000
/** The approximate memory of all tails of this process; the largest tail drops its oldest events. */
const HELD_BYTES_MAX = 32 * 2 ** 20
/** The target size of a read, estimated from earlier reads. */
const EVENTS_BYTES = 4 * 2 ** 20
const EVENTS_AT_ONCE_FIRST = 200
const EVENTS_AT_ONCE_MAX = 2_000
const IDLE_MS = 120_000
/** How far back a new tail reads in a dataset that was just created. */
const NEW_DATASET_BACK_MS = 60_000

/** The datasets that had no tail, and those from which nothing past is wanted. */
type NewTails = { fresh: ReadonlySet<string>; joined: ReadonlySet<string> }

/** The tails of the datasets that streams of this process follow. */
export class Tails {
  readonly #clock: World['clock']
  readonly #tails = new Map<string, Tail>()

  constructor(clock: World['clock']) {
    this.#clock = clock
  }

  /**
   * Updates the tails of datasets with one query for all of the organization that are due. A tail that does not reach back far enough for a
   * continuing stream is read from there; of datasets in `joined` it takes nothing past, and it already follows those in `watch` here.
   */
  async refresh(
    datasets: readonly TailedDataset[],
    reader: TailReader,
    { backToMs, joined, watch }: { backToMs: number; joined: ReadonlySet<string>; watch: ReadPositions },
  ): Promise<readonly Tail[]> {
    const continues = ({ id }: TailedDataset) => !joined.has(id) && !watch.has(id)
    const short = datasets.filter((dataset) => continues(dataset) && isShort(this.#tails.get(dataset.id), dataset, backToMs))
    await Promise.all(short.map(({ id }) => this.#tails.get(id)?.reading))
    const nowMs = this.#clock.nowMs()
    const fresh = datasets.filter(({ id }) => !this.#tails.has(id))
    for (const dataset of fresh) {
      const fromMs = Math.min(nowMs - FRESH_MS, Math.max(dataset.created_at, Math.min(nowMs - NEW_DATASET_BACK_MS, backToMs)))
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

  /** The tails that are due, and those of the same organization that others have just requested. */
  #dueWith(tails: readonly Tail[], nowMs: number): Tail[] {
    const orgs = new Set(tails.map(({ orgId }) => orgId))
    const others = [...this.#tails.values()].filter((tail) => orgs.has(tail.orgId) && nowMs - tail.usedAtMs < SHARED_READ_MS)
    return [...new Set([...tails, ...others])].filter((tail) => isDue(tail, nowMs))
  }

  async #readOn(due: readonly Tail[], { fresh, joined }: NewTails, reader: TailReader, nowMs: number): Promise<void> {
    const late = due.filter((tail) => Math.abs(nowMs - tail.lateAtMs) >= LATE_EVERY_MS)
    // A new tail needs all past numbers, including those that the late pace would skip.
    const rest = due.filter((tail) => !late.includes(tail) || fresh.has(tail.logId))
    try {
      const found = (await Promise.all([readAt('late', late, reader, nowMs), readAt('now', rest, reader, nowMs)])).flat()
      for (const tail of due) if (fresh.has(tail.logId) && joined.has(tail.logId)) skipPast(tail, found, nowMs)
      await this.#readEvents(due, found, reader)
    } catch (cause) {
      // Events missing from the first read would appear as new, so the tail starts again.
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

  /** Reads the events that are not in memory, oldest first, in batches. A number whose event is not on the replica yet is requested again. */
  async #readEvents(due: readonly Tail[], found: readonly EventNumber[], reader: TailReader): Promise<void> {
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
        const arrived = ownCopyOf(event)
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

  /** The approximate memory of the events of all tails. */
  get heldBytes(): number {
    return this.#tails.values().reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Drops tails that were not used for a while. */
  forget(): void {
    const nowMs = this.#clock.nowMs()
    for (const [logId, tail] of this.#tails) if (nowMs - tail.usedAtMs > IDLE_MS) this.#tails.delete(logId)
  }
}

/** True if a tail does not reach back far enough; before a dataset was created there is nothing. */
const isShort = (tail: Tail | undefined, { created_at }: TailedDataset, backToMs: number): boolean =>
  tail !== undefined && tail.fromMs > Math.max(created_at, backToMs)

/** Starts a tail now: the numbers found are past. */
function skipPast(tail: Tail, found: readonly EventNumber[], nowMs: number): void {
  tail.past = found.filter(({ logId }) => logId === tail.logId).map(({ seq }) => seq)
  for (const seq of tail.past) tail.seen.add(seq)
  tail.fromMs = nowMs
}

/** Makes the next read begin earlier; events in memory are not taken twice. */
function readFurtherBack(tail: Tail, fromMs: number): void {
  const past = new Set(tail.past)
  tail.seen = new Set([...[...tail.seen].filter((seq) => !past.has(seq)), ...tail.events.map(({ event }) => event.seq)])
  tail.fromMs = fromMs
  tail.readAtMs = fromMs
  tail.lateAtMs = Number.NEGATIVE_INFINITY
}

/** Reads the numbers of new events in some datasets; if more arrived than one read may return, a sample that fits. */
async function readAt(pace: Pace, tails: readonly Tail[], reader: TailReader, nowMs: number): Promise<EventNumber[]> {
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
        for (const tail of own)
          if ((counts.get(tail.logId)?.length ?? 0) < EVENTS_MAX * SPARSE_SHARE) tail.oneOf[pace] = Math.max(1, oneOf / 2)
        continue
      }
      // At least one of them has its share or more of the read.
      for (const tail of own) if ((counts.get(tail.logId)?.length ?? 0) * own.length >= found.length) tail.oneOf[pace] = oneOf * 2
      over.push(...own)
    }
    open = over
  }
  return arrived
}

const newTail = (dataset: TailedDataset, fromMs: number, nowMs: number): Tail => ({
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

/** The memory of an event and of each of its values, in addition to the text. */
const EVENT_BYTES = 400
const LEAF_BYTES = 100

/** Copies the line of an event: a slice would keep the memory of the whole read alive. */
function ownCopyOf(event: FoundEvent): ArrivedEvent {
  const raw = event.raw && new Uint8Array(event.raw)
  const bytes = event.leaves.values().reduce((sum, text) => sum + LEAF_BYTES + text.length, EVENT_BYTES + (raw?.length ?? 0))
  return { event: { ...event, raw }, bytes }
}

function add(tail: Tail, arrived: ArrivedEvent): void {
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

/** The index in each tail of this process up to which a stream has read: earlier events are past, do not match, or were returned here. */
export type ReadPositions = ReadonlyMap<string, number>

/** A stream that takes events: its filter, its position, and existing datasets that match it only now. `thin` samples what exceeds its share. */
export type TailConsumer = {
  position: TailPosition
  watch: ReadPositions
  matches: (event: FoundEvent) => boolean
  joined: ReadonlySet<string>
  thin?: ((seqs: readonly bigint[]) => (seq: bigint) => boolean) | undefined
}

/** Events for a stream and its position after them; each stands for `oneOf`, and `missed` were dropped before it could take them. */
export type TakenEvents = { events: FoundEvent[]; oneOf: number; missed: number; watch: ReadPositions; position: TailPosition }

/** Returns the matching events that a stream has not had, in the order of arrival, at most `limit`; the rest follows next time. */
export function takeNew(
  tails: readonly Tail[],
  { position, watch, matches, joined, thin }: TailConsumer,
  limit: number,
  nowMs: number,
): TakenEvents {
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
