import type { MetricQuery } from '@dendro/api'
import { type PatternTexts, patternIdsIn, patternValuesIn, withPatternTexts, withPatternValues } from '@dendro/language/pattern-texts'
import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { visibleDatasets } from '../../data/datasets/datasets.ts'
import { buildEventQuery } from '../../data/event-queries/event-queries.ts'
import { textsOfPatterns } from '../../queries/patterns/patterns.ts'
import type { Occasion } from '../alert-states/alert-states.ts'
import { messageBudget, planMonitorQuery } from './monitor-query.ts'
import type { NotificationRow } from './rows.ts'

/** The ids of patterns that the message of an occasion would show. */
export function patternIdsOf({ monitor, group, troubledGroups }: Occasion): readonly string[] {
  const inQueries = monitor.queries.flatMap(({ where }) => patternIdsIn(where))
  const isGrouped = monitor.queries.some(({ groups }) => groups?.includes('@pattern'))
  return [...new Set([...inQueries, ...(isGrouped ? patternValuesIn([group, ...troubledGroups]) : [])])]
}

/** Looks up the texts of the patterns of an occasion, in the datasets of its monitor. */
export async function occasionTexts(world: World, { org_id, occasion }: NotificationRow, signal: AbortSignal): Promise<PatternTexts> {
  const [first] = occasion.monitor.queries
  const ids = patternIdsOf(occasion)
  if (!first || ids.length === 0) return new Map()
  const { groups: _, ...query } = first
  const list = ids.map((id) => `'${id}'`).join(', ')
  const monitorQuery = { orgId: org_id, monitorId: occasion.monitor.id, query: { ...query, where: `@pattern IN (${list})` }, groups: {} }
  return textsOfPatterns(world, org_id, ids, (_filter, bounds) => planMonitorQuery(world, monitorQuery, bounds, signal))
}

/** Looks up the texts of the patterns in queries, as far as a caller may read them. */
export async function queryTexts(world: World, actor: Actor, queries: readonly MetricQuery[], signal: AbortSignal): Promise<PatternTexts> {
  const ids = [...new Set(queries.flatMap(({ where }) => patternIdsIn(where)))]
  if (ids.length === 0 || !actor.permissions.has('search_read')) return new Map()
  const datasets = await visibleDatasets(world, actor)
  return textsOfPatterns(world, actor.orgId, ids, async (filter, bounds) =>
    datasets.length === 0 ? undefined : buildEventQuery(world, actor, { datasets, filter, bounds, signal, budget: messageBudget(world) }),
  )
}

/** The occasion as people read it: the texts of patterns in place of their ids. */
export function withTexts(occasion: Occasion, texts: PatternTexts): Occasion {
  if (texts.size === 0) return occasion
  const { monitor, group, troubledGroups } = occasion
  return {
    ...occasion,
    monitor: {
      ...monitor,
      name: withPatternTexts(monitor.name, texts),
      queries: monitor.queries.map((query) => ({ ...query, where: withPatternTexts(query.where, texts) })),
    },
    group: withPatternValues(group, texts),
    troubledGroups: troubledGroups.map((one) => withPatternValues(one, texts)),
  }
}
