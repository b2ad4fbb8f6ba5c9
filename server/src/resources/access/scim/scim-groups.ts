import { isUuid } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { Failure, notFound } from '../../../kernel/errors.ts'
import { isObject } from '../../../kernel/json-object.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { addGroupIn, findGroup, membersIn, removeGroupIn, renameGroupIn, setUsersIn } from '../groups/groups.ts'
import { memberOf, type ScimObject } from './attribute-path.ts'
import { type ScimGroupRow, selectScimGroups, selectScimMembers, upsertScimGroup } from './rows.ts'
import { ScimFailure } from './scim-failure.ts'
import { checkReadOnly, textOf } from './user-resource.ts'

export const GROUP_SCHEMA = 'urn:ietf:params:scim:schemas:core:2.0:Group'

type Member = { user_id: string; email: string }
type DescribedGroup = { name: string; external_id: string | null; members: string[] }

/** The groups of directories. A directory neither sees nor changes others, whose roles it could hand out. */
export const listScimGroups = (world: World, actor: Actor): Promise<ScimObject[]> => shownIn(world.meta, actor)

async function shownIn(db: Db, actor: Actor): Promise<ScimObject[]> {
  const members = new Map<string, Member[]>()
  for (const { group_id, ...member } of await selectScimMembers(db, actor.orgId)) {
    const known = members.get(group_id)
    if (known) known.push(member)
    else members.set(group_id, [member])
  }
  return (await selectScimGroups(db, actor.orgId)).map((row) => shownGroup(row, members.get(row.id) ?? [], actor.facts.baseUrl))
}

export async function getScimGroup(world: World, actor: Actor, id: string): Promise<ScimObject> {
  return findIn(world.meta, actor, id)
}

async function findIn(db: Db, actor: Actor, id: string): Promise<ScimObject> {
  const found = (await shownIn(db, actor)).find((group) => group.id === id)
  if (!found) throw notFound('group', id)
  return found
}

export async function createScimGroup(world: World, actor: Actor, resource: ScimObject): Promise<ScimObject> {
  const described = readGroup(resource)
  return world.meta.write(actor.orgId, async (tx) => {
    const { id } = await orTaken(addGroupIn(world, tx, actor, described.name))
    return save(world, tx, actor, id, described)
  })
}

/** Replaces a group by the resource that `next` makes of the present one. */
export async function changeScimGroup(
  world: World,
  actor: Actor,
  id: string,
  next: { replace: ScimObject } | { patch: (before: ScimObject) => ScimObject },
): Promise<ScimObject> {
  return world.meta.write(actor.orgId, async (tx) => {
    // Locks the groups, so that two changes cannot undo each other.
    await membersIn(tx, actor.orgId, id)
    const before = await findIn(tx, actor, id)
    const after = 'patch' in next ? next.patch(before) : next.replace
    if ('patch' in next) checkReadOnly(before, after)
    const described = readGroup(after)
    await orTaken(renameGroupIn(world, tx, actor, id, described.name))
    return save(world, tx, actor, id, described)
  })
}

async function save(world: World, tx: Db, actor: Actor, id: string, { external_id, members }: DescribedGroup): Promise<ScimObject> {
  await upsertScimGroup(tx, { org_id: actor.orgId, group_id: id, external_id, modified_at: world.clock.nowMs() })
  await setUsersIn(world, tx, actor, id, members)
  return findIn(tx, actor, id)
}

export async function removeScimGroup(world: World, actor: Actor, id: string): Promise<void> {
  await getScimGroup(world, actor, id)
  const record = await findGroup(world, actor, id)
  await world.meta.write(actor.orgId, (tx) => removeGroupIn(world, tx, actor, record))
}

async function orTaken<T>(writing: Promise<T>): Promise<T> {
  try {
    return await writing
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.status === 409) throw new ScimFailure('uniqueness', thrown.message)
    throw thrown
  }
}

function readGroup(resource: ScimObject): DescribedGroup {
  const name = textOf(resource, 'displayName')
  if (name === undefined) throw new ScimFailure('invalidValue', 'displayName is required')
  const members = memberOf(resource, 'members') ?? []
  if (!Array.isArray(members)) throw new ScimFailure('invalidValue', 'members must be a list')
  return { name, external_id: textOf(resource, 'externalId') ?? null, members: members.map(userOf) }
}

function userOf(member: unknown): string {
  const value = isObject(member) ? memberOf(member, 'value') : member
  const type = isObject(member) ? memberOf(member, 'type') : undefined
  if (typeof type === 'string' && type.toLowerCase() === 'group') throw new ScimFailure('invalidValue', 'members must be users, not groups')
  if (typeof value !== 'string' || !isUuid(value))
    throw new ScimFailure('invalidValue', 'each of members must have the id of a user as its value')
  return value.toLowerCase()
}

const shownGroup = (row: ScimGroupRow, members: readonly Member[], base: string): ScimObject => ({
  schemas: [GROUP_SCHEMA],
  id: row.id,
  ...(row.external_id === null ? {} : { externalId: row.external_id }),
  displayName: row.name,
  members: members.map(({ user_id, email }) => ({
    value: user_id,
    display: email,
    type: 'User',
    $ref: `${base}/scim/v2/Users/${user_id}`,
  })),
  meta: {
    resourceType: 'Group',
    created: new Date(row.created_at).toISOString(),
    lastModified: new Date(row.modified_at).toISOString(),
    location: `${base}/scim/v2/Groups/${row.id}`,
  },
})
