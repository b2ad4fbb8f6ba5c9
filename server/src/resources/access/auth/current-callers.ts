import type { Identity } from '@dendro/api'
import type { Principal } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { isExpired, ownerOfKey } from '../api-keys/api-keys.ts'
import { permissionsOf } from '../roles/roles.ts'
import { effectiveRoles, mayLogIn } from '../users/users.ts'
import { selectUserCaller } from './rows.ts'

/** An absent caller, such as the author of a record, with their current permissions; undefined when deleted. */
export async function callerOf(world: Pick<World, 'meta'>, orgId: string, { type, id }: Identity): Promise<Principal | undefined> {
  if (type === 'API_KEY_ID') return (await ownerOfKey(world, orgId, id))?.identified
  return (await userCaller(world, orgId, id))?.identified
}

/** Like callerOf, but only for callers whose credential is valid now. */
export async function activeCallerOf(
  world: Pick<World, 'meta' | 'clock'>,
  orgId: string,
  { type, id }: Identity,
): Promise<Principal | undefined> {
  if (type === 'API_KEY_ID') {
    const known = await ownerOfKey(world, orgId, id)
    return known && !isExpired(known.expiresAt, world.clock.nowMs()) ? known.identified : undefined
  }
  const known = await userCaller(world, orgId, id)
  return known?.mayLogIn ? known.identified : undefined
}

const userCaller = (world: Pick<World, 'meta'>, orgId: string, id: string) =>
  world.meta.cached(orgId, `user:${id}`, async () => {
    const row = await selectUserCaller(world.meta, orgId, id)
    if (!row) return undefined
    const roles = await effectiveRoles(world, { org_id: row.home_org_id, id: row.user_id, roles: row.roles }, orgId)
    if (roles.length === 0 && orgId !== row.home_org_id) return undefined
    const identified: Principal = {
      orgId,
      orgNumber: row.org_number,
      identity: { type: 'USER_ID', id: row.user_id },
      name: row.email,
      roles,
      permissions: await permissionsOf(world, orgId, roles),
    }
    return { identified, mayLogIn: mayLogIn(row.status) }
  })
