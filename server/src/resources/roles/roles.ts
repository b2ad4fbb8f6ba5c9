import { apiRoles, type Permission, type SystemRole, systemRoles, userRoles } from '@dendro/api'
import { badField, forbidden } from '../../errors.ts'
import type { Actor } from '../../http/actor.ts'
import type { World } from '../../world.ts'

const isSystemRole = (role: string): role is SystemRole => Object.hasOwn(systemRoles, role)

/** permissionsOf is the union of what the roles grant; a role that is gone grants nothing. */
export async function permissionsOf(
  _world: Pick<World, 'meta'>,
  _orgId: string,
  roles: readonly string[],
): Promise<ReadonlySet<Permission>> {
  return new Set(roles.filter(isSystemRole).flatMap((role) => systemRoles[role].permissions))
}

/** unknownRoles names the roles of the given kind that neither the system nor the organisation has. */
export async function unknownRoles(
  _world: Pick<World, 'meta'>,
  _orgId: string,
  type: 'USER' | 'API',
  roles: readonly string[],
): Promise<string[]> {
  return roles.filter((role) => !isSystemRole(role) || systemRoles[role].role_type !== type)
}

/** checkGrant refuses roles that do not exist, and roles that hold more than the one who hands them out. */
export async function checkGrant(world: Pick<World, 'meta'>, actor: Actor, type: 'USER' | 'API', roles: readonly string[]): Promise<void> {
  const unknown = await unknownRoles(world, actor.orgId, type, roles)
  if (unknown[0] !== undefined) {
    const known = (type === 'API' ? apiRoles : userRoles).join(', ')
    throw badField('roles', `must each be one of ${known} or the id of a custom role, not ${unknown[0].slice(0, 100)}`)
  }
  const granted = await permissionsOf(world, actor.orgId, roles)
  const beyond = [...granted].find((permission) => !actor.permissions.has(permission))
  if (beyond) throw forbidden(`nobody grants more than he holds: the roles include ${beyond}`)
}
