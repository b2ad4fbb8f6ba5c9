import type { PlannedQuery } from '../../queries/timeseries/timeseries.ts'
import { fold } from '../../queries/timeseries/timeseries.ts'
import { asksFor, type Definition } from './definition.ts'
import { anomaliesOf, type Cell, type Cells, changesOf, type Judged, type Part, patternsOf, type Values, valuesOf } from './judge.ts'

/** CELLS_PER_WINDOW is into how many parts a window is cut whose parts are made into one number (`reduce_to`). */
export const CELLS_PER_WINDOW = 10

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
export function sightOf(definition: Definition, now: readonly Reading[], earlier: readonly Reading[]): Sight {
  const { kind, planned } = definition
  if (kind.kind === 'patterns') return patternSight(now[0]?.[0], earlier[0]?.[0], kind.want)
  const windows = (readings: readonly Reading[]) => planned.queries.map((query, index) => windowsOf(query, readings[index] ?? []))
  const before = windows(earlier)
  const count = kind.kind === 'anomaly' ? kind.windows : 1
  return judge(
    definition,
    valuesIn(definition, windows(now), 0),
    Array.from({ length: count }, (_, index) => valuesIn(definition, before, index)),
  )
}

/** judge is what a window means beside the earlier ones, where it is compared with such. */
export function judge({ kind, planned }: Definition, now: Values, earlier: readonly Values[]): Sight {
  const isAdded = planned.formulas.length === 0 && isAddedUp(planned.queries[0])
  switch (kind.kind) {
    case 'change':
      return { judged: changesOf(now, earlier[0] ?? new Map(), { isAdded, isPercentage: kind.isPercentage }) }
    case 'anomaly':
      return { judged: anomaliesOf(now, earlier, { isAdded }) }
    default:
      return { judged: new Map([...now].map(([group, value]) => [group, { value }])) }
  }
}

const NOTHING: Cells = new Map()

export function patternSight(now: Cells | undefined, before: Cells | undefined, want: 'NEW' | 'VANISHED'): Sight {
  const patterns = patternsOf(now ?? NOTHING, before ?? NOTHING, want)
  return patterns ? { judged: new Map([['', { value: patterns.length }]]), patterns } : { judged: new Map() }
}

/** valuesIn is the watched number of each group in one window, of the windows of all queries. */
export function valuesIn({ planned }: Definition, windows: readonly Reading[], at: number): Values {
  const parts = planned.queries.map(
    (query, index): Part => ({
      name: query.query.name,
      isAdded: isAddedUp(query),
      isGrouped: query.groups.length > 0,
      cells: windows[index]?.[at] ?? NOTHING,
    }),
  )
  return valuesOf(parts, planned.formulas[0]?.tree)
}

/** windowsOf makes windows of the parts that were read, `every` parts apart; where windows were read they stay as they are. */
export function windowsOf(query: PlannedQuery, reading: Reading, every = CELLS_PER_WINDOW): Reading {
  if (!query.reduceTo) return reading
  const count = Math.floor((reading.length - CELLS_PER_WINDOW) / every) + 1
  return Array.from({ length: Math.max(0, count) }, (_, index) =>
    reduced(query, reading.slice(index * every, index * every + CELLS_PER_WINDOW)),
  )
}

/** reduced makes one cell of the parts of a window, for each group. */
function reduced(query: PlannedQuery, parts: readonly Cells[]): Cells {
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
export const isAddedUp = (query: PlannedQuery | undefined): boolean => {
  const name = query?.call.call.name
  return name === 'count' || name === 'sum' || name === 'rate' || name === 'unique'
}
