import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { isLimited, visibleTo } from '../../access/policies/policies.ts'
import { eventFiltersOf } from './event-filters.ts'
import { allDatasets } from './listing.ts'

/**
 * The datasets whose statistics the caller may see, restricted to the requested ones; undefined means all, including events of deleted datasets or of
 * none. Callers limited by a policy see only datasets of which all events are visible to them now.
 */
export async function visibleLogIds(
  world: Pick<World, 'meta'>,
  actor: Actor,
  requested: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  const all = await allDatasets(world, actor.orgId)
  const filters = await eventFiltersOf(world, actor, all)
  const visible = (await visibleTo(world, actor, all)).filter(({ id }) => filters?.[id] === undefined)
  const seesAll = !(await isLimited(world, actor))
  if (requested === undefined || requested.length === 0) return seesAll ? undefined : visible.map(({ id }) => id)
  const ids = new Set(visible.map(({ id }) => id))
  return seesAll ? requested : requested.filter((id) => ids.has(id))
}
