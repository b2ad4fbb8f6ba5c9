import type { Session } from '@dendro/api'
import { type Actor, sessionOf } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { deleteOtherSessions, deleteSessionOf, type ShownSessionRow, selectSessionsOf } from './rows.ts'

const SHOWN_MAX = 200

export async function listSessions({ meta, clock }: World, actor: Actor): Promise<{ sessions: Session[] }> {
  const { userId, sessionId } = sessionOf(actor)
  const rows = await selectSessionsOf(meta, userId, { nowMs: clock.nowMs(), rowsMax: SHOWN_MAX })
  return { sessions: rows.map((row) => shown(row, sessionId)) }
}

/** Ends a session of the calling user, in whatever organization it acts. */
export async function endSession(world: World, actor: Actor, id: string): Promise<undefined> {
  if (actor.sessionId === undefined) throw notFound('session', id)
  const { userId } = sessionOf(actor)
  await world.meta.write(actor.orgId, async (tx) => {
    if ((await deleteSessionOf(tx, userId, id)) === 0) throw notFound('session', id)
    await recordChange(world, tx, actor, { entity: { type: 'session', id } })
  })
}

export async function endOtherSessions(world: World, actor: Actor): Promise<{ ended: number }> {
  const { userId, sessionId } = sessionOf(actor)
  return world.meta.write(actor.orgId, async (tx) => {
    const ended = await deleteOtherSessions(tx, userId, sessionId)
    await recordChange(world, tx, actor, { entity: { type: 'user', id: userId }, after: { ended } })
    return { ended }
  })
}

const shown = (row: ShownSessionRow, currentId: string): Session => ({
  id: row.id,
  org_id: row.org_id,
  is_current: row.id === currentId,
  created_at: row.created_at,
  expires_at: row.expires_at,
  ...(row.method !== null && { method: row.method }),
  ...(row.address !== null && { address: row.address }),
  ...(row.user_agent !== null && { user_agent: row.user_agent }),
  ...(row.used_at !== null && { last_used_at: row.used_at }),
  ...(row.used_address !== null && { last_used_address: row.used_address }),
})
