import type { Actor, Principal, RequestFacts } from '../../http/actor.ts'
import { Failure, forbidden, unauthenticated } from '../../kernel/errors.ts'
import { Secret } from '../../kernel/secret.ts'
import type { World } from '../../world.ts'

/** Finds the principal of an API key, as for a request over HTTP. */
export type IdentifyKey = (key: Secret, facts: RequestFacts) => Principal | Promise<Principal | undefined>

/** Identifies the sender of messages; a Failure if the key is unknown or may not send events. */
export type SenderAccess = { actorOf(key: Secret, address: string, action: string): Promise<Actor> }

export const openAccess = (identify: IdentifyKey, { ids }: Pick<World, 'ids'>): SenderAccess => ({
  actorOf: async (key, address, action) => {
    const facts: RequestFacts = { correlationId: ids.correlation(), action, address, userAgent: '', accept: '', baseUrl: '' }
    const principal = await identify(key, facts)
    if (!principal) throw unauthenticated('the API key is unknown, expired or revoked')
    if (!principal.permissions.has('events_write')) throw forbidden('the API key lacks the permission events_write')
    return { ...principal, facts }
  },
})

/** True for a failure that a repetition may cure. */
export const mayPass = (failure: unknown): boolean =>
  failure instanceof Failure && (failure.status === 503 || failure.status === 429 || failure.status === 409)
