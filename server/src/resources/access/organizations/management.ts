import { type Actor, hasPermission } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { selectFirstOrganization } from './rows.ts'

/** The first organization of the deployment, from which the others are created. */
export const managementId = (world: Pick<World, 'meta'>): Promise<string | undefined> =>
  world.meta.cached('*', 'management-organization', async () => (await selectFirstOrganization(world.meta))?.id)

/** True for callers who may read the customer record of the management organization. They see every organization, but this gives them no role in any. */
export const isManager = async (world: Pick<World, 'meta'>, actor: Actor): Promise<boolean> =>
  hasPermission(actor, 'customer_read') && actor.orgId === (await managementId(world))
