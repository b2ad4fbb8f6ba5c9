import type { RequestFacts } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { suspendPersonalKeys } from '../api-keys/api-keys.ts'
import { recordChange } from '../audit/audit.ts'
import { endProvidedSessions } from '../auth/auth.ts'
import type { IdpRow } from '../sso/sso.ts'
import { changeUserIn, mayLogIn } from '../users/users.ts'
import { hashOf } from './pending.ts'
import { deleteExpiredMessages, insertMessage } from './rows.ts'
import { deleteSignOn, markDeactivated, type SignOnRow, selectSessionsOf } from './sign-on-rows.ts'

/** A message by which a provider ends sessions. It counts once. */
type Ending = { id: string; expiresAtMs: number; subject?: string | undefined; session?: string | undefined }

/** Ends sessions in all organizations in which the person acts. Throws if the message was here before. */
export async function endSessions(world: World, facts: RequestFacts, idp: IdpRow, { id, expiresAtMs, ...of }: Ending): Promise<void> {
  await world.meta.write(idp.org_id, async (tx) => {
    await deleteExpiredMessages(tx, world.clock.nowMs())
    const row = { org_id: idp.org_id, idp_id: idp.id, id_hash: hashOf(world, 'message', id), expires_at: expiresAtMs }
    if ((await insertMessage(tx, row)) === 0) throw new Error('this message was here before')
    await endNamedSessions(world, tx, facts, idp, of)
  })
}

/** Ends the sessions that a provider names, in all organizations in which the person acts. Returns how many there were. */
export async function endNamedSessions(
  world: World,
  tx: Db,
  facts: RequestFacts,
  idp: IdpRow,
  of: Pick<Ending, 'subject' | 'session'>,
): Promise<number> {
  const sessions = await endProvidedSessions(tx, idp.id, of)
  for (const ended of sessions) await recordEnd(world, tx, facts, idp, ended)
  return sessions.length
}

type EndedSignOn = { idp: IdpRow; row: SignOnRow; isRefused: boolean; facts: RequestFacts }

/**
 * Ends a sign-on with its sessions. The personal keys of a refused user rest until the next sign-on; where the provider says so, the user is deactivated, as
 * by a directory.
 */
export async function endSignOn(world: World, tx: Db, { idp, row, isRefused, facts }: EndedSignOn): Promise<void> {
  // First, since it locks the user before the sessions, as other changes of users do.
  if (isRefused && idp.deactivate_refused) await deactivate(world, tx, { idp, row, facts })
  const sessions = await selectSessionsOf(tx, row.id)
  await deleteSignOn(tx, row.id)
  if (isRefused && idp.local_administrator !== row.user_id) await suspendPersonalKeys(tx, row.user_id, world.clock.nowMs())
  for (const { org_id, user_id } of sessions) await recordEnd(world, tx, facts, idp, { orgId: org_id, userId: user_id })
}

async function recordEnd(
  world: World,
  tx: Db,
  facts: RequestFacts,
  idp: IdpRow,
  { orgId, userId }: { orgId: string; userId: string },
): Promise<void> {
  const who = { orgId, identity: { type: 'USER_ID', id: userId } as const, name: idp.name, facts }
  await recordChange(world, tx, who, { entity: { type: 'user', id: userId } })
}

/** The last Administrator and the local administrator stay: they are the way back in. */
async function deactivate(world: World, tx: Db, { idp, row, facts }: Omit<EndedSignOn, 'isRefused'>): Promise<void> {
  if (idp.local_administrator === row.user_id) return
  let isActive = false
  const who = { orgId: row.org_id, identity: { type: 'USER_ID', id: row.user_id } as const, name: idp.name, facts }
  try {
    await changeUserIn(world, tx, who, { org_id: row.org_id, id: row.user_id }, async (user) => {
      isActive = mayLogIn(user.status)
      return isActive ? { ...user, status: 'DEACTIVATED' } : user
    }).then((changed) => (isActive ? markDeactivated(tx, idp.id, row.subject, changed.modified_at) : 0))
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    world.log.warn({ err: thrown, idp: idp.id }, 'a refused user could not be deactivated')
  }
}
