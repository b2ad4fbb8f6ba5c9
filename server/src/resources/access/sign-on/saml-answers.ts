import type { RequestFacts } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { beginAttempt } from '../auth/auth.ts'
import type { IdpRow } from '../sso/sso.ts'
import { type Begun, beginLogin, hashOf, keepPending, newSecret, REFUSED, RETURN_PAGE, stateOfRequest } from './pending.ts'
import { withProvider } from './provider-failures.ts'
import { deleteExpiredMessages, insertMessage, keepAnswer } from './rows.ts'
import type { SamlAnswer } from './saml-assertion.ts'
import { readSamlAnswer } from './saml-client.ts'

/** Where the browser that brought an answer goes next. The cookie is set only if nobody had begun a login. */
export type SentBack = { location: string; cookie?: string }

/** Keeps the answer of a SAML provider for the browser, which fetches its token with a code. Bad answers lead to the page too, which says so. */
export async function takeSamlAnswer(world: World, facts: RequestFacts, idp: IdpRow, encoded: string): Promise<SentBack> {
  const attempt = await beginAttempt(world, undefined, facts.address)
  try {
    const sent = await withProvider(world, facts, idp, async () =>
      keepForBrowser(world, facts, idp, await readSamlAnswer(world, idp, facts.baseUrl, encoded)),
    )
    await attempt.withdrawn()
    return sent
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.status !== 401) throw thrown
    return { location: returnTo(facts, { state: REFUSED, error: 'refused' }) }
  }
}

async function keepForBrowser(
  world: World,
  facts: RequestFacts,
  idp: IdpRow,
  { inResponseTo, id, expiresAtMs, ...answer }: SamlAnswer,
): Promise<SentBack> {
  if (inResponseTo === undefined && !idp.accept_idp_initiated) throw new Error('nobody asked for this answer')
  const code = newSecret()
  const codeHash = hashOf(world, 'code', code)
  const nowMs = world.clock.nowMs()
  const unasked = inResponseTo === undefined ? beginLogin(facts, {}) : undefined
  const state = unasked?.state ?? stateOfRequest(inResponseTo ?? '')
  await world.meta.write(idp.org_id, async (tx) => {
    await deleteExpiredMessages(tx, nowMs)
    const row = { org_id: idp.org_id, idp_id: idp.id, id_hash: hashOf(world, 'message', id), expires_at: expiresAtMs }
    if ((await insertMessage(tx, row)) === 0) throw new Error('this assertion was here before')
    if (unasked) return
    const isKept = await keepAnswer(tx, { stateHash: hashOf(world, 'state', state), idpId: idp.id, nowMs }, codeHash, answer)
    if (isKept === 0) throw new Error('no login waits for this answer')
  })
  const location = returnTo(facts, { state, code })
  return unasked ? { location, cookie: await keptUnasked(world, facts, idp, unasked, { codeHash, answer }) } : { location }
}

async function keptUnasked(
  world: World,
  { baseUrl }: RequestFacts,
  idp: IdpRow,
  begun: Begun,
  given: NonNullable<Parameters<typeof keepPending>[4]>,
): Promise<string> {
  await keepPending(world, idp, begun, `${baseUrl}${RETURN_PAGE}`, given)
  return begun.cookie
}

const returnTo = ({ baseUrl }: RequestFacts, query: Record<string, string>): string =>
  `${baseUrl}${RETURN_PAGE}?${new URLSearchParams(query)}`
