import type { Actor, Principal, RequestFacts } from '../../http/actor.ts'
import type { CallerCredential } from '../../http/credential.ts'
import { Failure, forbidden, unauthenticated } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { World } from '../../world.ts'

/** Finds the principal of a credential, as for a request over HTTP. */
export type IdentifySender = (credential: CallerCredential, facts: RequestFacts) => Principal | Promise<Principal | undefined>

/** Identifies the sender of messages; a Failure if the credential is unknown or may not send events. */
export type SenderAccess = {
  /** Acts with the key of a listener. Its messages come from many addresses, so `mayCallFrom` is checked for each of them. */
  actorOf(key: Secret, address: string, action: string): Promise<Actor>
  /** The first credential that is known counts. */
  actorOfFirst(credentials: readonly CallerCredential[], address: string, action: string): Promise<Actor>
}

export function openAccess(identify: IdentifySender, { ids }: Pick<World, 'ids'>): SenderAccess {
  const actorOfFirst: SenderAccess['actorOfFirst'] = async (credentials, address, action) => {
    const facts: RequestFacts = { correlationId: ids.correlation(), action, address, userAgent: '', accept: '', baseUrl: '' }
    for (const credential of credentials) {
      const principal = await identify(credential, facts)
      if (!principal) continue
      if (!principal.permissions.has('events_write')) throw forbidden('the API key lacks the permission events_write')
      return { ...principal, facts }
    }
    throw unauthenticated(credentials.length === 0 ? 'an API key is required' : 'the API key is unknown, expired or revoked')
  }
  return { actorOfFirst, actorOf: (key, address, action) => actorOfFirst([{ kind: 'key', key, isConfigured: true }], address, action) }
}

/** True for a failure that a repetition may cure. */
export const mayPass = (failure: unknown): boolean =>
  failure instanceof Failure && (failure.status === 503 || failure.status === 429 || failure.status === 409)
