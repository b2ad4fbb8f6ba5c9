import type { Filter } from '@dendro/language/tree'
import type { CountCondition, EventQuery, FoundGroups, SpreadCondition, TimeBounds } from '../../../reading/query.ts'
import { findGroups } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { and } from '../../data/event-queries/event-queries.ts'
import { isWithin } from './span-filter.ts'
import { TRACE_ID_KEY } from './trace-id.ts'

/** Conditions on the spans of a trace together: how many of them match, and how long all of them take, in nanoseconds. */
export type WholeTrace = {
  readonly spans: readonly CountCondition[]
  readonly durations: readonly Pick<SpreadCondition, 'operator' | 'number'>[]
}

const EDGES = { from: '$span.start_time_unix_nano', to: '$span.end_time_unix_nano' }

/** Finds the traces that meet conditions, and have a span that matches a filter in a range, newest first. The query is for all spans that may belong to them. */
export const tracesThatMeet = (
  { events }: Pick<World, 'events'>,
  query: EventQuery,
  { spans, durations }: WholeTrace,
  { filter, bounds, limit }: { readonly filter: Filter; readonly bounds: TimeBounds; readonly limit: number },
): Promise<FoundGroups> =>
  findGroups(events, query, {
    key: TRACE_ID_KEY,
    newest: and(filter, isWithin(bounds)),
    counts: spans,
    spreads: durations.map((one) => ({ ...EDGES, ...one })),
    limit,
  })
