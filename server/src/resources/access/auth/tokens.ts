import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { Secret } from '../../../kernel/secret.ts'
import type { World } from '../../../world.ts'

const ALGORITHM = 'HS256'
const ISSUER = 'dendro'
const AUDIENCE = 'dendro-api'
/** The clocks of two servers of one deployment may differ by this much when a token is young. */
const SKEW_S = 60
/** The exact header members of our tokens. Tokens with others, such as jku, jwk, x5u or crit, are rejected. */
const HEADERS = ['alg', 'kid', 'typ']

const claims = z.object({ sub: z.guid(), org: z.guid(), jti: z.guid() })
export type TokenClaims = z.output<typeof claims>
type Signer = Pick<World, 'vault' | 'clock'>

export async function signToken(world: Signer, of: TokenClaims & { roles: readonly string[]; expiresAtS: number }): Promise<Secret> {
  const { id, key } = newestKey(world)
  const nowS = Math.floor(world.clock.nowMs() / 1000)
  const token = await new SignJWT({ org: of.org, roles: [...of.roles] })
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: id })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(of.sub)
    .setJti(of.jti)
    .setIssuedAt(nowS)
    .setNotBefore(nowS - SKEW_S)
    .setExpirationTime(of.expiresAtS)
    .sign(key)
  return new Secret(token)
}

/** The claims of a token with a valid signature that has not expired. Does not check the session. */
export async function readToken(world: Signer, token: Secret): Promise<TokenClaims | undefined> {
  if (!isCanonical(token.reveal())) return undefined
  try {
    const { payload, protectedHeader } = await jwtVerify(token.reveal(), ({ kid }) => keyById(world, kid), {
      algorithms: [ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      currentDate: new Date(world.clock.nowMs()),
      requiredClaims: ['sub', 'org', 'jti', 'iat', 'nbf', 'exp'],
    })
    if (Object.keys(protectedHeader).some((name) => !HEADERS.includes(name))) return undefined
    return claims.safeParse(payload).data
  } catch (thrown) {
    if (thrown instanceof errors.JOSEError) return undefined
    throw thrown
  }
}

/** Rejects a signature whose unused trailing bits are set, which decoders ignore: a token must have one text. */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

type SigningKey = { id: string; key: KeyObject }

/** The keys by which a token's `kid` is looked up, newest first. A deployment has one. */
const signingKeys = (world: Pick<World, 'vault'>): readonly [SigningKey, ...SigningKey[]] => [keyOf(world.vault.jwtSecret)]

const newestKey = (world: Pick<World, 'vault'>): SigningKey => signingKeys(world)[0]

function keyById(world: Pick<World, 'vault'>, kid: string | undefined): KeyObject {
  const found = signingKeys(world).find(({ id }) => id === kid)
  if (!found) throw new errors.JWSInvalid('signed with a key that is not ours')
  return found.key
}

const known = new WeakMap<Secret, SigningKey>()

function keyOf(secret: Secret): SigningKey {
  const made = known.get(secret)
  if (made) return made
  const bytes = Buffer.from(secret.reveal())
  const id = createHmac('sha256', bytes).update('dendro key id').digest('hex').slice(0, 16)
  const fresh = { id, key: createSecretKey(bytes) }
  known.set(secret, fresh)
  return fresh
}
