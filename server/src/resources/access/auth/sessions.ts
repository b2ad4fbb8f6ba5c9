import type { Principal, RequestFacts } from '../../../http/actor.ts'
import type { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { permissionsOf } from '../roles/roles.ts'
import { effectiveRoles, mayLogIn } from '../users/users.ts'
import {
  deleteExpiredSessions,
  deleteProvidedSessions,
  insertSession,
  type ProvidedBy,
  type SessionRow,
  selectCaller,
  selectSession,
} from './rows.ts'
import { readToken, signToken, type TokenClaims } from './tokens.ts'

/** The lifetime of a token. */
const SESSION_MS = 12 * 60 * 60_000
const ADDRESS_LENGTH_MAX = 100

export type NewSession = { token: Secret; expiresAtS: number }

/** The identity provider that vouches for a session, until a time if it says so. */
export type ProvidedSession = {
  idpId: string
  subject: string
  session?: string | undefined
  /** What the service keeps of the sign-on; the session ends with it. */
  signOnId: string
  endsAtMs?: number | undefined
}

type SessionOf = {
  userId: string
  orgId: string
  roles: readonly string[]
  facts: Pick<RequestFacts, 'address' | 'userAgent'>
  /** How the user logged in; a session that was begun from another one has its method. */
  method?: string | undefined
  provided?: ProvidedSession | undefined
  like?: Lineage | undefined
}
/** A session that was begun from another one ends with it, if a provider vouches for it. */
type Lineage = { orgId: string; sessionId?: string }

const NOT_PROVIDED: ProvidedBy = { idp_id: null, subject: null, provider_session: null, sign_on_id: null }

/** Opens a session of a user in an organization and returns its token, in the transaction that permits it. `roles` are only for the claim in the token. */
export async function openSession(world: Pick<World, 'clock' | 'ids' | 'vault'>, tx: Db, of: SessionOf): Promise<NewSession> {
  const nowMs = world.clock.nowMs()
  const before = of.like?.sessionId === undefined ? undefined : await selectSession(tx, of.like.orgId, of.like.sessionId)
  const { endsAtMs, ...by } = providerOf(of, before)
  const expiresAtS = Math.floor(Math.min(nowMs + SESSION_MS, endsAtMs ?? Number.POSITIVE_INFINITY) / 1000)
  const id = world.ids.uuid()
  await deleteExpiredSessions(tx, of.orgId, nowMs)
  const begun = {
    method: of.method ?? before?.method ?? null,
    address: of.facts.address.slice(0, ADDRESS_LENGTH_MAX),
    user_agent: of.facts.userAgent || null,
  }
  await insertSession(tx, { org_id: of.orgId, id, user_id: of.userId, created_at: nowMs, expires_at: expiresAtS * 1000, ...begun, ...by })
  return { token: await signToken(world, { sub: of.userId, org: of.orgId, jti: id, roles: of.roles, expiresAtS }), expiresAtS }
}

/** Ends the sessions that a provider vouched for: all of a person, or one. Returns whose they were, and where. */
export async function endProvidedSessions(
  tx: Db,
  idpId: string,
  of: { subject?: string | undefined; session?: string | undefined },
): Promise<{ orgId: string; userId: string }[]> {
  if (of.subject === undefined && of.session === undefined) throw new Error('names neither a person nor a session')
  return (await deleteProvidedSessions(tx, idpId, of)).map(({ org_id, user_id }) => ({ orgId: org_id, userId: user_id }))
}

function providerOf({ provided }: SessionOf, before: SessionRow | undefined): ProvidedBy & { endsAtMs?: number | undefined } {
  if (provided) {
    const { idpId, subject, session, signOnId, endsAtMs } = provided
    return { idp_id: idpId, subject, provider_session: session ?? null, sign_on_id: signOnId, endsAtMs }
  }
  if (!before || before.idp_id === null) return NOT_PROVIDED
  const { idp_id, subject, provider_session, sign_on_id, expires_at } = before
  return { idp_id, subject, provider_session, sign_on_id, endsAtMs: expires_at }
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
