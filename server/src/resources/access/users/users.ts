import type { BodyOf, contract, MultiOrgUser, QueryOf, User } from '@dendro/api'
import { type Actor, hasPermission, isUser } from '../../../http/actor.ts'
import { badRequest, conflict, forbidden, notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { groupsOfAll } from '../groups/groups.ts'
import { identifiedIn, organizationsOfMembers, organizationsOfUser } from '../organizations/organizations.ts'
import { checkGrant, lockRolesForGrant } from '../roles/roles.ts'
import { removeFactor } from '../second-factors/second-factors.ts'
import { changeUserIn, removeUserIn } from './change-user.ts'
import { type InvitationDelivery, invite, sendInvitation } from './invitations.ts'
import { checkAuthority } from './roles.ts'
import { deleteSessionsOf, insertUser, lockUser, selectPerson, selectUser, selectUsers, type UserRow, updateUserRow } from './rows.ts'
import { defaultMethods, emailKey, hasPassword, mayLogIn, mergeMethods, shownUser, statusAt, storedRoles } from './user-record.ts'

export { bootstrapAdmin, checkAdmin } from './bootstrap-admin.ts'
export { choosePassword, findInvitation, redeem } from './invitations.ts'
export {
  candidates,
  chooseLogin,
  isStillPassword,
  type LoginRow,
  loginOf,
  recordLogin,
  replacePassword,
  savePasswordHash,
  type UserRow,
  withPassword,
} from './login.ts'

import { byName, type NextPage, pageOf, searched, searchedText, withIds } from '../../list-pages.ts'
import { createdBy, modifiedBy } from '../../records.ts'

export { changeUserIn, removeUserIn } from './change-user.ts'
export { hashPassword, isOutdated } from './passwords.ts'
export { isLocalAdministrator, localAdministratorsOf, provideUser } from './provided.ts'
export { addUserIn } from './provisioned.ts'
export { effectiveRoles } from './roles.ts'
export { emailKey, mayLogIn, PASSWORD, shownUser, storedRoles } from './user-record.ts'

type NewUser = BodyOf<typeof contract.users.create>
type UserQuery = QueryOf<typeof contract.users.list>
type UserChange = BodyOf<typeof contract.users.update>

export async function listUsers(world: World, actor: Actor, query: UserQuery): Promise<NextPage & { users: User[] }> {
  const textOf = ({ first_name, last_name, email, tags }: UserRow) => searchedText([first_name, last_name, email], tags)
  const named = withIds(await usersIn(world, actor.orgId), query.user_ids)
  const { status, role } = query
  const fits = (row: UserRow): boolean => {
    const shown = shownUser(world, row)
    return (status === undefined || shown.status === status) && (role === undefined || shown.roles.includes(role))
  }
  const some = status === undefined && role === undefined ? named : named.filter(fits)
  const found = searched(some, query.search, textOf)
  const { rows, ...rest } = pageOf(found, query, query.sort === 'name' ? byFullName : undefined)
  return { users: rows.map((row) => shownUser(world, row)), ...rest }
}

const byFullName = byName(({ first_name, last_name }: UserRow) => [last_name, first_name])

const usersIn = (world: World, orgId: string): Promise<readonly UserRow[]> =>
  world.meta.cachedRows(orgId, 'users', {
    read: (changed) => selectUsers(world.meta, orgId, changed),
    idsIn: { users: ({ id }) => id },
  })

/** Includes the users of the other organizations in which the caller may read users. */
export async function listAllUsers(world: World, actor: Actor): Promise<MultiOrgUser[]> {
  const all: MultiOrgUser[] = []
  for (const orgId of await readableOrganizations(world, actor)) {
    const [organizationsOf, groups] = await Promise.all([organizationsOfMembers(world, orgId), groupsOfAll(world, orgId)])
    for (const row of await usersIn(world, orgId)) {
      all.push({ ...shownUser(world, row), organisations: await organizationsOf(row.id), groups: [...(groups.get(row.id) ?? [])] })
    }
  }
  return all
}

async function readableOrganizations(world: World, actor: Actor): Promise<string[]> {
  if (actor.identity.type !== 'USER_ID') return [actor.orgId]
  const home = await selectPerson(world.meta, actor.identity.id)
  const others = await organizationsOfUser(world, home?.org_id ?? actor.orgId, actor.identity.id)
  const readable = [actor.orgId]
  for (const { id } of others) {
    const there = await identifiedIn(world, actor, id)
    if (id !== actor.orgId && there && hasPermission(there, 'users_read')) readable.push(id)
  }
  return readable
}

export async function findUser(world: World, actor: Actor, id: string): Promise<UserRow> {
  const row = await selectUser(world.meta, actor.orgId, id)
  if (!row) throw notFound('user', id)
  return row
}

/** Like findUser, for what users may do themselves: they also find themselves where they act as guests. */
export async function findUserAnywhere(world: World, actor: Actor, id: string): Promise<UserRow> {
  const self = isUser(actor, id) ? await selectPerson(world.meta, id) : undefined
  return self ?? findUser(world, actor, id)
}

/** Reports whether a user of the organization may no longer log in. Guests belong to another organization, which decides that. */
export async function isShutOut({ meta }: Pick<World, 'meta'>, orgId: string, id: string): Promise<boolean> {
  const row = await selectUser(meta, orgId, id)
  return row !== undefined && !mayLogIn(row.status)
}

export const getUser = async (world: World, row: UserRow): Promise<User> => shownUser(world, row)

/** Creates the user and the invitation. The link is mailed, or returned if no mail could be sent. */
export async function createUser(world: World, actor: Actor, request: NewUser): Promise<User & { invitation_url?: string }> {
  const roles = storedRoles(request.roles)
  await checkGrant(world, actor, 'USER', roles)
  const nowMs = world.clock.nowMs()
  const row: UserRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    first_name: request.first_name,
    last_name: request.last_name,
    email: request.email,
    email_key: emailKey(request.email),
    roles,
    last_logins: {},
    login_methods: mergeMethods(defaultMethods, request.login_methods ?? []),
    tags: request.tags,
    status: 'INVITED',
    invited_at: Math.floor(nowMs / 1000),
    invited_by: inviterOf(actor),
    accepted_at: null,
    preferences: {},
    ...createdBy(actor, nowMs),
  }
  const token = await world.meta.write(actor.orgId, async (tx) => {
    await lockRolesForGrant(tx, actor.orgId, roles)
    if (!(await insertUser(tx, { ...row, password_hash: null }))) throw conflict(`a user with the e-mail ${request.email} already exists`)
    await recordChange(world, tx, actor, { entity: { type: 'user', id: row.id }, after: shownUser(world, row) })
    return invite(world, tx, row)
  })
  const { invitation_url } = await sendInvitation(world, actor.facts, { kind: 'invitation', user: row, token })
  return { ...shownUser(world, row), ...(invitation_url === undefined ? {} : { invitation_url }) }
}

/** The e-mail address of the inviting user, or the name of the API key. */
const inviterOf = (actor: Actor): string => actor.name

const OWN_FIELDS = ['first_name', 'last_name']

export async function updateUser(world: World, actor: Actor, record: UserRow, change: UserChange): Promise<User> {
  if (!mayManage(actor, record)) {
    const beyond = Object.keys(change).find((field) => !OWN_FIELDS.includes(field))
    if (beyond !== undefined) throw forbidden(`users change only their own first_name and last_name, not ${beyond.slice(0, 100)}`)
  }
  const roles = change.roles && storedRoles(change.roles)
  if (roles) await checkGrant(world, actor, 'USER', roles)
  if (roles || change.login_methods) await checkAuthority(world, actor, record)
  return changeUser(world, actor, record, (user) => ({
    ...user,
    first_name: change.first_name ?? user.first_name,
    last_name: change.last_name ?? user.last_name,
    roles: roles ?? user.roles,
    login_methods: change.login_methods ? mergeMethods(user.login_methods, change.login_methods) : user.login_methods,
  }))
}

/** False for a guest who holds the permission here: their own record belongs to another organization. */
const mayManage = (actor: Actor, record: UserRow): boolean => hasPermission(actor, 'users_write') && record.org_id === actor.orgId

export async function deactivateUser(world: World, actor: Actor, record: UserRow): Promise<User> {
  await checkAuthority(world, actor, record)
  return changeUser(world, actor, record, (user) => ({ ...user, status: 'DEACTIVATED' }))
}

export async function reactivateUser(world: World, actor: Actor, record: UserRow): Promise<User> {
  await checkAuthority(world, actor, record)
  return changeUser(world, actor, record, (user) => {
    const status = statusAt(user, world.clock.nowMs(), world.deployment.inactiveAfterMs)
    if (status === 'ACTIVE' || status === 'INVITED') return user
    if (status !== 'DEACTIVATED') throw badRequest(`a user who is ${status} cannot be reactivated; only DEACTIVATED users can`)
    return { ...user, status: user.accepted_at === null ? 'INVITED' : 'ACTIVE' }
  })
}

/** Deletes a user with access, memberships, preferences and sessions; records they created keep their id. */
export async function removeUser(world: World, actor: Actor, record: UserRow): Promise<undefined> {
  await checkAuthority(world, actor, record)
  await world.meta.write(record.org_id, (tx) => removeUserIn(world, tx, actor, record))
}

const changeUser = (world: World, actor: Actor, record: UserRow, change: (user: UserRow) => UserRow): Promise<User> =>
  world.meta.write(record.org_id, async (tx) =>
    shownUser(world, await changeUserIn(world, tx, actor, record, async (user) => change(user))),
  )

export type SentInvitation = { success: boolean; message: string } & InvitationDelivery

/** Creates a new invitation; the previous link becomes invalid. */
export async function resendInvitation(world: World, actor: Actor, record: UserRow): Promise<SentInvitation> {
  await checkAuthority(world, actor, record)
  return sendLink(world, actor, record, 'invitation', (user) =>
    user.status === 'INVITED' ? undefined : `a user who is ${user.status} cannot be invited`,
  )
}

/** Ends every session of a user. Managing a user with more permissions is refused, as everywhere. */
export async function endSessions(world: World, actor: Actor, record: UserRow): Promise<{ ended: number }> {
  await checkAuthority(world, actor, record)
  return world.meta.write(actor.orgId, async (tx) => {
    const ended = await deleteSessionsOf(tx, record.id)
    await recordChange(world, tx, actor, { entity: { type: 'user', id: record.id }, after: { ended } })
    return { ended }
  })
}

/** Removes the second factor of a user. Managing a user with more permissions is refused, as everywhere. */
export async function removeSecondFactorOf(world: World, actor: Actor, record: UserRow): Promise<undefined> {
  await checkAuthority(world, actor, record)
  await world.meta.write(actor.orgId, async (tx) => {
    if (!(await removeFactor(tx, record.id))) throw notFound('second factor of the user', record.id)
    await recordChange(world, tx, actor, { entity: { type: 'user', id: record.id }, before: { second_factor: true } })
  })
}

/** Sends a link to choose a new password; the old password stays valid until then. */
export async function resetPassword(world: World, actor: Actor, record: UserRow): Promise<SentInvitation> {
  await checkAuthority(world, actor, record)
  return sendLink(world, actor, record, 'reset', (user) => {
    if (!mayLogIn(user.status)) return `a user who is ${user.status} has no password to reset`
    return hasPassword(user) ? undefined : 'this user may not log in with a password'
  })
}

async function sendLink(
  world: World,
  actor: Actor,
  { org_id, id }: UserRow,
  kind: 'invitation' | 'reset',
  objection: (user: UserRow) => string | undefined,
): Promise<SentInvitation> {
  const nowMs = world.clock.nowMs()
  const made = await world.meta.write(org_id, async (tx) => {
    const before = await lockUser(tx, org_id, id)
    if (!before) throw notFound('user', id)
    const message = objection(before)
    if (message !== undefined) return { kind: 'refused', message } as const
    const invited = {
      ...before,
      invited_at: Math.floor(nowMs / 1000),
      invited_by: inviterOf(actor),
      ...modifiedBy(actor, nowMs),
    }
    const user = kind === 'invitation' ? invited : before
    if (kind === 'invitation') await updateUserRow(tx, user)
    await recordChange(world, tx, actor, { entity: { type: 'user', id }, before: shownUser(world, before), after: shownUser(world, user) })
    return { kind: 'made', user, token: await invite(world, tx, user) } as const
  })
  if (made.kind === 'refused') return { success: false, message: made.message }
  const mailed = await sendInvitation(world, actor.facts, { kind, user: made.user, token: made.token })
  const message =
    mailed.invitation_url === undefined ? `a link was sent to ${made.user.email}` : 'hand this link to the person: no mail could be sent'
  return { success: true, message, ...mailed }
}
