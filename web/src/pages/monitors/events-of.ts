import type { Monitor, MonitorEvaluation } from '@dendro/api'

/** eventsOf is where Explore shows the events of a look. */
export function eventsOf({ queries: [query] }: Pick<Monitor, 'queries'>, { from_ts, to_ts }: Pick<MonitorEvaluation, 'from_ts' | 'to_ts'>) {
  return {
    ...(query?.from && query.from.length > 0 && !query.from_expr ? { d: query.from } : {}),
    ...(query && query.where !== '' ? { q: query.where } : {}),
    f: from_ts,
    t: to_ts,
  }
}
