import type { contract, MetricItem, QueryOf, Series } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { boundsOf } from '../../../query/bounds.ts'
import { parseFilter } from '../../../query/query.ts'
import type { StatsGroup, TimeBounds } from '../../../reading/query.ts'
import { readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, visibleDatasets } from '../../data/datasets/datasets.ts'
import { buildEventQuery } from '../../data/event-queries/event-queries.ts'
import { type Sliced, type Stat, seriesOf, slicesOver, textSlicesOf } from '../../data/usage/usage.ts'

type ErrorCountQuery = QueryOf<typeof contract.analytics.errors>

const DEFAULT_RANGE = 'last 1 hour'
const FILTER = "@status IN ('error', 'warn')"
const GROUPS = ['@collection', '@dataset', '@status']
const STATUSES = 2
/** The number of datasets counted in one query. */
const TOGETHER = 500
const COUNT: Stat = { stat: 'SUM', key: 'count' }
const STAT = 'count(*)'

/** A dataset with one group for each status that occurs. */
type Counted = { readonly dataset: DatasetRow; readonly groups: readonly StatsGroup[] }

/**
 * Counts errors and warnings in all datasets that the caller sees. The status is a column filled at ingestion, so no line is read. System
 * datasets are excluded, as with all-dataset selectors.
 */
export async function countErrors(world: World, actor: Actor, ask: ErrorCountQuery, signal: AbortSignal): Promise<MetricItem> {
  const range = ask.time_range?.trim() ? { time_range: ask.time_range } : { from_ts: ask.from_ts, to_ts: ask.to_ts }
  const bounds = boundsOf(range, world.clock.nowMs(), DEFAULT_RANGE)
  const slices = ask.num_of_slices ?? slicesOver(bounds)
  const datasets = (await visibleDatasets(world, actor)).filter(({ is_system_generated }) => !is_system_generated)
  const whole = await countIn(world, actor, datasets, { bounds, slices: 1, signal })
  const largest = whole.toSorted((a, b) => countOf(b) - countOf(a)).slice(0, ask.limit)
  const shown = await countIn(
    world,
    actor,
    largest.map(({ dataset }) => dataset),
    { bounds, slices, signal },
  )
  const byId = new Map(shown.map((counted) => [counted.dataset.id, counted]))
  const all = largest.length === whole.length ? shown : await countIn(world, actor, datasets, { bounds, slices, signal })
  const total = whole.reduce((sum, counted) => sum + countOf(counted), 0)
  const period = { ...bounds, slices, isExact: true }
  return {
    id: 'analytics.errors',
    name: 'errors',
    filter: FILTER,
    stat: 'COUNT',
    key: '*',
    is_exact: true,
    group_keys: ['log_id', '@status'],
    logs: [],
    from_tags: [],
    aux: {},
    total_count: total,
    total_value: total,
    aggregates: [{ function: STAT, value: total }],
    series: textSlicesOf(
      COUNT,
      period,
      all.flatMap(({ groups }) => groups.flatMap(slicedOf)),
    ),
    groups_series: largest.flatMap(({ dataset: { id } }) => {
      const counted = byId.get(id)
      return counted ? [logSeries(counted, period)] : []
    }),
  }
}

type Counting = { bounds: TimeBounds; slices: number; signal: AbortSignal }

/** Counts by dataset and status; datasets without matches are omitted. */
async function countIn(
  world: World,
  actor: Actor,
  datasets: readonly DatasetRow[],
  { bounds, slices, signal }: Counting,
): Promise<Counted[]> {
  const { filter } = parseFilter(FILTER)
  const counted: Counted[] = []
  for (let first = 0; first < datasets.length; first += TOGETHER) {
    const some = datasets.slice(first, first + TOGETHER)
    const eventQuery = await buildEventQuery(world, actor, { datasets: some, filter, bounds, signal })
    const request = { calls: [{ name: 'count' as const }], groups: GROUPS, slices, limit: STATUSES * some.length }
    const { groups } = await readStats(world.events, eventQuery, request)
    const byPlace = Map.groupBy(groups, ({ values: [collection, dataset] }) => JSON.stringify([collection, dataset]))
    for (const dataset of some) {
      const own = byPlace.get(JSON.stringify([dataset.collection, dataset.dataset]))
      if (own) counted.push({ dataset, groups: own })
    }
  }
  return counted
}

const countOf = ({ groups }: Counted): number => groups.reduce((sum, { whole }) => sum + whole.count, 0)

const slicedOf = ({ slices }: StatsGroup): Sliced[] => slices.map(({ count }, slice) => ({ slice, count, sum: count }))

type Period = Parameters<typeof seriesOf>[2]

function logSeries({ dataset, groups }: Counted, period: Period): Series {
  const byStatus = groups.map((group) => ({
    ...seriesOf({ key: '@status', name: group.values[2] ?? '' }, COUNT, period, slicedOf(group)),
    stat: STAT,
  }))
  const whole = seriesOf({ key: 'log_id', name: dataset.id }, COUNT, period, groups.flatMap(slicedOf))
  return { ...whole, stat: STAT, groups_series: byStatus }
}
