import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { list, Metadata, ms, text, uuid } from './values.ts'

export const UserGroup = z
  .object({
    group_id: uuid,
    id: uuid.describe('The same value as `group_id`.'),
    name: text(1, 255),
    description: z.string().optional(),
    created_at: ms,
    modified_at: ms,
    metadata: Metadata,
  })
  .meta({ id: 'UserGroup', description: 'Users and groups that are given roles together.' })
export type UserGroup = z.output<typeof UserGroup>

const memberType = z.enum(['USER', 'GROUP'])

export const GroupMember = z
  .object({ group_id: uuid, member_id: uuid, member_type: memberType, modified_at: ms })
  .meta({ id: 'GroupMember', description: 'That a user or a group belongs to a group.' })
export type GroupMember = z.output<typeof GroupMember>

const description = text(0, 4000)
const MEMBERS_MAX = 100
const Members = z.object({ members: list(z.object({ member_id: uuid, member_type: memberType }), { min: 1, max: MEMBERS_MAX }) })

export const groups = {
  list: endpoint({
    method: 'GET',
    path: '/groups',
    permission: 'groups_read',
    tier: 'C',
    summary: 'All groups of the organisation',
    reply: z.object({ groups: z.array(UserGroup) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/groups',
    permission: 'groups_write',
    tier: 'C',
    summary: 'Create a group; its name is its own, whatever the case of its letters',
    body: z.object({ name: text(1, 255), description: description.optional() }),
    status: 201,
    reply: UserGroup,
    fails: [409],
  }),
  get: endpoint({
    method: 'GET',
    path: '/groups/{groupId}',
    permission: 'groups_read',
    exception: 'member',
    tier: 'C',
    summary: 'One group',
    reply: UserGroup,
    fails: [404],
  }),
  update: endpoint({
    method: 'PATCH',
    path: '/groups/{groupId}',
    permission: 'groups_write',
    tier: 'C',
    summary: 'Rename or describe a group',
    body: z.object({ name: text(1, 255).optional(), description: description.optional() }),
    reply: UserGroup,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/groups/{groupId}',
    permission: 'groups_delete',
    tier: 'S',
    summary: 'Delete a group with its memberships and the roles it was granted',
    fails: [404],
  }),
  members: endpoint({
    method: 'GET',
    path: '/groups/{groupId}/members',
    permission: 'groups_read',
    exception: 'member',
    tier: 'X',
    summary: 'The users and groups that belong to a group directly',
    reply: z.object({ members: z.array(GroupMember) }),
    fails: [404],
  }),
  addMembers: endpoint({
    method: 'POST',
    path: '/groups/{groupId}/members',
    permission: 'groups_write',
    tier: 'X',
    summary: 'Add users and groups to a group; who is a member already stays one',
    description:
      'Members receive the roles granted to the group, so the caller must hold what these roles permit. A cycle of groups is 400.',
    body: Members,
    fails: [404],
  }),
  removeMembers: endpoint({
    method: 'DELETE',
    path: '/groups/{groupId}/members',
    permission: 'groups_write',
    tier: 'X',
    summary: 'Take users and groups out of a group; who is no member is passed over',
    body: Members,
    fails: [404],
  }),
}
