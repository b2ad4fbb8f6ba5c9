import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../datasets/datasets.ts'

/** A SearchCost is what a question took of the store, of which datasets, and when it began by the clock that never goes back. */
export type SearchCost = { readonly datasets: readonly Pick<DatasetRow, 'id'>[]; readonly bytes: number; readonly startedMs: number }

/** recordSearch counts a question that was answered as a search of whoever asked it, and gives how long it took. */
export function recordSearch(
  { clock, usage }: Pick<World, 'clock' | 'usage'>,
  actor: Actor,
  { datasets, bytes, startedMs }: SearchCost,
): number {
  const latencyMs = Math.round(clock.monotonicMs() - startedMs)
  usage.note({
    kind: 'search',
    orgId: actor.orgId,
    identityId: actor.identity.id,
    logIds: datasets.map(({ id }) => id),
    bytes,
    latencyMs,
  })
  return latencyMs
}
