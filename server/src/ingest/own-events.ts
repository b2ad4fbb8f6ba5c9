import type { Actor, RequestFacts } from '../http/actor.ts'
import { NIL_ID } from '../kernel/ids.ts'
import { PeriodChoice } from '../lines/layout/periods.ts'
import type { World } from '../world.ts'
import type { IngestOutcome } from './batch.ts'
import { openInlinePool } from './inline-pool.ts'
import { OWN_PROTOCOL, PostAccounting } from './intake/accounting.ts'
import type { IntakeWorld } from './intake/intake-world.ts'
import { storePost } from './intake/store.ts'
import { native } from './receivers/native/native.ts'

/** An event of the service itself, as JSON. It is stored once for its key. */
type OwnEvent = {
  readonly actor: Actor
  readonly key: string
  readonly collection: string
  readonly dataset: string
  readonly json: string
}

type OwnWorld = Pick<World, 'clock' | 'ids' | 'ledger' | 'log' | 'meta' | 'writer'>

/** Stores events of the service on the way of all events. No limit of an organization stops them. */
export function openOwnEvents(world: OwnWorld, beat: IntakeWorld['beat'] = () => undefined): (event: OwnEvent) => Promise<IngestOutcome> {
  const pool = openInlinePool(world.log)
  const intake: IntakeWorld = {
    ...world,
    beat,
    parsed: () => undefined,
    addressFiles: undefined,
    periods: new PeriodChoice(),
    limits: { checkOpen: async () => undefined, admit: async () => ({ release: () => undefined }) },
  }
  return async ({ actor, key, collection, dataset, json }) => {
    const body = new TextEncoder().encode(json)
    const request = { path: '/', query: {}, headers: { 'idempotency-key': key }, contentType: 'application/x-ndjson', body }
    const routing = { collection, dataset, tags: {} }
    const account = new PostAccounting(world.ledger, { actor, protocol: OWN_PROTOCOL })
    return (await storePost(intake, pool, { actor, receiver: native, routing, request, account })).outcome
  }
}

/** The service itself as the sender of an event. */
export const serviceActor = (orgId: string, orgNumber: number, facts: RequestFacts): Actor => ({
  orgId,
  orgNumber,
  identity: { type: 'API_KEY_ID', id: NIL_ID },
  name: '',
  roles: [],
  permissions: new Set(),
  facts,
})
