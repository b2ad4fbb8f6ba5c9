import type { MetricFormula, MetricQuery, MetricTimeseries, TimeseriesRequest } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { mapInSteps } from '../../../kernel/steps.ts'
import { boundsOf, deltaFields, earlierThan, type RangeFields, rangeFieldsIn } from '../../../query/bounds.ts'
import { parseFilter } from '../../../query/query.ts'
import type { EventQuery, StatsRequest, StatsResult, TimeBounds } from '../../../reading/query.ts'
import { readStats } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import { sourceDatasets } from '../../data/datasets/datasets.ts'
import {
  ALL_EVENTS,
  and,
  buildEventQuery,
  countExcluded,
  dataWarnings,
  type ExcludedEvents,
  exclusionWarnings,
  readLevels,
  recordSearch,
} from '../../data/event-queries/event-queries.ts'
import { allowGaps, gapWarnings } from '../search/search.ts'
import { combine, lineOf, type Measure, withLargest } from './measured.ts'
import { type PlannedMetrics, type PlannedQuery, planMetrics } from './plan-metrics.ts'
import { shownMeasure } from './shown-metrics.ts'

export { fold } from './measured.ts'
export { type PlannedMetrics, type PlannedQuery, planMetrics } from './plan-metrics.ts'

export type MeasureRequest = {
  readonly queries: readonly MetricQuery[]
  readonly formulas?: readonly MetricFormula[] | undefined
  readonly bounds: TimeBounds
  /** The period to compare with. */
  readonly earlier?: TimeBounds | undefined
  readonly slices: number
  readonly limit: number
  /** An additional condition on the events of every query. */
  readonly filter?: Filter
  /** Whether warnings are wanted; for some filters they cost an extra statement. */
  readonly warn?: 'warnings' | 'nothing'
}

type TimeseriesReply = Record<string, MetricTimeseries>

const LIMIT = 100
const SLICES_OF_SEARCH = 100
const SLICES_OF_DEFINITION = 10
const DEFAULT_RANGE = 'last 20 minutes'
/** Bounds the groups of the period to compare with. */
const GROUPS_MAX = 10_000
/** Bounds the groups from which a formula finds its own largest ones. */
const FORMULA_GROUPS_MAX = 1_000
/** Bounds groups times slices. */
const CELLS_MAX = 1_000_000

/** Computes the queries and formulas of a request. */
export async function searchTimeseries(world: World, actor: Actor, ask: TimeseriesRequest, signal: AbortSignal): Promise<TimeseriesReply> {
  const nowMs = world.clock.nowMs()
  const { natural, ...absolute } = ask.time_range
  const bounds = boundsOf({ ...absolute, time_range: natural }, nowMs, undefined, naturalFieldsIn('time_range'))
  const { delta } = ask
  const earlier = delta?.enabled
    ? earlierThan(
        bounds,
        { range: unlessBlank(delta.natural), from_ts: delta.from_ts, to_ts: delta.to_ts },
        nowMs,
        naturalFieldsIn('delta'),
      )
    : undefined
  const { queries, formulas } = ask
  return measureAll(
    world,
    actor,
    { queries, formulas, bounds, earlier, slices: ask.num_of_slices ?? SLICES_OF_SEARCH, limit: ask.limit ?? LIMIT, warn: 'warnings' },
    signal,
  )
}

export type DefinitionRequest = Pick<TimeseriesRequest, 'limit' | 'num_of_slices'> & {
  time_range?: string | undefined
  from_ts?: number | undefined
  to_ts?: number | undefined
  where?: string | undefined
  delta?: boolean | undefined
  delta_time_range?: string | undefined
  delta_from_ts?: number | undefined
  delta_to_ts?: number | undefined
}

/** Computes the queries and formulas of a metric definition. */
export async function measureDefinition(
  world: World,
  actor: Actor,
  { queries, formulas }: Pick<MeasureRequest, 'queries' | 'formulas'>,
  ask: DefinitionRequest,
  signal: AbortSignal,
): Promise<TimeseriesReply> {
  const nowMs = world.clock.nowMs()
  const bounds = boundsOf(ask, nowMs, DEFAULT_RANGE)
  const period = { range: unlessBlank(ask.delta_time_range), from_ts: ask.delta_from_ts, to_ts: ask.delta_to_ts }
  const earlier = ask.delta ? earlierThan(bounds, period, nowMs, deltaFields) : undefined
  const { filter } = parseFilter(ask.where ?? '')
  const slices = ask.num_of_slices ?? SLICES_OF_DEFINITION
  return measureAll(
    world,
    actor,
    { queries, formulas, bounds, earlier, slices, limit: ask.limit ?? LIMIT, filter, warn: 'warnings' },
    signal,
  )
}

const unlessBlank = (text: string | undefined): string | undefined => (text?.trim() ? text : undefined)

/** The fields of a range with a relative phrase of its own name. */
const naturalFieldsIn = (at: string): RangeFields => ({ ...rangeFieldsIn(at), range: `${at}.natural` })

/** Runs every query, then computes every formula from the results. */
export async function measureAll(world: World, actor: Actor, request: MeasureRequest, signal: AbortSignal): Promise<TimeseriesReply> {
  const planned = planMetrics(request.queries, request.formulas)
  const { bounds, slices, earlier } = request
  const now = await measuresIn(world, actor, planned, request, bounds, signal)
  const then = earlier && (await measuresIn(world, actor, planned, { ...request, ...comparisonOf(planned, request) }, earlier, signal))
  const answer: TimeseriesReply = Object.create(null)
  const show = async (name: string, stat: string, queries: readonly MetricQuery[], formula?: MetricFormula) => {
    const [found, before] = [now.get(name), then?.get(name)]
    if (!found) return
    const measure = withLargest(found, request.limit)
    const compared = earlier && before ? { bounds: earlier, measure: before } : undefined
    answer[name] = await shownMeasure(measure, { name, stat, queries, ...(formula ? { formula } : {}), bounds, slices, earlier: compared })
  }
  for (const { query, call } of planned.queries) await show(query.name, call.name, [query])
  for (const { formula, names } of planned.formulas) {
    const queries = request.queries.filter(({ name }) => names.includes(name))
    await show(formula.name, formula.expression, queries, formula)
  }
  return answer
}

/** Reads every group of the earlier period, as far as possible: the largest ones of today may have been small then. Slices only where values come from them. */
function comparisonOf({ queries, formulas }: PlannedMetrics, request: MeasureRequest): Pick<MeasureRequest, 'slices' | 'limit' | 'warn'> {
  const isFolded = queries.some(({ reduceTo }) => reduceTo !== undefined) || formulas.some(({ formula }) => formula.aggregation)
  const slices = isFolded ? request.slices : 1
  return { slices, limit: Math.max(request.limit, Math.min(GROUPS_MAX, Math.floor(CELLS_MAX / slices))), warn: 'nothing' }
}

async function measuresIn(
  world: World,
  actor: Actor,
  planned: PlannedMetrics,
  request: MeasureRequest,
  bounds: TimeBounds,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Measure>> {
  const inFormulas = new Set(planned.formulas.flatMap(({ names }) => names))
  const forFormulas = Math.max(request.limit, Math.min(FORMULA_GROUPS_MAX, Math.floor(CELLS_MAX / request.slices)))
  const limitFor = ({ query }: PlannedQuery): number => (inFormulas.has(query.name) ? forFormulas : request.limit)
  const found = await Promise.all(
    planned.queries.map((query) => measureOne(world, actor, query, { ...request, bounds, limit: limitFor(query) }, signal)),
  )
  const measures = new Map(planned.queries.map(({ query }, index) => [query.name, found[index]] as const).filter(hasEvents))
  for (const formula of planned.formulas) measures.set(formula.formula.name, await combine(formula, measures))
  return measures
}

const hasEvents = (entry: readonly [string, Measure | undefined]): entry is [string, Measure] => entry[1] !== undefined

async function measureOne(
  world: World,
  actor: Actor,
  planned: PlannedQuery,
  request: MeasureRequest,
  signal: AbortSignal,
): Promise<Measure> {
  const { query, call, groups, reduceTo } = planned
  const startedMs = world.clock.monotonicMs()
  const datasets = await sourceDatasets(world, actor, query)
  const filter = and(planned.filter, request.filter ?? ALL_EVENTS)
  const eventQuery = allowGaps(world, await buildEventQuery(world, actor, { datasets, filter, bounds: request.bounds, signal }))
  const stats: StatsRequest = { calls: [call.call], groups, slices: request.slices, limit: request.limit }
  const [found, leftOut] = await Promise.all([
    readStats(world.events, eventQuery, stats),
    request.warn === 'warnings' ? countExcluded(world.events, eventQuery, planned.filter) : [],
  ])
  const { levels, bytes } = groups.length === 0 ? { levels: [], bytes: 0 } : await readLevels(world.events, eventQuery, stats, found)
  recordSearch(world, actor, { datasets, bytes: found.cost.bytes + bytes, startedMs })
  const isAdded = call.call.name === 'count' || call.call.name === 'sum'
  return {
    whole: lineOf({ values: [], whole: found.whole, slices: found.slices }, reduceTo, isAdded),
    groups,
    levels: await Promise.all(levels.map((level) => mapInSteps(level, (group) => lineOf(group, reduceTo, isAdded)))),
    isExact: found.isExact && !eventQuery.gaps?.found,
    absent: isAdded ? 0 : null,
    isWhole: found.groups.length >= found.groupsTotal,
    warnings: warningsOf(planned, eventQuery, found, leftOut),
  }
}

function warningsOf(
  { filter, field, warnings }: PlannedQuery,
  { sources, gaps }: EventQuery,
  { whole, cost }: StatsResult,
  leftOut: readonly ExcludedEvents[],
) {
  const ofData = dataWarnings({ filter, sources, count: whole.count, cost }).map((warning) => ({ ...warning, field }))
  return [...warnings, ...gapWarnings({ gaps }, field), ...ofData, ...exclusionWarnings(leftOut, whole.count, field)]
}
