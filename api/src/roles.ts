import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { PermissionEntry } from './permission-list.ts'
import { Metadata, text, uuid } from './values.ts'

const roleType = z.enum(['USER', 'API'])

export const Role = z
  .object({
    role_id: z.string().describe('A UUID, or the name of a system role.'),
    role_type: roleType,
    display_name: text(1, 255),
    description: z.string().optional(),
    is_system_role: z.boolean(),
    metadata: Metadata,
    permissions: z.array(
      PermissionEntry.extend({
        group_name: z.string(),
        group_display_name: z.string(),
        restricted: z.boolean().describe('Applies only to the logs that a LOG_PERMIT policy names.'),
        sensitive: z.boolean().describe('Whether the permission belongs to a sensitive area.'),
      }),
    ),
  })
  .meta({ id: 'Role', description: 'A named set of permissions for users (USER) or API keys (API).' })
export type Role = z.output<typeof Role>

const PERMISSIONS_MAX = 10_000

/** A permission by its name, or as a read shows it, so that a role that was read can be written. */
const permission = z
  .union([text(1, 255), z.object({ name: text(1, 255) }).describe('As in a response; its `name` counts.')])
  .transform((given) => (typeof given === 'string' ? given : given.name))

const RoleDraft = z.object({
  role_type: roleType,
  display_name: text(1, 255),
  description: text(0, 4000).optional(),
  permissions: z.array(permission).max(PERMISSIONS_MAX, { error: `must have at most ${PERMISSIONS_MAX} items` }),
})

const roleParams = z.object({ roleId: z.union([uuid, z.string()]) })

export const roles = {
  list: endpoint({
    method: 'GET',
    path: '/roles',
    permission: 'roles_read',
    tier: 'X',
    summary: 'List system roles, then the roles of the organization',
    query: z.object({ role_type: z.preprocess((value) => (Array.isArray(value) ? value.at(-1) : value), roleType.optional()) }),
    reply: z.object({ roles: z.array(Role) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/roles',
    permission: 'roles_write',
    tier: 'X',
    summary: 'Create a role with permissions that the caller holds',
    body: RoleDraft,
    status: 201,
    reply: Role,
    fails: [409],
  }),
  get: endpoint({
    method: 'GET',
    path: '/roles/{roleId}',
    permission: 'roles_read',
    tier: 'X',
    summary: 'One role',
    params: roleParams,
    reply: Role,
    fails: [404],
  }),
  update: endpoint({
    method: 'PUT',
    path: '/roles/{roleId}',
    permission: 'roles_write',
    tier: 'X',
    summary: 'Replace a role; effective with the next request of its holders',
    description: '`role_type` cannot change, and system roles cannot be replaced.',
    params: roleParams,
    body: RoleDraft,
    reply: Role,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/roles/{roleId}',
    permission: 'roles_delete',
    tier: 'X',
    summary: 'Delete a role that no user, group or API key holds',
    params: roleParams,
    fails: [404, 409],
  }),
}
