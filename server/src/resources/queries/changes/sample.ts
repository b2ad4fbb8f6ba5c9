import type { EventStore } from '../../../events/store/events.ts'
import { patternId } from '../../../kernel/pattern-id.ts'
import type { EventQuery, FoundEvent, TimeBounds } from '../../../reading/query.ts'
import { readEvents } from '../../../reading/reading.ts'
import { statusOf } from '../../data/event-queries/event-queries.ts'
import type { SampleEvent } from './candidates.ts'

/** The events of each part of a range that are sampled, and the parts. */
const EVENTS_PER_PART = 100
const PARTS = 4

/** Reads the newest events of equal parts of a range, so that no part is left out. */
export async function sampleRange(store: EventStore, query: EventQuery, total: number): Promise<readonly FoundEvent[]> {
  if (total === 0) return []
  const parts = total <= EVENTS_PER_PART * PARTS ? 1 : PARTS
  const request = { limit: (EVENTS_PER_PART * PARTS) / parts, newestFirst: true, keys: 'all' as const, withRaw: false }
  const read = await Promise.all(partsOf(query.bounds, parts).map((bounds) => readEvents(store, { ...query, bounds }, request)))
  return read.flatMap(({ events }) => events)
}

function partsOf({ fromMs, toMs }: TimeBounds, parts: number): TimeBounds[] {
  const edge = (at: number) => fromMs + Math.round(((toMs - fromMs) * at) / parts)
  return Array.from({ length: parts }, (_, at) => ({ fromMs: edge(at), toMs: edge(at + 1) })).filter((one) => one.fromMs < one.toMs)
}

/** The names of the datasets of a query, and the families of its patterns. */
export type SampleContext = {
  readonly datasets: ReadonlyMap<string, { readonly collection: string; readonly dataset: string }>
  readonly families: ReadonlyMap<string, ReadonlyMap<bigint, bigint>>
}

const NS_PER_MS = 1_000_000n

/** Adds the built-in keys, those that tell events of the query apart. */
export function sampleEvent(event: FoundEvent, { datasets, families }: SampleContext): SampleEvent {
  const leaves = new Map(event.leaves)
  leaves.set('@status', statusOf(event.severity))
  if (event.origin !== '') leaves.set('@origin', event.origin)
  const pattern = families.get(event.logId)?.get(event.skeleton) ?? event.skeleton
  if (pattern !== 0n) leaves.set('@pattern', patternId(pattern))
  const names = datasets.get(event.logId)
  if (names && datasets.size > 1) leaves.set('@dataset', names.dataset).set('@collection', names.collection)
  return { leaves, timeMs: Number(event.timeNs / NS_PER_MS) }
}
