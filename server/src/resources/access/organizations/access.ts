import { type AccessMember, type BodyOf, type contract, type Permission, roleName } from '@dendro/api'
import { type Actor, hasPermission, isUser, type Principal } from '../../../http/actor.ts'
import { badField, type Failure, forbidden, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { createdBy } from '../../records.ts'
import { recordChange } from '../audit/audit.ts'
import { checkGrant, lockRolesForGrant, permissionsOf } from '../roles/roles.ts'
import { isManager } from './management.ts'
import {
  deleteAccessOfUser,
  deleteActiveOrganization,
  type GrantRow,
  lockGroupForGrant,
  lockUserForGrant,
  revokeGrant,
  selectActiveOrganization,
  selectGrant,
  selectGrantedRoles,
  selectGrants,
  selectOrganization,
  selectRolesOfGroups,
  selectUserById,
  upsertGrant,
} from './rows.ts'

type Grant = BodyOf<typeof contract.access.grant>
type GrantTarget = { entityType: AccessMember['type']; entityId: string }

/** A user in one of these states may not act, whatever was granted. */
const INACTIVE_STATUSES = ['INVITED', 'DEACTIVATED', 'REMOVED']

/** The roles of active grants to a user and to every group the user reaches through memberships. */
export const grantedRoles = (world: MetaWorld, orgId: string, userId: string): Promise<readonly string[]> =>
  world.meta.cached(orgId, `granted-roles:${userId}`, () => selectRolesGranted(world.meta, orgId, 'user', userId))

/** Like grantedRoles, as a transaction sees them. */
export const grantedRolesIn = (db: Db, orgId: string, userId: string): Promise<readonly string[]> =>
  selectRolesGranted(db, orgId, 'user', userId)

const selectRolesGranted = async (db: Db, orgId: string, type: AccessMember['type'], id: string): Promise<readonly string[]> =>
  (await selectGrantedRoles(db, orgId, type, id)).map(({ role }) => role)

/** The roles that active grants give to exactly these groups. */
export const rolesOfGroups = async (db: Db, orgId: string, groupIds: readonly string[]): Promise<string[]> =>
  (await selectRolesOfGroups(db, orgId, groupIds)).map(({ role }) => role)

/** All roles of a user in an organization, as a member or a guest; none if the user may not act. */
export async function rolesIn(world: MetaWorld, orgId: string, userId: string): Promise<readonly string[]> {
  const user = await selectUserById(world.meta, userId)
  if (!user || INACTIVE_STATUSES.includes(user.status)) return []
  const own = user.org_id === orgId ? user.roles.map(roleName) : []
  return [...new Set([...own, ...(await selectRolesGranted(world.meta, orgId, 'user', userId))])]
}

/** The caller in another organization; undefined if it does not exist or the caller has no role there. Keys act in their own organization only. */
export async function identifiedIn<A extends Principal>(world: MetaWorld, actor: A, orgId: string): Promise<A | undefined> {
  if (orgId === actor.orgId) return actor
  if (actor.identity.type !== 'USER_ID' || actor.personalKey) return undefined
  const organization = await selectOrganization(world.meta, orgId)
  const roles = organization ? await rolesIn(world, orgId, actor.identity.id) : []
  if (!organization || roles.length === 0) return undefined
  return { ...actor, orgId, orgNumber: organization.number, roles, permissions: await permissionsOf(world, orgId, roles) }
}

/** The caller in the organization of the path; requires the permission there too. */
export async function actingIn(world: MetaWorld, actor: Actor, orgId: string, permission: Permission): Promise<Actor> {
  const acting = await identifiedIn(world, actor, orgId)
  if (!acting) throw await noRoleFailure(world, actor, orgId)
  if (!hasPermission(acting, permission)) throw forbidden(`this needs the permission ${permission} in that organization`)
  return acting
}

/** The error for a caller without a role in an organization: only managers learn that it exists. */
export async function noRoleFailure(world: MetaWorld, actor: Actor, orgId: string): Promise<Failure> {
  const mayKnow =
    (await isManager(world, actor)) ||
    (actor.identity.type === 'USER_ID' && (await selectGrant(world.meta, orgId, 'user', actor.identity.id)))
  const isThere = mayKnow && (await selectOrganization(world.meta, orgId))
  return isThere ? forbidden('the caller has no role in that organization') : notFound('organization', orgId)
}

export async function listAccess(world: MetaWorld, acting: Actor): Promise<{ items: { members: AccessMember[] }[] }> {
  const members = await world.meta.cached(acting.orgId, 'access', async () => (await selectGrants(world.meta, acting.orgId)).map(shown))
  return { items: [{ members }] }
}

/**
 * Grants roles in the organization in which `acting` acts. The user may come from the organization of the request (`from`), so that administrators
 * can bring their own users into another organization they administer.
 */
export async function grantAccess(world: World, acting: Actor, from: Actor, entity: GrantTarget, grant: Grant): Promise<undefined> {
  const roles = [...new Set(grant.roles.map(roleName))]
  await checkGrant(world, acting, 'ANY', roles)
  const nowMs = world.clock.nowMs()
  await world.meta.write(acting.orgId, async (tx) => {
    await checkEntity(tx, acting, from, entity)
    await lockRolesForGrant(tx, acting.orgId, roles)
    const before = await selectGrant(tx, acting.orgId, entity.entityType, entity.entityId)
    const after = await upsertGrant(tx, {
      ...draft(acting, entity, nowMs),
      roles,
      status: grant.status,
    })
    await recordChange(world, tx, acting, {
      entity: { type: 'access', id: entity.entityId },
      before: before && shown(before),
      after: after && shown(after),
    })
  })
}

/** Makes the creator of an organization its administrator. */
export const grantFounder = (world: Pick<World, 'clock'>, tx: Db, founder: Actor, orgId: string): Promise<GrantRow | undefined> =>
  upsertGrant(tx, {
    ...draft({ ...founder, orgId }, { entityType: 'user', entityId: founder.identity.id }, world.clock.nowMs()),
    roles: ['Admin'],
    status: 'active',
  })

export async function revokeAccess(world: World, acting: Actor, entity: GrantTarget): Promise<undefined> {
  await world.meta.write(acting.orgId, async (tx) => {
    const before = await selectGrant(tx, acting.orgId, entity.entityType, entity.entityId)
    const revoked = await revokeGrant(tx, draft(acting, entity, world.clock.nowMs()))
    if (revoked === 0 || !before) return
    await recordChange(world, tx, acting, { entity: { type: 'access', id: entity.entityId }, before: shown(before) })
  })
}

/** Reports whether a user or group has any role; false for unknown ids. */
export async function checkAccess(
  world: MetaWorld,
  orgId: string,
  entity: GrantTarget,
): Promise<{ is_authorised: boolean; roles: string }> {
  const roles =
    entity.entityType === 'user'
      ? await rolesIn(world, orgId, entity.entityId)
      : await selectRolesGranted(world.meta, orgId, 'group', entity.entityId)
  return { is_authorised: roles.length > 0, roles: roles.join(',') }
}

/** Users may read their own access; the access of others requires the permission. */
export function checkMayReadAccess(actor: Actor, userId: string): void {
  if (!isUser(actor, userId) && !hasPermission(actor, 'access_read'))
    throw forbidden('the access of other users needs the permission access_read')
}

/** The organization a login is for: the one the user switched to last, while they have a role there, otherwise their own. */
export async function activeOrganization(world: MetaWorld, homeId: string, userId: string): Promise<string> {
  const chosen = await selectActiveOrganization(world.meta, userId)
  if (!chosen || chosen.org_id === homeId) return homeId
  return (await rolesIn(world, chosen.org_id, userId)).length > 0 ? chosen.org_id : homeId
}

/** Ends every access of a deleted user, in the transaction that deletes the user. */
export async function deleteAccess(tx: Db, userId: string): Promise<void> {
  await deleteAccessOfUser(tx, userId)
  await deleteActiveOrganization(tx, userId)
}

async function checkEntity(tx: Db, acting: Actor, from: Actor, { entityType, entityId }: GrantTarget): Promise<void> {
  const isKnown =
    entityType === 'group'
      ? await lockGroupForGrant(tx, acting.orgId, entityId)
      : ((await lockUserForGrant(tx, acting.orgId, entityId)) ??
        (await lockUserForGrant(tx, from.orgId, entityId)) ??
        (await selectGrant(tx, acting.orgId, 'user', entityId)))
  if (!isKnown) throw badField('entityId', `names no ${entityType} with id ${entityId}`)
}

function draft(acting: Actor, { entityType, entityId }: GrantTarget, nowMs: number): Omit<GrantRow, 'roles' | 'status'> {
  return {
    org_id: acting.orgId,
    entity_type: entityType,
    entity_id: entityId,
    ...createdBy(acting, nowMs),
  }
}

const shown = (row: GrantRow): AccessMember => ({
  type: row.entity_type,
  id: row.entity_id,
  roles: row.roles,
  status: row.status,
  createdAt: row.created_at,
})
