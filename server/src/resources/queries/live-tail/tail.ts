import type { FoundEvent } from '../../../reading/query.ts'
import type { EventNumber } from '../../../reading/reading.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import type { TailWatcher } from './charges.ts'
import { SequenceSet } from './sequence-set.ts'

/** The recent events of one dataset. All callers that tail the dataset in this process share them. */
export type Tail = {
  readonly logId: string
  readonly orgId: string
  dataset: TailDataset
  /** In the order in which they were found. The first one has the offset `first`. */
  events: HeldEvent[]
  first: number
  /** The approximate memory of the events. */
  bytes: number
  seen: SequenceSet
  /** The numbers of events that are not held: they existed before the first read, or all consumers in this process have taken them. */
  past: SequenceSet
  /** The sampling rate of each pace: one in `oneOf` events is read. It is 1 unless events arrive too fast. */
  oneOf: Record<Pace, number>
  /** All events that arrived since this time are held or in `past`. */
  fromMs: number
  readAtMs: number
  lateAtMs: number
  usedAtMs: number
  reading: Promise<void> | undefined
  /** The number of running reads that continue a job without offsets in this process. They need all held events. */
  pins: number
  /** The callers that read the dataset and share the cost. */
  readonly watchers: Map<string, TailWatcher>
}

/** An event with its approximate memory. */
export type HeldEvent = { readonly event: FoundEvent; readonly bytes: number }

/** The properties of a dataset that a read needs. */
export type TailDataset = Pick<DatasetRow, 'id' | 'org_id' | 'created_at' | 'collection' | 'dataset' | 'retention'>

/** Each read covers the latest events (`now`). Events that became visible long after their number was claimed are read less often (`late`). */
export type Pace = 'now' | 'late'

export const newTail = (dataset: TailDataset, fromMs: number, nowMs: number): Tail => ({
  logId: dataset.id,
  orgId: dataset.org_id,
  dataset,
  events: [],
  first: 0,
  bytes: 0,
  seen: SequenceSet.EMPTY,
  past: SequenceSet.EMPTY,
  oneOf: { now: 1, late: 1 },
  fromMs,
  readAtMs: fromMs,
  lateAtMs: Number.NEGATIVE_INFINITY,
  usedAtMs: nowMs,
  reading: undefined,
  pins: 0,
  watchers: new Map(),
})

/** Reports whether a tail must read further back. Nothing exists before a dataset was created. */
export const startsTooLate = (tail: Tail | undefined, { created_at }: TailDataset, backToMs: number): boolean =>
  tail !== undefined && tail.fromMs > Math.max(created_at, backToMs)

/** Starts a tail now: the events found so far count as past. */
export function skipPast(tail: Tail, found: readonly EventNumber[], nowMs: number): void {
  tail.past = SequenceSet.of(found.filter(({ logId }) => logId === tail.logId).map(({ seq }) => seq))
  tail.seen = tail.seen.with([...tail.past])
  tail.fromMs = nowMs
}

/** Makes the next read start earlier. Events that are already held are not added twice. */
export function readFurtherBack(tail: Tail, fromMs: number): void {
  tail.seen = tail.seen.without(tail.past).with(tail.events.map(({ event }) => event.seq))
  tail.fromMs = fromMs
  tail.readAtMs = fromMs
  tail.lateAtMs = Number.NEGATIVE_INFINITY
}

/** The memory overhead of an event and of each of its values, without their text. */
const EVENT_BYTES = 400
const LEAF_BYTES = 100

/** Copies the line of an event. The lines of one read share a buffer, which would stay in memory as long as any of them. */
export function toHeldEvent(event: FoundEvent): HeldEvent {
  const raw = event.raw && new Uint8Array(event.raw)
  const bytes = event.leaves.values().reduce((sum, text) => sum + LEAF_BYTES + text.length, EVENT_BYTES + (raw?.length ?? 0))
  return { event: { ...event, raw }, bytes }
}

export function addAll(tail: Tail, added: readonly HeldEvent[]): void {
  tail.seen = tail.seen.with(added.map(({ event }) => event.seq))
  for (const one of added) tail.bytes += one.bytes
  tail.events = tail.events.concat(added)
}

/** Drops events, even those that a consumer has not taken. */
export function dropOldest(tail: Tail, count: number): void {
  if (count <= 0) return
  for (const { bytes } of tail.events.slice(0, count)) tail.bytes -= bytes
  tail.events = tail.events.slice(count)
  tail.first += count
}

/** Releases the events before an offset, which all consumers in this process have taken. A consumer that continues here later reads them again. */
export function release(tail: Tail, before: number, nowMs: number): void {
  const count = Math.min(tail.events.length, before - tail.first)
  if (count <= 0 || tail.pins > 0) return
  tail.past = tail.past.with(tail.events.slice(0, count).map(({ event }) => event.seq))
  dropOldest(tail, count)
  tail.fromMs = nowMs
}

/** Drops the numbers of events that no read can return any more. */
export function dropNumbers(tail: Tail, upTo: bigint): void {
  tail.seen = tail.seen.above(upTo)
  tail.past = tail.past.above(upTo)
}

export const endOf = (tail: Tail): number => tail.first + tail.events.length

type Sequenced = Pick<FoundEvent, 'seq'>
export const bySequence = (one: Sequenced, other: Sequenced): number => (one.seq < other.seq ? -1 : one.seq > other.seq ? 1 : 0)
