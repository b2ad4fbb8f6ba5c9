import type { World } from '../../../../world.ts'
import { and } from '../../../data/event-queries/event-queries.ts'
import type { Occasion } from '../../alert-states/alert-states.ts'
import { definitionOf, type MonitorDefinition, monitorActor } from '../../monitor-definitions/monitor-definitions.ts'
import { allMonitors } from '../../monitors/monitors.ts'
import { isZeroWithoutEvents, observePast, stepOf } from '../../observations/observations.ts'
import { messageBudget, onlyGroup } from '../monitor-query.ts'
import type { ValueHistory } from './chart.ts'

const EVALUATIONS = 60

/**
 * Reads the latest values of the monitor, restricted to the group of the message. Anomaly and pattern monitors have no chart: each
 * evaluation needs a baseline of its own, which is too expensive.
 */
export async function readValueHistory(
  world: World,
  orgId: string,
  occasion: Occasion,
  signal: AbortSignal,
): Promise<ValueHistory | undefined> {
  const {
    monitor: { id: monitorId },
    group,
    groups,
    toMs,
    value,
  } = occasion
  const monitor = (await allMonitors(world, orgId)).find(({ id }) => id === monitorId)
  // A monitor that changed meanwhile would show other values than the message.
  if (!monitor || monitor.modified_at > occasion.atMs) return undefined
  const definition = inGroup(definitionOf(monitor), groups)
  if (definition.kind.kind !== 'value' && definition.kind.kind !== 'change') return undefined
  const stepMs = stepOf(definition)
  const actor = await monitorActor(world, monitor)
  const observationAt = await observePast(world, actor, definition, { toMs, count: EVALUATIONS, stepMs }, signal, messageBudget(world))
  const { queries, formulas } = definition.planned
  const nothing = formulas.length === 0 && isZeroWithoutEvents(queries[0]) ? 0 : null
  const observed = Array.from({ length: EVALUATIONS }, (_, at) => finite(observationAt(at).compared.get(group)?.value) ?? nothing)
  return { fromMs: toMs - (EVALUATIONS - 1) * stepMs, toMs, values: [...observed.slice(0, -1), finite(value) ?? observed.at(-1) ?? null] }
}

const finite = (value: number | string | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

function inGroup(definition: MonitorDefinition, groups: Readonly<Record<string, string>>): MonitorDefinition {
  const only = onlyGroup(groups)
  const queries = definition.planned.queries.map((query) =>
    query.groups.length === 0 ? query : { ...query, filter: and(query.filter, only) },
  )
  return { ...definition, planned: { ...definition.planned, queries } }
}
