import { type BodyOf, type contract, type Login, type ReplyOf, shownRole } from '@dendro/api'
import { type Actor, type RequestFacts, sessionOf } from '../../../http/actor.ts'
import { badField, forbidden, unauthenticated } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import type { World } from '../../../world.ts'
import { findApiKey, getApiKey } from '../api-keys/api-keys.ts'
import { auditActorOf, recordChange, recordRefusal } from '../audit/audit.ts'
import { activeOrganization } from '../organizations/organizations.ts'
import { verifyCode } from '../second-factors/second-factors.ts'
import { withoutRequiredProvider } from '../sso/sso.ts'
import {
  candidates,
  chooseLogin,
  choosePassword,
  effectiveRoles,
  emailKey,
  findInvitation,
  findUserAnywhere,
  getUser,
  hashPassword,
  isOutdated,
  isStillPassword,
  type LoginRow,
  loginOf,
  PASSWORD,
  recordLogin,
  redeem,
  replacePassword,
  savePasswordHash,
  shownUser,
  type UserRow,
  withPassword,
} from '../users/users.ts'
import { beginAttempt, type LoginAttempt } from './attempts.ts'
import { LoginLines } from './login-line.ts'
import { deleteSession, selectFirstOrganization, selectProviderName } from './rows.ts'
import { codeRefused } from './second-factor.ts'
import { openSession, type ProvidedSession } from './sessions.ts'

export { beginAttempt, laterSucceeded } from './attempts.ts'
export { activeCallerOf, callerOf } from './current-callers.ts'
export { KeyGuessLimiter } from './key-guesses.ts'
export { endOtherSessions, endSession, listSessions } from './own-sessions.ts'
export { beginSecondFactor, confirmSecondFactor, getSecondFactor, removeSecondFactor } from './second-factor.ts'
export { SessionUses } from './session-uses.ts'
export { endProvidedSessions, identifyToken, openSession } from './sessions.ts'

type Credentials = BodyOf<typeof contract.auth.login>
type Acceptance = BodyOf<typeof contract.auth.acceptInvite>
type PasswordChange = BodyOf<typeof contract.auth.changePassword>
type Me = ReplyOf<typeof contract.auth.me>

/** The minimum time of every failed login, so that its duration does not reveal the reason. */
const FAILURE_MS = 300
const NOT_AN_EMAIL = 'not an e-mail address'
const NAME_LENGTH_MAX = 254

/** One per process, like the bound on the passwords that are checked at a time. */
const lines = new LoginLines()

/** Returns a token for an e-mail and a password. If several organizations know the e-mail, the password decides. */
export const logIn = (world: World, facts: RequestFacts, credentials: Credentials): Promise<Login> =>
  lines.run(facts.address, () => checkLogin(world, facts, credentials))

async function checkLogin(world: World, facts: RequestFacts, { email, password, code }: Credentials): Promise<Login> {
  const attempt = await beginAttempt(world, emailKey(email), facts.address)
  const startedMs = world.clock.monotonicMs()
  const given = new Secret(password)
  const rows = await candidates(world, email)
  const user = chooseLogin(await matchPassword(attempt, await withoutRequiredProvider(world, rows), given))
  const verdict = user && (await verifyCode(world, { orgId: user.org_id, userId: user.id }, code))
  if (user && verdict === 'missing') {
    // The login goes on with another request; it has not failed.
    await attempt.withdrawn()
    throw codeRefused('missing')
  }
  const login = user && verdict === 'right' ? await completeLogin(world, facts, user, given) : undefined
  if (login) {
    await attempt.succeeded()
    return login
  }
  await recordFailure(world, facts, email, rows)
  await world.clock.sleep(Math.max(0, FAILURE_MS - (world.clock.monotonicMs() - startedMs)))
  if (verdict === 'wrong') throw codeRefused('wrong')
  throw unauthenticated('the e-mail or the password is wrong, or this user may not log in')
}

/** Finds the users whose password matches. An attempt that could not be checked does not count as failed. */
async function matchPassword(attempt: LoginAttempt, rows: readonly LoginRow[], password: Secret): Promise<LoginRow[]> {
  try {
    return await withPassword(rows, password)
  } catch (thrown) {
    await attempt.withdrawn()
    throw thrown
  }
}

async function completeLogin(world: World, facts: RequestFacts, user: LoginRow, password: Secret): Promise<Login | undefined> {
  const renewed = user.password_hash !== null && isOutdated(user.password_hash) ? await hashPassword(world, password) : undefined
  const landing = await loginTargetOf(world, user)
  return world.meta.write(user.org_id, async (tx) => {
    if (!(await isStillPassword(tx, user))) return undefined
    if (renewed !== undefined) await savePasswordHash(tx, user, renewed)
    return startSession(world, tx, facts, user, landing)
  })
}

/** `method` is the name of an identity provider; without it, the login was by password. */
type LoginTarget = { orgId: string; roles: readonly string[]; method?: string; provided?: ProvidedSession }

/** The organization and roles of a login. Read before the transaction, which must not wait for a second connection. */
async function loginTargetOf(world: World, user: UserRow): Promise<LoginTarget> {
  const orgId = await activeOrganization(world, user.org_id, user.id)
  return { orgId, roles: await effectiveRoles(world, user, orgId) }
}

/** Opens a session and records the login in the organization it is for; undefined when the user may no longer log in. */
async function startSession(
  world: World,
  tx: Db,
  facts: RequestFacts,
  row: UserRow,
  { orgId, roles, method, provided }: LoginTarget,
): Promise<Login | undefined> {
  const user = await recordLogin(world, tx, row, method)
  if (!user) return undefined
  const session = await openSession(world, tx, {
    userId: user.id,
    orgId,
    roles: roles.map(shownRole),
    facts,
    method: method ?? PASSWORD,
    provided,
  })
  const who = { orgId, identity: { type: 'USER_ID', id: user.id } as const, name: user.email, facts }
  await recordChange(world, tx, who, { entity: { type: 'user', id: user.id } })
  return { token: session.token.reveal(), token_type: 'Bearer', expires_at: session.expiresAtS, user: shownUser(world, user) }
}

/**
 * Records a failed login in the audit trail of every organization that knows the e-mail, or of the first organization if none does. The input is
 * recorded only if it looks like an e-mail, because people type passwords into the wrong field.
 */
async function recordFailure(world: World, facts: RequestFacts, email: string, rows: readonly LoginRow[]): Promise<void> {
  const name = /^[^\s@]+@[^\s@]+$/.test(email) ? email.slice(0, NAME_LENGTH_MAX) : NOT_AN_EMAIL
  for (const { org_id, id } of rows) {
    await recordRefusal(world, { orgId: org_id, identity: undefined, name, facts }, { entity: { type: 'user', id } })
  }
  const first = rows.length === 0 ? await selectFirstOrganization(world.meta) : undefined
  if (first) await recordRefusal(world, { orgId: first.id, identity: undefined, name, facts }, { entity: { type: 'user', id: 'unknown' } })
}

/** Sets the password of an invited user and logs in. */
export async function acceptInvite(world: World, facts: RequestFacts, { token, password, code }: Acceptance): Promise<Login> {
  const invitation = await findInvitation(world, new Secret(token))
  const [free] = await withoutRequiredProvider(world, [invitation.user])
  if (!free) throw forbidden('this user logs in by single sign-on, not with a password')
  const hash = await choosePassword(world, invitation.user, new Secret(password), 'password')
  // A link by mail replaces the password, not the second factor.
  const verdict = await verifyCode(world, { orgId: invitation.user.org_id, userId: invitation.user.id }, code)
  if (verdict !== 'right') throw codeRefused(verdict)
  const landing = await loginTargetOf(world, invitation.user)
  return world.meta.write(invitation.user.org_id, async (tx) => {
    const login = await startSession(world, tx, facts, await redeem(world, tx, invitation, hash), landing)
    if (!login) throw new Error('a user who has just accepted an invitation may not log in')
    return login
  })
}

/** Opens a session for a user whom an identity provider has identified; undefined when the user may not log in. */
export async function openProvidedLogin(
  world: World,
  facts: RequestFacts,
  user: UserRow,
  method: string,
  provided: ProvidedSession,
): Promise<Login | undefined> {
  const landing = await loginTargetOf(world, user)
  if (landing.roles.length === 0) return undefined
  return world.meta.write(user.org_id, (tx) => startSession(world, tx, facts, user, { ...landing, method, provided }))
}

/** Ends the session of the request. */
export async function logOut(world: World, actor: Actor): Promise<undefined> {
  const { sessionId } = actor
  if (sessionId === undefined) throw forbidden('only a bearer token can be logged out; an API key is deleted instead')
  await world.meta.write(actor.orgId, async (tx) => {
    await deleteSession(tx, actor.orgId, sessionId)
    await recordChange(world, tx, actor, { entity: { type: 'user', id: actor.identity.id } })
  })
}

/** Changes the password. Requires the old one, with the same delays as a login. All sessions end, and a new token is returned. */
export async function changePassword(world: World, actor: Actor, ask: PasswordChange): Promise<Login> {
  const user = await loginOf(world, sessionOf(actor).userId)
  if (!user) throw unauthenticated()
  const attempt = await beginAttempt(world, user.email_key, actor.facts.address)
  const [same] = await matchPassword(attempt, [user], new Secret(ask.current_password))
  if (!same) {
    await recordRefusal(world, auditActorOf(actor), { entity: { type: 'user', id: user.id } })
    throw badField('current_password', 'is not the password of this user')
  }
  await attempt.succeeded()
  if (ask.new_password === ask.current_password) throw badField('new_password', 'must differ from the current one')
  const hash = await choosePassword(world, user, new Secret(ask.new_password), 'new_password')
  const landing = { orgId: actor.orgId, roles: actor.roles }
  return world.meta.write(user.org_id, async (tx) => {
    if (!(await isStillPassword(tx, user))) throw badField('current_password', 'is not the password of this user any more')
    await replacePassword(tx, user, hash)
    const login = await startSession(world, tx, actor.facts, user, landing)
    if (!login) throw unauthenticated()
    return login
  })
}

export async function whoAmI(world: World, actor: Actor): Promise<Me> {
  const { type, id } = actor.identity
  const caller = { type, id, org_id: actor.orgId, permissions: [...actor.permissions].sort(), can_send_mail: world.mailer.configured }
  if (type === 'API_KEY_ID') {
    return { ...caller, roles: [...actor.roles], api_key: await getApiKey(world, await findApiKey(world, actor, id)) }
  }
  const { personalKey } = actor
  const provider = await providerOf(world, actor)
  const user = await getUser(world, await findUserAnywhere(world, actor, id))
  const key = personalKey && (await getApiKey(world, await findApiKey(world, actor, personalKey.id)))
  return {
    ...caller,
    roles: actor.roles.map(shownRole),
    user,
    ...(key && { api_key: key }),
    ...(provider === undefined ? {} : { provider }),
  }
}

/** The name of the provider of a session. */
const providerOf = async ({ meta }: Pick<World, 'meta'>, { orgId, sessionId }: Actor): Promise<string | undefined> =>
  sessionId === undefined ? undefined : (await selectProviderName(meta, orgId, sessionId))?.name
