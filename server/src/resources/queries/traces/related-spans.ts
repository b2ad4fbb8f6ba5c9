import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { eventMs } from '../../../query/matchable-event.ts'
import type { FoundEvent, TimeBounds } from '../../../reading/query.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { ALL_EVENTS, and, buildEventQuery, recordSearch } from '../../data/event-queries/event-queries.ts'
import { boundsAround } from './find-traces.ts'
import { spanDatasets } from './span-datasets.ts'
import { hasOneOf, inTraces } from './span-filter.ts'
import { type RelatedSpan, relatedIn, type SpanRelation } from './span-relations.ts'
import { isSpan, SPAN_ID_KEY, TRACE_ID_KEY } from './trace-id.ts'
import { traceIdOf } from './trace-summaries.ts'
import { tracesThatMeet } from './whole-trace.ts'

/** Two conditions on spans and the relation between spans that meet them. Those that meet the second are found, with `areBoth` those of the first too. */
export type SpanPair = { readonly relation: SpanRelation; readonly first: Filter; readonly second: Filter; readonly areBoth: boolean }

/** Traces with a span of each kind that are looked through, the newest first, and how many of them at once. */
const TRACES_MAX = 1_000
const TRACES_AT_ONCE = 100
/** Spans of the traces that are looked through at once. */
const SPANS_MAX = 100_000
const PARENT_KEY = '$span.parent_span_id'
const KEYS = [TRACE_ID_KEY, SPAN_ID_KEY, PARENT_KEY]

type Search = { readonly bounds: TimeBounds; readonly limit: number; readonly signal: AbortSignal }

/**
 * Returns a filter for the related spans in a range, in the newest traces that have some; undefined where there are none. The other span of a pair may lie up to
 * an hour outside the range. The event store finds the traces that have spans of both kinds; which of them are related is found out here.
 */
export async function relatedSpans(
  world: World,
  actor: Actor,
  pair: SpanPair,
  { bounds, limit, signal }: Search,
): Promise<Filter | undefined> {
  const startedMs = world.clock.monotonicMs()
  const datasets = await spanDatasets(world, actor)
  if (datasets.length === 0) return undefined
  let bytes = 0
  const around = boundsAround([bounds.fromMs, bounds.toMs])
  const queryOf = (filter: Filter) =>
    buildEventQuery(world, actor, { datasets, filter: and(isSpan(false), filter), bounds: around, signal })
  const spans = [pair.first, pair.second].map((filter) => ({ filter, operator: '>', number: 0 }) as const)
  const newest = pair.areBoth ? ({ kind: 'or', of: [pair.first, pair.second] } as const) : pair.second
  const candidates = await tracesThatMeet(
    world,
    await queryOf(ALL_EVENTS),
    { spans, durations: [] },
    { filter: newest, bounds, limit: TRACES_MAX },
  )
  bytes += candidates.cost.bytes
  const related: RelatedTrace[] = []
  for (let at = 0; at < candidates.values.length && related.length < limit; at += TRACES_AT_ONCE) {
    related.push(...(await relatedAmong(candidates.values.slice(at, at + TRACES_AT_ONCE))))
  }
  recordSearch(world, actor, { datasets, bytes, startedMs })
  const shown = related.slice(0, limit)
  if (shown.length === 0) return undefined
  return and(inTraces(shown.map(({ traceId }) => traceId)), hasOneOf(SPAN_ID_KEY, [...new Set(shown.flatMap(({ ids }) => ids))]))

  async function relatedAmong(traceIds: readonly string[]): Promise<RelatedTrace[]> {
    const [all, first, second] = await Promise.all(
      [ALL_EVENTS, pair.first, pair.second].map((filter) => readLinks(and(filter, inTraces(traceIds)))),
    )
    const numbersOf = (events: readonly FoundEvent[] = []) => new Set(events.map(({ seq }) => seq))
    const [areFirst, areSecond] = [numbersOf(first), numbersOf(second)]
    const byTrace = Map.groupBy(all ?? [], traceIdOf)
    return traceIds.flatMap((traceId) => {
      const own = byTrace.get(traceId) ?? []
      const links = own.map((event) => linkOf(event, areFirst.has(event.seq), areSecond.has(event.seq)))
      const found = relatedIn(links, pair.relation)
      const inSearch = own.filter((event) => isIn(eventMs(event), bounds)).map(idOf)
      const ids = inSearch.filter((id) => found.second.has(id) || (pair.areBoth && found.first.has(id)))
      return ids.length === 0 ? [] : [{ traceId, ids }]
    })
  }

  async function readLinks(filter: Filter): Promise<readonly FoundEvent[]> {
    const request = { limit: SPANS_MAX, newestFirst: true, keys: KEYS, withRaw: false }
    const { events, cost } = await readEvents(world.events, await queryOf(filter), request)
    bytes += cost.bytes
    return events
  }
}

type RelatedTrace = { readonly traceId: string; readonly ids: readonly string[] }

const isIn = (ms: number, { fromMs, toMs }: TimeBounds): boolean => ms >= fromMs && ms < toMs

const idOf = ({ leaves }: FoundEvent): string => leaves.get(SPAN_ID_KEY) ?? ''
const linkOf = (event: FoundEvent, isFirst: boolean, isSecond: boolean): RelatedSpan => ({
  id: idOf(event),
  parentId: event.leaves.get(PARENT_KEY),
  isFirst,
  isSecond,
})
