import { useSettled } from '../../parts/query/settled.ts'
import { recordsOf, searchOf, usePages } from '../../parts/records/pages.tsx'
import { useClient } from '../../parts/shell/client.ts'

/** The key of everything about retention. */
export const RETENTION = ['retention'] as const
const REFRESH_MS = 10_000
/** The retention of more datasets is read again less often. */
const DATASETS_MANY = 1_000
const REFRESH_MANY_MS = 60_000
/** The pause in typing after which the service searches. */
const SETTLE_MS = 200

/** Loads the rules that contain the typed words, the most general first, page by page. */
export function useRetentionRules(find: string) {
  const client = useClient()
  const search = searchOf(useSettled(find, SETTLE_MS))
  const list = usePages({
    queryKey: [...RETENTION, 'rules', search],
    read: (page, signal) => client.retentionRules.list({ query: { sort: 'name', ...search, ...page }, signal }),
  })
  return { ...list, data: list.data && recordsOf(list.data.pages.map(({ retention_rules }) => retention_rules)) }
}

/** Loads the retention of the datasets that contain the typed words, page by page. */
export function useRetentionOverview(find: string) {
  const client = useClient()
  const search = searchOf(useSettled(find, SETTLE_MS))
  const list = usePages({
    queryKey: [...RETENTION, 'pages', search],
    read: (page, signal) =>
      client.retention.overview({ query: { sort: 'name', ...search, ...page, totals: page.cursor === undefined }, signal }),
    refreshMs: (first) => ((first?.totals?.all ?? 0) > DATASETS_MANY ? REFRESH_MANY_MS : REFRESH_MS),
  })
  const [first] = list.data?.pages ?? []
  const datasets = recordsOf((list.data?.pages ?? []).map((page) => page.datasets.map((one) => ({ ...one, id: one.log_id }))))
  return { ...list, data: first && { ...first, datasets } }
}
