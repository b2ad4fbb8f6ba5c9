import type { Actor } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { grantedRoles } from '../organizations/organizations.ts'
import { permissionsOf } from '../roles/roles.ts'
import type { UserRow } from './rows.ts'

/** The roles of a user in an organization: their own and those granted to them or their groups; elsewhere only the granted ones. */
export async function effectiveRoles(
  world: Pick<World, 'meta'>,
  user: Pick<UserRow, 'org_id' | 'id' | 'roles'>,
  orgId: string,
): Promise<readonly string[]> {
  const granted = await grantedRoles(world, orgId, user.id)
  return orgId === user.org_id ? [...new Set([...user.roles, ...granted])] : granted
}

/** Rejects acting on a user with more permissions than the caller: managing users must not lead to control of an administrator. */
export async function checkAuthority(world: Pick<World, 'meta'>, actor: Actor, user: UserRow): Promise<void> {
  const held = await permissionsOf(world, user.org_id, await effectiveRoles(world, user, user.org_id))
  const beyond = [...held].find((permission) => !actor.permissions.has(permission))
  if (beyond) throw forbidden(`the user has more permissions than the caller: ${beyond}`)
}
