import { inject } from 'vitest'
import { makeEngines } from '../../server/src/events/store/engine.fixture.ts'
import { makeServiceDatabase } from '../../server/src/meta/database.fixture.ts'
import { sql } from '../../server/src/meta/sql.ts'
import { type StoredEvent, storedEvents } from './stored-events.ts'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from './world.ts'

export type Sent = { path?: string; headers?: Record<string, string>; key?: string; token?: string; owner?: TestOrganization }
export type Taken = { accepted: number; rejected: number; details?: string; code?: number }
export type FoundDataset = {
  id: string
  collection: string
  dataset: string
  is_system_generated: boolean
  tags: Record<string, string>
  metadata: { last_heartbeat_at?: number; created_by?: { type: string; id: string } }
}

/** Send events to a running service and read the results from its store. */
export type Senders = {
  app: TestApp
  org: TestOrganization
  post(raw: string | Uint8Array, sent?: Sent): Promise<Reply<Taken>>
  datasets(owner?: TestOrganization): Promise<FoundDataset[]>
  found(collection: string, dataset: string, owner?: TestOrganization): Promise<FoundDataset | undefined>
  /** The events of a dataset in order of arrival; none if there is no such dataset. */
  eventsIn(dataset: string, collection?: string, owner?: TestOrganization): Promise<StoredEvent[]>
  close(): Promise<void>
}

export async function openSenders(env: Record<string, string> = {}): Promise<Senders> {
  const app = await openTestApp(env)
  const org = await app.newOrganization()
  const datasets = async (owner = org) => (await owner.ask<{ datasets: FoundDataset[] }>('GET', '/datasets')).body.datasets
  const found = async (collection: string, dataset: string, owner = org) =>
    (await datasets(owner)).find((one) => one.collection === collection && one.dataset === dataset)
  return {
    app,
    org,
    post: (raw, { path = '/', headers = {}, key, token, owner = org } = {}) =>
      app.ask<Taken>('POST', path, {
        raw,
        headers: { 'content-type': 'application/x-ndjson', ...headers },
        ...(token === undefined ? { key: key ?? owner.key } : { token }),
      }),
    datasets,
    found,
    eventsIn: async (dataset, collection = 'default', owner = org) => {
      const record = await found(collection, dataset, owner)
      return record ? storedEvents(app.app.world, { orgId: owner.orgId, orgNumber: await numberOf(app, owner) }, record.id) : []
    },
    close: () => app.close(),
  }
}

/** With stores of its own: sequence numbers follow the clock, so moving it affects everyone who shares a store. */
export async function openSendersAlone(more: Record<string, string> = {}): Promise<Senders & { env: Record<string, string> }> {
  const engines = makeEngines()
  const store = await engines.open(await engines.madeDir())
  const database = await makeServiceDatabase(inject('stores'))
  const env = { ...more, DENDRO_CLICKHOUSE_URL: store.url, DENDRO_POSTGRES_URL: database.url }
  const senders = await openSenders(env)
  return {
    ...senders,
    env,
    close: async () => {
      await senders.close()
      await database.drop()
      await engines.cleanUp()
    },
  }
}

const HOUR_MS = 3_600_000

/** Advances the clock to the next full hour, for hourly counts. */
export function nextHour({ clock }: TestApp): void {
  clock.advance(HOUR_MS - (clock.nowMs() % HOUR_MS))
}

async function numberOf(app: TestApp, { orgId }: TestOrganization): Promise<number> {
  const row = await app.app.world.meta.one<{ number: number }>(sql`select number from organisations where id = ${orgId}`)
  if (!row) throw new Error('an organization of a test is not there')
  return row.number
}
