import type { BodyOf, contract, Identity, Organization } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, conflict, forbidden, notBuilt, notFound } from '../../../kernel/errors.ts'
import type { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { actingIn, activeOrganization, grantFounder, identifiedIn } from './access.ts'
import { isManager, managementId } from './management.ts'
import {
  lockOrganizations,
  type OrganizationRow,
  selectActiveOfMembers,
  selectAllOrganizations,
  selectOrganization,
  selectOrganizationByName,
  selectOrganizationsOf,
  selectOrganizationsOfMembers,
  updateOrganizationRow,
} from './rows.ts'

export { activeOrganization, deleteAccess, grantedRoles, grantedRolesIn, identifiedIn, rolesOfGroups } from './access.ts'
export { adoptFingerprints, checkFingerprints } from './fingerprints.ts'
export { managementId } from './management.ts'
export { partitionOf } from './partition.ts'
export { recoverAdmin } from './recover.ts'
export { insertOrganization, selectFirstOrganization } from './rows.ts'

type NewOrganization = BodyOf<typeof contract.organizations.create>
type OrganizationChange = BodyOf<typeof contract.organizations.update>
type Reader = Pick<World, 'meta' | 'deployment'>

/** The only login method; an organization without it would lock everyone out. */
const PASSWORD = 'Password'
const DEFAULT_METHODS: Organization['login_methods'] = [{ name: PASSWORD, enabled: true }]

/** The organizations in which the caller may act; managers see all. */
export async function listOrganizations(world: Reader, actor: Actor): Promise<Organization[]> {
  const rows = (await isManager(world, actor))
    ? await selectAllOrganizations(world.meta)
    : await selectOrganizationsOf(world.meta, actor.orgId, actor.identity.id)
  return shownAll(world, rows, actor.orgId)
}

/** The organizations in which a user may act; `active` marks the one of the next login. */
export async function organizationsOfUser(world: Reader, homeId: string, userId: string): Promise<Organization[]> {
  const rows = await selectOrganizationsOf(world.meta, homeId, userId)
  return shownAll(world, rows, await activeOrganization(world, homeId, userId))
}

/** organizationsOfUser for all users of an organization, with a fixed number of queries. */
export async function organizationsOfMembers(world: Reader, orgId: string): Promise<(userId: string) => Promise<Organization[]>> {
  const own = await selectOrganization(world.meta, orgId)
  const elsewhere = Map.groupBy(await selectOrganizationsOfMembers(world.meta, orgId), ({ user_id }) => user_id)
  const switched = new Set((await selectActiveOfMembers(world.meta, orgId)).map(({ user_id }) => user_id))
  const ids = { activeId: orgId, managementId: await managementId(world) }
  return async (userId) => {
    const activeId = switched.has(userId) ? await activeOrganization(world, orgId, userId) : orgId
    const rows = [...(own ? [own] : []), ...(elsewhere.get(userId) ?? [])].sort((a, b) => b.number - a.number)
    return rows.map((row) => shown(world, row, { ...ids, activeId }))
  }
}

/** The caller's own organization, and those they can manage: all for managers, otherwise only their own. */
export async function ownOrganization(
  world: Reader,
  actor: Actor,
): Promise<{ own: OrganizationRow; manageable: readonly OrganizationRow[] }> {
  const own = await selectOrganization(world.meta, actor.orgId)
  if (!own) throw notFound('organization', actor.orgId)
  return { own, manageable: (await isManager(world, actor)) ? await selectAllOrganizations(world.meta) : [own] }
}

/** Finds an organization that the caller may see; any other is a 404. */
export async function findOrganization(world: Reader, actor: Actor, id: string): Promise<OrganizationRow> {
  const mayKnow = (await identifiedIn(world, actor, id)) !== undefined || (await isManager(world, actor))
  const row = mayKnow ? await selectOrganization(world.meta, id) : undefined
  if (!row) throw notFound('organization', id)
  return row
}

export const getOrganization = async (world: Reader, actor: Actor, row: OrganizationRow): Promise<Organization> =>
  shown(world, row, { activeId: actor.orgId, managementId: await managementId(world) })

/** Creates an organization with its first key and its datasets in a transaction. The top level provides it, because datasets lie above organizations. */
export type CreateOrganizationRecords = (world: World, tx: Db, request: OrganizationRecordsRequest) => Promise<{ firstKey: Secret }>
export type OrganizationRecordsRequest = { orgId: string; name: string; firstKey: Secret | undefined; founder?: Identity }

/** The creator gets access: everyone by the first key, a user also by a grant of Admin. */
export async function createOrganization(
  world: World,
  found: CreateOrganizationRecords,
  actor: Actor,
  request: NewOrganization,
): Promise<Organization & { first_key: string }> {
  const management = await managementId(world)
  if (actor.orgId !== management) throw forbidden('only administrators of the management organization create organizations')
  const region = regionOf(world)
  if (request.region !== undefined && request.region !== region)
    throw badField('region', `must be ${region}, the region of this deployment`)
  const orgId = world.ids.uuid()
  return world.meta.write(orgId, async (tx) => {
    const { firstKey } = await found(world, tx, { orgId, name: request.name, firstKey: undefined, founder: actor.identity })
    if (actor.identity.type === 'USER_ID') await grantFounder(world, tx, actor, orgId)
    const row = await selectOrganization(tx, orgId)
    if (!row) throw new Error('a new organization is missing')
    const made = shown(world, row, { activeId: actor.orgId, managementId: management })
    await recordChange(world, tx, actor, { entity: { type: 'organisation', id: orgId }, after: made })
    return { ...made, first_key: firstKey.reveal() }
  })
}

/** Updates the given fields; `settings` are merged, lists are replaced. */
export async function updateOrganization(
  world: World,
  actor: Actor,
  record: OrganizationRow,
  change: OrganizationChange,
): Promise<Organization> {
  const acting = await actingIn(world, actor, record.id, 'customer_write')
  checkChange(change)
  const ids = { activeId: actor.orgId, managementId: await managementId(world) }
  return world.meta.write(record.id, async (tx) => {
    await lockOrganizations(tx)
    const before = await selectOrganization(tx, record.id)
    if (!before) throw notFound('organization', record.id)
    if (Object.values(change).every((value) => value === undefined)) return shown(world, before, ids)
    const holder = change.name === undefined ? undefined : await selectOrganizationByName(tx, change.name)
    if (holder && holder.id !== record.id) throw conflict(`an organization called ${change.name} already exists`)
    const next = changed(before, change, world.clock.nowMs(), acting.identity)
    await updateOrganizationRow(tx, next)
    const [was, is] = [shown(world, before, ids), shown(world, next, ids)]
    await recordChange(world, tx, acting, { entity: { type: 'organisation', id: record.id }, before: was, after: is })
    return is
  })
}

function checkChange(change: OrganizationChange): void {
  if (change.settings?.shared_datasets) throw notBuilt('shared_datasets cannot be turned on: organizations never read one another’s events')
  const password = change.login_methods?.find((method) => method.name === PASSWORD)
  if (change.login_methods && !password?.enabled)
    throw badField('login_methods', `must leave ${PASSWORD} enabled: it is the only way to log in that this deployment has`)
}

function changed(row: OrganizationRow, change: OrganizationChange, nowMs: number, by: Identity): OrganizationRow {
  const partition = change.partition_tags && { ...row.partition_tags, ...change.partition_tags }
  if (partition?.enabled && !partition.partition_tag_list)
    throw badField('partition_tags.partition_tag_list', 'is required when partition tags are enabled')
  return {
    ...row,
    name: change.name ?? row.name,
    description: change.description ?? row.description,
    login_methods: change.login_methods ?? row.login_methods,
    partition_tags: partition ?? row.partition_tags,
    settings: change.settings ? { ...row.settings, ...change.settings } : row.settings,
    modified_at: nowMs,
    modified_by: by,
  }
}

const regionOf = (world: Pick<World, 'deployment'>): Organization['region'] =>
  world.deployment.region.toUpperCase() === 'US' ? 'US' : 'EU'

async function shownAll(world: Reader, rows: readonly OrganizationRow[], activeId: string): Promise<Organization[]> {
  const ids = { activeId, managementId: await managementId(world) }
  return rows.map((row) => shown(world, row, ids))
}

function shown(
  world: Pick<World, 'deployment'>,
  row: OrganizationRow,
  ids: { activeId: string; managementId: string | undefined },
): Organization {
  return {
    id: row.id,
    name: row.name,
    login_methods: row.login_methods ?? DEFAULT_METHODS,
    ...(row.description === null ? {} : { description: row.description }),
    active: row.id === ids.activeId,
    ...(ids.managementId === undefined ? {} : { management_resource: ids.managementId }),
    is_management_org: row.id === ids.managementId,
    contract_type: 'PAID',
    region: regionOf(world),
    metadata: metadataOf(row),
    ...(row.partition_tags ? { partition_tags: row.partition_tags } : {}),
    ...(row.settings ? { settings: row.settings } : {}),
  }
}
