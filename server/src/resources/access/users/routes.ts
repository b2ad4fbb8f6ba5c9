import { contract } from '@dendro/api'
import { type EndpointTarget, onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { groupsOf } from '../groups/groups.ts'
import { organizationsOfUser } from '../organizations/organizations.ts'
import { getPreferences, updatePreferences } from './preferences.ts'
import type { UserRow } from './rows.ts'
import {
  createUser,
  deactivateUser,
  endSessions,
  findUser,
  findUserAnywhere,
  getUser,
  listAllUsers,
  listUsers,
  reactivateUser,
  removeSecondFactorOf,
  removeUser,
  resendInvitation,
  resetPassword,
  updateUser,
} from './users.ts'

type UserRequest = Pick<EndpointTarget<typeof contract.users.get>, 'actor' | 'params'>

export function userRoutes(world: World): Routes {
  const find = ({ actor, params }: UserRequest): Promise<UserRow> => findUser(world, actor, params.userId)
  const findSelf = ({ actor, params }: UserRequest): Promise<UserRow> => findUserAnywhere(world, actor, params.userId)
  return routes('users', contract.users, {
    list: ({ actor, query }) => listUsers(world, actor, query),
    create: ({ actor, body }) => createUser(world, actor, body),
    all: async ({ actor }) => ({ users: await listAllUsers(world, actor) }),
    get: onRecord(findSelf, ({ record }) => getUser(world, record)),
    update: onRecord(findSelf, ({ actor, record, body }) => updateUser(world, actor, record, body)),
    remove: onRecord(find, ({ actor, record }) => removeUser(world, actor, record)),
    deactivate: onRecord(find, ({ actor, record }) => deactivateUser(world, actor, record)),
    reactivate: onRecord(find, ({ actor, record }) => reactivateUser(world, actor, record)),
    resendInvite: onRecord(find, ({ actor, record }) => resendInvitation(world, actor, record)),
    endSessions: onRecord(find, ({ actor, record }) => endSessions(world, actor, record)),
    removeSecondFactor: onRecord(find, ({ actor, record }) => removeSecondFactorOf(world, actor, record)),
    resetPassword: onRecord(find, ({ actor, record }) => resetPassword(world, actor, record)),
    preferences: onRecord(findSelf, ({ record }) => getPreferences(record)),
    updatePreferences: onRecord(findSelf, ({ actor, record, body }) => updatePreferences(world, actor, record, body)),
    access: onRecord(findSelf, async ({ record }) => ({ organisations: await organizationsOfUser(world, record.org_id, record.id) })),
    groups: onRecord(findSelf, async ({ record }) => ({ groups: await groupsOf(world, record.org_id, record.id) })),
  })
}
