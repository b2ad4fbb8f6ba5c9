import type { Principal, RequestFacts } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { createdBy, modifiedBy } from '../../records.ts'
import { recordChange } from '../audit/audit.ts'
import { deleteInvitation, insertUser, lockAdmins, lockByEmail, lockUser, selectUsers, type UserRow, updateUserRow } from './rows.ts'
import { emailKey, hasPassword, mayLogIn, shownUser } from './user-record.ts'

/** A person as an identity provider of the organization describes them. */
type ProvidedPerson = {
  orgId: string
  /** The name of the provider, which becomes a login method. */
  method: string
  /** The user who signed on as this person before. */
  userId: string | undefined
  /** When the user was deactivated because the provider refused them; then they come back. */
  deactivatedAtMs: number | undefined
  /** Set only if the provider has verified it. */
  email: string | undefined
  names: { first_name: string; last_name: string }
  rolesAfter: (current: readonly string[]) => string[]
}

/**
 * Finds the user of a person, or links them by verified e-mail, or creates them, and sets their roles. An invitation counts as accepted.
 * Deactivated users are refused, unless nobody has changed them since the provider refused them.
 */
export async function provideUser(world: World, tx: Db, facts: RequestFacts, person: ProvidedPerson): Promise<UserRow> {
  const admins = await lockAdmins(tx, person.orgId)
  const before = await lockedUser(tx, person)
  if (!before) return createProvided(world, tx, facts, person)
  const returns = before.status === 'DEACTIVATED' && before.modified_at === person.deactivatedAtMs
  if (before.status !== 'INVITED' && !mayLogIn(before.status) && !returns) throw forbidden('this user may not log in')
  const given = before.login_methods.find(({ name }) => name === person.method)
  if (given && !given.enabled) throw forbidden(`this user may not log in with ${person.method}`)
  const roles = person.rolesAfter(before.roles)
  const isLastAdmin = admins.length === 1 && admins[0]?.id === before.id && !roles.includes('Admin')
  const after: UserRow = {
    ...before,
    roles: isLastAdmin ? [...roles, 'Admin'] : roles,
    login_methods: given ? before.login_methods : [...before.login_methods, { name: person.method, enabled: true }],
    status: 'ACTIVE',
    accepted_at: before.accepted_at ?? world.clock.nowMs(),
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return before
  const who = actorOf(after, facts)
  await updateUserRow(tx, { ...after, ...modifiedBy(who, world.clock.nowMs()) })
  if (before.status === 'INVITED') await deleteInvitation(tx, before.org_id, before.id)
  await recordChange(world, tx, who, {
    entity: { type: 'user', id: after.id },
    before: shownUser(world, before),
    after: shownUser(world, after),
  })
  return after
}

async function lockedUser(tx: Db, { orgId, userId, email }: ProvidedPerson): Promise<UserRow | undefined> {
  if (userId !== undefined) return lockUser(tx, orgId, userId)
  return email === undefined ? undefined : lockByEmail(tx, orgId, emailKey(email))
}

async function createProvided(world: World, tx: Db, facts: RequestFacts, person: ProvidedPerson): Promise<UserRow> {
  if (person.email === undefined) throw forbidden('the identity provider has not verified an e-mail address of this organization')
  const nowMs = world.clock.nowMs()
  const id = world.ids.uuid()
  const row: UserRow = {
    org_id: person.orgId,
    id,
    ...person.names,
    email: person.email,
    email_key: emailKey(person.email),
    roles: person.rolesAfter([]),
    last_logins: {},
    login_methods: [{ name: person.method, enabled: true }],
    tags: {},
    status: 'ACTIVE',
    invited_at: null,
    invited_by: null,
    accepted_at: nowMs,
    preferences: {},
    ...createdBy({ identity: { type: 'USER_ID', id } }, nowMs),
  }
  if (!(await insertUser(tx, { ...row, password_hash: null }))) throw forbidden('this user was just created; sign in again')
  await recordChange(world, tx, actorOf(row, facts), { entity: { type: 'user', id }, after: shownUser(world, row) })
  return row
}

const actorOf = (row: UserRow, facts: RequestFacts): Pick<Principal, 'orgId' | 'identity' | 'name'> & { facts: RequestFacts } => ({
  orgId: row.org_id,
  identity: { type: 'USER_ID', id: row.id },
  name: row.email,
  facts,
})

/** The Administrators of an organization who can log in with a password. */
export const localAdministratorsOf = (world: MetaWorld, orgId: string): Promise<ReadonlySet<string>> =>
  world.meta.cached(orgId, 'local administrators', async () => {
    const users = await selectUsers(world.meta, orgId)
    return new Set(users.filter((row) => row.roles.includes('Admin') && mayLogIn(row.status) && hasPassword(row)).map(({ id }) => id))
  })

export const isLocalAdministrator = async (world: MetaWorld, orgId: string, id: string): Promise<boolean> =>
  (await localAdministratorsOf(world, orgId)).has(id)
