import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createRole, findCustomRole, findRole, getRole, listRoles, removeRole, updateRole } from './roles.ts'

export const roleRoutes = (world: World): Routes =>
  routes('roles', contract.roles, {
    list: async ({ actor, query }) => ({ roles: await listRoles(world, actor, query.role_type) }),
    create: ({ actor, body }) => createRole(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findRole(world, actor, params.roleId),
      ({ actor, record }) => getRole(world, actor, record),
    ),
    update: onRecord(
      ({ actor, params }) => findCustomRole(world, actor, params.roleId),
      ({ actor, record, body }) => updateRole(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findCustomRole(world, actor, params.roleId),
      ({ actor, record }) => removeRole(world, actor, record),
    ),
  })
