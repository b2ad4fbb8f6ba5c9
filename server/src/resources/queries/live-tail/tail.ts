import type { FoundEvent } from '../../../reading/event-query.ts'
import type { EventNumber } from '../../../reading/numbers.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import type { TailWatcher } from './charges.ts'
import { SequenceSet } from './sequence-set.ts'

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
  seen: SequenceSet
  /** past are numbers of events that are not held: they were there before anybody watched, or everybody here has taken them. */
  past: SequenceSet
  /** oneOf says how many of the events there are for one that is read, in each pace: 1 unless they come too fast. */
  oneOf: Record<Pace, number>
  /** fromMs is since when all that arrived is here. */
  fromMs: number
  readAtMs: number
  lateAtMs: number
  usedAtMs: number
  reading: Promise<void> | undefined
  /** pins are takers that go on here without a watch: they need all that is held. */
  pins: number
  /** watchers are who asked for the dataset: they share the cost of its reads. */
  readonly watchers: Map<string, TailWatcher>
}

/** An Arrived event is held with about what it takes in memory. */
export type Arrived = { readonly event: FoundEvent; readonly bytes: number }

/** A Watched dataset is what a read needs to know of it. */
export type Watched = Pick<DatasetRow, 'id' | 'org_id' | 'created_at' | 'collection' | 'dataset' | 'retention'>

/** What has just arrived is read each time; what could not be seen for a while after its number was claimed, now and then. */
export type Pace = 'now' | 'late'

export const newTail = (dataset: Watched, fromMs: number, nowMs: number): Tail => ({
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

/** isShort says that a tail does not reach back far enough; before a dataset was made there is nothing. */
export const isShort = (tail: Tail | undefined, { created_at }: Watched, backToMs: number): boolean =>
  tail !== undefined && tail.fromMs > Math.max(created_at, backToMs)

/** leavePast makes a tail begin now: what was found is past. */
export function leavePast(tail: Tail, found: readonly EventNumber[], nowMs: number): void {
  tail.past = SequenceSet.of(found.filter(({ logId }) => logId === tail.logId).map(({ seq }) => seq))
  tail.seen = tail.seen.with([...tail.past])
  tail.fromMs = nowMs
}

/** readFurtherBack makes the next read begin earlier; what is here already is not taken twice. */
export function readFurtherBack(tail: Tail, fromMs: number): void {
  tail.seen = tail.seen.without(tail.past).with(tail.events.map(({ event }) => event.seq))
  tail.fromMs = fromMs
  tail.readAtMs = fromMs
  tail.lateAtMs = Number.NEGATIVE_INFINITY
}

/** EVENT_BYTES and LEAF_BYTES are what an event and each of its values take beside their text. */
const EVENT_BYTES = 400
const LEAF_BYTES = 100

/** heldAs is an event with a line of its own: what was read lies in one piece of memory, which would be held as long as any of its lines. */
export function heldAs(event: FoundEvent): Arrived {
  const raw = event.raw && new Uint8Array(event.raw)
  const bytes = event.leaves.values().reduce((sum, text) => sum + LEAF_BYTES + text.length, EVENT_BYTES + (raw?.length ?? 0))
  return { event: { ...event, raw }, bytes }
}

export function addAll(tail: Tail, arrived: readonly Arrived[]): void {
  tail.seen = tail.seen.with(arrived.map(({ event }) => event.seq))
  for (const one of arrived) tail.bytes += one.bytes
  tail.events = tail.events.concat(arrived)
}

/** dropOldest gives up events that somebody may not have taken. */
export function dropOldest(tail: Tail, count: number): void {
  if (count <= 0) return
  for (const { bytes } of tail.events.slice(0, count)) tail.bytes -= bytes
  tail.events = tail.events.slice(count)
  tail.first += count
}

/** release lets go of the events before a number, which everybody here has taken. Who goes on here later has them read again. */
export function release(tail: Tail, before: number, nowMs: number): void {
  const count = Math.min(tail.events.length, before - tail.first)
  if (count <= 0 || tail.pins > 0) return
  tail.past = tail.past.with(tail.events.slice(0, count).map(({ event }) => event.seq))
  dropOldest(tail, count)
  tail.fromMs = nowMs
}

/** forgetNumbers drops the numbers of events that no read finds any more. */
export function forgetNumbers(tail: Tail, upTo: bigint): void {
  tail.seen = tail.seen.above(upTo)
  tail.past = tail.past.above(upTo)
}

export const endOf = (tail: Tail): number => tail.first + tail.events.length

type Sequenced = Pick<FoundEvent, 'seq'>
export const bySequence = (one: Sequenced, other: Sequenced): number => (one.seq < other.seq ? -1 : one.seq > other.seq ? 1 : 0)
