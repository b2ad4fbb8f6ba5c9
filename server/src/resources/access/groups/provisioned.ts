import type { Actor } from '../../../http/actor.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { createdBy, modifiedBy } from '../../records.ts'
import { recordChange } from '../audit/audit.ts'
import { nameTaken, shownGroup } from './group-record.ts'
import {
  deleteGrantsOfGroup,
  deleteGroup,
  deleteMember,
  deleteMembershipsOf,
  insertGroup,
  insertMember,
  lockGroups,
  selectGroup,
  selectGroupByName,
  selectKnownUsers,
  selectMembers,
  type UserGroupRow,
  updateGroupRow,
} from './rows.ts'

/** Adds a group, in the transaction of what it belongs to. */
export async function addGroupIn(world: World, tx: Db, actor: Actor, name: string): Promise<UserGroupRow> {
  await lockGroups(tx, actor.orgId)
  if (await selectGroupByName(tx, actor.orgId, name)) throw nameTaken(name)
  const row = { org_id: actor.orgId, id: world.ids.uuid(), name, description: null, ...createdBy(actor, world.clock.nowMs()) }
  await insertGroup(tx, row)
  await recordChange(world, tx, actor, { entity: { type: 'group', id: row.id }, after: shownGroup(row) })
  return row
}

export async function renameGroupIn(world: World, tx: Db, actor: Actor, id: string, name: string): Promise<void> {
  const before = await lockedGroup(tx, actor.orgId, id)
  if (before.name === name) return
  const holder = await selectGroupByName(tx, actor.orgId, name)
  if (holder && holder.id !== id) throw nameTaken(name)
  const after = { ...before, name, ...modifiedBy(actor, world.clock.nowMs()) }
  await updateGroupRow(tx, after)
  await recordChange(world, tx, actor, { entity: { type: 'group', id }, before: shownGroup(before), after: shownGroup(after) })
}

async function lockedGroup(tx: Db, orgId: string, id: string): Promise<UserGroupRow> {
  await lockGroups(tx, orgId)
  const row = await selectGroup(tx, orgId, id)
  if (!row) throw notFound('group', id)
  return row
}

/** The users in a group; the group stays as it is until the end of the transaction. */
export async function membersIn(tx: Db, orgId: string, groupId: string): Promise<string[]> {
  await lockGroups(tx, orgId)
  const members = await selectMembers(tx, orgId, groupId)
  return members.filter(({ member_type }) => member_type === 'USER').map(({ member_id }) => member_id)
}

/** Sets which users a group has. Groups within the group stay. */
export async function setUsersIn(world: World, tx: Db, actor: Actor, groupId: string, userIds: readonly string[]): Promise<void> {
  const before = new Set(await membersIn(tx, actor.orgId, groupId))
  const after = new Set(userIds)
  const [added, removed] = [[...after].filter((id) => !before.has(id)), [...before].filter((id) => !after.has(id))]
  const known = new Set((await selectKnownUsers(tx, actor.orgId, added)).map(({ id }) => id))
  const unknown = added.find((id) => !known.has(id))
  if (unknown !== undefined) throw badField('members', `names no user with id ${unknown}`)
  const memberOf = (id: string) => ({ member_id: id, member_type: 'USER', group_id: groupId }) as const
  for (const id of added) await insertMember(tx, actor.orgId, { ...memberOf(id), modified_at: world.clock.nowMs() })
  for (const id of removed) await deleteMember(tx, actor.orgId, memberOf(id))
  if (added.length + removed.length === 0) return
  await recordChange(world, tx, actor, {
    entity: { type: 'group', id: groupId },
    ...(added.length > 0 ? { after: { added: added.map(memberOf) } } : {}),
    ...(removed.length > 0 ? { before: { removed: removed.map(memberOf) } } : {}),
  })
}

/** Deletes a group with its members, its memberships in other groups, and its grants. */
export async function removeGroupIn(world: World, tx: Db, actor: Actor, record: UserGroupRow): Promise<void> {
  await lockGroups(tx, actor.orgId)
  // Deleting the group first waits for concurrent grants; the following statements see them.
  if ((await deleteGroup(tx, actor.orgId, record.id)) === 0) throw notFound('group', record.id)
  await deleteMembershipsOf(tx, actor.orgId, record.id)
  await deleteGrantsOfGroup(tx, actor.orgId, record.id)
  await recordChange(world, tx, actor, { entity: { type: 'group', id: record.id }, before: shownGroup(record) })
}
