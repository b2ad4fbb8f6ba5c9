import type { Actor } from '../../../http/actor.ts'
import { forbidden, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { allIdps } from '../sso/sso.ts'
import { addUserIn, changeUserIn, emailKey, removeUserIn, type UserRow } from '../users/users.ts'
import type { ScimObject } from './attribute-path.ts'
import { requiredText, type ScimFilter } from './filter.ts'
import { hasPasswordHash, selectScimGroups, selectScimMembers, selectScimUser, selectScimUsers, upsertScimUser } from './rows.ts'
import { ScimFailure } from './scim-failure.ts'
import { checkReadOnly, type DescribedUser, readUser, shownScimUser } from './user-resource.ts'

/** The users that may match a filter. */
export async function listScimUsers(world: World, actor: Actor, filter: ScimFilter | undefined): Promise<ScimObject[]> {
  const [userName, externalId] = [requiredText(filter, 'userName'), requiredText(filter, 'externalId')]
  const rows = await selectScimUsers(world.meta, actor.orgId, {
    ...(userName === undefined ? {} : { userNameKey: emailKey(userName) }),
    ...(externalId === undefined ? {} : { externalId }),
  })
  const groupsOf = await groupsByUser(world.meta, actor.orgId)
  return rows.map((row) => shownScimUser(row, groupsOf.get(row.id) ?? [], actor.facts.baseUrl))
}

async function groupsByUser(db: Db, orgId: string): Promise<ReadonlyMap<string, { id: string; name: string }[]>> {
  const groups = new Map((await selectScimGroups(db, orgId)).map((group) => [group.id, group]))
  const found = new Map<string, { id: string; name: string }[]>()
  for (const { group_id, user_id } of await selectScimMembers(db, orgId)) {
    const group = groups.get(group_id)
    if (group) found.set(user_id, [...(found.get(user_id) ?? []), group])
  }
  return found
}

export const getScimUser = (world: World, actor: Actor, id: string): Promise<ScimObject> => shownIn(world.meta, actor, id)

async function shownIn(db: Db, actor: Actor, id: string): Promise<ScimObject> {
  const row = await selectScimUser(db, actor.orgId, id)
  if (!row) throw notFound('user', id)
  return shownScimUser(row, (await groupsByUser(db, actor.orgId)).get(id) ?? [], actor.facts.baseUrl)
}

export async function createScimUser(world: World, actor: Actor, resource: ScimObject): Promise<ScimObject> {
  const described = readUser(resource)
  return orTaken(() =>
    world.meta.write(actor.orgId, async (tx) => {
      await checkUserName(tx, actor.orgId, described, undefined)
      const { first_name, last_name, email, isActive = true } = described
      const added = await addUserIn(world, tx, actor, { first_name, last_name, email, status: isActive ? 'ACTIVE' : 'DEACTIVATED' })
      if (!added) throw new ScimFailure('uniqueness', `a user with the e-mail ${email} already exists`)
      await saveDescription(world, tx, added, described)
      return shownIn(tx, actor, added.id)
    }),
  )
}

/** Replaces what a directory says about a user, by the resource that `next` makes of the present one. */
export async function changeScimUser(
  world: World,
  actor: Actor,
  id: string,
  next: { replace: ScimObject } | { patch: (before: ScimObject) => ScimObject },
): Promise<ScimObject> {
  const isProtected = await isLocalAdministratorOfProvider(world, actor, id)
  return orTaken(() =>
    world.meta.write(actor.orgId, async (tx) => {
      await changeUserIn(world, tx, actor, { org_id: actor.orgId, id }, async (user) => {
        const before = await shownIn(tx, actor, id)
        const after = 'patch' in next ? next.patch(before) : next.replace
        if ('patch' in next) checkReadOnly(before, after)
        const described = readUser(after)
        if (isProtected && described.isActive === false) throw protectedUser()
        await checkUserName(tx, actor.orgId, described, id)
        if (emailKey(described.email) !== user.email_key && (await hasPasswordHash(tx, actor.orgId, id)))
          throw new ScimFailure('mutability', 'the e-mail address of a user with a password can be changed by an administrator only')
        await saveDescription(world, tx, user, described)
        return changedBy(user, described)
      })
      return shownIn(tx, actor, id)
    }),
  )
}

/** A resource without `active` changes nothing about it. */
function changedBy(user: UserRow, { first_name, last_name, email, isActive }: DescribedUser): UserRow {
  const changed = { ...user, first_name, last_name, email, email_key: emailKey(email) }
  if (isActive === false) return { ...changed, status: 'DEACTIVATED' }
  if (isActive === undefined || user.status !== 'DEACTIVATED') return changed
  return { ...changed, status: user.accepted_at === null ? 'INVITED' : 'ACTIVE' }
}

export async function removeScimUser(world: World, actor: Actor, id: string): Promise<void> {
  if (await isLocalAdministratorOfProvider(world, actor, id)) throw protectedUser()
  await world.meta.write(actor.orgId, (tx) => removeUserIn(world, tx, actor, { org_id: actor.orgId, id }))
}

/** The user who can still log in where single sign-on is required. */
const isLocalAdministratorOfProvider = async (world: World, actor: Actor, id: string): Promise<boolean> =>
  (await allIdps(world, actor.orgId)).some(({ is_required, local_administrator }) => is_required && local_administrator === id)

const protectedUser = () =>
  forbidden('this user is the local administrator of an identity provider and can be neither deactivated nor deleted')

async function checkUserName(tx: Db, orgId: string, { user_name }: DescribedUser, id: string | undefined): Promise<void> {
  const [holder] = await selectScimUsers(tx, orgId, { userNameKey: emailKey(user_name) })
  if (holder && holder.id !== id) throw new ScimFailure('uniqueness', `a user with the userName ${user_name} already exists`)
}

const saveDescription = (
  world: World,
  tx: Db,
  { org_id, id }: Pick<UserRow, 'org_id' | 'id'>,
  { user_name, external_id, attributes }: DescribedUser,
): Promise<number> =>
  upsertScimUser(tx, {
    org_id,
    user_id: id,
    user_name,
    user_name_key: emailKey(user_name),
    external_id,
    attributes,
    modified_at: world.clock.nowMs(),
  })

const UNIQUE_VIOLATION = '23505'

/** Names that another request has just taken are found by the unique indexes. */
async function orTaken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === UNIQUE_VIOLATION)) throw thrown
    throw new ScimFailure('uniqueness', 'another user has this userName or e-mail address')
  }
}
