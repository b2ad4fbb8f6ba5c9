import type { ContextAnswer, contract, Link, QueryOf } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import type { Bounds, EventsWish, FoundEvent, FoundEvents, Position } from '../../../reading/question.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { sourceDatasets } from '../../data/datasets/datasets.ts'
import { ALL, EVERYTHING, noteSearch, questionFor, selectRangeBytes, shownEvents } from '../../data/event-queries/event-queries.ts'
import { type Direction, GAP_MS, justAfter, justBefore, placeOf, shareOut, uninterrupted } from './around.ts'

export { placeOf } from './around.ts'

type Ask = QueryOf<typeof contract.context.get>

const LIMIT = 100
const NS_PER_MS = 1_000_000n

/** A Place is where a context is wanted; `event` is there when an event lies exactly there. */
type Place = { position: Position; event: FoundEvent | undefined }

type Reading = { world: World; actor: Actor; datasets: readonly DatasetRow[]; signal: AbortSignal; bytes: number }

/** findContext gives the events around a place, as they lie in all the datasets asked for. */
export async function findContext(world: World, actor: Actor, ask: Ask, signal: AbortSignal): Promise<ContextAnswer> {
  const startedMs = world.clock.monotonicMs()
  const datasets = await sourceDatasets(world, actor, ask)
  const { direction = 'both', limit = LIMIT } = ask
  if (ask.explain_only) return explain(world, actor, datasets, boundsAround(ask.timestamp, limit), startedMs)
  const reading: Reading = { world, actor, datasets, signal, bytes: 0 }
  const place = await findPlace(reading, ask)
  const { older, newer } = await readAround(reading, place, ask.timestamp, limit, direction)
  const share = shareOf(direction, limit, { older: older.length, newer: newer.length })
  const shown = [...older.slice(0, share.older).reverse(), ...newer.slice(0, share.newer)]
  const places = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  const next = [
    ...linkTo('prev', reading, ask, older[share.older], 'before', limit),
    ...linkTo('next', reading, ask, newer[share.newer], 'after', limit),
  ]
  return {
    explain: {
      'Execution time (millis)': String(noteSearch(world, actor, { datasets, bytes: reading.bytes, startedMs })),
      'Bytes searched': String(reading.bytes),
      'Matching events': String(shown.length),
    },
    ...shownEvents(shown, { items: EVERYTHING, baseUrl: actor.facts.baseUrl, places }),
    links: next,
  }
}

/** shareOf leaves a side out when the direction does; the event at the place counts as newer unless only older ones are wanted. */
const shareOf = (direction: Direction, limit: number, available: { older: number; newer: number }): { older: number; newer: number } =>
  direction === 'both' ? shareOut(limit, available) : { older: Math.min(limit, available.older), newer: Math.min(limit, available.newer) }

/** findPlace looks for the event itself, since an event within its millisecond may lie anywhere in it. */
async function findPlace(reading: Reading, { timestamp, sequence, from_sequence }: Ask): Promise<Place> {
  const seq = sequence ?? from_sequence
  const bounds = { fromMs: timestamp, toMs: timestamp + 1 }
  const start: Position = { timeNs: BigInt(timestamp) * NS_PER_MS, seq: seq ?? 0n }
  const filter = seq === undefined ? ALL : hasSequence(seq)
  const { events } = await read(reading, bounds, { limit: 1, newestFirst: false }, filter)
  const [event] = events
  return event ? { position: placeOf(event), event } : { position: start, event: undefined }
}

const hasSequence = (seq: bigint): Filter => ({
  kind: 'compare',
  key: '@sequence',
  operator: '=',
  value: { kind: 'number', text: String(seq) },
  at: { position: 0, length: 0 },
})

/** readAround reads one event more than wanted on each side, each walking away from the place until a gap. */
async function readAround(
  reading: Reading,
  { position, event }: Place,
  timestamp: number,
  limit: number,
  direction: Direction,
): Promise<Record<'older' | 'newer', readonly FoundEvent[]>> {
  const bounds = boundsAround(timestamp, limit)
  const side = async (newestFirst: boolean, after: Position) => {
    const { events } = await read(reading, bounds, { limit: limit + 1, newestFirst, after }, ALL)
    return uninterrupted(events, position.timeNs)
  }
  const isIn = event !== undefined && direction === 'before'
  const [older, newer] = await Promise.all([
    direction === 'after' ? [] : side(true, isIn ? justAfter(position) : position),
    direction === 'before' ? [] : side(false, justBefore(position)),
  ])
  return { older, newer }
}

/** boundsAround is as far as a context of so many events without a gap can reach. */
const boundsAround = (timestamp: number, limit: number): Bounds => ({
  fromMs: Math.max(0, timestamp - (limit + 1) * GAP_MS),
  toMs: timestamp + (limit + 1) * GAP_MS + 1,
})

type Part = Pick<EventsWish, 'limit' | 'newestFirst' | 'after'>

async function read(reading: Reading, bounds: Bounds, wish: Part, filter: Filter): Promise<FoundEvents> {
  const { world, actor, datasets, signal } = reading
  const question = await questionFor(world, actor, { datasets, filter, bounds, signal })
  const found = await readEvents(world.events, question, { ...wish, keys: 'all', withRaw: true })
  reading.bytes += found.cost.bytes
  return found
}

/** linkTo leads on from the first event that had no place any more. */
function linkTo(
  rel: 'prev' | 'next',
  { actor }: Reading,
  { from, from_expr, from_tags }: Ask,
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
  ])
  return [{ rel, href: `${actor.facts.baseUrl}/context?${query}` }]
}

/** sourceOf is the source that a question was answered from, as parameters of a link. */
function sourceOf({ from = [], from_expr, from_tags = [] }: Pick<Ask, 'from' | 'from_expr' | 'from_tags'>): [string, string][] {
  if (from_expr?.trim()) return [['from_expr', from_expr]]
  return from_tags.length > 0 ? from_tags.map((tag) => ['from_tags', tag]) : from.map((id) => ['from', id])
}

async function explain(
  world: World,
  actor: Actor,
  datasets: readonly DatasetRow[],
  bounds: Bounds,
  startedMs: number,
): Promise<ContextAnswer> {
  const ids = datasets.map(({ id }) => id)
  const bytes = await selectRangeBytes(world.events, actor.orgNumber, ids, bounds)
  const time = String(Math.round(world.clock.monotonicMs() - startedMs))
  return {
    explain: { 'Execution time (millis)': time, 'Approximate bytes in time range': String(bytes) },
    events: [],
    result: [],
    links: [],
  }
}
