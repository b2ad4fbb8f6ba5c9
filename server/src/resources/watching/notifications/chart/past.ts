import type { World } from '../../../../world.ts'
import { and } from '../../../data/event-queries/event-queries.ts'
import type { Occasion } from '../../monitors/monitors.ts'
import { allMonitors, type Definition, definitionOf, isAddedUp, sightsOver, stepOf, watcherFor } from '../../monitors/monitors.ts'
import { onlyGroup, waitingBudget } from '../occasion-question.ts'
import type { Past } from './chart.ts'

const LOOKS = 60

/**
 * pastOf is what the monitor saw, or of its groups that of the message alone, at its latest looks. Anomalies and patterns have none: each of their
 * looks is compared with a past of its own, which would cost too much to read for a picture.
 */
export async function pastOf(world: World, orgId: string, occasion: Occasion, signal: AbortSignal): Promise<Past | undefined> {
  const { monitor: told, group, groups, toMs, value } = occasion
  const monitor = (await allMonitors(world, orgId)).find(({ id }) => id === told.id)
  // What was changed meanwhile would show another past than that of the message.
  if (!monitor || monitor.modified_at > occasion.atMs) return undefined
  const definition = inGroup(definitionOf(monitor), groups)
  if (definition.kind.kind !== 'value' && definition.kind.kind !== 'change') return undefined
  const stepMs = stepOf(definition)
  const actor = await watcherFor(world, monitor)
  const sightAt = await sightsOver(world, actor, definition, { toMs, looks: LOOKS, stepMs }, signal, waitingBudget(world))
  const { queries, formulas } = definition.planned
  const nothing = formulas.length === 0 && isAddedUp(queries[0]) ? 0 : null
  const seen = Array.from({ length: LOOKS }, (_, at) => finite(sightAt(at).judged.get(group)?.value) ?? nothing)
  return { fromMs: toMs - (LOOKS - 1) * stepMs, toMs, values: [...seen.slice(0, -1), finite(value) ?? seen.at(-1) ?? null] }
}

const finite = (value: number | string | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

function inGroup(definition: Definition, groups: Readonly<Record<string, string>>): Definition {
  const only = onlyGroup(groups)
  const queries = definition.planned.queries.map((query) =>
    query.groups.length === 0 ? query : { ...query, filter: and(query.filter, only) },
  )
  return { ...definition, planned: { ...definition.planned, queries } }
}
