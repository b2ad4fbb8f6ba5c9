import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { RequestFacts } from '../../../http/actor.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'
import type { IdpRow } from '../sso/sso.ts'
import type { LoginSecrets } from './provider-client.ts'
import { consumePending, deleteExpiredPending, insertPending, type KeptAnswer, type PendingRow } from './rows.ts'

const PENDING_MS = 10 * 60_000
const SECRET_BYTES = 32
const COOKIE = 'dendro_sso'
/** The page of the web app to which browsers return. */
export const RETURN_PAGE = '/app/sign-in'

/** Stands for the state of a login whose answer was refused before the browser came back. */
export const REFUSED = 'refused'

/** A login that has begun. The cookie binds it to the browser, so that nobody can end it in another one. */
export type Begun = { state: string; browser: string; cookie: string }

export function beginLogin({ baseUrl }: Pick<RequestFacts, 'baseUrl'>, headers: Pick<IncomingHttpHeaders, 'cookie'>): Begun {
  const browser = browserOf(headers) ?? newSecret()
  const secure = baseUrl.startsWith('https:') ? '; Secure' : ''
  const cookie = `${COOKIE}=${browser}; Path=/auth/sso; Max-Age=${PENDING_MS / 1_000}; HttpOnly; SameSite=Lax${secure}`
  return { state: newSecret(), browser, cookie }
}

/** Keeps a login until its answer arrives, or with the answer of a provider that was not asked. */
export async function keepPending(
  world: World,
  idp: IdpRow,
  { state, browser }: Begun,
  redirectUri: string,
  given?: { codeHash: Buffer; answer: KeptAnswer },
): Promise<void> {
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
      code_hash: given?.codeHash ?? null,
      answer: given?.answer ?? null,
    })
  })
}

/** Takes the login of a state out of the store, if the browser is the one that began it. */
export const takePending = (world: World, headers: IncomingHttpHeaders, state: string): Promise<PendingRow | undefined> =>
  consumePending(world.meta, hashOf(world, 'state', state), hashOf(world, 'browser', browserOf(headers) ?? ''), world.clock.nowMs())

export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url')

export const browserOf = ({ cookie }: Pick<IncomingHttpHeaders, 'cookie'>): string | undefined =>
  /(?:^|;\s*)dendro_sso=([\w-]{43})(?:;|$)/.exec(cookie ?? '')?.[1]

export const hashOf = ({ vault }: Pick<World, 'vault'>, purpose: string, text: string): Buffer =>
  vault.hashOf('confirmation', new Secret(`sign-on ${purpose} ${text}`))

/** Nonce and verifier are derived, so that the store holds nothing with which a login could be completed. */
export const secretsOf = (world: World, browser: string, state: string, redirectUri: string): LoginSecrets => ({
  state,
  redirectUri,
  nonce: hashOf(world, 'nonce', `${browser} ${state}`).toString('base64url'),
  verifier: hashOf(world, 'verifier', `${browser} ${state}`).toString('base64url'),
})

/** The id of the request to a SAML provider, which comes back in its answer. */
export const requestIdOf = (state: string): string => `_${state}`
export const stateOfRequest = (id: string): string => id.slice(1)
