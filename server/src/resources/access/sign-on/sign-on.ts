import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { BodyOf, contract, Login, ReplyOf } from '@dendro/api'
import type { RequestFacts } from '../../../http/actor.ts'
import { Failure, forbidden, notFound, unauthenticated, unavailable } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import { DeliveryError } from '../../../outgoing/outgoing.ts'
import type { World } from '../../../world.ts'
import { recordRefusal } from '../audit/audit.ts'
import { openProvidedLogin } from '../auth/auth.ts'
import { setProvidedGroups } from '../groups/groups.ts'
import { grantedRolesIn } from '../organizations/organizations.ts'
import { unknownRoles } from '../roles/roles.ts'
import { allMappings, assignedBy, type Claims, domainOf, type IdpRow, idpById, idpsOfDomain, rolesAfter } from '../sso/sso.ts'
import { provideUser, type UserRow } from '../users/users.ts'
import { readPerson } from './person.ts'
import { authorizationUrl, claimsOf, type LoginSecrets } from './provider-client.ts'
import { consumePending, deleteExpiredPending, insertIdentity, insertPending, selectIdentity } from './rows.ts'

type Providers = ReplyOf<typeof contract.signOn.providers>
type Started = { reply: ReplyOf<typeof contract.signOn.start>; cookie: string }

const PENDING_MS = 10 * 60_000
const SECRET_BYTES = 32
const COOKIE = 'dendro_sso'
/** The page of the web app to which providers send the browser back. */
const RETURN_PAGE = '/app/sign-in'

/** Says nothing about whether a user exists: only the domain counts. */
export const providersFor = async (world: World, { email }: BodyOf<typeof contract.signOn.providers>): Promise<Providers> => ({
  providers: (await idpsOfDomain(world, domainOf(email))).map(({ id, name }) => ({ id, name })),
})

/** Begins a login. The cookie binds it to the browser, so that nobody can end it in another one. */
export async function startSignOn(world: World, facts: RequestFacts, headers: IncomingHttpHeaders, id: string): Promise<Started> {
  const idp = await idpById(world, id)
  if (!idp) throw notFound('identity provider', id)
  const browser = browserOf(headers) ?? newSecret()
  const state = newSecret()
  const redirectUri = `${facts.baseUrl}${RETURN_PAGE}`
  const url = await withProvider(world, facts, idp, () => authorizationUrl(world, idp, secretsOf(world, browser, state, redirectUri)))
  const nowMs = world.clock.nowMs()
  await world.meta.write(idp.org_id, async (tx) => {
    await deleteExpiredPending(tx, nowMs)
    await insertPending(tx, {
      state_hash: hashOf(world, 'state', state),
      browser_hash: hashOf(world, 'browser', browser),
      org_id: idp.org_id,
      idp_id: idp.id,
      redirect_uri: redirectUri,
      expires_at: nowMs + PENDING_MS,
    })
  })
  const secure = facts.baseUrl.startsWith('https:') ? '; Secure' : ''
  const cookie = `${COOKIE}=${browser}; Path=/auth/sso; Max-Age=${PENDING_MS / 1_000}; HttpOnly; SameSite=Lax${secure}`
  return { reply: { url }, cookie }
}

/** Completes a login with the answer of the provider, once and only in the browser that began it. */
export async function finishSignOn(world: World, facts: RequestFacts, headers: IncomingHttpHeaders, given: string): Promise<Login> {
  const answer = given.replace(/^\?/, '')
  const state = new URLSearchParams(answer).get('state') ?? ''
  const browser = browserOf(headers) ?? ''
  const [stateHash, browserHash] = [hashOf(world, 'state', state), hashOf(world, 'browser', browser)]
  const pending = await consumePending(world.meta, stateHash, browserHash, world.clock.nowMs())
  const idp = pending && (await idpById(world, pending.idp_id))
  if (!pending || !idp) throw unauthenticated('this sign-on was not begun in this browser, or it has expired; begin again')
  const claims = await withProvider(world, facts, idp, () =>
    claimsOf(world, idp, answer, secretsOf(world, browser, state, pending.redirect_uri)),
  )
  try {
    const user = await provide(world, facts, idp, claims)
    const login = await openProvidedLogin(world, facts, user, idp.name)
    if (!login) throw withoutRole()
    return login
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.status === 403) await recordFailure(world, facts, idp, claims)
    throw thrown
  }
}

/** Writes the user, their link to the provider, and their roles and groups in one transaction. */
async function provide(world: World, facts: RequestFacts, idp: IdpRow, claims: Claims & { sub: string }): Promise<UserRow> {
  const { assigned, assignable } = assignedBy(await allMappings(world, idp.org_id), idp, claims)
  const unknown = new Set(await unknownRoles(world, idp.org_id, 'USER', [...assigned.roles, ...idp.default_roles]))
  const isKnown = (role: string): boolean => !unknown.has(role)
  const of = { assigned: assigned.roles.filter(isKnown), assignable: assignable.roles, defaults: idp.default_roles.filter(isKnown) }
  const { email, names } = readPerson(claims, idp)
  return world.meta.write(idp.org_id, async (tx) => {
    const linked = await selectIdentity(tx, idp.id, claims.sub)
    const user = await provideUser(world, tx, facts, {
      orgId: idp.org_id,
      method: idp.name,
      userId: linked?.user_id,
      email,
      names,
      rolesAfter: (current) => rolesAfter(current, of),
    })
    if (!linked) await insertIdentity(tx, { org_id: idp.org_id, idp_id: idp.id, subject: claims.sub, user_id: user.id })
    const who = { orgId: idp.org_id, identity: { type: 'USER_ID', id: user.id } as const, name: user.email, facts }
    await setProvidedGroups(world, tx, who, user.id, { assigned: assigned.groups, assignable: assignable.groups })
    // Ends the transaction, so that nobody without a role becomes a user.
    if (!linked && user.roles.length === 0 && !(await hasGrant(tx, user))) throw withoutRole()
    return user
  })
}

const withoutRole = () => forbidden('no role is assigned to this user; ask an administrator')

const hasGrant = async (tx: Db, { org_id, id }: UserRow): Promise<boolean> => (await grantedRolesIn(tx, org_id, id)).length > 0

/** Failures of the provider and answers that cannot be trusted. Their details go to the log only. */
async function withProvider<T>(world: World, facts: RequestFacts, idp: IdpRow, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    world.log.warn({ err: cause, idp: idp.id, correlation_id: facts.correlationId }, 'an identity provider could not be used')
    if (isUnreachable(cause)) throw unavailable('the identity provider cannot be reached', { cause })
    await recordFailure(world, facts, idp, {})
    throw unauthenticated('the identity provider refused the sign-on, or its answer is not valid')
  }
}

const isUnreachable = (thrown: unknown): boolean =>
  thrown instanceof DeliveryError || (thrown instanceof Error && thrown.cause !== undefined && isUnreachable(thrown.cause))

const recordFailure = (world: World, facts: RequestFacts, idp: IdpRow, claims: Claims): Promise<void> =>
  recordRefusal(
    world,
    { orgId: idp.org_id, identity: undefined, name: typeof claims.email === 'string' ? claims.email.slice(0, 254) : idp.name, facts },
    { entity: { type: 'identity_provider', id: idp.id } },
  )

const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url')

const browserOf = ({ cookie }: IncomingHttpHeaders): string | undefined => /(?:^|;\s*)dendro_sso=([\w-]{43})(?:;|$)/.exec(cookie ?? '')?.[1]

const hashOf = ({ vault }: Pick<World, 'vault'>, purpose: string, text: string): Buffer =>
  vault.hashOf('confirmation', new Secret(`sign-on ${purpose} ${text}`))

/** Nonce and verifier are derived, so that the store holds nothing with which a login could be completed. */
const secretsOf = (world: World, browser: string, state: string, redirectUri: string): LoginSecrets => ({
  state,
  redirectUri,
  nonce: hashOf(world, 'nonce', `${browser} ${state}`).toString('base64url'),
  verifier: hashOf(world, 'verifier', `${browser} ${state}`).toString('base64url'),
})
