import { afterAll, beforeAll, expect, test } from 'vitest'
import { type StoredEvent, storedEvents } from '../../../test/stored-events.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/world.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
})
afterAll(() => app?.close())

type Sent = { path?: string; headers?: Record<string, string>; key?: string }

const post = (raw: string | Uint8Array, { path = '/', headers = {}, key = org.key }: Sent = {}) =>
  app.ask<{ accepted: number; rejected: number; details?: string }>('POST', path, {
    raw,
    key,
    headers: { 'content-type': 'application/x-ndjson', ...headers },
  })

type Listed = {
  datasets: { id: string; collection: string; dataset: string; tags: Record<string, string>; metadata: { last_heartbeat_at?: number } }[]
}

/** found is the dataset of that name. */
async function found(collection: string, dataset: string, owner = org): Promise<Listed['datasets'][number] | undefined> {
  const { body } = await owner.ask<Listed>('GET', '/datasets')
  return body.datasets.find((one) => one.collection === collection && one.dataset === dataset)
}

async function eventsIn(dataset: string, collection = 'default', owner = org): Promise<StoredEvent[]> {
  const record = await found(collection, dataset, owner)
  return record ? storedEvents(app.app.world, { orgId: owner.orgId, orgNumber: await numberOf(owner) }, record.id) : []
}

async function numberOf({ orgId }: TestOrganization): Promise<number> {
  const { sql } = await import('../meta/sql.ts')
  const row = await app.app.world.meta.one<{ number: number }>(sql`select number from organisations where id = ${orgId}`)
  return row?.number ?? 0
}

test('one JSON line is stored durably, and found again byte for byte', async () => {
  const line = '{"message":"hello","level":"warn","n":1.50,"timestamp":"2026-11-20T10:00:00.123456789Z"}'
  const reply = await post(line)
  expect(reply.body).toEqual({ accepted: 1, rejected: 0 })
  expect(reply.status).toBe(200)
  const [event, ...others] = await eventsIn('default')
  expect(others).toEqual([])
  expect(event?.line).toBe(line)
  expect(event?.timeNs).toBe(BigInt(Date.UTC(2026, 10, 20, 10, 0, 0)) * 1_000_000n + 123_456_789n)
  expect(event?.severity).toBe('warn')
  expect(event?.keys).toMatchObject({ message: 'hello', level: 'warn', n: '1.50' })
  expect(event?.origin).toBe('127.0.0.1')
})
