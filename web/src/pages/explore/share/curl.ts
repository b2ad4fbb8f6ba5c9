import { boundsOf, gridOf } from '../../../parts/time-range.ts'
import type { Tab } from '../explore-params.ts'
import { groupsBody } from '../groups/groups.ts'
import { patternsBody } from '../patterns/patterns.ts'
import { type ExploreQuery, filterOf, sourceOf } from '../query/explore-query.ts'

/** A Shown is what of a question is on the screen. */
export type ViewRequest = { tab: Tab; query: ExploreQuery; by: readonly string[]; measure: string }

const SLICES = 120

/** requestOf is the request that shows the same: for a page of events, for patterns, or for groups. */
function requestOf({ tab, query, by, measure }: ViewRequest): { path: string; body: object } {
  const { range } = query
  const when = 'words' in range ? { time_range: range.words } : { from_ts: range.fromMs, to_ts: range.toMs }
  if (tab === 'patterns') return { path: '/patterns', body: patternsBody(query) }
  if (tab === 'table' || tab === 'chart') {
    const { from_ts: _from, to_ts: _to, ...body } = groupsBody(query, by, measure, gridOf(boundsOf(range, Date.now()), SLICES))
    return { path: '/search', body: { ...body, ...when } }
  }
  return { path: '/search', body: { ...sourceOf(query), ...filterOf(query), ...when, select: ['*', '@raw'], limit: 200 } }
}

/** curlOf is that request for a terminal; the key is the variable of the shell. */
export function curlOf(view: ViewRequest): string {
  const { path, body } = requestOf(view)
  const text = JSON.stringify(body).replaceAll("'", "'\\''")
  return `curl -H "X-SERVICE-API-KEY: $DENDRO_API_KEY" -H 'content-type: application/json' ${location.origin}${path} -d '${text}'`
}
