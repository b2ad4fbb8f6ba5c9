import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { z } from 'zod'
import type { RequestFacts } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { beginAttempt } from '../auth/auth.ts'
import type { IdpRow } from '../sso/sso.ts'
import { endSessions } from './ending.ts'
import { keysOf } from './provider-client.ts'
import { withProvider } from './provider-failures.ts'

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']
const AGE_MAX_S = 10 * 60
const SKEW_S = 60
const name = z.string().min(1).max(1_000)

/** The claims of a logout token. One with a nonce would be an ID token. */
const LogoutClaims = z
  .object({
    jti: name,
    iat: z.number(),
    sub: name.optional(),
    sid: name.optional(),
    nonce: z.undefined().optional(),
    events: z.object({ [EVENT]: z.looseObject({}) }),
  })
  .refine(({ sub, sid }) => sub !== undefined || sid !== undefined, { error: 'names neither a person nor a session' })

/** Ends the sessions that a logout token of OpenID Connect names; the provider sends it without a browser. */
export async function takeLogoutToken(world: World, facts: RequestFacts, idp: IdpRow, token: string): Promise<void> {
  const attempt = await beginAttempt(world, undefined, facts.address)
  await withProvider(world, facts, idp, async () => {
    // The keys are fetched only for a token that claims to be of this provider.
    if (decodeJwt(token).iss !== idp.issuer_url) throw new Error('the token is of another issuer')
    const { payload } = await jwtVerify(token, createLocalJWKSet(await keysOf(world, idp)), {
      algorithms: ALGORITHMS,
      issuer: idp.issuer_url,
      audience: idp.client_id,
      clockTolerance: SKEW_S,
      currentDate: new Date(world.clock.nowMs()),
      maxTokenAge: AGE_MAX_S,
      requiredClaims: ['iat', 'jti'],
    })
    const { jti, iat, sub, sid } = LogoutClaims.parse(payload)
    await endSessions(world, facts, idp, { id: jti, expiresAtMs: (iat + AGE_MAX_S + 2 * SKEW_S) * 1_000, subject: sub, session: sid })
  })
  await attempt.withdrawn()
}
