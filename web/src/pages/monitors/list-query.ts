import type { Monitor, MonitorGrouping } from '@dendro/api'
import { useSettled } from '../../parts/query/settled.ts'
import { recordsOf, searchOf, usePages } from '../../parts/records/pages.tsx'
import { statusNames } from '../../parts/records/status.tsx'
import { useClient } from '../../parts/shell/client.ts'
import type { MonitorParams } from './params.ts'

/** The refresh interval of the list; monitors are evaluated every minute. */
const REFRESH_MS = 15_000
/** A list of more monitors is refreshed less often. */
const MONITORS_MANY = 1_000
const REFRESH_MANY_MS = 60_000
/** The pause in typing after which the service searches. */
const SETTLE_MS = 200

export type ShownGroup = { readonly name: string; readonly total: number; readonly monitors: readonly Monitor[] }

/** Loads the monitors that the parameters select, worst first, page by page. */
export function useMonitorList({ find = '', show, group }: MonitorParams) {
  const client = useClient()
  const query = queryOf({ find: useSettled(find, SETTLE_MS), show, group })
  const list = usePages({
    queryKey: ['monitors', 'pages', query],
    read: (page, signal) => client.monitors.list({ query: { ...query, ...page, totals: page.cursor === undefined }, signal }),
    refreshMs: (first) => ((first?.totals?.all ?? 0) > MONITORS_MANY ? REFRESH_MANY_MS : REFRESH_MS),
  })
  const pages = list.data?.pages
  const monitors = pages && recordsOf(pages.map((page) => page.monitors))
  return { ...list, query, totals: pages?.[0]?.totals, monitors, groups: pages && monitors && groupsOf(pages, monitors, group) }
}

function queryOf({ find = '', show, group }: MonitorParams) {
  const filter = show === undefined ? {} : show === 'MUTED' ? { muted: true } : { status: show }
  return { sort: 'severity' as const, ...searchOf(find), ...filter, ...(group ? { group } : {}) }
}

export type MonitorListQuery = ReturnType<typeof queryOf>

type GroupedPage = {
  readonly groups?: readonly { readonly name: string; readonly total: number; readonly monitor_ids: readonly string[] }[] | undefined
}

/** The groups of all pages; one group without a name when the list has none. */
function groupsOf(
  pages: readonly GroupedPage[],
  monitors: readonly Monitor[],
  grouping: MonitorGrouping | undefined,
): readonly ShownGroup[] {
  const found = pages.flatMap(({ groups = [] }) => groups)
  if (grouping === undefined || found.length === 0) return [{ name: '', total: monitors.length, monitors }]
  const groupOf = new Map(found.flatMap(({ name, monitor_ids }) => monitor_ids.map((id) => [id, name] as const)))
  const totals = new Map(found.map(({ name, total }) => [name, total]))
  return [...Map.groupBy(monitors, ({ id }) => groupOf.get(id) ?? '')].map(([name, own]) => ({
    name: shownName(name, grouping),
    total: totals.get(name) ?? own.length,
    monitors: own,
  }))
}

const shownStatuses: ReadonlyMap<string, string> = new Map(Object.entries(statusNames))

function shownName(name: string, grouping: MonitorGrouping): string {
  if (grouping === 'status') return shownStatuses.get(name) ?? 'Not evaluated yet'
  if (name !== '') return name
  return grouping === 'tags' ? 'Without tags' : 'All datasets'
}
