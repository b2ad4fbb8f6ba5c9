import type { EventQuery, QueryCost } from '../../../reading/query.ts'
import { columnKeys, countFields, countWithin, openComparison, type RangeValue } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { ALL_EVENTS, and } from '../../data/event-queries/event-queries.ts'
import { DURATION_KEY, isOfResource, isWithin, TRACE_ID_KEY } from '../traces/traces.ts'
import { fieldKeys } from './traceql-conditions.ts'
import type { SpanComparison } from './traceql-metrics.ts'

/** The attributes that most spans have are compared, at most. */
const KEYS_MAX = 40
/** They are other ones in each span. */
const ofOneSpan: ReadonlySet<string> = new Set([
  TRACE_ID_KEY,
  DURATION_KEY,
  ...['span_id', 'parent_span_id', 'start_time_unix_nano', 'end_time_unix_nano', 'events', 'links', 'trace_state'].map(
    (name) => `$span.${name}`,
  ),
])

/** How often an attribute has a value on one side; a value of null stands for all values. */
export type CountedValue = {
  readonly side: 'baseline' | 'selection'
  readonly key: string
  readonly label: string
  readonly value: string | null
  readonly count: number
}
export type ComparedSpans = { readonly values: readonly CountedValue[]; readonly isWhole: boolean }

/** Counts the values of attributes in the spans of a selection and in the others, for each side the most frequent ones. */
export async function compareSpans(
  { events }: Pick<World, 'events'>,
  query: EventQuery,
  { selection, top, window }: SpanComparison,
  onCost: (cost: QueryCost) => void,
): Promise<ComparedSpans> {
  const selected = window ? and(selection, isWithin(window)) : selection
  const [counted, totals] = await Promise.all([countFields(events, query), countWithin(events, query, [selected, ALL_EVENTS])])
  const [now = 0, all = 0] = totals.counts
  const found = counted ? [...counted.counts].sort(([, one], [, other]) => other - one).map(([key]) => key) : columnKeys(query)
  const keys = found.filter((key) => key.startsWith('$') && !ofOneSpan.has(key))
  const comparison = await openComparison(events, query, { now: query.bounds, before: query.bounds }, selected)
  const compared = keys.slice(0, KEYS_MAX).map((key) => ({ key }))
  const values = await comparison.values(compared, { now, before: all - now })
  for (const cost of [counted?.cost, totals.cost, comparison.cost()]) if (cost) onCost(cost)
  return {
    values: [...values].flatMap(([key, of]) => [
      ...valuesOf({ side: 'baseline', key, spans: all - now }, of, top),
      ...valuesOf({ side: 'selection', key, spans: now }, of, top),
    ]),
    isWhole: keys.length <= KEYS_MAX,
  }
}

type Side = Pick<CountedValue, 'side' | 'key'> & { readonly spans: number }

/** The most frequent values of one side, and how many of its spans have any. Not all values are among those found, but how many spans have none always is. */
function valuesOf({ side, key, spans }: Side, found: readonly RangeValue[], top: number): CountedValue[] {
  const counts = found.map(({ value, now, before }) => ({ value, count: side === 'selection' ? now : before }))
  const total = spans - (counts.find(({ value }) => value === null)?.count ?? 0)
  const some = counts.filter(({ value, count }) => value !== null && count > 0).sort((one, other) => other.count - one.count)
  const place = { side, key, label: labelOf(key) }
  return total <= 0 ? [] : [...some.slice(0, top).map((one) => ({ ...place, ...one })), { ...place, value: null, count: total }]
}

const fieldNames: ReadonlyMap<string, string> = new Map([...fieldKeys].map(([name, key]) => [key, name]))

function labelOf(key: string): string {
  const name = key.slice(1)
  return fieldNames.get(key) ?? `${isOfResource(name) ? 'resource' : 'span'}.${name}`
}
