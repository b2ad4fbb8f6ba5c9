import type { Monitor } from '@dendro/api'
import { groupName, valueName } from '../../parts/chart/group-name.ts'
import { bothConditions, groupCondition, groupKeys } from '../../parts/query/condition.ts'

type Watched = { queries: readonly Pick<Monitor['queries'][number], 'from' | 'from_expr' | 'where' | 'groups'>[] }
type TimeSpan = { fromMs: number; toMs: number }

/** The Explore parameters for the events of a time span, grouped as in the monitor or for one group. */
export function eventsOf({ queries: [query] }: Watched, { fromMs, toMs }: TimeSpan, groupId = '') {
  const groups = [...groupKeys(query?.groups)]
  const values = groupId === '' ? undefined : groupValues(groupId, groups)
  const q = bothConditions(query?.where ?? '', values ? groupCondition(groups, values) : '')
  return {
    ...(query?.from && query.from.length > 0 && !query.from_expr ? { d: query.from } : {}),
    ...(q === '' ? {} : { q }),
    ...(groups.length > 0 && !values ? { by: groups } : {}),
    f: fromMs,
    t: toMs,
  }
}

/** A group id as the pages write it: a missing value is `(none)`. */
export function groupText({ queries: [query] }: Watched, id: string): string {
  const keys = groupKeys(query?.groups)
  const values = groupValues(id, keys)
  return values ? keys.map((key, at) => `${key}:${valueName(values[at] ?? '')}`).join(',') : id
}

/** Names the series of a group as the charts of dashboards do. */
export const seriesName = ({ queries: [query] }: Watched, id: string): string =>
  groupName(groupValues(id, groupKeys(query?.groups)) ?? [id])

/** Parses a group id such as `region:EU,host:100` into the values of its keys. */
export function groupValues(id: string, keys: readonly string[]): string[] | undefined {
  const starts: number[] = []
  let at = 0
  for (const [index, key] of keys.entries()) {
    const mark = `${index === 0 ? '' : ','}${key}:`
    const found = id.indexOf(mark, at)
    if (found < 0 || (index === 0 && found > 0)) return undefined
    starts.push(found)
    at = found + mark.length
  }
  return keys.map((key, index) => id.slice((starts[index] ?? 0) + (index === 0 ? 0 : 1) + key.length + 1, starts[index + 1]))
}
