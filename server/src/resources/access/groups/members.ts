import type { BodyOf, contract, GroupMember } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { reachedIn } from './groups.ts'
import { checkMayAddMembers } from './provided.ts'
import {
  deleteMember,
  insertMember,
  lockGroups,
  selectGroup,
  selectKnownGroups,
  selectKnownUsers,
  selectMembers,
  type UserGroupRow,
} from './rows.ts'

type MemberRef = BodyOf<typeof contract.groups.addMembers>['members'][number]

export const listMembers = (world: Pick<World, 'meta'>, actor: Actor, group: UserGroupRow): Promise<GroupMember[]> =>
  selectMembers(world.meta, actor.orgId, group.id)

/** Adds all members or none. New members receive the roles of the group, so the caller must hold their permissions. */
export async function addMembers(world: World, actor: Actor, group: UserGroupRow, members: readonly MemberRef[]): Promise<undefined> {
  await checkMayAddMembers(world, actor, group.id)
  const nowMs = world.clock.nowMs()
  await world.meta.write(actor.orgId, async (tx) => {
    await lockGroups(tx, actor.orgId)
    if (!(await selectGroup(tx, actor.orgId, group.id))) throw notFound('group', group.id)
    await checkKnown(tx, actor.orgId, members)
    await checkNoCycle(tx, actor.orgId, group.id, members)
    const added: MemberRef[] = []
    for (const member of members) {
      const rows = await insertMember(tx, actor.orgId, { ...member, group_id: group.id, modified_at: nowMs })
      if (rows > 0) added.push(member)
    }
    if (added.length > 0) await recordChange(world, tx, actor, { entity: { type: 'group', id: group.id }, after: { added } })
  })
}

/** Removes members; ids of non-members are ignored. */
export async function removeMembers(world: World, actor: Actor, group: UserGroupRow, members: readonly MemberRef[]): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    const removed: MemberRef[] = []
    for (const member of members) {
      const rows = await deleteMember(tx, actor.orgId, { ...member, group_id: group.id })
      if (rows > 0) removed.push(member)
    }
    if (removed.length > 0) await recordChange(world, tx, actor, { entity: { type: 'group', id: group.id }, before: { removed } })
  })
}

async function checkKnown(tx: Db, orgId: string, members: readonly MemberRef[]): Promise<void> {
  const idsOf = (type: MemberRef['member_type']) =>
    members.filter((member) => member.member_type === type).map((member) => member.member_id)
  const known = {
    USER: new Set((await selectKnownUsers(tx, orgId, idsOf('USER'))).map(({ id }) => id)),
    GROUP: new Set((await selectKnownGroups(tx, orgId, idsOf('GROUP'))).map(({ id }) => id)),
  }
  const unknown = members.find(({ member_type, member_id }) => !known[member_type].has(member_id))
  if (unknown) throw badField('members', `names no ${unknown.member_type === 'USER' ? 'user' : 'group'} with id ${unknown.member_id}`)
}

/** All new edges lead into one group, so there is a cycle only if that group is already inside one of the members. */
async function checkNoCycle(tx: Db, orgId: string, groupId: string, members: readonly MemberRef[]): Promise<void> {
  const containers = await reachedIn(tx, orgId, groupId)
  const circular = members.find(({ member_id }) => member_id === groupId || containers.has(member_id))
  if (circular) throw badField('members', `would create a cycle: the group ${circular.member_id} is or contains this one`)
}
