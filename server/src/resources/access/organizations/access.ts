import { type AccessMember, type BodyOf, type contract, type Permission, roleName } from '@dendro/api'
import { type Actor, hasPermission, isUser, type Principal } from '../../../http/actor.ts'
import { badField, type Failure, forbidden, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
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
type Reader = Pick<World, 'meta'>
type GrantTarget = { entityType: AccessMember['type']; entityId: string }

/** INACTIVE_STATUSES are the states of a user who may not act, whatever was granted to him. */
const INACTIVE_STATUSES = ['INVITED', 'DEACTIVATED', 'REMOVED']

/** grantedRoles are the roles of active grants to a user and to every group that he reaches through memberships. */
export const grantedRoles = (world: Reader, orgId: string, userId: string): Promise<readonly string[]> =>
  world.meta.cached(orgId, `granted-roles:${userId}`, () => selectRolesGranted(world.meta, orgId, 'user', userId))

const selectRolesGranted = async (db: Db, orgId: string, type: AccessMember['type'], id: string): Promise<readonly string[]> =>
  (await selectGrantedRoles(db, orgId, type, id)).map(({ role }) => role)

/** rolesOfGroups are the roles that active grants give to these very groups. */
export const rolesOfGroups = async (db: Db, orgId: string, groupIds: readonly string[]): Promise<string[]> =>
  (await selectRolesOfGroups(db, orgId, groupIds)).map(({ role }) => role)

/** rolesIn are all roles of a user in an organisation, whether his record is there or he is a guest; none when he may not act. */
export async function rolesIn(world: Reader, orgId: string, userId: string): Promise<readonly string[]> {
  const user = await selectUserById(world.meta, userId)
  if (!user || INACTIVE_STATUSES.includes(user.status)) return []
  const own = user.org_id === orgId ? user.roles.map(roleName) : []
  return [...new Set([...own, ...(await selectRolesGranted(world.meta, orgId, 'user', userId))])]
}

/** identifiedIn is the caller as he is in another organisation; undefined when it does not exist or he has no role in it. */
export async function identifiedIn<A extends Principal>(world: Reader, actor: A, orgId: string): Promise<A | undefined> {
  if (orgId === actor.orgId) return actor
  if (actor.identity.type !== 'USER_ID') return undefined
  const organization = await selectOrganization(world.meta, orgId)
  const roles = organization ? await rolesIn(world, orgId, actor.identity.id) : []
  if (!organization || roles.length === 0) return undefined
  return { ...actor, orgId, orgNumber: organization.number, roles, permissions: await permissionsOf(world, orgId, roles) }
}

/** actingIn is the caller in the organisation of the path, where he must hold the permission too. */
export async function actingIn(world: Reader, actor: Actor, orgId: string, permission: Permission): Promise<Actor> {
  const acting = await identifiedIn(world, actor, orgId)
  if (!acting) throw await noRoleFailure(world, actor, orgId)
  if (!hasPermission(acting, permission)) throw forbidden(`this needs the permission ${permission} in that organisation`)
  return acting
}

/** noRoleFailure is the answer to who has no role in an organisation: only those who may know of it learn that it exists. */
export async function noRoleFailure(world: Reader, actor: Actor, orgId: string): Promise<Failure> {
  const mayKnow =
    (await isManager(world, actor)) ||
    (actor.identity.type === 'USER_ID' && (await selectGrant(world.meta, orgId, 'user', actor.identity.id)))
  const isThere = mayKnow && (await selectOrganization(world.meta, orgId))
  return isThere ? forbidden('the caller has no role in that organisation') : notFound('organisation', orgId)
}

export async function listAccess(world: Reader, acting: Actor): Promise<{ items: { members: AccessMember[] }[] }> {
  const members = await world.meta.cached(acting.orgId, 'access', async () => (await selectGrants(world.meta, acting.orgId)).map(shown))
  return { items: [{ members }] }
}

/**
 * grantAccess gives roles in the organisation in which `acting` acts. A user may come from the organisation the request was made in (`from`):
 * so administrators bring people of their own into another organisation that they administrate.
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

/** grantFounder lets the user who made an organisation administrate it. */
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

/** checkAccess says whether a user or group has any role; who does not exist has none. */
export async function checkAccess(world: Reader, orgId: string, entity: GrantTarget): Promise<{ is_authorised: boolean; roles: string }> {
  const roles =
    entity.entityType === 'user'
      ? await rolesIn(world, orgId, entity.entityId)
      : await selectRolesGranted(world.meta, orgId, 'group', entity.entityId)
  return { is_authorised: roles.length > 0, roles: roles.join(',') }
}

/** checkMayReadAccess lets users ask about themselves, and those who may read access about everybody. */
export function checkMayReadAccess(actor: Actor, userId: string): void {
  if (!isUser(actor, userId) && !hasPermission(actor, 'access_read'))
    throw forbidden('asking about others needs the permission access_read')
}

/** activeOrganization is where a user acts after a login: where he last switched to, as long as he has a role there, else where his record is. */
export async function activeOrganization(world: Reader, homeId: string, userId: string): Promise<string> {
  const chosen = await selectActiveOrganization(world.meta, userId)
  if (!chosen || chosen.org_id === homeId) return homeId
  return (await rolesIn(world, chosen.org_id, userId)).length > 0 ? chosen.org_id : homeId
}

/** deleteAccess ends every access of a user who is being removed for good, in the transaction that removes him. */
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
    created_at: nowMs,
    created_by: acting.identity,
    modified_at: nowMs,
    modified_by: acting.identity,
  }
}

const shown = (row: GrantRow): AccessMember => ({
  type: row.entity_type,
  id: row.entity_id,
  roles: row.roles,
  status: row.status,
  createdAt: row.created_at,
})
