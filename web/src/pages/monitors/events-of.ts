import type { Monitor } from '@dendro/api'
import { bothConditions, groupCondition } from '../../parts/condition.ts'

type Watched = { queries: readonly Pick<Monitor['queries'][number], 'from' | 'from_expr' | 'where' | 'groups'>[] }
type Stretch = { fromMs: number; toMs: number }

/** eventsOf is where Explore shows the events of a stretch of time, grouped as the monitor groups them, or those of one group. */
export function eventsOf({ queries: [query] }: Watched, { fromMs, toMs }: Stretch, groupId = '') {
  const groups = query?.groups ?? []
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

/** groupValues are the values in the id of a group, such as `region:EU,host:100`, by the keys in their order. */
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
