import type { RequestFacts } from '../../../http/actor.ts'
import { type Failure, unauthenticated, unavailable } from '../../../kernel/errors.ts'
import { DeliveryError } from '../../../outgoing/outgoing.ts'
import type { World } from '../../../world.ts'
import { recordRefusal } from '../audit/audit.ts'
import type { Claims, IdpRow } from '../sso/sso.ts'

/** Failures of the provider and answers that cannot be trusted. Their details go to the log only. */
export async function withProvider<T>(world: World, facts: RequestFacts, idp: IdpRow, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    world.log.warn({ err: cause, idp: idp.id, correlation_id: facts.correlationId }, 'an identity provider could not be used')
    if (isUnreachable(cause)) throw unavailable('the identity provider cannot be reached', { cause })
    await recordFailure(world, facts, idp, {})
    throw notTrusted()
  }
}

export const notTrusted = (): Failure => unauthenticated('the identity provider refused the sign-on, or its answer is not valid')

const isUnreachable = (thrown: unknown): boolean =>
  thrown instanceof DeliveryError || (thrown instanceof Error && thrown.cause !== undefined && isUnreachable(thrown.cause))

export const recordFailure = (world: World, facts: RequestFacts, idp: IdpRow, claims: Claims): Promise<void> =>
  recordRefusal(
    world,
    { orgId: idp.org_id, identity: undefined, name: typeof claims.email === 'string' ? claims.email.slice(0, 254) : idp.name, facts },
    { entity: { type: 'identity_provider', id: idp.id } },
  )
