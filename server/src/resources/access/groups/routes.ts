import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { createGroup, findGroup, listGroups, removeGroup, shownGroup, updateGroup } from './groups.ts'
import { addMembers, listMembers, removeMembers } from './members.ts'

const byGroupId =
  (world: World) =>
  ({ actor, params }: RecordPath<'groupId'>) =>
    findGroup(world, actor, params.groupId)

export const groupRoutes = (world: World): Routes =>
  routes('groups', contract.groups, {
    list: async ({ actor }) => ({ groups: await listGroups(world, actor) }),
    create: ({ actor, body }) => createGroup(world, actor, body),
    get: onRecord(byGroupId(world), async ({ record }) => shownGroup(record)),
    update: onRecord(byGroupId(world), ({ actor, record, body }) => updateGroup(world, actor, record, body)),
    remove: onRecord(byGroupId(world), ({ actor, record }) => removeGroup(world, actor, record)),
    members: onRecord(byGroupId(world), async ({ actor, record }) => ({ members: await listMembers(world, actor, record) })),
    addMembers: onRecord(byGroupId(world), ({ actor, record, body }) => addMembers(world, actor, record, body.members)),
    removeMembers: onRecord(byGroupId(world), ({ actor, record, body }) => removeMembers(world, actor, record, body.members)),
  })
