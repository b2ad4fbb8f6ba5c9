import type { SearchDetails } from '@dendro/api'
import { printKey } from '@dendro/language/print'
import { type RangeParams, rangeOf } from '../time/range-params.ts'
import { DEFAULT_RANGE } from '../time/time-range.ts'

/** The search parameters of Explore that a stored search has. */
export type SearchParams = RangeParams & { d?: string[]; q?: string; cols?: string[]; by?: string[]; tab?: 'table' | 'chart' }

const displays = new Map([
  ['table', 'table'],
  ['chart', 'timeseries'],
] as const)

/** The search of a view of Explore, with its columns. */
export function searchDetailsOf(
  params: Omit<SearchParams, 'tab'> & { tab?: string | undefined },
  columns: readonly string[],
): SearchDetails {
  const range = rangeOf(params, DEFAULT_RANGE)
  return {
    ...(params.d ? { from: params.d.join(':') } : { from_expr: '*' }),
    ...('words' in range ? { time_range: range.words } : { from_ts: range.fromMs, to_ts: range.toMs }),
    ...(params.q === undefined ? {} : { where: params.q }),
    ...(columns.length > 0 ? { select: columns.map(printKey).join(', ') } : {}),
    ...(params.by ? { groups: params.by.map(printKey).join(', ') } : {}),
    display: displays.get(params.tab as 'table' | 'chart') ?? 'list',
  }
}

/** Ignores options of searches saved elsewhere that Explore cannot show. */
export function paramsOfSearch({
  from,
  from_expr,
  time_range,
  from_ts,
  to_ts,
  where,
  select,
  groups,
  display,
}: SearchDetails): SearchParams {
  const cols = namesOf(select).filter((key) => key !== '*' && key !== '@raw' && !/\(.*\)$/.test(key))
  const by = namesOf(groups)
  return {
    ...(from && !from_expr ? { d: from.split(':') } : {}),
    ...(where ? { q: where } : {}),
    ...(time_range ? { r: time_range } : from_ts !== undefined && to_ts !== undefined ? { f: from_ts, t: to_ts } : {}),
    ...(cols.length > 0 ? { cols } : {}),
    ...(by.length > 0 ? { by } : {}),
    ...(display === 'table' ? { tab: 'table' } : display === 'timeseries' ? { tab: 'chart' } : {}),
  }
}

/** Splits a list of field names at commas outside quotes. */
const namesOf = (text: string | undefined): string[] =>
  [...(text ?? '').matchAll(/"((?:[^"]|"")*)"|([^\s,"][^,"]*)/g)].map(
    ([, inner, bare]) => inner?.replaceAll('""', '"') ?? bare?.trim() ?? '',
  )
