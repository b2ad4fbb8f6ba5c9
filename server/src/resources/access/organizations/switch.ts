import type { contract, ReplyOf } from '@dendro/api'
import { type Actor, isUser, sessionOf } from '../../../http/actor.ts'
import { forbidden, notFound } from '../../../kernel/errors.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { openSession } from '../auth/auth.ts'
import { actingIn, identifiedIn, noRoleFailure, rolesIn } from './access.ts'
import { selectGrant, selectUser, upsertActiveOrganization } from './rows.ts'

type SwitchReply = ReplyOf<typeof contract.access.switch>

/** Makes an organization the one of the user's next login. A token acts in one organization, so users who switch themselves get a new token. */
export async function switchUser(world: World, actor: Actor, orgId: string, userId: string): Promise<SwitchReply> {
  const isSelf = isUser(actor, userId)
  if (isSelf) sessionOf(actor)
  const acting = isSelf ? await selfIn(world, actor, orgId) : await actingIn(world, actor, orgId, 'access_write')
  if (!isSelf) await checkPresent(world, orgId, userId)
  return world.meta.write(orgId, async (tx) => {
    await upsertActiveOrganization(tx, userId, orgId)
    await recordChange(world, tx, acting, { entity: { type: 'user', id: userId }, after: { active_organisation: orgId } })
    if (!isSelf) return {}
    const { token, expiresAtS } = await openSession(world, tx, { userId, orgId, roles: acting.roles, facts: actor.facts, like: actor })
    return { token: token.reveal(), token_type: 'Bearer', expires_at: expiresAtS }
  })
}

async function selfIn(world: MetaWorld, actor: Actor, orgId: string): Promise<Actor> {
  const acting = await identifiedIn(world, actor, orgId)
  if (!acting) throw await noRoleFailure(world, actor, orgId)
  return acting
}

async function checkPresent(world: MetaWorld, orgId: string, userId: string): Promise<void> {
  if ((await rolesIn(world, orgId, userId)).length > 0) return
  const isKnown = (await selectUser(world.meta, orgId, userId)) ?? (await selectGrant(world.meta, orgId, 'user', userId))
  throw isKnown ? forbidden('the user has no access to that organization') : notFound('user', userId)
}
