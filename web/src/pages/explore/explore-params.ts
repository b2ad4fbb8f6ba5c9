import { type ChartShape, chartShapes } from '../../parts/chart/data.ts'
import { type RangeParams, rangeOf, rangeParamsOf, readRangeParams } from '../../parts/time/range-params.ts'
import { DEFAULT_RANGE, type Range } from '../../parts/time/time-range.ts'
import { type Baseline, baselines } from './changes/baseline.ts'
import { readEventRef } from './events/detail/event-link.ts'
import { type Comparison, comparisons } from './time/compare.ts'

export const tabs = ['events', 'patterns', 'table', 'chart', 'fields', 'changes', 'sides'] as const
export type Tab = (typeof tabs)[number]
/** Older links to the tab of changes have this name. */
const OLD_TAB = 'difference'

/** The search parameters of the page, without defaults. The URL holds the whole state: Back undoes the last change, and a copied URL shows the same. */
export type ExploreParams = RangeParams & {
  /** d are dataset ids; absent means all datasets. */
  d?: string[]
  q?: string
  /** off are disabled clauses. */
  off?: string[]
  tab?: Tab
  cols?: string[]
  live?: boolean
  wrap?: boolean
  /** sf and st are the start and end of the bars selected in the histogram. */
  sf?: number
  st?: number
  /** The fields that the table and the chart group by, fn are their measures, as is the shape of the chart. */
  by?: string[]
  fn?: string
  as?: ChartShape
  /** The event that was opened last. */
  o?: string
  /** The event whose context is shown. */
  e?: string
  /** The direction of the context; absent means both. */
  ew?: 'before' | 'after'
  /** A condition for the context: only events of this service, host, pod or trace. */
  eo?: string
  /** Collapses repeated rows. */
  fold?: boolean
  /** Shows the time between rows, or the time since event m. */
  gap?: boolean
  m?: string
  /** Sorts oldest first. */
  asc?: boolean
  /** The period that results are compared with. */
  cmp?: Comparison
  /** bq is the query of side B, br, bf and bt its range: without them it is the same query in the time before. */
  bq?: string
  br?: string
  bf?: number
  bt?: number
  /** base is what the tab of changes compares with; absent means the time before. */
  base?: Baseline
}

/** Changes the address. Back undoes it, unless `replaces` is set. */
export type ChangeParams = (by: (now: ExploreParams) => ExploreParams, how?: { readonly replaces?: boolean }) => void

const DATASET_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Drops invalid values. */
export function readExploreParams(search: Record<string, unknown>): ExploreParams {
  const { q, tab, sf, st, fn, as, o, e, ew, eo, m, bq } = search
  const other = readRangeParams({ r: search.br, f: search.bf, t: search.bt })
  return {
    ...some(
      'd',
      texts(search.d).filter((id) => DATASET_ID.test(id)),
    ),
    ...(typeof q === 'string' && q.trim() !== '' ? { q } : {}),
    ...some('off', texts(search.off)),
    ...readRangeParams(search),
    ...(tabs.some((one) => one === tab) ? { tab: tab as Tab } : tab === OLD_TAB ? { tab: 'changes' as const } : {}),
    ...some('cols', texts(search.cols)),
    ...(search.live === true ? { live: true } : {}),
    ...(search.wrap === true ? { wrap: true } : {}),
    ...(typeof sf === 'number' && typeof st === 'number' && st > sf ? { sf, st } : {}),
    ...some('by', texts(search.by)),
    ...(typeof fn === 'string' && fn.trim() !== '' ? { fn } : {}),
    ...(chartShapes.some((one) => one === as) ? { as: as as ChartShape } : {}),
    ...(typeof o === 'string' && readEventRef(o) ? { o } : {}),
    ...(typeof e === 'string' && readEventRef(e) ? { e } : {}),
    ...(ew === 'before' || ew === 'after' ? { ew } : {}),
    ...(typeof eo === 'string' && eo.trim() !== '' ? { eo } : {}),
    ...(search.fold === true ? { fold: true } : {}),
    ...(search.gap === true ? { gap: true } : {}),
    ...(typeof m === 'string' && readEventRef(m) ? { m } : {}),
    ...(search.asc === true ? { asc: true } : {}),
    ...(comparisons.some((one) => one === search.cmp) ? { cmp: search.cmp as Comparison } : {}),
    ...(typeof bq === 'string' ? { bq } : {}),
    ...(other.r === undefined ? {} : { br: other.r }),
    ...(other.f === undefined || other.t === undefined ? {} : { bf: other.f, bt: other.t }),
    ...(baselines.some((one) => one === search.base) ? { base: search.base as Baseline } : {}),
  }
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [])
const some = <N extends 'd' | 'off' | 'cols' | 'by'>(name: N, list: string[]) =>
  list.length > 0 ? ({ [name]: list } as { [K in N]: string[] }) : {}

export const exploreRangeOf = (params: RangeParams): Range => rangeOf(params, DEFAULT_RANGE)

export const withRange = (params: ExploreParams, range: Range): ExploreParams => {
  const { r: _r, f: _f, t: _t, sf: _sf, st: _st, ...rest } = params
  return { ...rest, ...rangeParamsOf(range) }
}

/** Replaces the range by its bounds; the selected bars stay. */
export const withFixedTimes = (params: ExploreParams, bounds: { fromMs: number; toMs: number }): ExploreParams => {
  const { sf, st } = params
  return optional({ ...withRange(params, bounds), sf, st })
}

/** The range of the rows: the selected bars, or the whole range. */
export const selectedRangeOf = (params: ExploreParams): Range =>
  params.sf !== undefined && params.st !== undefined ? { fromMs: params.sf, toMs: params.st } : exploreRangeOf(params)

/** Drops undefined and empty values, to keep the URL short. */
export const optional = (params: { [N in keyof ExploreParams]: ExploreParams[N] | undefined }): ExploreParams =>
  Object.fromEntries(
    Object.entries(params).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  ) as ExploreParams

export const withQuery = (now: ExploreParams, q: string): ExploreParams => optional({ ...now, q: q.trim() === '' ? undefined : q })
