import type { ExploreParams } from '../explore-params.ts'

/** newMonitorParams open the monitor editor with the query of the page. */
export function newMonitorParams({ d, q, r, f, t, by, fn }: ExploreParams) {
  return {
    edit: 'new',
    ...(d ? { d } : {}),
    ...(q ? { q } : {}),
    ...(by ? { groups: by } : {}),
    ...(fn ? { fn } : {}),
    ...(f !== undefined && t !== undefined ? { f, t } : { r: r ?? 'Last 15 minutes' }),
  }
}
