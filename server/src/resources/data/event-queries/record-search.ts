import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import type { DatasetRow } from '../datasets/datasets.ts'

/** The cost of a query: its datasets, the bytes read, and its start on the monotonic clock. */
export type SearchCost = { readonly datasets: readonly Pick<DatasetRow, 'id'>[]; readonly bytes: number; readonly startedMs: number }

/** Counts a query as a search of its caller and returns its duration. */
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
