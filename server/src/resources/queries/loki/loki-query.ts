import type { Actor } from '../../../http/actor.ts'
import { mapInSteps } from '../../../kernel/steps.ts'
import type { EventQuery, FoundEvent, TimeBounds } from '../../../reading/query.ts'
import { readEvents } from '../../../reading/reading.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { buildEventQuery, rawText } from '../../data/event-queries/event-queries.ts'
import { type ChosenDatasets, chooseDatasets } from './chosen-datasets.ts'
import { type PushedCondition, pushDown } from './condition.ts'
import { type EventLabels, eventLabels } from './event-labels.ts'
import type { LogqlLogs } from './logql/tree.ts'

/** The caller of a query and its costs so far. */
export type LokiCaller = {
  readonly world: World
  readonly actor: Actor
  readonly signal: AbortSignal
  readonly cost: LokiCost
}

/** What a query has read, for its statistics. */
export class LokiCost {
  bytes = 0
  lines = 0
  readonly datasets = new Map<string, Pick<DatasetRow, 'id'>>()
}

/** A selector with its stages, planned for the datasets that it may match. */
export type PlannedLogs = ChosenDatasets & PushedCondition & { readonly logs: LogqlLogs }

export async function planLogs({ world, actor, cost }: LokiCaller, logs: LogqlLogs): Promise<PlannedLogs> {
  const chosen = await chooseDatasets(world, actor, logs.matchers)
  for (const dataset of chosen.datasets) cost.datasets.set(dataset.id, dataset)
  return { ...chosen, ...pushDown(logs, chosen.keys), logs }
}

export const eventQueryOf = (
  { world, actor, signal }: LokiCaller,
  { datasets, filter }: PlannedLogs,
  bounds: TimeBounds,
): Promise<EventQuery> => buildEventQuery(world, actor, { datasets, filter, bounds, signal })

/** An event as stages read it. */
export type LabeledEvent = { readonly event: FoundEvent; readonly line: string; readonly labels: EventLabels }

export type Reading = { readonly newestFirst: boolean; readonly atOnce: () => number }

/** Reads the events that meet the condition of the store, batch by batch, in order of time. */
export async function* readLabeled(
  { world, cost }: LokiCaller,
  { datasets, keys }: Pick<PlannedLogs, 'datasets' | 'keys'>,
  query: EventQuery,
  { newestFirst, atOnce }: Reading,
): AsyncGenerator<readonly LabeledEvent[]> {
  const places = new Map(datasets.map((dataset) => [dataset.id, dataset]))
  let after: Pick<FoundEvent, 'timeNs' | 'seq'> | undefined
  for (let hasMore = datasets.length > 0; hasMore; ) {
    const request = { limit: atOnce(), newestFirst, keys: 'all' as const, withRaw: true, ...(after ? { after } : {}) }
    const found = await readEvents(world.events, query, request)
    cost.bytes += found.cost.bytes
    cost.lines += found.events.length
    yield await mapInSteps(found.events, (event) => {
      const { collection = '', dataset = '' } = places.get(event.logId) ?? {}
      return { event, line: rawText(event.raw), labels: eventLabels(event, { collection, dataset }, keys) }
    })
    const last = found.events.at(-1)
    hasMore = found.hasMore && last !== undefined
    if (last) after = { timeNs: last.timeNs, seq: last.seq }
  }
}
