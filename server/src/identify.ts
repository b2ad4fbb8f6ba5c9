import { type Actor, isUser, type Principal, type RequestFacts } from './http/actor.ts'
import type { HttpOptions } from './http/http.ts'
import { forbidden } from './kernel/errors.ts'
import type { Secret } from './kernel/secret.ts'
import { ApiKeyCallers, type ApiKeyUses } from './resources/access/api-keys/api-keys.ts'
import { activeCallerOf, identifyToken, KeyGuessLimiter, type SessionUses } from './resources/access/auth/auth.ts'
import { reachedGroups } from './resources/access/groups/groups.ts'
import type { World } from './world.ts'

/** Decides who a caller is, and whether a path concerns them personally. */
export type RequestIdentity = Pick<HttpOptions, 'identify' | 'exceptions'>

export function openIdentity(world: World, keyUses: ApiKeyUses, sessionUses: SessionUses): RequestIdentity {
  const callers = new ApiKeyCallers(world, keyUses, (orgId, id) => activeCallerOf(world, orgId, { type: 'USER_ID', id }))
  const guesses = new KeyGuessLimiter(world)

  /** Makes a sender of one wrong credential after another wait for each reply. */
  async function delayUnlessKnown(identifying: Promise<Principal | undefined>, secret: Secret, facts: RequestFacts) {
    const principal = await identifying
    if (!principal) await guesses.recordFailure(facts.address, world.vault.hashOf('attempt', secret).toString('base64'))
    return principal
  }

  return {
    identify: (credential, facts) => {
      const secret = credential.kind === 'key' ? credential.key : credential.token
      const found = credential.kind === 'key' ? callers.identify(secret, facts.address) : identifyToken(world, secret)
      const checked = (principal: Principal): Principal => {
        if (principal.sessionId !== undefined) sessionUses.record(principal.sessionId, facts.address)
        return credential.kind === 'key' && credential.isConfigured ? principal : atAllowedAddress(principal, facts)
      }
      // A cached key needs no promise, which would cost as much as the rest of the work.
      if (!(found instanceof Promise)) return checked(found)
      return delayUnlessKnown(found, secret, facts).then((principal) => principal && checked(principal))
    },
    exceptions: { self: async (actor, params) => isSelf(actor, params), member: (actor, params) => isMember(world, actor, params) },
  }
}

function atAllowedAddress(principal: Principal, { address }: RequestFacts): Principal {
  if (!principal.mayCallFrom || principal.mayCallFrom(address)) return principal
  throw forbidden(`allowed_addresses of this API key do not include the address of the request, ${address.slice(0, ADDRESS_SHOWN_MAX)}`)
}

const ADDRESS_SHOWN_MAX = 50

/** True when the path names the calling user. */
function isSelf(actor: Actor, params: Record<string, string>): boolean {
  const userId = params.userId ?? params.memberId ?? (params.entityType === 'user' ? params.entityId : undefined)
  return userId !== undefined && isUser(actor, userId.toLowerCase())
}

/** True when the caller belongs to the group in the path, directly or through another group. */
async function isMember(world: World, actor: Actor, params: Record<string, string>): Promise<boolean> {
  if (actor.identity.type !== 'USER_ID' || params.groupId === undefined) return false
  return (await reachedGroups(world, actor.orgId, actor.identity.id)).has(params.groupId.toLowerCase())
}
