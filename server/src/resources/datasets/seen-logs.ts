import type { Actor } from '../../http/actor.ts'
import type { World } from '../../world.ts'
import { visibleDatasets } from './datasets.ts'
import { selectDatasets } from './rows.ts'

/**
 * seenLogs are the datasets whose figures the caller may see, of those asked for if any are; undefined means everything, also what belongs to
 * datasets that are gone or to none. Who may not see some dataset sees only what belongs to one he may.
 */
export async function seenLogs(
  world: Pick<World, 'meta'>,
  actor: Actor,
  asked: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  const visible = await visibleDatasets(world, actor)
  const all = await world.meta.cached(actor.orgId, 'datasets', () => selectDatasets(world.meta, actor.orgId))
  const seesAll = visible.length === all.length
  if (asked === undefined || asked.length === 0) return seesAll ? undefined : visible.map(({ id }) => id)
  const ids = new Set(visible.map(({ id }) => id))
  return seesAll ? asked : asked.filter((id) => ids.has(id))
}
