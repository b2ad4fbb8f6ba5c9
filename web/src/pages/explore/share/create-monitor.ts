import type { ExploreParams } from '../explore-params.ts'
import { quotedField } from '../groups/groups.ts'
import { splitMeasures } from '../groups/measures.ts'

/** newMonitorParams open the monitor editor with the query of the page. */
export function newMonitorParams({ d, q, r, f, t, by, fn }: ExploreParams) {
  return {
    edit: 'new',
    ...(d ? { d } : {}),
    ...(q ? { q } : {}),
    ...(by ? { groups: by.map(quotedField) } : {}),
    ...(fn ? { fn: splitMeasures(fn)[0] ?? fn } : {}),
    ...(f !== undefined && t !== undefined ? { f, t } : { r: r ?? 'Last 15 minutes' }),
  }
}
