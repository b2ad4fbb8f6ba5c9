import type { IncomingHttpHeaders } from 'node:http'
import type { BodyOf, contract, Login, ReplyOf } from '@dendro/api'
import type { RequestFacts } from '../../../http/actor.ts'
import { notFound, unauthenticated } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { beginAttempt, laterSucceeded } from '../auth/auth.ts'
import { domainOf, type IdpRow, idpById, idpsOfDomain } from '../sso/sso.ts'
import {
  type Begun,
  beginLogin,
  browserOf,
  hashOf,
  keepPending,
  REFUSED,
  RETURN_PAGE,
  requestIdOf,
  secretsOf,
  takePending,
} from './pending.ts'
import { logInProvided, type Provided } from './provide.ts'
import { authorizationUrl, type Grant, redeemed } from './provider-client.ts'
import { notTrusted, withProvider } from './provider-failures.ts'
import type { PendingRow } from './rows.ts'
import { samlRequestUrl } from './saml-client.ts'

export { signOnRecheck } from './recheck.ts'

type Providers = ReplyOf<typeof contract.signOn.providers>
/** How long an access token counts that does not say it. */
const ACCESS_S = 5 * 60

type Started = { reply: ReplyOf<typeof contract.signOn.start>; cookie: string }

/** Says nothing about whether a user exists: only the domain counts. */
export const providersFor = async (world: World, { email }: BodyOf<typeof contract.signOn.providers>): Promise<Providers> => ({
  providers: await idpsOfDomain(world, domainOf(email)),
})

/** Begins a login at a provider. It counts as failed until it is completed. */
export async function startSignOn(world: World, facts: RequestFacts, headers: IncomingHttpHeaders, id: string): Promise<Started> {
  const idp = await idpById(world, id)
  if (!idp) throw notFound('identity provider', id)
  await beginAttempt(world, undefined, facts.address)
  const begun = beginLogin(facts, headers)
  const redirectUri = `${facts.baseUrl}${RETURN_PAGE}`
  const url = await withProvider(world, facts, idp, () => requestUrl(world, facts, idp, begun, redirectUri))
  await keepPending(world, idp, begun, redirectUri)
  return { reply: { url }, cookie: begun.cookie }
}

const requestUrl = (
  world: World,
  { baseUrl }: RequestFacts,
  idp: IdpRow,
  { browser, state }: Begun,
  redirectUri: string,
): Promise<string> =>
  idp.provider_type === 'SAML'
    ? samlRequestUrl(world, idp, baseUrl, requestIdOf(state))
    : authorizationUrl(world, idp, secretsOf(world, browser, state, redirectUri))

/** Completes a login with the answer of the provider, once and only in the browser that began it. */
export async function finishSignOn(world: World, facts: RequestFacts, headers: IncomingHttpHeaders, given: string): Promise<Login> {
  const answer = given.replace(/^\?/, '')
  const state = new URLSearchParams(answer).get('state') ?? ''
  if (state === REFUSED) throw notTrusted()
  const pending = await takePending(world, headers, state)
  const idp = pending && (await idpById(world, pending.idp_id))
  if (!pending || !idp) throw unauthenticated('this sign-on was not begun in this browser, or it has expired; begin again')
  const provided = await withProvider(world, facts, idp, async () =>
    idp.provider_type === 'SAML'
      ? keptAnswer(world, pending, answer)
      : ofOpenId(
          await redeemed(world, idp, answer, secretsOf(world, browserOf(headers) ?? '', state, pending.redirect_uri)),
          world.clock.nowMs(),
        ),
  )
  const login = await logInProvided(world, facts, idp, provided)
  await laterSucceeded(world, facts.address)
  return login
}

const ofOpenId = ({ claims, refreshToken, accessToken, lastsS, idToken }: Grant, nowMs: number): Provided => ({
  claims,
  session: typeof claims.sid === 'string' ? claims.sid : undefined,
  kept: { token: tokenIn({ refreshToken, accessToken, lastsS }, nowMs), hint: idToken },
})

function tokenIn({ refreshToken, accessToken, lastsS }: Pick<Grant, 'refreshToken' | 'accessToken' | 'lastsS'>, nowMs: number) {
  if (refreshToken !== undefined) return { type: 'REFRESH', text: refreshToken } as const
  if (accessToken === undefined) return undefined
  return { type: 'ACCESS', text: accessToken, endsAtMs: nowMs + (lastsS ?? ACCESS_S) * 1_000 } as const
}

/** The answer that the provider has sent to the service, for the code that the browser was given in return. */
function keptAnswer(world: World, { answer, code_hash }: PendingRow, given: string): Provided {
  const code = new URLSearchParams(given).get('code') ?? ''
  if (!answer || !code_hash || !hashOf(world, 'code', code).equals(code_hash)) throw new Error('the provider has not sent this answer')
  return answer
}
