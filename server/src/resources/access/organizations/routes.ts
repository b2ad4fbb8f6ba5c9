import { contract } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import { badField } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { actingIn, checkAccess, checkMayReadAccess, grantAccess, identifiedIn, listAccess, noRoleFailure, revokeAccess } from './access.ts'
import {
  type CreateOrganizationRecords,
  createOrganization,
  findOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from './organizations.ts'
import { switchUser } from './switch.ts'

export const organizationRoutes = (world: World, found: CreateOrganizationRecords): Routes =>
  routes('organizations', contract.organizations, {
    list: async ({ actor }) => ({ organisations: await listOrganizations(world, actor) }),
    create: ({ actor, body }) => createOrganization(world, found, actor, body),
    get: onRecord(
      ({ actor, params }) => findOrganization(world, actor, params.orgId),
      ({ actor, record }) => getOrganization(world, actor, record),
    ),
    update: onRecord(
      ({ actor, params }) => findOrganization(world, actor, params.orgId),
      ({ actor, record, body }) => updateOrganization(world, actor, record, body),
    ),
  })

export const accessRoutes = (world: World): Routes =>
  routes('access', contract.access, {
    list: onRecord(
      ({ actor, params }) => actingIn(world, actor, params.orgId, 'access_read'),
      ({ record }) => listAccess(world, record),
    ),
    listOwn: ({ actor }) => listAccess(world, actor),
    grant: onRecord(
      ({ actor, params }) => actingIn(world, actor, params.orgId, 'access_write'),
      ({ actor, record, params, body }) => grantAccess(world, record, actor, params, body),
    ),
    revoke: onRecord(
      ({ actor, params }) => actingIn(world, actor, params.orgId, 'access_delete'),
      ({ record, params }) => revokeAccess(world, record, params),
    ),
    check: onRecord(
      async ({ actor, params }) => {
        const acting = await identifiedIn(world, actor, params.orgId)
        if (!acting) throw await noRoleFailure(world, actor, params.orgId)
        return acting
      },
      ({ record, params }) => {
        checkMayReadAccess(record, params.entityId)
        return checkAccess(world, params.orgId, params)
      },
    ),
    checkOwn: async ({ actor, query }) => {
      const entityId = userOr(actor, query.user_id)
      checkMayReadAccess(actor, entityId)
      return checkAccess(world, actor.orgId, { entityType: 'user', entityId })
    },
    switch: async ({ actor, params }) => switchUser(world, actor, params.orgId, params.userId),
    switchOwn: async ({ actor, body }) => switchUser(world, actor, body.org_id ?? actor.orgId, userOr(actor, body.user_id)),
  })

/** The named user, or the calling user. */
function userOr(actor: Actor, userId: string | undefined): string {
  if (userId !== undefined) return userId
  if (actor.identity.type !== 'USER_ID') throw badField('user_id', 'is required: an API key is not a user')
  return actor.identity.id
}
