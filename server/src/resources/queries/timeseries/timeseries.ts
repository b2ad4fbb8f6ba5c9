import type { MetricFormula, MetricQuery, MetricTimeseries, TimeseriesAsk } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { boundsOf } from '../../../query/bounds.ts'
import { parseFilter, parseTimeRange } from '../../../query/query.ts'
import type { Bounds, FoundStats, Question, StatsWish } from '../../../reading/question.ts'
import { readStats } from '../../../reading/stats.ts'
import type { World } from '../../../world.ts'
import { sourceDatasets } from '../../data/datasets/datasets.ts'
import {
  ALL,
  and,
  countLeftOut,
  dataWarnings,
  type LeftOut,
  leftOutWarnings,
  noteSearch,
  questionFor,
  readLevels,
} from '../../data/event-queries/event-queries.ts'
import { allowGaps, gapWarnings } from '../search/search.ts'
import { combine, lineOf, type Measure } from './measured.ts'
import { type PlannedMetrics, type PlannedQuery, planMetrics } from './plan-metrics.ts'
import { shownMeasure } from './shown-metrics.ts'

export { fold } from './measured.ts'
export { type PlannedMetrics, type PlannedQuery, planMetrics } from './plan-metrics.ts'

export type Asked = {
  readonly queries: readonly MetricQuery[]
  readonly formulas?: readonly MetricFormula[] | undefined
  readonly bounds: Bounds
  /** earlier is the period to compare with. */
  readonly earlier?: Bounds | undefined
  readonly slices: number
  readonly limit: number
  /** filter is a further condition on the events of every query. */
  readonly filter?: Filter
  /** saying is whether warnings are wanted: they cost a statement more for some filters. */
  readonly saying?: 'warnings' | 'nothing'
}

type Answer = Record<string, MetricTimeseries>

const LIMIT = 100
const SLICES_OF_SEARCH = 100
const SLICES_OF_DEFINITION = 10
const DEFAULT_RANGE = 'last 20 minutes'

/** searchTimeseries measures what a request itself describes. */
export async function searchTimeseries(world: World, actor: Actor, ask: TimeseriesAsk, signal: AbortSignal): Promise<Answer> {
  const nowMs = world.clock.nowMs()
  const { natural, ...absolute } = ask.time_range
  const bounds = boundsOf({ ...absolute, time_range: natural }, nowMs, undefined)
  const { delta } = ask
  const earlier = delta?.enabled
    ? earlierThan(bounds, { range: delta.natural, from_ts: delta.from_ts, to_ts: delta.to_ts }, nowMs, 'delta')
    : undefined
  const { queries, formulas } = ask
  return measureAll(
    world,
    actor,
    { queries, formulas, bounds, earlier, slices: ask.num_of_slices ?? SLICES_OF_SEARCH, limit: ask.limit ?? LIMIT, saying: 'warnings' },
    signal,
  )
}

export type DefinitionAsk = Pick<TimeseriesAsk, 'limit' | 'num_of_slices'> & {
  time_range?: string | undefined
  from_ts?: number | undefined
  to_ts?: number | undefined
  where?: string | undefined
  delta?: boolean | undefined
  delta_time_range?: string | undefined
  delta_from_ts?: number | undefined
  delta_to_ts?: number | undefined
}

/** measureDefinition measures the queries and formulas of a metric definition. */
export async function measureDefinition(
  world: World,
  actor: Actor,
  { queries, formulas }: Pick<Asked, 'queries' | 'formulas'>,
  ask: DefinitionAsk,
  signal: AbortSignal,
): Promise<Answer> {
  const nowMs = world.clock.nowMs()
  const bounds = boundsOf(ask, nowMs, DEFAULT_RANGE)
  const period = { range: ask.delta_time_range, from_ts: ask.delta_from_ts, to_ts: ask.delta_to_ts }
  const earlier = ask.delta ? earlierThan(bounds, period, nowMs, 'delta_time_range') : undefined
  const { filter } = parseFilter(ask.where ?? '')
  const slices = ask.num_of_slices ?? SLICES_OF_DEFINITION
  return measureAll(
    world,
    actor,
    { queries, formulas, bounds, earlier, slices, limit: ask.limit ?? LIMIT, filter, saying: 'warnings' },
    signal,
  )
}

type Period = { range: string | undefined; from_ts: number | undefined; to_ts: number | undefined }

/** earlierThan is the period to compare with: the named one, else the equally long one just before. */
export function earlierThan({ fromMs, toMs }: Bounds, { range, from_ts, to_ts }: Period, nowMs: number, field: string): Bounds {
  if (range?.trim()) return parseTimeRange(range, nowMs, field, 'its end')
  if (from_ts !== undefined || to_ts !== undefined) return boundsOf({ from_ts, to_ts }, nowMs, undefined)
  return { fromMs: Math.max(0, fromMs - (toMs - fromMs)), toMs: fromMs }
}

/** measureAll asks every query, and computes every formula from what they gave. */
export async function measureAll(world: World, actor: Actor, asked: Asked, signal: AbortSignal): Promise<Answer> {
  const planned = planMetrics(asked.queries, asked.formulas)
  const { bounds, slices, earlier } = asked
  const now = await measuresIn(world, actor, planned, asked, bounds, signal)
  const then = earlier && (await measuresIn(world, actor, planned, { ...asked, saying: 'nothing' }, earlier, signal))
  const answer: Answer = Object.create(null)
  const show = (name: string, stat: string, queries: readonly MetricQuery[], formula?: MetricFormula) => {
    const [measure, before] = [now.get(name), then?.get(name)]
    if (!measure) return
    const compared = earlier && before ? { bounds: earlier, measure: before } : undefined
    answer[name] = shownMeasure(measure, { name, stat, queries, ...(formula ? { formula } : {}), bounds, slices, earlier: compared })
  }
  for (const { query, call } of planned.queries) show(query.name, call.name, [query])
  for (const { formula, names } of planned.formulas) {
    const queries = asked.queries.filter(({ name }) => names.includes(name))
    show(formula.name, formula.expression, queries, formula)
  }
  return answer
}

async function measuresIn(
  world: World,
  actor: Actor,
  planned: PlannedMetrics,
  asked: Asked,
  bounds: Bounds,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Measure>> {
  const found = await Promise.all(planned.queries.map((query) => measureOne(world, actor, query, { ...asked, bounds }, signal)))
  const measures = new Map(planned.queries.map(({ query }, index) => [query.name, found[index]] as const).filter(isThere))
  for (const formula of planned.formulas) measures.set(formula.formula.name, combine(formula, measures))
  return measures
}

const isThere = (entry: readonly [string, Measure | undefined]): entry is [string, Measure] => entry[1] !== undefined

async function measureOne(world: World, actor: Actor, planned: PlannedQuery, asked: Asked, signal: AbortSignal): Promise<Measure> {
  const { query, call, groups, reduceTo } = planned
  const startedMs = world.clock.monotonicMs()
  const datasets = await sourceDatasets(world, actor, query)
  const filter = and(planned.filter, asked.filter ?? ALL)
  const question = allowGaps(world, await questionFor(world, actor, { datasets, filter, bounds: asked.bounds, signal }))
  const wish: StatsWish = { calls: [call.call], groups, slices: asked.slices, limit: asked.limit }
  const [found, leftOut] = await Promise.all([
    readStats(world.events, question, wish),
    asked.saying === 'warnings' ? countLeftOut(world.events, question, planned.filter) : [],
  ])
  const { levels, bytes } = groups.length === 0 ? { levels: [], bytes: 0 } : await readLevels(world.events, question, wish, found)
  noteSearch(world, actor, { datasets, bytes: found.cost.bytes + bytes, startedMs })
  const isAdded = call.call.name === 'count' || call.call.name === 'sum'
  return {
    whole: lineOf({ values: [], whole: found.whole, slices: found.slices }, reduceTo, isAdded),
    groups,
    levels: levels.map((level) => level.map((group) => lineOf(group, reduceTo, isAdded))),
    isExact: found.isExact && !question.gaps?.found,
    warnings: warningsOf(planned, question, found, leftOut),
  }
}

function warningsOf(
  { filter, field, warnings }: PlannedQuery,
  { sources, gaps }: Question,
  { whole, cost }: FoundStats,
  leftOut: readonly LeftOut[],
) {
  const ofData = dataWarnings({ filter, sources, count: whole.count, cost }).map((warning) => ({ ...warning, field }))
  return [...warnings, ...gapWarnings({ gaps }, field), ...ofData, ...leftOutWarnings(leftOut, whole.count, field)]
}
