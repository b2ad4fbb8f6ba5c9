import type { MetricQuery } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import { parseFilter, parseSelector } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import type { EventQuery, QueryBudget, TimeBounds } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import { visibleDatasets } from '../../data/datasets/datasets.ts'
import { and, buildEventQuery } from '../../data/event-queries/event-queries.ts'
import { monitorActor } from '../monitor-definitions/monitor-definitions.ts'
import { allMonitors } from '../monitors/monitors.ts'

type Reader = Pick<World, 'meta' | 'deployment' | 'clock' | 'admission'>

/** A small budget, because these reads delay the message. */
const BUDGET = { bytes: 2 ** 34, rows: 200_000_000, seconds: 8 }

/** The budget of reads that a message waits for. */
export const messageBudget = ({ deployment }: Pick<World, 'deployment'>): QueryBudget => ({
  ...BUDGET,
  memoryBytes: deployment.queryLimits.memoryBytes,
  spillBytes: deployment.queryLimits.spillBytes,
})

export type MonitorQuery = {
  readonly orgId: string
  readonly monitorId: string
  readonly query: MetricQuery
  readonly groups: Readonly<Record<string, string>>
}

/**
 * Plans a query of a monitor, restricted to the group if there is one; undefined when it reads no dataset. It runs as the monitor itself,
 * so that a message never shows its author hidden events.
 */
export async function planMonitorQuery(
  world: Reader,
  monitorQuery: MonitorQuery,
  bounds: TimeBounds,
  signal: AbortSignal,
): Promise<EventQuery | undefined> {
  const { orgId, monitorId, query, groups } = monitorQuery
  const monitor = (await allMonitors(world, orgId)).find(({ id }) => id === monitorId)
  if (!monitor) return undefined
  const actor = await monitorActor(world, monitor)
  const visible = await visibleDatasets(world, actor)
  const ids = new Set(query.from)
  const datasets = query.from_expr?.trim()
    ? matchDatasets(parseSelector(query.from_expr), visible)
    : visible.filter(({ id }) => ids.has(id))
  if (datasets.length === 0) return undefined
  const filter = and(parseFilter(query.where, 'where').filter, onlyGroup(groups))
  return buildEventQuery(world, actor, { datasets, filter, bounds, signal, budget: messageBudget(world), reader: 'monitor' })
}

const NOWHERE = { position: 0, length: 0 }

/** Selects the events of a group. `null` stands for events without the key, and may also be their text. */
export function onlyGroup(groups: Readonly<Record<string, string>>): Filter {
  const conditions = Object.entries(groups).map(([key, text]): Filter => {
    const has: Filter = { kind: 'compare', key, operator: '=', value: { kind: 'text', text }, at: NOWHERE }
    return text === 'null' ? { kind: 'or', of: [{ kind: 'exists', key, negated: true, at: NOWHERE }, has] } : has
  })
  return conditions.reduce(and, { kind: 'all' })
}
