import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createGroup, findGroup, listGroups, removeGroup, shownGroup, updateGroup } from './groups.ts'
import { addMembers, listMembers, removeMembers } from './members.ts'

export const groupRoutes = (world: World): Routes =>
  routes('groups', contract.groups, {
    list: async ({ actor }) => ({ groups: await listGroups(world, actor) }),
    create: ({ actor, body }) => createGroup(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findGroup(world, actor, params.groupId),
      async ({ record }) => shownGroup(record),
    ),
    update: onRecord(
      ({ actor, params }) => findGroup(world, actor, params.groupId),
      ({ actor, record, body }) => updateGroup(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findGroup(world, actor, params.groupId),
      ({ actor, record }) => removeGroup(world, actor, record),
    ),
    members: onRecord(
      ({ actor, params }) => findGroup(world, actor, params.groupId),
      async ({ actor, record }) => ({ members: await listMembers(world, actor, record) }),
    ),
    addMembers: onRecord(
      ({ actor, params }) => findGroup(world, actor, params.groupId),
      ({ actor, record, body }) => addMembers(world, actor, record, body.members),
    ),
    removeMembers: onRecord(
      ({ actor, params }) => findGroup(world, actor, params.groupId),
      ({ actor, record, body }) => removeMembers(world, actor, record, body.members),
    ),
  })
