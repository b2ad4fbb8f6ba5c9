import type { contract, ListedMonitorStatus, Monitor, MonitorGroup, MonitorTotals, QueryOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { parseSelector } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { type DatasetRow, isSameIdentity, visibilityFor, visibleDatasets } from '../../data/datasets/datasets.ts'
import { type NextPage, pageOf, searched, searchedText, withIds } from '../../list-pages.ts'
import { metricUsers } from '../../queries/metric-definitions/metric-definitions.ts'
import type { MonitorRow, StateRow } from '../monitor-definitions/monitor-definitions.ts'
import { isMuted, monitorReply } from './monitor-reply.ts'
import { groupedBy, hasTriggered, orderOf, stateOf } from './orders.ts'
import { selectMonitors, selectStates, selectStatesOf, selectStatuses } from './rows.ts'

type MonitorListQuery = QueryOf<typeof contract.monitors.list>
type MonitorPage = NextPage & { monitors: Monitor[]; groups?: MonitorGroup[]; totals?: MonitorTotals }
type Statuses = ReadonlyMap<string, Pick<StateRow, 'status' | 'last_trigger_ts' | 'looked_at'>>

/** All monitors of an organization, newest first, without the state that evaluations change. */
export const allMonitors = (world: MetaWorld, orgId: string): Promise<readonly MonitorRow[]> =>
  world.meta.cachedRows(orgId, 'monitors', {
    read: (changed) => selectMonitors(world.meta, orgId, changed),
    idsIn: { monitors: ({ id }) => id, metric_definitions: ({ metric_id }) => metric_id },
  })

/** The monitors that the caller may see, or only those that read a log. */
export const listMonitors = async (world: Pick<World, 'meta' | 'clock'>, actor: Actor, log?: DatasetRow): Promise<Monitor[]> =>
  (await monitorPage(world, actor, log ? { log_id: log.id } : {})).monitors

/** A page of the monitors. Of the states, only those of the page are read whole, unless others decide what the caller may see. */
export async function monitorPage(world: Pick<World, 'meta' | 'clock'>, actor: Actor, query: MonitorListQuery): Promise<MonitorPage> {
  const { orgId } = actor
  let known: Awaited<ReturnType<typeof selectStates>> | undefined
  const visible = await visibleMonitors(world, actor, async () => {
    known = await selectStates(world.meta, orgId)
    return byMonitor(known)
  })
  const named = metricUsers(withIds(visible, query.monitor_ids), query, ({ metric_id }) => [metric_id])
  const datasets = await visibleDatasets(world, actor)
  const ofLog = query.log_id === undefined ? named : readersOf(named, [query.log_id], datasets)
  const selected = searched(query.log_ids?.length ? readersOf(ofLog, query.log_ids, datasets) : ofLog, query.search, textOf)
  const statuses: Statuses = needsStatuses(query) ? byMonitor(known ?? (await selectStatuses(world.meta, orgId))) : new Map()
  const nowMs = world.clock.nowMs()
  const found = selected.filter((row) => isWanted(row, statuses, query, nowMs))
  const list = query.status === undefined && query.muted === undefined && query.triggered === undefined ? selected : found
  const groups = query.group && groupedBy(query.group, list, { statuses, datasets, nowMs })
  const { rows, ...rest } = pageOf(list, query, orderOf(query.sort, groups, { statuses, nowMs }))
  // What the caller may see was decided with these states, and later ones may be of a dataset that is hidden.
  const states = byMonitor(known ?? (await statesOfPage(world, orgId, query, rows)))
  return {
    monitors: rows.map((row) => monitorReply(row, states.get(row.id), nowMs)),
    ...rest,
    ...(groups ? { groups: groupsOf(rows, groups) } : {}),
    ...(query.totals ? { totals: totalsOf({ visible, selected, found: list, statuses, nowMs }) } : {}),
  }
}

const needsStatuses = ({ sort = 'newest', group, status, triggered, totals }: MonitorListQuery): boolean =>
  (sort !== 'newest' && sort !== 'name') || group !== undefined || status !== undefined || triggered !== undefined || totals === true

const statesOfPage = (world: MetaWorld, orgId: string, { limit }: MonitorListQuery, rows: readonly MonitorRow[]) =>
  limit === undefined
    ? selectStates(world.meta, orgId)
    : selectStatesOf(
        world.meta,
        orgId,
        rows.map(({ id }) => id),
      )

const textOf = ({ name, description, queries, formulas, tags }: MonitorRow): string =>
  searchedText(
    [
      name,
      description,
      ...queries.flatMap(({ select, where, groups = [] }) => [...select, where, ...groups]),
      ...formulas.map(({ expression }) => expression),
    ],
    tags,
  )

const isWanted = (row: MonitorRow, statuses: Statuses, { status, muted, triggered }: MonitorListQuery, nowMs: number): boolean =>
  (status === undefined || stateOf(statuses.get(row.id)) === status) &&
  (muted === undefined || isMuted(row, nowMs) === muted) &&
  (triggered === undefined || hasTriggered(statuses.get(row.id)) === triggered)

type Counted = {
  visible: readonly MonitorRow[]
  selected: readonly MonitorRow[]
  found: readonly MonitorRow[]
  statuses: Statuses
  nowMs: number
}

function totalsOf({ visible, selected, found, statuses, nowMs }: Counted): MonitorTotals {
  const by_status: Record<ListedMonitorStatus, number> = { ALERT: 0, WARN: 0, NO_DATA: 0, OK: 0, WAITING: 0 }
  for (const { id } of selected) by_status[stateOf(statuses.get(id))] += 1
  return { all: visible.length, found: found.length, by_status, muted: selected.filter((row) => isMuted(row, nowMs)).length }
}

/** The groups of a page. */
function groupsOf(rows: readonly MonitorRow[], groups: ReturnType<typeof groupedBy>): MonitorGroup[] {
  const ofPage = Map.groupBy(rows, ({ id }) => groups.nameOf(id))
  return [...ofPage].map(([name, own]) => ({ name, total: groups.totalOf(name), monitor_ids: own.map(({ id }) => id) }))
}

/** The monitors with a query that reads any of these logs, by id or by selector. */
function readersOf(rows: readonly MonitorRow[], ids: readonly string[], datasets: readonly DatasetRow[]): readonly MonitorRow[] {
  const wanted = new Set(ids)
  const logs = datasets.filter(({ id }) => wanted.has(id))
  return rows.filter(({ queries }) =>
    queries.some(({ from = [], from_expr }) =>
      from_expr?.trim() ? matchDatasets(parseSelector(from_expr), logs).length > 0 : from.some((id) => wanted.has(id)),
    ),
  )
}

/**
 * The monitors that the caller may see: they refer to no hidden dataset, and their stored results come from none. Stored results outlive a
 * change of the queries or of a policy.
 */
export async function visibleMonitors(
  world: MetaWorld,
  actor: Actor,
  statesOf: () => Promise<ReadonlyMap<string, Pick<StateRow, 'reads'>>>,
): Promise<readonly MonitorRow[]> {
  const all = await allMonitors(world, actor.orgId)
  const visibility = await visibilityFor(world, actor)
  if (!visibility.limited) return all
  const states = await statesOf()
  const kept: MonitorRow[] = []
  for (const row of all) {
    const reads = states.get(row.id)?.reads ?? []
    const isOwn = isSameIdentity(actor.identity, row.author)
    const foundNothingHidden = isOwn ? !reads.some(visibility.hides) : visibility.seesEach(reads)
    if (foundNothingHidden && (await visibility.sees(row.queries, row.author))) kept.push(row)
  }
  return kept
}

/** The datasets that each monitor has read so far. */
export const monitorReads = async (world: MetaWorld, orgId: string): Promise<ReadonlyMap<string, Pick<StateRow, 'reads'>>> =>
  byMonitor(await selectStates(world.meta, orgId))

const byMonitor = <State extends { monitor_id: string }>(states: readonly State[]): ReadonlyMap<string, State> =>
  new Map(states.map((state) => [state.monitor_id, state]))
