import type { JSONWebKeySet } from 'jose'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  ResponseBodyError,
  refreshTokenGrant,
} from 'openid-client'
import type { Secret } from '../../../kernel/secret.ts'
import type { Outgoing } from '../../../outgoing/outgoing.ts'
import type { World } from '../../../world.ts'
import { type Claims, clientSecretOf, type IdpRow, isLoopback } from '../sso/sso.ts'

/** The secrets of one login. The provider gets the state and the nonce, and of the verifier only its hash until it is asked for a token. */
export type LoginSecrets = { state: string; nonce: string; verifier: string; redirectUri: string }

const TIMEOUT_S = 10
/** The clocks of the provider and the service may differ by this much. */
const SKEW_S = 60

/** The address to which a browser goes to sign on. */
export async function authorizationUrl(
  world: ProviderWorld,
  idp: IdpRow,
  { state, nonce, verifier, redirectUri }: LoginSecrets,
): Promise<string> {
  const url = buildAuthorizationUrl(await discover(world, idp), {
    redirect_uri: redirectUri,
    scope: idp.scopes,
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  return pageAddress(url)
}

/** A page of the web app goes to the address, so that it must not be a script. */
function pageAddress(url: URL): string {
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))) return url.href
  throw new Error('the provider leads browsers to an address that is no page')
}

/** What a provider grants for its answer: verified claims, those of the ID token and those that only the user info has, and tokens. */
export type Grant = {
  claims: Claims & { sub: string }
  refreshToken: string | undefined
  /** Good for the user info only; undefined if the provider has none. */
  accessToken: string | undefined
  lastsS: number | undefined
  idToken: string | undefined
}

/** Redeems the answer of a provider. */
export async function redeemed(
  world: ProviderWorld,
  idp: IdpRow,
  answer: string,
  { state, nonce, verifier, redirectUri }: LoginSecrets,
): Promise<Grant> {
  const provider = await discover(world, idp)
  const tokens = await authorizationCodeGrant(provider, new URL(`${redirectUri}?${answer}`), {
    pkceCodeVerifier: verifier,
    expectedNonce: nonce,
    expectedState: state,
    idTokenExpected: true,
  })
  const claims = tokens.claims()
  if (!claims) throw new Error('the provider sent no ID token')
  const hasUserInfo = provider.serverMetadata().userinfo_endpoint !== undefined
  const more = hasUserInfo ? await fetchUserInfo(provider, tokens.access_token, claims.sub) : {}
  return {
    claims: { ...more, ...claims },
    refreshToken: tokens.refresh_token,
    accessToken: hasUserInfo ? tokens.access_token : undefined,
    lastsS: tokens.expires_in,
    idToken: tokens.id_token,
  }
}

/** What a provider says when it is asked again about a sign-on. A token may come with the answer, and then replaces the one of before. */
export type Verdict = { kind: 'confirmed'; token?: string | undefined } | { kind: 'refused' } | { kind: 'unanswered'; cause: unknown }

type Check = { type: 'REFRESH' | 'ACCESS'; token: Secret; subject: string }

/** Reads the configuration of a provider once, to ask it about many sign-ons. */
export async function openChecks(world: ProviderWorld, idp: IdpRow): Promise<(check: Check) => Promise<Verdict>> {
  const provider = await discover(world, idp)
  return async (check) => {
    try {
      return check.type === 'REFRESH' ? await refreshed(provider, check) : await informed(world, provider, check)
    } catch (cause) {
      // Only this error says that the grant of the user has ended; others are about the service, or about the provider.
      const isRefused = cause instanceof ResponseBodyError && cause.error === 'invalid_grant'
      return isRefused ? { kind: 'refused' } : { kind: 'unanswered', cause }
    }
  }
}

async function refreshed(provider: Configuration, { token, subject }: Check): Promise<Verdict> {
  const tokens = await refreshTokenGrant(provider, token.reveal())
  const sub = tokens.claims()?.sub
  return sub === undefined || sub === subject ? { kind: 'confirmed', token: tokens.refresh_token } : { kind: 'refused' }
}

async function informed({ outgoing }: ProviderWorld, provider: Configuration, { token }: Check): Promise<Verdict> {
  const { userinfo_endpoint: url } = provider.serverMetadata()
  if (url === undefined) throw new Error('the provider has no user info any more')
  const headers = { authorization: `Bearer ${token.reveal()}`, accept: 'application/json' }
  const { status } = await outgoing.post({ method: 'GET', url, headers, body: '' })
  if (status === 200) return { kind: 'confirmed' }
  return status === 401 || status === 403
    ? { kind: 'refused' }
    : { kind: 'unanswered', cause: new Error(`the user info answered ${status}`) }
}

/** The address to which a browser goes to end its session at the provider; undefined if the provider has none. */
export async function endSessionUrl(
  world: ProviderWorld,
  idp: IdpRow,
  { hint, redirectUri }: { hint: string | undefined; redirectUri: string },
): Promise<string | undefined> {
  const provider = await discover(world, idp)
  if (provider.serverMetadata().end_session_endpoint === undefined) return undefined
  const url = buildEndSessionUrl(provider, {
    post_logout_redirect_uri: redirectUri,
    ...(hint === undefined ? {} : { id_token_hint: hint }),
  })
  return pageAddress(url)
}

/** The keys with which a provider signs. */
export async function keysOf(world: ProviderWorld, idp: IdpRow): Promise<JSONWebKeySet> {
  const { jwks_uri } = (await discover(world, idp)).serverMetadata()
  if (jwks_uri === undefined) throw new Error('the provider has no keys')
  const reply = await fetchThrough(world.outgoing)(jwks_uri, { method: 'GET', headers: {}, body: null, redirect: 'manual' })
  return (await reply.json()) as JSONWebKeySet
}

type ProviderWorld = Pick<World, 'outgoing' | 'vault' | 'meta'>

/** Reads the configuration of a provider. Signatures are verified although the token comes directly from the provider. */
async function discover(world: ProviderWorld, idp: IdpRow): Promise<Configuration> {
  const issuer = new URL(idp.issuer_url)
  const options = {
    timeout: TIMEOUT_S,
    [customFetch]: fetchThrough(world.outgoing),
    execute: [enableNonRepudiationChecks, ...(isLoopback(issuer) ? [allowInsecureRequests] : [])],
  }
  const secret = await clientSecretOf(world, idp)
  return discovery(issuer, idp.client_id, { [clockTolerance]: SKEW_S }, authenticationWith(secret), options)
}

/** By the header unless the provider supports only the body. */
function authenticationWith(secret: Secret): ClientAuth {
  const [byHeader, byBody] = [ClientSecretBasic(secret.reveal()), ClientSecretPost(secret.reveal())]
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    return (methods.includes('client_secret_basic') ? byHeader : byBody)(server, ...rest)
  }
}

const fetchThrough =
  ({ post }: Outgoing): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const text = body === undefined || body === null ? '' : String(body)
    const reply = await post({ url, method: method === 'GET' ? 'GET' : 'POST', headers, body: text }, signal ?? undefined)
    const isEmpty = reply.status === 204 || reply.status === 304
    return new Response(isEmpty ? null : reply.body, { status: reply.status, headers: { 'content-type': reply.contentType } })
  }
