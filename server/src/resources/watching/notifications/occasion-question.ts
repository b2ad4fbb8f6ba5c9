import type { MetricQuery } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import { parseFilter, parseSelector } from '../../../query/query.ts'
import { matchDatasets } from '../../../query/selector.ts'
import type { Bounds, Budget, Question } from '../../../reading/question.ts'
import type { World } from '../../../world.ts'
import { visibleDatasets } from '../../data/datasets/datasets.ts'
import { and, questionFor } from '../../data/event-queries/event-queries.ts'
import { allMonitors, watcherFor } from '../monitors/monitors.ts'

type Reader = Pick<World, 'meta' | 'deployment' | 'clock' | 'admission'>

/** What an occasion looks at costs little: whoever waits for the message waits for it too. */
const BUDGET = { bytes: 2 ** 34, rows: 200_000_000, seconds: 8 }

/** waitingBudget bounds what is looked up while somebody waits for a message. */
export const waitingBudget = ({ deployment }: Pick<World, 'deployment'>): Budget => ({
  ...BUDGET,
  memoryBytes: deployment.queryLimits.memoryBytes,
})

export type Asked = {
  readonly orgId: string
  readonly monitorId: string
  readonly query: MetricQuery
  readonly groups: Readonly<Record<string, string>>
}

/**
 * questionOn asks what a query of a monitor asks, of the group alone if there is one; undefined when it reads nothing. It is asked as the monitor
 * itself asks, so that a message shows nobody's secrets to whoever wrote the monitor.
 */
export async function questionOn(world: Reader, asked: Asked, bounds: Bounds, signal: AbortSignal): Promise<Question | undefined> {
  const { orgId, monitorId, query, groups } = asked
  const monitor = (await allMonitors(world, orgId)).find(({ id }) => id === monitorId)
  if (!monitor) return undefined
  const actor = await watcherFor(world, monitor)
  const visible = await visibleDatasets(world, actor)
  const ids = new Set(query.from)
  const datasets = query.from_expr?.trim()
    ? matchDatasets(parseSelector(query.from_expr), visible)
    : visible.filter(({ id }) => ids.has(id))
  if (datasets.length === 0) return undefined
  const filter = and(parseFilter(query.where, 'where').filter, onlyGroup(groups))
  return questionFor(world, actor, { datasets, filter, bounds, signal, budget: waitingBudget(world), reader: 'monitor' })
}

const NOWHERE = { position: 0, length: 0 }

export function onlyGroup(groups: Readonly<Record<string, string>>): Filter {
  const conditions = Object.entries(groups).map(
    ([key, text]): Filter => ({ kind: 'compare', key, operator: '=', value: { kind: 'text', text }, at: NOWHERE }),
  )
  return conditions.reduce(and, { kind: 'all' })
}
