import type { Identity } from '@dendro/api'
import { conflict, notFound } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { modifiedBy } from '../../records.ts'
import { type AuditActor, recordChange } from '../audit/audit.ts'
import { leaveGroups } from '../groups/groups.ts'
import { deleteAccess } from '../organizations/organizations.ts'
import { lockRolesForGrant } from '../roles/roles.ts'
import { deleteInvitation, deleteSessionsOf, deleteUser, lockAdmins, lockUser, type UserRow, updateUserRow } from './rows.ts'
import { hasPassword, mayLogIn, shownUser } from './user-record.ts'

/** Who changes a user: a caller, or a provider that has refused them. */
type Changer = AuditActor & { identity: Identity }
type UserPlace = Pick<UserRow, 'org_id' | 'id'>

/**
 * Applies a change to the locked user, keeps at least one administrator in the organization, and ends sessions and invitations of a deactivated user.
 * A change without effect writes nothing.
 */
export async function changeUserIn(
  world: World,
  tx: Db,
  actor: Changer,
  { org_id, id }: UserPlace,
  change: (user: UserRow) => Promise<UserRow>,
): Promise<UserRow> {
  const admins = await lockAdmins(tx, org_id)
  const before = await lockUser(tx, org_id, id)
  if (!before) throw notFound('user', id)
  const changed = await change(before)
  if (isSame(before, changed)) return before
  const after = { ...changed, ...modifiedBy(actor, world.clock.nowMs()) }
  if (changed.roles !== before.roles) await lockRolesForGrant(tx, org_id, after.roles)
  if (!isAdmin(after)) checkAdminRemains(admins, id)
  await updateUserRow(tx, after)
  if (after.status === 'DEACTIVATED') await endAccess(tx, after)
  await recordChange(world, tx, actor, { entity: { type: 'user', id }, before: shownUser(world, before), after: shownUser(world, after) })
  return after
}

const isSame = (one: UserRow, other: UserRow): boolean => JSON.stringify(one) === JSON.stringify(other)
const isAdmin = (user: UserRow): boolean => user.roles.includes('Admin') && mayLogIn(user.status) && hasPassword(user)

function checkAdminRemains(admins: readonly { id: string }[], id: string): void {
  if (admins.length !== 1 || admins[0]?.id !== id) return
  throw conflict(
    'the last remaining Administrator who can log in can be neither deleted, deactivated nor stripped of the role or the password',
  )
}

async function endAccess(tx: Db, user: UserRow): Promise<void> {
  await deleteSessionsOf(tx, user.id)
  await deleteInvitation(tx, user.org_id, user.id)
}

/** Deletes a user, unless they are the last administrator who can log in. */
export async function removeUserIn(world: World, tx: Db, actor: Changer, { org_id, id }: UserPlace): Promise<void> {
  checkAdminRemains(await lockAdmins(tx, org_id), id)
  const before = await lockUser(tx, org_id, id)
  if (!before) throw notFound('user', id)
  await leaveGroups(tx, org_id, id)
  await deleteAccess(tx, id)
  await deleteUser(tx, org_id, id)
  await recordChange(world, tx, actor, { entity: { type: 'user', id }, before: shownUser(world, before) })
}
