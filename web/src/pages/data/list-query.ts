import { useSettled } from '../../parts/query/settled.ts'
import { recordsOf, searchOf, usePages } from '../../parts/records/pages.tsx'
import { useClient } from '../../parts/shell/client.ts'
import type { DataParams, Sort } from './params.ts'

const REFRESH_MS = 3_000
/** A list of more datasets is refreshed less often. */
const DATASETS_MANY = 1_000
const REFRESH_MANY_MS = 30_000
/** The pause in typing after which the service searches. */
const SETTLE_MS = 200

const sorts = { name: 'name', last: 'last_event', today: 'volume_today', week: 'volume_week' } as const satisfies Record<Sort, string>

/** Loads the datasets that the parameters select, page by page. */
export function useDatasetList({ find = '', flow, sort = 'name', all = false }: DataParams) {
  const client = useClient()
  const search = searchOf(useSettled(find, SETTLE_MS))
  const query = { sort: sorts[sort], ...search, ...(flow ? { flow } : {}), ...(all ? {} : { is_system_generated: false }) }
  const list = usePages({
    queryKey: ['datasets', 'pages', query],
    read: (page, signal) => client.datasets.list({ query: { ...query, ...page, totals: page.cursor === undefined }, signal }),
    refreshMs: (first) => ((first?.totals?.all ?? 0) > DATASETS_MANY ? REFRESH_MANY_MS : REFRESH_MS),
  })
  const pages = list.data?.pages
  return {
    ...list,
    totals: pages?.[0]?.totals,
    datasets: pages && recordsOf(pages.map((page) => page.datasets)),
    /** The ids of each page, for what is loaded about its datasets. */
    idsByPage: (pages ?? []).map((page) => page.datasets.map(({ id }) => id)),
  }
}
