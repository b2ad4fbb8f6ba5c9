import type { Actor } from '../../../http/actor.ts'
import type { QueryBudget } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import type { PlannedQuery } from '../../queries/timeseries/timeseries.ts'
import { type MonitorDefinition, storeGroupKeys } from '../monitor-definitions/monitor-definitions.ts'
import type { GroupMeasure, GroupMeasures } from './compare.ts'
import {
  CELLS_PER_WINDOW,
  judge,
  type MonitorObservation,
  observePatterns,
  type SeriesMeasures,
  spendOf,
  valuesIn,
  windowsOf,
} from './observation.ts'
import { readSeries, sourcesOf } from './series-reader.ts'

export type { ComparedValue } from './compare.ts'
export { isZeroWithoutEvents, type MonitorObservation, observe, type SeriesMeasures, seriesFor, type WindowSeries } from './observation.ts'
export { readScanParts, readSeries } from './series-reader.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The maximum number of steps in a window; it bounds the work of summing up long windows. */
const FOLD_MAX = 300
const HEAVY_FOLD_MAX = 12
/** Functions whose parts are cheap to merge. */
const cheapFunctions: ReadonlySet<string> = new Set(['count', 'sum', 'avg', 'min', 'max', 'rate'])

/** The time between evaluations: one minute, or more when the window or the queries make that too expensive. */
export function stepOf({ planned, windowMs, kind, groups }: MonitorDefinition): number {
  if (spendOf(kind).spend) return HOUR_MS
  if (kind.kind === 'anomaly' || kind.kind === 'patterns') return windowMs
  if (planned.queries.some(({ reduceTo }) => reduceTo)) return windowMs / CELLS_PER_WINDOW
  const foldMax = groups.length === 0 && planned.queries.every(({ call }) => cheapFunctions.has(call.call.name)) ? FOLD_MAX : HEAVY_FOLD_MAX
  const backMs = kind.kind === 'change' ? kind.backMs : 0
  for (let stepMs = MINUTE_MS; stepMs < windowMs; stepMs += MINUTE_MS) {
    if (windowMs % stepMs === 0 && backMs % stepMs === 0 && windowMs / stepMs <= foldMax) return stepMs
  }
  return backMs % windowMs === 0 ? windowMs : MINUTE_MS
}

/** Evaluations one step apart; the last one ends at toMs. */
export type EvaluationRange = { toMs: number; count: number; stepMs: number }

/** Reads each query once over the whole range and returns the observation of each evaluation. */
export async function observePast(
  world: World,
  actor: Actor,
  definition: MonitorDefinition,
  { toMs, count, stepMs }: EvaluationRange,
  signal: AbortSignal,
  budget?: QueryBudget,
) {
  const { kind, planned, windowMs } = definition
  // The number of steps from an evaluation back to the first window it is compared with.
  const back = kind.kind === 'change' ? kind.backMs / stepMs : kind.kind === 'anomaly' ? kind.windows : 0
  const before = kind.kind === 'patterns' ? Math.ceil(kind.baselineMs / stepMs) : back
  const fromMs = toMs - windowMs - (count - 1 + before) * stepMs
  const windows = await Promise.all(
    planned.queries.map((query) => windowsOver(world, actor, { definition, query, fromMs, toMs, stepMs, budget }, signal)),
  )
  if (kind.kind === 'patterns') {
    const trail = new SlidingSum()
    return (at: number): MonitorObservation => {
      const now = windows[0]?.[at + before]
      return observePatterns(now, trail.upTo(windows[0] ?? [], at, at + before), kind.want)
    }
  }
  const valuesAt = memoize((at: number) => valuesIn(definition, windows, at))
  return (at: number): MonitorObservation => {
    const count = kind.kind === 'anomaly' ? kind.windows : kind.kind === 'change' ? 1 : 0
    const earlier = Array.from({ length: count }, (_, index) => valuesAt(at + index))
    return judge(definition, valuesAt(at + back), earlier)
  }
}

type SeriesWindows = {
  definition: MonitorDefinition
  query: PlannedQuery
  fromMs: number
  toMs: number
  stepMs: number
  budget: QueryBudget | undefined
}

async function windowsOver(
  world: World,
  actor: Actor,
  { definition, query, fromMs, toMs, stepMs, budget }: SeriesWindows,
  signal: AbortSignal,
): Promise<SeriesMeasures> {
  const { kind, windowMs } = definition
  const isUsage = kind.kind === 'usage'
  const cellMs = query.reduceTo ? windowMs / CELLS_PER_WINDOW : stepMs
  // Usage is read in steps that do not overlap, and summed up here.
  const isWhole = !query.reduceTo && !isUsage
  const { spend } = spendOf(kind)
  const series = {
    query,
    groups: storeGroupKeys(kind, query.groups),
    isUsage,
    ...(spend ? { spend } : {}),
    // Spend is that of the month at the end of each step, and the first evaluation is at the end of its window.
    fromMs: spend ? fromMs + windowMs - stepMs : fromMs,
    toMs,
    stepMs: cellMs,
    windowMs: isWhole ? windowMs : cellMs,
  }
  const datasets = await sourcesOf(world, actor, series)
  const [reading = []] = await readSeries(world, actor, [series], datasets, signal, budget)
  if (query.reduceTo) return windowsOf(query, reading, Math.round(stepMs / cellMs))
  return isUsage && !spend ? sumSteps(reading, Math.round(windowMs / stepMs)) : reading
}

/** Sums `fold` steps for each window. */
function sumSteps(steps: SeriesMeasures, fold: number): SeriesMeasures {
  return Array.from({ length: Math.max(0, steps.length - fold + 1) }, (_, index) => {
    const cells = new Map<string, GroupMeasure>()
    for (const step of steps.slice(index, index + fold)) {
      for (const [group, { count, value }] of step) {
        const known = cells.get(group)
        cells.set(group, { count: (known?.count ?? 0) + count, value: (known?.value ?? 0) + (value ?? 0) })
      }
    }
    return cells
  })
}

/** The patterns of a sliding range of windows, updated incrementally. */
class SlidingSum {
  readonly #cells = new Map<string, GroupMeasure>()
  #from = 0
  #to = 0

  upTo(windows: SeriesMeasures, from: number, to: number): GroupMeasures {
    for (; this.#to < to; this.#to += 1) this.#add(windows[this.#to], 1)
    for (; this.#from < from; this.#from += 1) this.#add(windows[this.#from], -1)
    return this.#cells
  }

  #add(window: GroupMeasures | undefined, sign: 1 | -1): void {
    for (const [pattern, { count }] of window ?? []) {
      const left = (this.#cells.get(pattern)?.count ?? 0) + sign * count
      if (left === 0) this.#cells.delete(pattern)
      else this.#cells.set(pattern, { count: left, value: null })
    }
  }
}

function memoize<T>(make: (at: number) => T): (at: number) => T {
  const known = new Map<number, T>()
  return (at) => {
    const value = known.get(at) ?? make(at)
    known.set(at, value)
    return value
  }
}
