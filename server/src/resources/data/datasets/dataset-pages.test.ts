import type { contract, ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

type DatasetPage = ReplyOf<typeof contract.datasets.list>

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
})
beforeEach(async () => {
  org = await app.newOrganization()
})
afterAll(() => app?.close())

const create = async (collection: string, dataset: string): Promise<string> =>
  (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection, dataset } })).body.id

async function send(dataset: string, many: number): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  const raw = Array.from({ length: many }, (_, n) => JSON.stringify({ message: `order ${n}` })).join('\n')
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
}

const list = async (parameters: string, key = org.key): Promise<DatasetPage> =>
  (await org.ask<DatasetPage>('GET', `/datasets?is_system_generated=false&${parameters}`, { key })).body
const names = async (parameters: string, key = org.key): Promise<string[]> =>
  (await list(parameters, key)).datasets.map(({ collection, dataset }) => `${collection}/${dataset}`)

/** Events in two of four datasets; `b` has the most. */
async function sendSome(): Promise<void> {
  for (const name of ['a', 'b', 'c']) await create('shop', name)
  await send('a', 1)
  await send('b', 5)
  // Arrivals are written, and read again, every few seconds.
  await expect.poll(() => names('sort=name&flow=receiving')).toEqual(['shop/a', 'shop/b'])
}

describe('the list of datasets', () => {
  test('is sorted by name, last event or volume', async () => {
    await sendSome()
    expect(await names('sort=name')).toEqual(['default/default', 'shop/a', 'shop/b', 'shop/c'])
    const latest = (await list('sort=last_event')).datasets.map(({ metadata }) => metadata.last_heartbeat_at ?? 0)
    expect(latest).toEqual(latest.toSorted((one, other) => other - one))
    expect(latest.map((time) => time > 0)).toEqual([true, true, false, false])
    for (const sort of ['volume_today', 'volume_week']) {
      expect(await names(`sort=${sort}`)).toEqual(['shop/b', 'shop/a', 'default/default', 'shop/c'])
    }
  })

  test('is filtered by collection, flow and origin, and counted on all pages', async () => {
    await sendSome()
    expect(await names('sort=name&collection=shop')).toEqual(['shop/a', 'shop/b', 'shop/c'])
    expect(await names('sort=name&flow=receiving')).toEqual(['shop/a', 'shop/b'])
    expect(await names('sort=name&flow=waiting')).toEqual(['default/default', 'shop/c'])
    expect(
      (await org.ask<DatasetPage>('GET', '/datasets?is_system_generated=true')).body.datasets.map(({ collection }) => collection),
    ).toContain('.audit-trail')
    const by_flow = { receiving: 2, quiet: 0, silent: 0, waiting: 2 }
    const { totals } = await list('totals=true&flow=receiving&limit=1')
    expect(totals).toMatchObject({ found: 2, by_flow, received: 2 })
    expect(totals?.all).toBeGreaterThan(4)
    expect((await list('totals=true&search=shop')).totals).toMatchObject({ found: 3, by_flow: { ...by_flow, waiting: 1 } })
    expect((await list('limit=1')).totals).toBe(undefined)
  })

  test('is sorted by volume only for those who may see usage', async () => {
    await sendSome()
    const role = { display_name: 'Reader of datasets', role_type: 'API', permissions: ['logs_read'] }
    const { role_id } = (await org.ask<{ role_id: string }>('POST', '/roles', { body: role })).body
    const key = await org.newKey([role_id])
    expect(await names('sort=name', key)).toHaveLength(4)
    const refused = await org.ask<{ details: string }>('GET', '/datasets?sort=volume_week', { key })
    expect([refused.status, refused.body.details]).toEqual([403, expect.stringContaining('usage_read')])
  })

  test('shows limited callers neither hidden datasets nor, by its order, the volume of those that they see in part', async () => {
    await sendSome()
    const limited = (await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'limited', roles: ['AdminApi'] } }))
      .body
    const principal = { principal_type: 'APIKEY', principal_id: limited.id }
    const idOf = new Map((await list('sort=name')).datasets.map(({ id, dataset }) => [dataset, id]))
    const on = (dataset: string) => ({ resource: { resource_type: 'LOG', resource_id: idOf.get(dataset) }, principal })
    const hidden = await org.ask('POST', '/policies', { body: { policy_type: 'LOG_FORBID', actions: ['*'], ...on('c') } })
    const inPart = await org.ask('POST', '/policies', {
      body: { policy_type: 'CUSTOM', actions: ['read'], ...on('b'), when: { where: "message = 'order 1'" } },
    })
    expect([hidden.status, inPart.status]).toEqual([201, 201])
    expect(await names('sort=volume_week')).toEqual(['shop/b', 'shop/a', 'default/default', 'shop/c'])
    expect(await names('sort=volume_week', limited.key)).toEqual(['shop/a', 'default/default', 'shop/b'])
    expect((await list('totals=true&limit=1', limited.key)).totals).toMatchObject({ found: 3, by_flow: { receiving: 2, waiting: 1 } })
  })
})
