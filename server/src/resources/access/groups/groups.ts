import type { BodyOf, contract, UserGroup } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { changeRecord, createdBy, createRecord, type RecordKind } from '../../records.ts'
import { nameTaken, shownGroup } from './group-record.ts'
import { removeGroupIn } from './provisioned.ts'
import {
  deleteMembershipsOf,
  insertGroup,
  lockGroups,
  selectGroup,
  selectGroupByName,
  selectGroups,
  selectGroupsOf,
  selectMemberships,
  selectReached,
  type UserGroupRow,
  updateGroupRow,
} from './rows.ts'

export { shownGroup } from './group-record.ts'
export { checkMayAddMembers, setProvidedGroups } from './provided.ts'
export { addGroupIn, membersIn, removeGroupIn, renameGroupIn, setUsersIn } from './provisioned.ts'

type NewGroup = BodyOf<typeof contract.groups.create>
type GroupChange = BodyOf<typeof contract.groups.update>

export async function listGroups(world: MetaWorld, actor: Actor): Promise<UserGroup[]> {
  return world.meta.cached(actor.orgId, 'groups', async () => (await selectGroups(world.meta, actor.orgId)).map(shownGroup))
}

export async function findGroup(world: MetaWorld, actor: Actor, id: string): Promise<UserGroupRow> {
  const row = await selectGroup(world.meta, actor.orgId, id)
  if (!row) throw notFound('group', id)
  return row
}

/** The groups that a user or group belongs to directly. */
export async function groupsOf(world: MetaWorld, orgId: string, memberId: string): Promise<UserGroup[]> {
  return (await selectGroupsOf(world.meta, orgId, memberId)).map(shownGroup)
}

/** Like groupsOf, for all members. */
export const groupsOfAll = (world: MetaWorld, orgId: string): Promise<ReadonlyMap<string, readonly UserGroup[]>> =>
  world.meta.cached(orgId, 'groups-of-all', async () => {
    const all = new Map<string, UserGroup[]>()
    for (const { member_id, ...group } of await selectMemberships(world.meta, orgId)) {
      const groups = all.get(member_id)
      if (groups) groups.push(shownGroup(group))
      else all.set(member_id, [shownGroup(group)])
    }
    return all
  })

/** The ids of the groups that a user or group belongs to, directly or through other groups. */
export const reachedGroups = (world: MetaWorld, orgId: string, memberId: string): Promise<ReadonlySet<string>> =>
  world.meta.cached(orgId, `reached-groups:${memberId}`, () => reachedIn(world.meta, orgId, memberId))

/** Like reachedGroups, as a transaction sees it. */
export const reachedIn = async (db: Db, orgId: string, memberId: string): Promise<ReadonlySet<string>> =>
  new Set((await selectReached(db, orgId, memberId)).map(({ id }) => id))

/** Ends all memberships of a deleted user or group, in the transaction that deletes it. */
export const leaveGroups = (tx: Db, orgId: string, memberId: string): Promise<number> => deleteMembershipsOf(tx, orgId, memberId)

export async function createGroup(world: World, actor: Actor, request: NewGroup): Promise<UserGroup> {
  const nowMs = world.clock.nowMs()
  const row: UserGroupRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    name: request.name,
    description: request.description ?? null,
    ...createdBy(actor, nowMs),
  }
  return createRecord(world, actor, groupRecords, row, async (tx) => {
    await lockGroups(tx, actor.orgId)
    if (await selectGroupByName(tx, actor.orgId, row.name)) throw nameTaken(row.name)
  })
}

export async function updateGroup(world: World, actor: Actor, record: UserGroupRow, change: GroupChange): Promise<UserGroup> {
  if (change.name === undefined && change.description === undefined) return shownGroup(record)
  return changeRecord(world, actor, groupRecords, {
    id: record.id,
    change: async (before, tx) => {
      const name = change.name ?? before.name
      const holder = await selectGroupByName(tx, actor.orgId, name)
      if (holder && holder.id !== record.id) throw nameTaken(name)
      return { name, description: change.description ?? before.description }
    },
  })
}

/** Deletes a group with its members, its memberships in other groups, and its grants. */
export async function removeGroup(world: World, actor: Actor, record: UserGroupRow): Promise<undefined> {
  await world.meta.write(actor.orgId, (tx) => removeGroupIn(world, tx, actor, record))
}

const groupRecords: Omit<RecordKind<UserGroupRow, UserGroup>, 'remove'> = {
  noun: 'group',
  entity: 'group',
  lock: async (tx, orgId, id) => {
    await lockGroups(tx, orgId)
    return selectGroup(tx, orgId, id)
  },
  insert: insertGroup,
  update: updateGroupRow,
  shown: shownGroup,
}
