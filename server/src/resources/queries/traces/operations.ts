import type { contract, QueryOf, ReplyOf } from '@dendro/api'
import type { AggregateCall, Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { boundsOf } from '../../../query/bounds.ts'
import type { StatsGroup, StatsResult } from '../../../reading/query.ts'
import { readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { and, buildEventQuery, isSampled, recordSearch } from '../../data/event-queries/event-queries.ts'
import { boundedNanos } from './recorded-span.ts'
import { nameOfGroup, type Unstored, unstoredOf, WEIGHTS, withUnstored } from './sampled-spans.ts'
import { searchedDatasets } from './span-datasets.ts'
import { DURATION_KEY, isFailed, isOneOf, spanFilter } from './span-filter.ts'

type OperationsQuery = QueryOf<typeof contract.traces.operations>
type OperationsReply = ReplyOf<typeof contract.traces.operations>
type Operation = OperationsReply['operations'][number]

const DEFAULT_RANGE = 'last 1 hour'
const LIMIT = 100
const GROUPS = ['$service.name', '$span.name'] as const
const COUNT: AggregateCall = { name: 'count' }
const DURATIONS: AggregateCall = { name: 'percentile', key: DURATION_KEY, percent: 95, isExact: true }

/** Counts spans by service and name, with their failures and durations. */
export async function listOperations(world: World, actor: Actor, query: OperationsQuery, signal: AbortSignal): Promise<OperationsReply> {
  const startedMs = world.clock.monotonicMs()
  const { order = 'busiest', limit = LIMIT } = query
  const { whole: spans } = spanFilter(query)
  const bounds = boundsOf(query, world.clock.nowMs(), DEFAULT_RANGE)
  const datasets = await searchedDatasets(world, actor, query)
  if (datasets.length === 0) return { operations: [], operations_total: 0, is_exact: true }
  let bytes = 0
  const count = async (filter: Filter, calls: readonly AggregateCall[]): Promise<StatsResult> => {
    const eventQuery = await buildEventQuery(world, actor, { datasets, filter, bounds, signal })
    const found = await readStats(world.events, eventQuery, { calls, groups: GROUPS, slices: 1, limit })
    bytes += found.cost.bytes
    return found
  }
  const failed = and(spans, isFailed)
  const chosen = await (order === 'failing' ? count(failed, [COUNT]) : count(spans, order === 'slowest' ? [DURATIONS] : [COUNT, DURATIONS]))
  const among = isOneOf(
    GROUPS,
    chosen.groups.map(({ values }) => values),
  )
  const others =
    chosen.groups.length === 0
      ? chosen
      : await (order === 'failing' ? count(and(spans, among), [COUNT, DURATIONS]) : count(and(failed, among), [COUNT]))
  // Where rules have sampled traces, each stored span stands for several.
  const stoodFor = async (filter: Filter): Promise<Unstored> =>
    chosen.groups.length === 0 ? new Map() : unstoredOf(await count(and(and(filter, among), isSampled), [WEIGHTS]))
  const unstored = await stoodFor(spans)
  const unstoredFailures = unstored.size === 0 ? unstored : await stoodFor(failed)
  recordSearch(world, actor, { datasets, bytes, startedMs })
  const [all, failures] = order === 'failing' ? [others, chosen] : [chosen, others]
  const [allOf, failuresOf] = [byName(all.groups), byName(failures.groups)]
  const seconds = (bounds.toMs - bounds.fromMs) / 1_000
  const operations = chosen.groups.map((group) =>
    shown(group, { seconds, all: allOf.get(nameOf(group)), failures: failuresOf.get(nameOf(group)), unstored, unstoredFailures }),
  )
  if (unstored.size > 0 && order !== 'slowest') {
    const rankOf = ({ spans: number, errors }: Operation): number => (order === 'failing' ? errors : number)
    operations.sort((one, other) => rankOf(other) - rankOf(one))
  }
  return {
    operations,
    operations_total: chosen.groupsTotal,
    is_exact: unstored.size === 0 && chosen.isExact && others.isExact,
  }
}

const nameOf = ({ values }: StatsGroup): string => nameOfGroup(values)
const byName = (groups: readonly StatsGroup[]): ReadonlyMap<string, StatsGroup> => new Map(groups.map((group) => [nameOf(group), group]))

type Counted = {
  readonly seconds: number
  readonly all: StatsGroup | undefined
  readonly failures: StatsGroup | undefined
  readonly unstored: Unstored
  readonly unstoredFailures: Unstored
}

function shown({ values }: StatsGroup, { seconds, all, failures, unstored, unstoredFailures }: Counted): Operation {
  const [service, name] = values
  const spans = withUnstored(all?.whole.count ?? 0, values, unstored)
  const quantiles = all?.whole.stats.find((stat) => stat.quantiles)?.quantiles
  const nanos = (value: number) => boundedNanos(Math.max(0, Math.round(value)))
  return {
    service: service ?? '',
    operation: name ?? '',
    spans,
    per_second: seconds > 0 ? spans / seconds : 0,
    errors: withUnstored(failures?.whole.count ?? 0, values, unstoredFailures),
    ...(quantiles
      ? { p50_nano: nanos(quantiles.p50), p95_nano: nanos(quantiles.p95), p99_nano: nanos(quantiles.p99), max_nano: nanos(quantiles.max) }
      : {}),
  }
}
