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
  .meta({ id: 'UserGroup', description: 'Users and groups that are granted roles together.' })
export type UserGroup = z.output<typeof UserGroup>

const memberType = z.enum(['USER', 'GROUP'])

export const GroupMember = z
  .object({ group_id: uuid, member_id: uuid, member_type: memberType, modified_at: ms })
  .meta({ id: 'GroupMember', description: 'The membership of a user or group in a group.' })
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
    summary: 'List the groups of the organization',
    reply: z.object({ groups: z.array(UserGroup) }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/groups',
    permission: 'groups_write',
    tier: 'C',
    summary: 'Create a group; names are unique regardless of case',
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
    summary: 'Update the name or description of a group',
    body: z.object({ name: text(1, 255).optional(), description: description.optional() }),
    reply: UserGroup,
    fails: [404, 409],
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/groups/{groupId}',
    permission: 'groups_delete',
    tier: 'S',
    summary: 'Delete a group with its memberships and granted roles',
    fails: [404],
  }),
  members: endpoint({
    method: 'GET',
    path: '/groups/{groupId}/members',
    permission: 'groups_read',
    exception: 'member',
    tier: 'X',
    summary: 'List the direct members of a group',
    reply: z.object({ members: z.array(GroupMember) }),
    fails: [404],
  }),
  addMembers: endpoint({
    method: 'POST',
    path: '/groups/{groupId}/members',
    permission: 'groups_write',
    tier: 'X',
    summary: 'Add users and groups to a group; existing members stay',
    description:
      'Members receive the roles of the group, so the caller must hold the permissions of these roles. A cycle of groups is 400.',
    body: Members,
    fails: [404],
  }),
  removeMembers: endpoint({
    method: 'DELETE',
    path: '/groups/{groupId}/members',
    permission: 'groups_write',
    tier: 'X',
    summary: 'Remove users and groups from a group; non-members are ignored',
    body: Members,
    fails: [404],
  }),
}
