import { fieldsBody } from '../../../parts/query/fields.ts'
import { boundsOf, gridOf, timeRangeOf } from '../../../parts/time/time-range.ts'
import type { Baseline } from '../changes/baseline.ts'
import { changesBody } from '../changes/use-changes.ts'
import type { Tab } from '../explore-params.ts'
import { groupsBody } from '../groups/groups.ts'
import { patternsBody } from '../patterns/patterns.ts'
import { type ExploreQuery, filterOf, sourceOf } from '../query/explore-query.ts'
import type { TimeSpan } from '../time/time-span.ts'

/** The query of the open tab. */
export type ViewRequest = { tab: Tab; query: ExploreQuery; by: readonly string[]; measure: string; compared: ComparedView }
/** The query, the selection and the baseline of the tab of changes. */
type ComparedView = { query: ExploreQuery; selection: TimeSpan | undefined; baseline: Baseline }

const SLICES = 120

/** The API request of a view: a page of events, patterns, groups or fields. */
function requestOf({ tab, query, by, measure, compared }: ViewRequest): { path: string; body: object } {
  const { range } = query
  const when = timeRangeOf(range)
  if (tab === 'fields') return { path: '/top-keys', body: fieldsBody({ ...query, counting: 'bounded' }) }
  // Side B is the same request with its own query and range.
  if (tab === 'patterns' || tab === 'sides') return { path: '/patterns', body: patternsBody(query) }
  if (tab === 'changes') {
    const { selection, baseline } = compared
    return { path: '/changes', body: changesBody(compared.query, selection, baseline, boundsOf(compared.query.range, Date.now())) }
  }
  if (tab === 'table' || tab === 'chart') {
    const { from_ts: _from, to_ts: _to, ...body } = groupsBody(query, by, measure, gridOf(boundsOf(range, Date.now()), SLICES))
    return { path: '/search', body: { ...body, ...when } }
  }
  return { path: '/search', body: { ...sourceOf(query), ...filterOf(query), ...when, select: ['*', '@raw'], limit: 200 } }
}

/** The curl command of a view; a shell variable holds the API key. */
export function curlOf(view: ViewRequest): string {
  const { path, body } = requestOf(view)
  const text = JSON.stringify(body).replaceAll("'", "'\\''")
  return `curl -H "X-SERVICE-API-KEY: $DENDRO_API_KEY" -H 'content-type: application/json' ${location.origin}${path} -d '${text}'`
}
