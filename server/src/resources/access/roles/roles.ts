import {
  allPermissions,
  apiRoles,
  type BodyOf,
  type contract,
  groupOfPermission,
  isSensitive,
  type Permission,
  permissionEntry,
  type Role,
  roleName,
  type SystemRole,
  systemRoles,
  userRoles,
} from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, conflict, forbidden, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { QueryLimit, World } from '../../../world.ts'
import { createdBy, createRecord, modifiedBy } from '../../records.ts'
import { recordChange } from '../audit/audit.ts'
import { checkLimits, limitedRoles } from '../policies/policies.ts'
import {
  deleteRole,
  insertRole,
  lockRole,
  lockRoleRowsForGrant,
  lockRoles,
  type RoleRow,
  selectRoleHolder,
  selectRoles,
  updateRoleRow,
} from './rows.ts'

type RoleDraft = BodyOf<typeof contract.roles.create>
/** The kind of roles: of users, of API keys, or either. */
export type RoleKind = 'USER' | 'API' | 'ANY'
type FoundRole = { kind: 'system'; id: SystemRole } | { kind: 'custom'; row: RoleRow }

/** The areas in which a LOG_PERMIT policy limits a role to some logs. */
const LIMITED_GROUPS = ['Search', 'Log']

const isSystemRole = (role: string): role is SystemRole => Object.hasOwn(systemRoles, role)

/** The union of the permissions of the roles; deleted roles grant nothing. */
export async function permissionsOf(world: Pick<World, 'meta'>, orgId: string, roles: readonly string[]): Promise<ReadonlySet<Permission>> {
  const named = roles.map(roleName)
  const own = named.every(isSystemRole) ? undefined : await customRoles(world, orgId)
  return new Set(named.flatMap((role) => (isSystemRole(role) ? systemRoles[role].permissions : (own?.get(role)?.permissions ?? []))))
}

/** The names that are roles of the given kind neither of the system nor of the organization. */
export async function unknownRoles(world: Pick<World, 'meta'>, orgId: string, kind: RoleKind, roles: readonly string[]): Promise<string[]> {
  const own = await customRoles(world, orgId)
  return roles.filter((given) => {
    const role = roleName(given)
    const type = isSystemRole(role) ? systemRoles[role].role_type : own.get(role)?.role_type
    return type === undefined || (kind !== 'ANY' && type !== kind)
  })
}

/** As user records have them. */
const givenUserRoles = userRoles.map((role) => (role === 'Admin' ? 'Administrator' : role))

/** Rejects unknown roles, and roles with more permissions than the caller has. */
export async function checkGrant(
  world: Pick<World, 'meta'>,
  actor: Actor,
  kind: RoleKind,
  roles: readonly string[],
  field = 'roles',
): Promise<void> {
  const unknown = await unknownRoles(world, actor.orgId, kind, roles)
  if (unknown[0] !== undefined) {
    const known = { USER: givenUserRoles, API: apiRoles, ANY: [...givenUserRoles, ...apiRoles] }[kind].join(', ')
    throw badField(field, `must each be one of ${known} or the id of a custom role, not ${unknown[0].slice(0, 100)}`)
  }
  const beyond = firstPermissionNotHeld(actor, await permissionsOf(world, actor.orgId, roles))
  if (beyond) throw forbidden(`callers grant only permissions they hold: the roles include ${beyond}`)
  await checkLimits(world, actor, kind === 'API' ? 'APIKEY' : 'USER', roles.map(roleName))
}

/** Locks custom roles against deletion until the end of the transaction that grants them; rejects deleted ones. */
export async function lockRolesForGrant(tx: Db, orgId: string, roles: readonly string[]): Promise<void> {
  const custom = [...new Set(roles.filter((role) => !isSystemRole(roleName(role))))]
  if (custom.length === 0) return
  const kept = new Set((await lockRoleRowsForGrant(tx, orgId, custom)).map(({ id }) => id))
  const lost = custom.find((id) => !kept.has(id))
  if (lost !== undefined) throw badField('roles', `names no role with the id ${lost}: it was just deleted`)
}

const firstPermissionNotHeld = (actor: Actor, permissions: Iterable<Permission>): Permission | undefined =>
  [...permissions].find((permission) => !actor.permissions.has(permission))

const customRoles = (world: Pick<World, 'meta'>, orgId: string): Promise<ReadonlyMap<string, RoleRow>> =>
  world.meta.cached(orgId, 'roles', async () => new Map((await selectRoles(world.meta, orgId)).map((row) => [row.id, known(row)])))

/** Removes permissions that this version no longer knows. */
const known = (row: RoleRow): RoleRow => ({ ...row, permissions: row.permissions.filter((name) => allPermissions.includes(name)) })

export async function listRoles(world: Pick<World, 'meta'>, actor: Actor, type: 'USER' | 'API' | undefined): Promise<Role[]> {
  const limited = await limitedRoles(world, actor.orgId)
  const system = [...userRoles, ...apiRoles].map((id) => shownSystemRole(id, limited))
  const custom = [...(await customRoles(world, actor.orgId)).values()].map((row) => shownCustomRole(row, limited))
  return [...system, ...custom].filter((role) => type === undefined || role.role_type === type)
}

export async function findRole(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<FoundRole> {
  const name = roleName(id)
  if (isSystemRole(name)) return { kind: 'system', id: name }
  const row = (await customRoles(world, actor.orgId)).get(id)
  if (!row) throw notFound('role', id)
  return { kind: 'custom', row }
}

/** Finds a role that may be changed; system roles may not. */
export async function findCustomRole(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<RoleRow> {
  const found = await findRole(world, actor, id)
  if (found.kind === 'system') throw forbidden(`the system role ${found.id} can be neither changed nor deleted`)
  return found.row
}

export async function getRole(world: Pick<World, 'meta'>, actor: Actor, found: FoundRole): Promise<Role> {
  const limited = await limitedRoles(world, actor.orgId)
  return found.kind === 'system' ? shownSystemRole(found.id, limited) : shownCustomRole(found.row, limited)
}

export async function createRole(world: World, actor: Actor, ask: RoleDraft): Promise<Role> {
  const nowMs = world.clock.nowMs()
  const row: RoleRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    role_type: ask.role_type,
    display_name: ask.display_name,
    description: ask.description ?? null,
    permissions: checkedPermissions(actor, ask.permissions),
    ...createdBy(actor, nowMs),
  }
  const shown = (one: RoleRow): Role => shownCustomRole(one, NO_LIMITED_ROLES)
  await createRecord(world, actor, { entity: 'role', insert: insertRole, shown }, row, async (tx) => {
    await lockRoles(tx, actor.orgId)
    await checkName(tx, row)
  })
  return shownCustomRole(row, await limitedRoles(world, actor.orgId))
}

/** Replaces a role; holders have the new permissions on their next request. */
export async function updateRole(world: World, actor: Actor, record: RoleRow, ask: RoleDraft): Promise<Role> {
  if (ask.role_type !== record.role_type) throw badField('role_type', `cannot change, it is ${record.role_type}`)
  const next: RoleRow = {
    ...record,
    display_name: ask.display_name,
    description: ask.description ?? null,
    permissions: checkedPermissions(actor, ask.permissions),
    ...modifiedBy(actor, world.clock.nowMs()),
  }
  const row = await world.meta.write(actor.orgId, async (tx) => {
    await lockRoles(tx, actor.orgId)
    await checkName(tx, next)
    const written = await updateRoleRow(tx, next)
    if (!written) throw notFound('role', record.id)
    const before = shownCustomRole(record, NO_LIMITED_ROLES)
    await recordChange(world, tx, actor, {
      entity: { type: 'role', id: record.id },
      before,
      after: shownCustomRole(written, NO_LIMITED_ROLES),
    })
    return written
  })
  return shownCustomRole(row, await limitedRoles(world, actor.orgId))
}

export async function removeRole(world: World, actor: Actor, record: RoleRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    // The lock waits for concurrent grants, so that the next statement sees them.
    if (!(await lockRole(tx, actor.orgId, record.id))) throw notFound('role', record.id)
    const holder = await selectRoleHolder(tx, actor.orgId, record.id)
    if (holder) throw conflict(`the role is still assigned to at least one ${holder.kind}`)
    await deleteRole(tx, actor.orgId, record.id)
    await recordChange(world, tx, actor, { entity: { type: 'role', id: record.id }, before: shownCustomRole(record, NO_LIMITED_ROLES) })
  })
}

/** Validates the permissions of a role: each once, in the order of the permission list. */
function checkedPermissions(actor: Actor, names: readonly string[]): Permission[] {
  const unknown = names.find((name) => !(allPermissions as readonly string[]).includes(name))
  if (unknown !== undefined) throw badField('permissions', `must each be a name that GET /permissions lists, not ${unknown.slice(0, 100)}`)
  const requested = allPermissions.filter((permission) => names.includes(permission))
  const beyond = firstPermissionNotHeld(actor, requested)
  if (beyond) throw forbidden(`callers create only roles whose permissions they hold: it includes ${beyond}`)
  return requested
}

const nameTaken = (displayName: string) => conflict(`a role called ${displayName} already exists`)

/** Rejects names that look like the name of another role: different case, width, spaces or invisible characters. */
async function checkName(tx: Db, { org_id, id, display_name }: RoleRow): Promise<void> {
  const canonical = canonicalName(display_name)
  if (canonical === '') throw badField('display_name', 'must contain a letter, a digit or a visible character')
  const others = (await selectRoles(tx, org_id)).filter((row) => row.id !== id)
  if (systemRoleNames.has(canonical) || others.some((row) => canonicalName(row.display_name) === canonical)) throw nameTaken(display_name)
}

const canonicalName = (name: string): string =>
  name
    .normalize('NFKC')
    .replace(/[\s\p{C}]+/gu, '')
    .toLowerCase()
const systemRoleNames = new Set(Object.entries(systemRoles).flatMap(([id, role]) => [canonicalName(id), canonicalName(role.display_name)]))

const NO_LIMITED_ROLES: ReadonlySet<string> = new Set()

const shownSystemRole = (id: SystemRole, limited: ReadonlySet<string>): Role => ({
  role_id: id,
  role_type: systemRoles[id].role_type,
  display_name: systemRoles[id].display_name,
  is_system_role: true,
  metadata: {},
  permissions: shownPermissions(systemRoles[id].permissions, limited.has(id)),
})

const shownCustomRole = (row: RoleRow, limited: ReadonlySet<string>): Role => ({
  role_id: row.id,
  role_type: row.role_type,
  display_name: row.display_name,
  ...(row.description === null ? {} : { description: row.description }),
  is_system_role: false,
  metadata: metadataOf(row),
  permissions: shownPermissions(row.permissions, limited.has(row.id)),
})

const shownPermissions = (permissions: readonly Permission[], limited: boolean): Role['permissions'] =>
  permissions.map((name) => {
    const group = groupOfPermission(name)
    return {
      ...group,
      ...permissionEntry(name),
      restricted: limited && LIMITED_GROUPS.includes(group.group_name),
      sensitive: isSensitive(name),
    }
  })

/** The largest limit on queries that any of the roles permits. */
export const limitOfRoles = ({ otherwise, byRole }: QueryLimit, roles: readonly string[]): number =>
  roles.length === 0 ? otherwise : Math.max(...roles.map((role) => byRole.get(role) ?? otherwise))
