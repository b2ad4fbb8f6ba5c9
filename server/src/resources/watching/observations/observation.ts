import type { TimeBounds } from '../../../reading/query.ts'
import type { SpendMeasure } from '../../data/spend/spend.ts'
import type { PlannedQuery } from '../../queries/timeseries/timeseries.ts'
import { fold } from '../../queries/timeseries/timeseries.ts'
import { type MonitorDefinition, storeGroupKeys } from '../monitor-definitions/monitor-definitions.ts'
import {
  anomaliesOf,
  type ComparedValue,
  changesOf,
  type GroupMeasure,
  type GroupMeasures,
  type GroupNumbers,
  patternsOf,
  type QueryMeasures,
  valuesOf,
} from './compare.ts'

/** The number of parts of a window that `reduce_to` reduces to one value. */
export const CELLS_PER_WINDOW = 10

/** The windows of one query, all of one length and one step apart; the first begins at fromMs. */
export type WindowSeries = {
  readonly query: PlannedQuery
  readonly groups: readonly string[]
  readonly isUsage: boolean
  /** Set where spend is watched instead of the bytes of a window. */
  readonly spend?: SpendMeasure
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
  readonly windowMs: number
  /** The range of the patterns that are put into families first. Series that are compared need the same, or a family of one is a pattern of the other. */
  readonly patternBounds?: TimeBounds
}

/** The values of the groups that had events, and for pattern monitors the patterns. */
export type MonitorObservation = { readonly compared: ReadonlyMap<string, ComparedValue>; readonly patterns?: readonly string[] }

/** Lists the series to read for the window that ends at toMs: the window itself, and the earlier windows it is compared with. */
export function seriesFor({ planned, windowMs, kind }: MonitorDefinition, toMs: number): { now: WindowSeries[]; earlier: WindowSeries[] } {
  const isUsage = kind.kind === 'usage'
  const over = (fromMs: number, endMs: number, lengthMs = windowMs) =>
    planned.queries.map((query) => ({
      query,
      groups: storeGroupKeys(kind, query.groups),
      isUsage,
      ...spendOf(kind),
      fromMs,
      toMs: endMs,
      stepMs: query.reduceTo ? lengthMs / CELLS_PER_WINDOW : lengthMs,
      windowMs: query.reduceTo ? lengthMs / CELLS_PER_WINDOW : lengthMs,
    }))
  const now = over(toMs - windowMs, toMs)
  switch (kind.kind) {
    case 'value':
    case 'usage':
      return { now, earlier: [] }
    case 'change':
      return { now, earlier: over(toMs - windowMs - kind.backMs, toMs - kind.backMs) }
    case 'patterns': {
      const patternBounds = { fromMs: toMs - windowMs - kind.baselineMs, toMs }
      const within = (series: WindowSeries[]) => series.map((one) => ({ ...one, patternBounds }))
      return { now: within(now), earlier: within(over(patternBounds.fromMs, toMs - windowMs, kind.baselineMs)) }
    }
    case 'anomaly': {
      // Aligned to multiples of the window, so that all evaluations within one window share one read of the baseline.
      const endMs = Math.floor((toMs - windowMs) / windowMs) * windowMs
      return { now, earlier: over(endMs - kind.windows * windowMs, endMs) }
    }
  }
}

export const spendOf = (kind: MonitorDefinition['kind']): Pick<WindowSeries, 'spend'> =>
  kind.kind === 'usage' && kind.spend ? { spend: kind.spend } : {}

/** The results of each window of a series, oldest first. */
export type SeriesMeasures = readonly GroupMeasures[]

/** Computes from the query results the values that are compared with the thresholds. */
export function observe(
  definition: MonitorDefinition,
  now: readonly SeriesMeasures[],
  earlier: readonly SeriesMeasures[],
): MonitorObservation {
  const { kind, planned } = definition
  if (kind.kind === 'patterns') return observePatterns(now[0]?.[0], earlier[0]?.[0], kind.want)
  const windows = (readings: readonly SeriesMeasures[]) => planned.queries.map((query, index) => windowsOf(query, readings[index] ?? []))
  const before = windows(earlier)
  const count = kind.kind === 'anomaly' ? kind.windows : 1
  return judge(
    definition,
    valuesIn(definition, windows(now), 0),
    Array.from({ length: count }, (_, index) => valuesIn(definition, before, index)),
    now[0]?.[0],
  )
}

function evidenceOf(measures: GroupMeasures | undefined, group: string): Pick<ComparedValue, 'evidence'> {
  const evidence = measures?.get(group)?.evidence
  return evidence === undefined ? {} : { evidence }
}

/** Compares a window with earlier windows, if the kind of monitor needs them. */
export function judge(
  { kind, planned }: MonitorDefinition,
  now: GroupNumbers,
  earlier: readonly GroupNumbers[],
  evidence?: GroupMeasures,
): MonitorObservation {
  const zeroWithoutEvents = planned.formulas.length === 0 && isZeroWithoutEvents(planned.queries[0])
  switch (kind.kind) {
    case 'change':
      return { compared: changesOf(now, earlier[0] ?? new Map(), { zeroWithoutEvents, isPercentage: kind.isPercentage }) }
    case 'anomaly':
      return { compared: anomaliesOf(now, earlier, { zeroWithoutEvents }) }
    default:
      return { compared: new Map([...now].map(([group, value]) => [group, { value, ...evidenceOf(evidence, group) }])) }
  }
}

const NOTHING: GroupMeasures = new Map()

export function observePatterns(
  now: GroupMeasures | undefined,
  before: GroupMeasures | undefined,
  want: 'NEW' | 'VANISHED',
): MonitorObservation {
  const patterns = patternsOf(now ?? NOTHING, before ?? NOTHING, want)
  return patterns ? { compared: new Map([['', { value: patterns.length }]]), patterns } : { compared: new Map() }
}

/** Computes the value of each group in one window from the windows of all queries. */
export function valuesIn({ planned }: MonitorDefinition, windows: readonly SeriesMeasures[], at: number): GroupNumbers {
  const parts = planned.queries.map(
    (query, index): QueryMeasures => ({
      name: query.query.name,
      zeroWithoutEvents: isZeroWithoutEvents(query),
      isGrouped: query.groups.length > 0,
      cells: windows[index]?.[at] ?? NOTHING,
    }),
  )
  return valuesOf(parts, planned.formulas[0]?.tree)
}

/** Reduces the parts that were read to windows, `every` parts apart. Without `reduce_to` the windows are returned as read. */
export function windowsOf(query: PlannedQuery, reading: SeriesMeasures, every = CELLS_PER_WINDOW): SeriesMeasures {
  if (!query.reduceTo) return reading
  const count = Math.floor((reading.length - CELLS_PER_WINDOW) / every) + 1
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    reduced(query, reading.slice(index * every, index * every + CELLS_PER_WINDOW)),
  )
}

/** Reduces the parts of a window to one result for each group. */
function reduced(query: PlannedQuery, parts: readonly GroupMeasures[]): GroupMeasures {
  const { reduceTo } = query
  const groups = new Set(parts.flatMap((cells) => [...cells.keys()]))
  const nothing: GroupMeasure = { count: 0, value: null }
  return new Map(
    [...groups].map((group) => {
      const cells = parts.map((part) => part.get(group) ?? nothing)
      const count = cells.reduce((sum, cell) => sum + cell.count, 0)
      return [group, { count, value: reduceTo ? fold(cells, reduceTo, isZeroWithoutEvents(query)) : null }]
    }),
  )
}

/** True for functions that yield 0 without events. */
export const isZeroWithoutEvents = (query: PlannedQuery | undefined): boolean => {
  const name = query?.call.call.name
  return name === 'count' || name === 'sum' || name === 'rate' || name === 'unique'
}
