import type { contract, ReplyOf } from '@dendro/api'
import { z } from 'zod'
import type { Actor, RequestFacts } from '../../../http/actor.ts'
import { badField } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { beginAttempt, logOut } from '../auth/auth.ts'
import { type IdpRow, idpById } from '../sso/sso.ts'
import { endNamedSessions, endSignOn } from './ending.ts'
import { keptSecret } from './kept-sign-ons.ts'
import { RETURN_PAGE } from './pending.ts'
import { endSessionUrl } from './provider-client.ts'
import { notTrusted } from './provider-failures.ts'
import { samlLogoutUrl } from './saml-client.ts'
import { type SignOnRow, selectSignOnOfSession } from './sign-on-rows.ts'

const NAME_LENGTH_MAX = 1_000

/** Ends the session of a request and all others of its sign-on, and says where the browser ends the session at the provider. */
export async function logOutAtProvider(world: World, actor: Actor): Promise<ReplyOf<typeof contract.signOn.logout>> {
  const { sessionId } = actor
  const row = sessionId === undefined ? undefined : await selectSignOnOfSession(world.meta, actor.orgId, sessionId)
  const idp = row && (await idpById(world, row.idp_id))
  const url = row && idp && (await addressAtProvider(world, actor.facts, idp, row))
  await logOut(world, actor)
  if (row && idp) await world.meta.write(idp.org_id, (tx) => endSignOn(world, tx, { idp, row, isRefused: false, facts: actor.facts }))
  return url === undefined ? {} : { url }
}

/** A provider that cannot be reached keeps nobody from logging out here. */
async function addressAtProvider(world: World, { baseUrl }: RequestFacts, idp: IdpRow, row: SignOnRow): Promise<string | undefined> {
  try {
    const hint = (await keptSecret(world, row, 'hint'))?.reveal()
    if (idp.provider_type === 'SAML') return await samlLogoutUrl(world, idp, baseUrl, hint)
    return await endSessionUrl(world, idp, { hint, redirectUri: `${baseUrl}${RETURN_PAGE}` })
  } catch (err) {
    world.log.warn({ err, idp: idp.id }, 'the address of a logout could not be read')
    return undefined
  }
}

const given = z.string().min(1).max(NAME_LENGTH_MAX)

/** Ends the sessions that a page of the provider names in a frame. Nothing is signed: who knows the name of a session may end it. */
export async function takeFrontChannelLogout(world: World, facts: RequestFacts, idp: IdpRow, query: string): Promise<void> {
  const params = new URLSearchParams(query)
  const [issuer, session] = (['iss', 'sid'] as const).map((name) => {
    const [value, ...others] = params.getAll(name)
    const { data } = given.safeParse(value)
    if (data === undefined || others.length > 0) throw badField(name, `must be given once, with at most ${NAME_LENGTH_MAX} characters`)
    return data
  })
  const attempt = await beginAttempt(world, undefined, facts.address)
  if (issuer !== idp.issuer_url) throw notTrusted()
  const ended = await world.meta.write(idp.org_id, (tx) => endNamedSessions(world, tx, facts, idp, { session }))
  // A name that nobody has counts as a guess.
  if (ended > 0) await attempt.withdrawn()
}
