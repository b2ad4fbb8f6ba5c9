import { type Actor, hasPermission } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { selectFirstOrganization } from './rows.ts'

/** managementId is the first organisation of the deployment, from which the others are made. */
export const managementId = (world: Pick<World, 'meta'>): Promise<string | undefined> =>
  world.meta.cached('*', 'management-organisation', async () => (await selectFirstOrganization(world.meta))?.id)

/** isManager: those who may read the customer record of the management organisation know of every organisation, but act in none by that. */
export const isManager = async (world: Pick<World, 'meta'>, actor: Actor): Promise<boolean> =>
  hasPermission(actor, 'customer_read') && actor.orgId === (await managementId(world))
