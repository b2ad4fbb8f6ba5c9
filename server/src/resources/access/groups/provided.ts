import type { Actor } from '../../../http/actor.ts'
import { forbidden } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { type AuditActor, recordChange } from '../audit/audit.ts'
import { rolesOfGroups } from '../organizations/organizations.ts'
import { permissionsOf } from '../roles/roles.ts'
import { deleteMember, insertMember, lockGroups, selectKnownGroups, selectReached } from './rows.ts'

/** Rejects a group whose roles include permissions that the caller does not hold. */
export async function checkMayAddMembers(world: Pick<World, 'meta'>, actor: Actor, groupId: string): Promise<void> {
  const groupIds = [groupId, ...(await selectReached(world.meta, actor.orgId, groupId)).map(({ id }) => id)]
  const roles = await rolesOfGroups(world.meta, actor.orgId, groupIds)
  const beyond = [...(await permissionsOf(world, actor.orgId, roles))].find((permission) => !actor.permissions.has(permission))
  if (beyond) throw forbidden(`callers grant only permissions they hold: the roles of the group include ${beyond}`)
}

/** Sets which of the given groups a user belongs to, after an identity provider has said so; deleted groups are left out. */
export async function setProvidedGroups(
  world: World,
  tx: Db,
  who: AuditActor,
  userId: string,
  groups: { assigned: readonly string[]; assignable: readonly string[] },
): Promise<void> {
  await lockGroups(tx, who.orgId)
  const member = { member_id: userId, member_type: 'USER' } as const
  for (const { id } of await selectKnownGroups(tx, who.orgId, groups.assignable)) {
    const isAssigned = groups.assigned.includes(id)
    const rows = isAssigned
      ? await insertMember(tx, who.orgId, { ...member, group_id: id, modified_at: world.clock.nowMs() })
      : await deleteMember(tx, who.orgId, { ...member, group_id: id })
    if (rows === 0) continue
    await recordChange(world, tx, who, {
      entity: { type: 'group', id },
      ...(isAssigned ? { after: { added: [member] } } : { before: { removed: [member] } }),
    })
  }
}
