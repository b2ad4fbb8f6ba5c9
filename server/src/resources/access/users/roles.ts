import type { Actor } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { grantedRoles } from '../organizations/organizations.ts'
import { permissionsOf } from '../roles/roles.ts'
import type { UserRow } from './rows.ts'

/**
 * effectiveRoles is what a user is in an organisation: in his own one his roles and those granted to him or to a group he belongs to,
 * elsewhere the granted ones alone.
 */
export async function effectiveRoles(
  world: Pick<World, 'meta'>,
  user: Pick<UserRow, 'org_id' | 'id' | 'roles'>,
  orgId: string,
): Promise<readonly string[]> {
  const granted = await grantedRoles(world, orgId, user.id)
  return orgId === user.org_id ? [...new Set([...user.roles, ...granted])] : granted
}

/** checkAuthority refuses to act on a user who may do more than the actor: whoever manages users must not get at an administrator that way. */
export async function checkAuthority(world: Pick<World, 'meta'>, actor: Actor, user: UserRow): Promise<void> {
  const held = await permissionsOf(world, user.org_id, await effectiveRoles(world, user, user.org_id))
  const beyond = [...held].find((permission) => !actor.permissions.has(permission))
  if (beyond) throw forbidden(`this user may do more than the caller: ${beyond}`)
}
