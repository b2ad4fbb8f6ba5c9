import type { ContextResponse, contract, Link, QueryOf } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { parseAll } from '../../../query/parse-all.ts'
import { parseFilter } from '../../../query/query.ts'
import type { EventPosition, EventsRequest, EventsResult, FoundEvent, TimeBounds } from '../../../reading/query.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { datasetSelectionOf, selectedDatasets } from '../../data/datasets/datasets.ts'
import { ALL_EVENTS, buildEventQuery, rangeBytes, recordSearch, SELECT_ALL, shownEvents } from '../../data/event-queries/event-queries.ts'
import { type Direction, GAP_MS, justAfter, justBefore, positionOf, shareOut, uninterrupted } from './around.ts'

export { positionOf as placeOf } from './around.ts'

type ContextQuery = QueryOf<typeof contract.context.get>

const LIMIT = 100
const NS_PER_MS = 1_000_000n

/** The position whose context is requested; `event` is set if an event lies exactly there. */
type ContextTarget = { position: EventPosition; event: FoundEvent | undefined }

/** `filter` narrows the events around the position; undefined takes all of them, up to a gap. */
type ContextReading = {
  world: World
  actor: Actor
  datasets: readonly DatasetRow[]
  filter: Filter | undefined
  signal: AbortSignal
  bytes: number
}

/** Returns the events around a position in all selected datasets. */
export async function findContext(world: World, actor: Actor, query: ContextQuery, signal: AbortSignal): Promise<ContextResponse> {
  const startedMs = world.clock.monotonicMs()
  const { filter, choose } = parseAll({
    filter: () => (query.where?.trim() ? parseFilter(query.where, 'where').filter : undefined),
    choose: () => datasetSelectionOf(query),
  })
  const datasets = await selectedDatasets(world, actor, choose)
  const { direction = 'both', limit = LIMIT } = query
  if (query.explain_only) return explain(world, actor, datasets, boundsAround(query.timestamp, limit), startedMs)
  const reading: ContextReading = { world, actor, datasets, filter, signal, bytes: 0 }
  const target = await findTarget(reading, query)
  const { older, newer } = await readAround(reading, target, query.timestamp, limit, direction)
  const share = shareOf(direction, limit, { older: older.length, newer: newer.length })
  const shown = [...older.slice(0, share.older).reverse(), ...newer.slice(0, share.newer)]
  const places = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  const next = [
    ...linkTo('prev', reading, query, older[share.older], 'before', limit),
    ...linkTo('next', reading, query, newer[share.newer], 'after', limit),
  ]
  return {
    explain: {
      'Execution time (millis)': String(recordSearch(world, actor, { datasets, bytes: reading.bytes, startedMs })),
      'Bytes searched': String(reading.bytes),
      'Matching events': String(shown.length),
    },
    ...(await shownEvents(shown, { items: SELECT_ALL, baseUrl: actor.facts.baseUrl, places })),
    links: next,
  }
}

/** Omits a side according to the direction; the event itself counts as newer unless only older ones are wanted. */
const shareOf = (direction: Direction, limit: number, available: { older: number; newer: number }): { older: number; newer: number } =>
  direction === 'both' ? shareOut(limit, available) : { older: Math.min(limit, available.older), newer: Math.min(limit, available.newer) }

/** Looks up the event itself, since its position within the millisecond is unknown. */
async function findTarget(reading: ContextReading, { timestamp, sequence, from_sequence }: ContextQuery): Promise<ContextTarget> {
  const seq = sequence ?? from_sequence
  const bounds = { fromMs: timestamp, toMs: timestamp + 1 }
  const start: EventPosition = { timeNs: BigInt(timestamp) * NS_PER_MS, seq: seq ?? 0n }
  const filter = seq === undefined ? ALL_EVENTS : hasSequence(seq)
  const { events } = await read(reading, bounds, { limit: 1, newestFirst: false }, filter)
  const [event] = events
  return event ? { position: positionOf(event), event } : { position: start, event: undefined }
}

const hasSequence = (seq: bigint): Filter => ({
  kind: 'compare',
  key: '@sequence',
  operator: '=',
  value: { kind: 'number', text: String(seq) },
  at: { position: 0, length: 0 },
})

/** Reads one event more than wanted on each side, outward until a gap; a filter leaves gaps of its own. */
async function readAround(
  reading: ContextReading,
  { position, event }: ContextTarget,
  timestamp: number,
  limit: number,
  direction: Direction,
): Promise<Record<'older' | 'newer', readonly FoundEvent[]>> {
  const bounds = boundsAround(timestamp, limit)
  const side = async (newestFirst: boolean, after: EventPosition) => {
    const { events } = await read(reading, bounds, { limit: limit + 1, newestFirst, after }, reading.filter ?? ALL_EVENTS)
    return reading.filter ? events : uninterrupted(events, position.timeNs)
  }
  const isIn = event !== undefined && direction === 'before'
  const [older, newer] = await Promise.all([
    direction === 'after' ? [] : side(true, isIn ? justAfter(position) : position),
    direction === 'before' ? [] : side(false, justBefore(position)),
  ])
  return { older, newer }
}

/** The largest range that a context of this size without a gap can cover. */
const boundsAround = (timestamp: number, limit: number): TimeBounds => ({
  fromMs: Math.max(0, timestamp - (limit + 1) * GAP_MS),
  toMs: timestamp + (limit + 1) * GAP_MS + 1,
})

type Part = Pick<EventsRequest, 'limit' | 'newestFirst' | 'after'>

async function read(reading: ContextReading, bounds: TimeBounds, request: Part, filter: Filter): Promise<EventsResult> {
  const { world, actor, datasets, signal } = reading
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter, bounds, signal })
  const found = await readEvents(world.events, eventQuery, { ...request, keys: 'all', withRaw: true })
  reading.bytes += found.cost.bytes
  return found
}

/** The link that continues after the last returned event. */
function linkTo(
  rel: 'prev' | 'next',
  { actor }: ContextReading,
  { from, from_expr, from_tags, where }: ContextQuery,
  event: FoundEvent | undefined,
  direction: Direction,
  limit: number,
): Link[] {
  if (!event) return []
  const query = new URLSearchParams([
    ...sourceOf({ from, from_expr, from_tags }),
    ['timestamp', String(event.timeNs / NS_PER_MS)],
    ['sequence', String(event.seq)],
    ['direction', direction],
    ['limit', String(limit)],
    ...(where?.trim() ? [['where', where] as [string, string]] : []),
  ])
  return [{ rel, href: `${actor.facts.baseUrl}/context?${query}` }]
}

/** The source of the query as link parameters. */
function sourceOf({ from = [], from_expr, from_tags = [] }: Pick<ContextQuery, 'from' | 'from_expr' | 'from_tags'>): [string, string][] {
  if (from_expr?.trim()) return [['from_expr', from_expr]]
  return from_tags.length > 0 ? from_tags.map((tag) => ['from_tags', tag]) : from.map((id) => ['from', id])
}

async function explain(
  world: World,
  actor: Actor,
  datasets: readonly DatasetRow[],
  bounds: TimeBounds,
  startedMs: number,
): Promise<ContextResponse> {
  const bytes = await rangeBytes(world, actor, datasets, bounds)
  const time = String(Math.round(world.clock.monotonicMs() - startedMs))
  return {
    explain: { 'Execution time (millis)': time, 'Approximate bytes in time range': String(bytes) },
    events: [],
    result: [],
    links: [],
  }
}
