import { count, quantity } from '../../../parts/chart/numbers.ts'
import type { useChanges } from '../changes/use-changes.ts'
import type { useEvents } from '../events/list/use-events.ts'
import type { Tab } from '../explore-params.ts'
import type { useFields } from '../fields/use-fields.ts'
import type { useGroups } from '../groups/groups.ts'
import type { usePatterns, usePatternTrends } from '../patterns/patterns.ts'
import type { ResultInfo } from './cost-line.tsx'

type ResultSources = {
  tab: Tab
  changes: ReturnType<typeof useChanges>
  events: ReturnType<typeof useEvents>
  patterns: ReturnType<typeof usePatterns>
  trends: ReturnType<typeof usePatternTrends>
  groups: ReturnType<typeof useGroups>
  fields: ReturnType<typeof useFields>
}

/** Describes the result of the open tab. */
export function resultInfoOf({ tab, changes, events, patterns, trends, groups, fields }: ResultSources): ResultInfo {
  const stateOf = ({ data, dataUpdatedAt, isFetching, isPlaceholderData }: Omit<ResultInfo, 'cost'>) => ({
    ...{ data, dataUpdatedAt, isFetching, isPlaceholderData },
  })
  if (tab === 'events') return { ...stateOf(events), cost: events.data?.pages[0]?.cost }
  if (tab === 'patterns') {
    const cost = patterns.data && { ...patterns.data.cost, bytes: trends.data?.cost.bytes }
    return { ...stateOf(patterns), cost }
  }
  if (tab === 'table' || tab === 'chart') {
    const label = groups.data?.isEstimated ? { label: `${quantity(groups.data.total, 'event')}, values estimated` } : {}
    return { ...stateOf(groups), cost: groups.data?.cost, ...label }
  }
  if (tab === 'changes') {
    const found = changes.data?.changes
    const cost = found && { events: Number(found.range.count), isExact: true, bytes: Number(found.cost.bytes), ms: found.cost.ms }
    return { ...stateOf(changes), cost }
  }
  if (tab === 'sides') return { ...stateOf(patterns), data: undefined, cost: undefined }
  const sampled = fields.data?.sampled ?? 0
  const cost = fields.data && { events: fields.data.events, isExact: true, bytes: undefined, ms: fields.data.ms }
  const all = quantity(fields.data?.events ?? 0, 'event')
  const label = fields.data?.areExact ? `${all}, values from a sample of ${count(sampled)}` : `a sample of ${count(sampled)} of ${all}`
  return { ...stateOf(fields), cost, ...(fields.data?.isExact === false ? { label } : {}) }
}
