import type { Identity } from '@dendro/api'
import { type Actor, factsOfWork } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { callerOf } from '../../access/auth/auth.ts'
import { selectOrgNumber } from './rows.ts'

/** The action under which the service evaluates monitors. */
export const EVALUATE_ACTION = 'monitors.evaluate'

/**
 * The actor as whom a monitor reads: its last author with their current roles, or with those of that time if the author was deleted. A
 * monitor therefore never shows its author what a policy hides from them.
 */
export async function monitorActor(
  world: Pick<World, 'meta'>,
  monitor: { readonly org_id: string; readonly author: Identity | null; readonly author_roles: readonly string[] | null },
): Promise<Actor> {
  const { org_id: orgId, author, author_roles } = monitor
  const who = author ?? { type: 'API_KEY_ID', id: orgId }
  const { orgNumber, roles } = await world.meta.cached(orgId, `watcher ${who.type} ${who.id}`, async () => {
    const [organization, found] = await Promise.all([selectOrgNumber(world.meta, orgId), callerOf(world, orgId, who)])
    return { orgNumber: organization?.number ?? 0, roles: found?.roles }
  })
  return {
    orgId,
    orgNumber,
    identity: who,
    name: 'monitors',
    roles: roles ?? author_roles ?? [],
    permissions: new Set(),
    facts: factsOfWork(EVALUATE_ACTION),
  }
}
