import { type RangeParams, rangeOf, rangeParamsOf, readRangeParams } from '../../parts/range-params.ts'
import { DEFAULT_RANGE, type Range } from '../../parts/time-range.ts'
import { readEventRef } from './events/event-link.ts'
import { type Comparison, comparisons } from './time/compare.ts'

export const tabs = ['events', 'patterns', 'table', 'chart', 'fields', 'difference'] as const
export type Tab = (typeof tabs)[number]

/** Asked is the whole state of the page as it stands in the address: what is not the default. Going back undoes the last change, a copied address shows the same. */
export type ExploreParams = RangeParams & {
  /** d are datasets by id; all when absent. */
  d?: string[]
  q?: string
  /** off are clauses that are kept but not asked. */
  off?: string[]
  tab?: Tab
  cols?: string[]
  live?: boolean
  wrap?: boolean
  /** sf and st bound the bars that were chosen, inside the range. */
  sf?: number
  st?: number
  /** by are the keys that the table and the chart group by, fn what they measure. */
  by?: string[]
  fn?: string
  /** e is one event, shown with what was around it. */
  e?: string
  /** ew is on which side of that event to look; both when absent. */
  ew?: 'before' | 'after'
  /** fold puts neighbours that repeat each other into one row. */
  fold?: boolean
  /** gap shows the time between rows, or from the event m where one was marked. */
  gap?: boolean
  m?: string
  /** asc begins with the oldest. */
  asc?: boolean
  /** cmp is the time that everything is compared with. */
  cmp?: Comparison
}

export type ChangeParams = (by: (now: ExploreParams) => ExploreParams) => void

/** readAsked takes an address as it comes; what makes no sense is left out. */
export function readExploreParams(search: Record<string, unknown>): ExploreParams {
  const { q, tab, sf, st, fn, e, ew, m } = search
  return {
    ...some('d', texts(search.d)),
    ...(typeof q === 'string' && q.trim() !== '' ? { q } : {}),
    ...some('off', texts(search.off)),
    ...readRangeParams(search),
    ...(tabs.some((one) => one === tab) ? { tab: tab as Tab } : {}),
    ...some('cols', texts(search.cols)),
    ...(search.live === true ? { live: true } : {}),
    ...(search.wrap === true ? { wrap: true } : {}),
    ...(typeof sf === 'number' && typeof st === 'number' && st > sf ? { sf, st } : {}),
    ...some('by', texts(search.by)),
    ...(typeof fn === 'string' && fn.trim() !== '' ? { fn } : {}),
    ...(typeof e === 'string' && readEventRef(e) ? { e } : {}),
    ...(ew === 'before' || ew === 'after' ? { ew } : {}),
    ...(search.fold === true ? { fold: true } : {}),
    ...(search.gap === true ? { gap: true } : {}),
    ...(typeof m === 'string' && readEventRef(m) ? { m } : {}),
    ...(search.asc === true ? { asc: true } : {}),
    ...(comparisons.some((one) => one === search.cmp) ? { cmp: search.cmp as Comparison } : {}),
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

/** chosenOf is the range that rows are shown of: the chosen bars, or everything. */
export const selectedRangeOf = (params: ExploreParams): Range =>
  params.sf !== undefined && params.st !== undefined ? { fromMs: params.sf, toMs: params.st } : exploreRangeOf(params)

/** optional leaves out what is undefined or empty, so that an address is as short as can be. */
export const optional = (params: { [N in keyof ExploreParams]: ExploreParams[N] | undefined }): ExploreParams =>
  Object.fromEntries(
    Object.entries(params).filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0)),
  ) as ExploreParams

export const withQuery = (now: ExploreParams, q: string): ExploreParams => optional({ ...now, q: q.trim() === '' ? undefined : q })
