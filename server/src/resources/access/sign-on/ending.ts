import type { RequestFacts } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { endProvidedSessions } from '../auth/auth.ts'
import type { IdpRow } from '../sso/sso.ts'
import { hashOf } from './pending.ts'
import { deleteExpiredMessages, insertMessage } from './rows.ts'

/** A message by which a provider ends sessions. It counts once. */
type Ending = { id: string; expiresAtMs: number; subject?: string | undefined; session?: string | undefined }

/** Ends sessions in all organizations in which the person acts. Throws if the message was here before. */
export async function endSessions(world: World, facts: RequestFacts, idp: IdpRow, { id, expiresAtMs, ...of }: Ending): Promise<void> {
  await world.meta.write(idp.org_id, async (tx) => {
    await deleteExpiredMessages(tx, world.clock.nowMs())
    const row = { org_id: idp.org_id, idp_id: idp.id, id_hash: hashOf(world, 'message', id), expires_at: expiresAtMs }
    if ((await insertMessage(tx, row)) === 0) throw new Error('this message was here before')
    for (const { orgId, userId } of await endProvidedSessions(tx, idp.id, of)) {
      const who = { orgId, identity: { type: 'USER_ID', id: userId } as const, name: idp.name, facts }
      await recordChange(world, tx, who, { entity: { type: 'user', id: userId } })
    }
  })
}
