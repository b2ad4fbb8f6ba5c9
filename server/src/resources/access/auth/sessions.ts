import type { Principal } from '../../../http/actor.ts'
import type { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { permissionsOf } from '../roles/roles.ts'
import { effectiveRoles, mayLogIn } from '../users/users.ts'
import { deleteExpiredSessions, insertSession, selectCaller } from './rows.ts'
import { readToken, signToken, type TokenClaims } from './tokens.ts'

/** The lifetime of a token. */
const SESSION_MS = 12 * 60 * 60_000

export type NewSession = { token: Secret; expiresAtS: number }

/** Opens a session of a user in an organization and returns its token, in the transaction that permits it. `roles` are only for the claim in the token. */
export async function openSession(
  world: Pick<World, 'clock' | 'ids' | 'vault'>,
  tx: Db,
  of: { userId: string; orgId: string; roles: readonly string[] },
): Promise<NewSession> {
  const nowMs = world.clock.nowMs()
  const expiresAtS = Math.floor((nowMs + SESSION_MS) / 1000)
  const id = world.ids.uuid()
  await deleteExpiredSessions(tx, of.orgId, nowMs)
  await insertSession(tx, { org_id: of.orgId, id, user_id: of.userId, created_at: nowMs, expires_at: expiresAtS * 1000 })
  return { token: await signToken(world, { sub: of.userId, org: of.orgId, jti: id, roles: of.roles, expiresAtS }), expiresAtS }
}

/**
 * Finds the caller of a token. The signature proves the claims. Whether the session is valid, and what the user may do, is read from the store and
 * cached until the session, the user or a grant changes. A missing session never returns, so that is cached too.
 */
export async function identifyToken(world: World, token: Secret): Promise<Principal | undefined> {
  const claims = await readToken(world, token)
  if (!claims) return undefined
  const caller = await world.meta.cached(claims.org, `session:${claims.jti}`, () => loadCaller(world, claims), {
    only: () => ({ sessions: claims.jti, users: claims.sub }),
  })
  return caller?.identity.id === claims.sub ? caller : undefined
}

async function loadCaller(world: World, { org, jti }: TokenClaims): Promise<Principal | undefined> {
  const row = await selectCaller(world.meta, org, jti)
  if (!row || !mayLogIn(row.status)) return undefined
  const roles = await effectiveRoles(world, { org_id: row.home_org_id, id: row.user_id, roles: row.roles }, org)
  if (roles.length === 0 && org !== row.home_org_id) return undefined
  return {
    orgId: org,
    orgNumber: row.org_number,
    identity: { type: 'USER_ID', id: row.user_id },
    name: row.email,
    roles,
    permissions: await permissionsOf(world, org, roles),
    sessionId: jti,
  }
}
