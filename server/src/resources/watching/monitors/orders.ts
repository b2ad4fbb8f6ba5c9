import type { ListedMonitorStatus, MonitorGrouping } from '@dendro/api'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { byName, type ListOrder, newest } from '../../list-pages.ts'
import type { MonitorRow, StateRow } from '../monitor-definitions/monitor-definitions.ts'
import { isMuted } from './monitor-reply.ts'

/** Orders and groups of the list of monitors. Pure. */
type Status = Pick<StateRow, 'status' | 'last_trigger_ts' | 'looked_at'>
type Known = { readonly statuses: ReadonlyMap<string, Status>; readonly nowMs: number }
type Sort = 'newest' | 'name' | 'severity' | 'last_trigger'

/** A monitor that was not evaluated yet has no status. */
export const stateOf = (status: Status | undefined): ListedMonitorStatus =>
  status === undefined || status.looked_at === null ? 'WAITING' : status.status

/** True for a monitor that has ever triggered, or whose status is not OK. */
export const hasTriggered = (status: Status | undefined): boolean =>
  (status?.last_trigger_ts ?? null) !== null || !['OK', 'WAITING'].includes(stateOf(status))

const worstFirst: readonly ListedMonitorStatus[] = ['ALERT', 'WARN', 'NO_DATA', 'OK', 'WAITING']

/** The rank of a monitor by muted and status. */
const severityOf = (row: MonitorRow, { statuses, nowMs }: Known): number =>
  worstFirst.indexOf(stateOf(statuses.get(row.id))) + (isMuted(row, nowMs) ? worstFirst.length : 0)

const title = byName(({ name }: MonitorRow) => [name])

/** The order of a list, within its groups if it has some. */
export function orderOf(sort: Sort = 'newest', groups: MonitorGroups | undefined, known: Known): ListOrder<MonitorRow> {
  const lastOf = ({ id }: MonitorRow): number => -(known.statuses.get(id)?.last_trigger_ts ?? 0)
  const orders: Record<Sort, ListOrder<MonitorRow>> = {
    newest,
    name: title,
    severity: { name: 'severity', keysOf: (row) => [severityOf(row, known), lastOf(row), row.name] },
    last_trigger: { name: 'last_trigger', keysOf: (row) => [lastOf(row), row.name] },
  }
  const { name, keysOf } = orders[sort]
  if (!groups) return { name, keysOf }
  return { name: `${groups.grouping} ${name}`, keysOf: (row) => [...groups.keysOf(row.id), ...keysOf(row)] }
}

export type MonitorGroups = {
  readonly grouping: MonitorGrouping
  nameOf(monitorId: string): string
  totalOf(name: string): number
  /** The group with the worst monitor comes first. */
  keysOf(monitorId: string): readonly [severity: number, name: string]
}

/** The groups of a list. `datasets` are those that the caller may see. */
export function groupedBy(
  grouping: MonitorGrouping,
  list: readonly MonitorRow[],
  { datasets, ...known }: Known & { datasets: readonly DatasetRow[] },
): MonitorGroups {
  const namesOfDatasets = new Map(datasets.map(({ id, dataset }) => [id, dataset]))
  const names = new Map(list.map((row) => [row.id, groupName(row, grouping, known, namesOfDatasets)]))
  const nameOf = (id: string): string => names.get(id) ?? ''
  const groups = new Map<string, { total: number; severity: number }>()
  for (const row of list) {
    const before = groups.get(nameOf(row.id)) ?? { total: 0, severity: Number.MAX_SAFE_INTEGER }
    groups.set(nameOf(row.id), { total: before.total + 1, severity: Math.min(before.severity, severityOf(row, known)) })
  }
  return {
    grouping,
    nameOf,
    totalOf: (name) => groups.get(name)?.total ?? 0,
    keysOf: (id) => [groups.get(nameOf(id))?.severity ?? 0, nameOf(id)],
  }
}

function groupName(
  { id, queries, tags }: MonitorRow,
  grouping: MonitorGrouping,
  { statuses }: Known,
  datasets: ReadonlyMap<string, string>,
): string {
  if (grouping === 'status') return stateOf(statuses.get(id))
  if (grouping === 'tags') return joined(Object.entries(tags).map(([name, value]) => `${name}: ${value}`))
  const selectors = queries.flatMap(({ from_expr = '' }) => (from_expr.trim() === '' ? [] : [from_expr.trim()]))
  const ids = queries.flatMap(({ from = [] }) => from)
  return joined([...ids.map((one) => datasets.get(one) ?? 'a deleted dataset'), ...selectors.filter((selector) => selector !== '*')])
}

/** A cursor contains the name of a group, which is therefore not longer than this. */
const GROUP_CHARS_MAX = 500

function joined(parts: readonly string[]): string {
  const text = [...new Set(parts)].toSorted().join(', ')
  return text.length <= GROUP_CHARS_MAX ? text : `${text.slice(0, GROUP_CHARS_MAX)}…`
}
