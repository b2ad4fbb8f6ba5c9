import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { isLimited, visibleTo } from '../../access/policies/policies.ts'
import { allDatasets } from './listing.ts'

/**
 * visibleLogIds are the datasets whose figures the caller may see, of those asked for if any are; undefined means everything, also what belongs to
 * datasets that are gone or to none. Whom a policy concerns sees only what belongs to a dataset that he may see now.
 */
export async function visibleLogIds(
  world: Pick<World, 'meta'>,
  actor: Actor,
  requested: readonly string[] | undefined,
): Promise<readonly string[] | undefined> {
  const all = await allDatasets(world, actor.orgId)
  const visible = await visibleTo(world, actor, all)
  const seesAll = !(await isLimited(world, actor))
  if (requested === undefined || requested.length === 0) return seesAll ? undefined : visible.map(({ id }) => id)
  const ids = new Set(visible.map(({ id }) => id))
  return seesAll ? requested : requested.filter((id) => ids.has(id))
}
