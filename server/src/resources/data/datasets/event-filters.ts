import { printFilter } from '@dendro/language/print'
import type { Actor, Principal } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import { parseFilter } from '../../../query/query.ts'
import type { MetaWorld } from '../../../world.ts'
import type { RequiredEvents } from '../../access/policies/policies.ts'
import { seenEventsFor } from '../../access/policies/policies.ts'
import { visibleDatasets } from './listing.ts'
import type { DatasetRow } from './rows.ts'

/** The filters through which somebody saw datasets when a result was begun, by the ids of those datasets. Null when they saw all events. */
export type EventFilters = Readonly<Record<string, string>> | null

/** The filters through which a caller sees datasets now. */
export async function eventFiltersOf(
  world: Pick<MetaWorld, 'meta'>,
  caller: Principal,
  datasets: readonly Pick<DatasetRow, 'id' | 'collection' | 'dataset'>[],
): Promise<EventFilters> {
  const seen = await seenEventsFor(world, caller)
  if (!seen) return null
  const texts = datasets.flatMap((dataset) => {
    const filter = seen(dataset)
    return filter ? [[dataset.id, printFilter(filter)] as const] : []
  })
  return texts.length === 0 ? null : Object.fromEntries(texts)
}

/** Shows the events that these filters showed. */
export function seenThrough(filters: EventFilters): RequiredEvents {
  const byText = new Map(Object.values(filters ?? {}).map((text) => [text, parseFilter(text).filter]))
  return ({ id }) => {
    const text = filters?.[id]
    return text === undefined ? undefined : byText.get(text)
  }
}

/** The datasets of which the caller sees all events: counts of stored events may be shown for these only. */
export async function wholeDatasets(world: Pick<MetaWorld, 'meta'>, actor: Actor): Promise<readonly DatasetRow[]> {
  const visible = await visibleDatasets(world, actor)
  const seen = await seenEventsFor(world, actor)
  return seen ? visible.filter((dataset) => seen(dataset) === undefined) : visible
}

/** Refuses what counts all events of a dataset to callers who see only some of them. */
export async function checkSeesWhole(world: Pick<MetaWorld, 'meta'>, actor: Actor, dataset: DatasetRow): Promise<void> {
  const seen = await seenEventsFor(world, actor)
  if (seen?.(dataset)) throw forbidden('a policy shows the caller only some events of this dataset, and this is about all of them')
}
