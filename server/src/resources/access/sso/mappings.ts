import { type BodyOf, type contract, isUuid, type ReplyOf, roleName, type SsoMapping, shownRole } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, removeRecord } from '../../records.ts'
import { checkMayAddMembers, listGroups } from '../groups/groups.ts'
import { checkGrant, lockRolesForGrant } from '../roles/roles.ts'
import { assignedBy, groupIn } from './decide.ts'
import { allIdps, findIdp } from './providers.ts'
import { deleteMapping, insertMapping, lockMapping, type MappingRow, selectMappings, updateMappingRow } from './rows.ts'

type NewMapping = BodyOf<typeof contract.sso.createMapping>
type PreviewAsk = BodyOf<typeof contract.sso.preview>

export const allMappings = (world: MetaWorld, orgId: string): Promise<readonly MappingRow[]> =>
  world.meta.cached(orgId, 'sso mappings', () => selectMappings(world.meta, orgId))

export const listMappings = async (world: MetaWorld, actor: Actor): Promise<SsoMapping[]> =>
  (await allMappings(world, actor.orgId)).map(shownMapping)

export async function createMapping(world: World, actor: Actor, ask: NewMapping): Promise<SsoMapping> {
  const fields = await checkedFields(world, actor, ask)
  const row = { org_id: actor.orgId, id: world.ids.uuid(), ...fields, ...createdBy(actor, world.clock.nowMs()) }
  return createRecord(world, actor, mappingRecords, row, (tx) => lockRole(tx, row))
}

export async function updateMapping(world: World, actor: Actor, ask: SsoMapping): Promise<SsoMapping> {
  const fields = await checkedFields(world, actor, ask)
  const change = async (before: MappingRow, tx: Db) => {
    await lockRole(tx, { ...before, ...fields })
    return fields
  }
  return changeRecord(world, actor, mappingRecords, { id: ask.id, change })
}

export async function removeMapping(world: World, actor: Actor, id: string | undefined): Promise<undefined> {
  if (id === undefined || !isUuid(id)) throw badField('id', 'must be the UUID of the mapping')
  const row = (await allMappings(world, actor.orgId)).find((mapping) => mapping.id === id.toLowerCase())
  if (!row) throw notFound('mapping', id)
  return removeRecord(world, actor, mappingRecords, row)
}

/** What a sign-on with these claims would get; roles and groups that the person has otherwise are not included. */
export async function previewSignOn(world: World, actor: Actor, ask: PreviewAsk): Promise<ReplyOf<typeof contract.sso.preview>> {
  const idp = await findIdp(world, actor, ask.idp)
  const { assigned } = assignedBy(await allMappings(world, actor.orgId), idp, ask.claims)
  const roles = assigned.roles.length > 0 ? assigned.roles : idp.default_roles
  return { roles: roles.map(shownRole), groups: assigned.groups }
}

type Fields = Pick<MappingRow, 'idp' | 'provider_key' | 'provider_value' | 'assign_attr'>

async function checkedFields(world: World, actor: Actor, ask: NewMapping): Promise<Fields> {
  if (ask.idp !== undefined && !(await allIdps(world, actor.orgId)).some(({ name }) => name === ask.idp))
    throw badField('idp', `names no identity provider called ${ask.idp}`)
  const { provider_key, provider_value } = ask
  const fields = { idp: ask.idp ?? null, provider_key, provider_value }
  const groupId = groupIn(ask.assign_attr)
  if (groupId === undefined) {
    await checkGrant(world, actor, 'USER', [ask.assign_attr], 'assign_attr')
    return { ...fields, assign_attr: roleName(ask.assign_attr) }
  }
  if (!isUuid(groupId)) throw badField('assign_attr', 'must have the id of a group after `group:`')
  if (!(await listGroups(world, actor)).some(({ id }) => id === groupId))
    throw badField('assign_attr', `names no group with the id ${groupId}`)
  await checkMayAddMembers(world, actor, groupId)
  return { ...fields, assign_attr: `group:${groupId}` }
}

const lockRole = async (tx: Db, { org_id, assign_attr }: MappingRow): Promise<void> => {
  if (groupIn(assign_attr) === undefined) await lockRolesForGrant(tx, org_id, [assign_attr])
}

const shownMapping = (row: MappingRow): SsoMapping => ({
  id: row.id,
  provider_key: row.provider_key,
  provider_value: row.provider_value,
  assign_attr: shownRole(row.assign_attr),
  ...(row.idp === null ? {} : { idp: row.idp }),
})

const mappingRecords: RecordKind<MappingRow, SsoMapping> = {
  noun: 'mapping',
  entity: 'sso_mapping',
  lock: lockMapping,
  insert: insertMapping,
  update: updateMappingRow,
  remove: deleteMapping,
  shown: shownMapping,
}
