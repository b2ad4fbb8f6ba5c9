import type { ApiKey, FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

type Made = ApiKey & { key: string }

/** The address of the tests is a proxy of the first app, and of no proxy of the second. */
let app: TestApp
let direct: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp({ DENDRO_TRUSTED_PROXIES: 'loopback' })
  direct = await openTestApp({ DENDRO_TRUSTED_PROXIES: 'none' })
  org = await app.newOrganization()
})
afterAll(async () => {
  await direct.close()
  await app.close()
})

const make = async (allowed_addresses: string[], roles = ['SearchApi']): Promise<Made> =>
  (await org.ask<Made>('POST', '/api-keys', { body: { name: 'limited', roles, allowed_addresses } })).body
const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
const read = (key: string, address: string, at = app) => at.ask<FailureBody>('GET', '/datasets', { key, ...from(address) })

test('a key is refused from other addresses with 403 that names the rule, in both versions', async () => {
  const made = await make(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])
  expect(made.allowed_addresses).toEqual(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])
  for (const address of ['10.200.1.1', '192.0.2.7', '2001:db8:1::5', '::ffff:10.1.1.1'])
    expect((await read(made.key, address)).status).toBe(200)
  for (const address of ['11.0.0.1', '192.0.2.8', '2001:db9::1', 'unknown']) {
    const refused = await read(made.key, address)
    expect(refused.status).toBe(403)
    expect(refused.body.details).toBe(`allowed_addresses of this API key do not include the address of the request, ${address}`)
  }
})

test('a client cannot choose its address by a header', async () => {
  const made = await make(['10.0.0.0/8'])
  // The proxy appends the address of its client, which may have sent the header too.
  expect((await read(made.key, '10.1.1.1, 203.0.113.9')).status).toBe(403)
  expect((await read(made.key, '10.1.1.1', direct)).status).toBe(403)
  for (const header of ['forwarded', 'x-real-ip', 'true-client-ip', 'cf-connecting-ip', 'x-client-ip'])
    expect((await app.ask('GET', '/datasets', { key: made.key, headers: { [header]: '10.1.1.1' } })).status).toBe(403)
})

test('events are refused too, and nothing is stored', async () => {
  const made = await make(['10.0.0.0/8'], ['IngestionApi'])
  const send = (address: string) =>
    app.ask('POST', '/ingest', {
      key: made.key,
      raw: '{"n":1}',
      headers: { 'x-service-dataset': 'addresses', 'content-type': 'application/x-ndjson', ...from(address).headers },
    })
  expect((await send('203.0.113.9')).status).toBe(403)
  const { datasets } = (await org.ask<{ datasets: { dataset: string }[] }>('GET', '/datasets')).body
  expect(datasets.map(({ dataset }) => dataset)).not.toContain('addresses')
  expect((await send('10.0.0.9')).status).toBe(200)
})

test('a change holds from the next request on, and an empty list allows all addresses', async () => {
  const made = await make([])
  expect(made).not.toHaveProperty('allowed_addresses')
  const change = (allowed_addresses: string[]) =>
    org.ask<ApiKey & FailureBody>('PATCH', `/api-keys/${made.id}`, { body: { allowed_addresses } })
  expect((await read(made.key, '203.0.113.9')).status).toBe(200)
  expect((await change(['203.0.113.8', '203.0.113.8'])).body.allowed_addresses).toEqual(['203.0.113.8'])
  expect((await read(made.key, '203.0.113.9')).status).toBe(403)
  expect((await org.ask<ApiKey>('PATCH', `/api-keys/${made.id}`, { body: { name: 'same' } })).body.allowed_addresses).toEqual([
    '203.0.113.8',
  ])
  expect((await change([])).body).not.toHaveProperty('allowed_addresses')
  expect((await read(made.key, '203.0.113.9')).status).toBe(200)
})

test.each([
  [['10.0.0.0/8', '10.0.0.0/33'], 'allowed_addresses.1 must be an IPv4 or IPv6 address'],
  [['localhost'], 'allowed_addresses.0 must be an IPv4 or IPv6 address'],
  [['2001:db8::/200'], 'allowed_addresses.0 must be an IPv4 or IPv6 address'],
  [['x'.repeat(51)], 'allowed_addresses.0 must be at most 50 characters'],
  [Array(101).fill('10.0.0.1'), 'allowed_addresses must have at most 100 items'],
])('addresses such as %j are refused', async (allowed_addresses, rule) => {
  const body = { name: 'k', roles: ['SearchApi'], allowed_addresses }
  const refused = await org.ask<FailureBody>('POST', '/api-keys', { body })
  expect([refused.status, refused.body.details]).toEqual([400, expect.stringContaining(rule)])
})
