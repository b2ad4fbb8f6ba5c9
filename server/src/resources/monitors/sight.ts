import {
  anomaliesOf,
  type Cell,
  type Cells,
  changesOf,
  type Judged,
  type Part,
  patternsOf,
  type Values,
  valuesOf,
} from '../../monitors/judge.ts'
import { fold } from '../timeseries/measured.ts'
import type { PlannedQuery } from '../timeseries/plan-metrics.ts'
import { asksFor, type Definition } from './definition.ts'

/** CELLS_PER_WINDOW is into how many parts a window is cut whose parts are made into one number (`reduce_to`). */
const CELLS_PER_WINDOW = 10

/** A Series is windows of one length of one query, a step apart: the first begins at fromMs. */
export type Series = {
  readonly query: PlannedQuery
  readonly groups: readonly string[]
  readonly isUsage: boolean
  readonly fromMs: number
  readonly toMs: number
  readonly stepMs: number
  readonly windowMs: number
}

/** A Sight is what a monitor saw: the number of each group that had events, and for patterns which. */
export type Sight = { readonly judged: ReadonlyMap<string, Judged>; readonly patterns?: readonly string[] }

/** seriesFor is what a look at the window that ends at toMs needs to know, the window itself first, then what it is compared with. */
export function seriesFor({ planned, windowMs, kind }: Definition, toMs: number): { now: Series[]; earlier: Series[] } {
  const isUsage = kind.kind === 'usage'
  const over = (fromMs: number, endMs: number, lengthMs = windowMs) =>
    planned.queries.map((query) => ({
      query,
      groups: asksFor(kind, query.groups),
      isUsage,
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
    case 'patterns':
      return { now, earlier: over(toMs - windowMs - kind.baselineMs, toMs - windowMs, kind.baselineMs) }
    case 'anomaly': {
      // They lie where they lie for all looks within one window's time, so that they need to be read once in that time only.
      const endMs = Math.floor((toMs - windowMs) / windowMs) * windowMs
      return { now, earlier: over(endMs - kind.windows * windowMs, endMs) }
    }
  }
}

/** A Reading is the cells of each window of a series, the earliest first. */
export type Reading = readonly Cells[]

/** sightOf makes of what the series gave what is compared with the thresholds. */
export function sightOf(definition: Definition, now: readonly Reading[], then: readonly Reading[]): Sight {
  const { kind, planned } = definition
  const whole = (readings: readonly Reading[]) => valuesAt(definition, readings, 0)
  const isAdded = planned.formulas.length === 0 && isAddedUp(planned.queries[0])
  switch (kind.kind) {
    case 'value':
    case 'usage':
      return { judged: new Map([...whole(now)].map(([group, value]) => [group, { value }])) }
    case 'change':
      return { judged: changesOf(whole(now), whole(then), { isAdded, isPercentage: kind.isPercentage }) }
    case 'anomaly': {
      const earlier = Array.from({ length: kind.windows }, (_, index) => valuesAt(definition, then, index))
      return { judged: anomaliesOf(whole(now), earlier, { isAdded }) }
    }
    case 'patterns':
      return patternSight(now[0]?.[0] ?? new Map(), then[0]?.[0] ?? new Map(), kind.want)
  }
}

export function patternSight(now: Cells, before: Cells, want: 'NEW' | 'VANISHED'): Sight {
  const patterns = patternsOf(now, before, want)
  return patterns ? { judged: new Map([['', { value: patterns.length }]]), patterns } : { judged: new Map() }
}

/** valuesAt is the watched number of each group in one window, of the readings of all queries. */
export function valuesAt({ planned }: Definition, readings: readonly Reading[], window: number): Values {
  const parts = planned.queries.map((query, index): Part => {
    const reading = readings[index] ?? []
    const cells = query.reduceTo
      ? reduced(query, reading.slice(window * CELLS_PER_WINDOW, (window + 1) * CELLS_PER_WINDOW))
      : reading[window]
    return { name: query.query.name, isAdded: isAddedUp(query), isGrouped: query.groups.length > 0, cells: cells ?? new Map() }
  })
  return valuesOf(parts, planned.formulas[0]?.tree)
}

/** reduced makes one cell of the parts of a window, for each group. */
export function reduced(query: PlannedQuery, parts: readonly Cells[]): Cells {
  const { reduceTo } = query
  const groups = new Set(parts.flatMap((cells) => [...cells.keys()]))
  const nothing: Cell = { count: 0, value: null }
  return new Map(
    [...groups].map((group) => {
      const cells = parts.map((part) => part.get(group) ?? nothing)
      const count = cells.reduce((sum, cell) => sum + cell.count, 0)
      return [group, { count, value: reduceTo ? fold(cells, reduceTo, isAddedUp(query)) : null }]
    }),
  )
}

/** isAddedUp says that no events make the number 0. */
const isAddedUp = (query: PlannedQuery | undefined): boolean => {
  const name = query?.call.call.name
  return name === 'count' || name === 'sum' || name === 'rate' || name === 'unique'
}
