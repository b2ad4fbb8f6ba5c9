import type { ApiKey, FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

type Made = ApiKey & { key: string }

const DAY_S = 86_400

/** Two processes with one store. */
let app: TestApp
let other: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  other = await openTestApp()
  org = await app.newOrganization()
})
afterAll(async () => {
  await other.close()
  await app.close()
})

const make = async (more: object = {}): Promise<Made> =>
  (await org.ask<Made>('POST', '/api-keys', { body: { name: 'shipper', roles: ['SearchApi'], ...more } })).body
const rotate = (id: string, body: object = {}, key = org.key) =>
  org.ask<Made & FailureBody>('POST', `/api-keys/${id}/rotate`, { key, body })
const read = async (id: string): Promise<ApiKey> => (await org.ask<ApiKey>('GET', `/api-keys/${id}`)).body
const statusOf = async (key: string, at = app): Promise<number> => (await at.ask('GET', '/datasets', { key })).status

test('the new secret works at once, and the old one until the end of the overlap, in every process', async () => {
  const made = await make()
  expect([await statusOf(made.key), await statusOf(made.key, other)]).toEqual([200, 200])
  const rotated = (await rotate(made.id, { overlap: 600 })).body
  expect(rotated).toMatchObject({ id: made.id, api_key: made.api_key, roles: made.roles })
  expect(rotated.key).not.toBe(made.key)
  expect(rotated.previous_key_expires_at).toBeGreaterThan(app.clock.nowMs() / 1000 + 590)
  for (const at of [app, other]) expect([await statusOf(made.key, at), await statusOf(rotated.key, at)]).toEqual([200, 200])
  const me = await app.ask<{ id: string }>('GET', '/auth/me', { key: made.key })
  expect(me.body.id).toBe(made.id)
  for (const at of [app, other]) at.clock.advance(601_000)
  for (const at of [app, other]) expect([await statusOf(made.key, at), await statusOf(rotated.key, at)]).toEqual([401, 200])
  expect(await read(made.id)).not.toHaveProperty('previous_key_expires_at')
})

test('without an overlap the old secret ends at once, in every process', async () => {
  const made = await make()
  expect([await statusOf(made.key), await statusOf(made.key, other)]).toEqual([200, 200])
  const rotated = (await rotate(made.id, { overlap: 0 })).body
  expect(rotated).not.toHaveProperty('previous_key_expires_at')
  for (const at of [app, other]) expect([await statusOf(made.key, at), await statusOf(rotated.key, at)]).toEqual([401, 200])
})

test('the expiry of the key ends both secrets', async () => {
  const made = await make({ ttl: 300 })
  const rotated = (await rotate(made.id, { overlap: 600 })).body
  app.clock.advance(301_000)
  expect([await statusOf(made.key), await statusOf(rotated.key)]).toEqual([401, 401])
  const again = await rotate(made.id)
  expect([again.status, again.body.details]).toEqual([409, expect.stringContaining('has expired')])
})

test('a second rotation is refused while the secret before the first works, unless it says that it ends', async () => {
  const made = await make()
  const first = (await rotate(made.id)).body
  expect(first.previous_key_expires_at).toBeGreaterThan(app.clock.nowMs() / 1000 + DAY_S - 60)
  const refused = await rotate(made.id)
  expect([refused.status, refused.body.details]).toEqual([409, expect.stringContaining('end_previous')])
  expect([await statusOf(made.key), await statusOf(first.key)]).toEqual([200, 200])
  const second = (await rotate(made.id, { end_previous: true })).body
  expect([await statusOf(made.key), await statusOf(first.key), await statusOf(second.key)]).toEqual([401, 200, 200])
})

test('the previous secret can be ended early, once', async () => {
  const made = await make()
  const rotated = (await rotate(made.id)).body
  const end = () => org.ask('DELETE', `/api-keys/${made.id}/previous-secret`)
  expect((await end()).status).toBe(204)
  expect([await statusOf(made.key), await statusOf(rotated.key)]).toEqual([401, 200])
  expect((await end()).status).toBe(404)
})

test('of many rotations at once a single one is done', async () => {
  const made = await make()
  const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(made.id)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
})

test('a key shows whether the previous secret is still used, and neither secret is in the audit trail', async () => {
  const made = await make()
  const rotated = (await rotate(made.id)).body
  expect(rotated).not.toHaveProperty('previous_key_used_at')
  const sinceMs = app.clock.nowMs()
  expect(await statusOf(made.key)).toBe(200)
  const written = async (): Promise<number> => {
    app.clock.advance(3_001)
    return (await read(made.id)).previous_key_used_at ?? 0
  }
  await expect.poll(written).toBeGreaterThanOrEqual(sinceMs)
  const { audit } = (await org.ask<{ audit: unknown[] }>('GET', `/audit?action=apiKeys.rotate&entity_id=${made.id}`)).body
  expect(audit).toHaveLength(1)
  for (const { key } of [made, rotated]) expect(JSON.stringify(audit)).not.toContain(key)
  const { key: _key, ...next } = (await rotate(made.id, { end_previous: true })).body
  expect(next).not.toHaveProperty('previous_key_used_at')
})

test('nobody gets the permissions of a key by rotating it', async () => {
  const admin = await make({ roles: ['AdminApi'] })
  const role = { display_name: 'Keeper of keys', role_type: 'API', permissions: ['api_keys_read', 'api_keys_write'] }
  const { role_id } = (await org.ask<{ role_id: string }>('POST', '/roles', { body: role })).body
  const keeper = await make({ roles: [role_id] })
  const refused = await rotate(admin.id, {}, keeper.key)
  expect([refused.status, refused.body.details]).toEqual([403, expect.stringContaining('grant only permissions they hold')])
  expect(await statusOf(admin.key)).toBe(200)
  expect((await rotate(keeper.id, {}, keeper.key)).status).toBe(200)
})

test('a key of another organization is unknown here', async () => {
  const made = await make()
  const stranger = await app.newOrganization()
  expect((await stranger.ask('POST', `/api-keys/${made.id}/rotate`, { body: {} })).status).toBe(404)
  await rotate(made.id)
  expect((await stranger.ask('DELETE', `/api-keys/${made.id}/previous-secret`)).status).toBe(404)
})

test('a key that expires within 14 days says so, and each response to it names its expiry', async () => {
  const soon = await make({ ttl: 13 * DAY_S })
  expect(soon.expires_soon).toBe(true)
  expect(await read(soon.id)).toMatchObject({ expires_soon: true })
  const late = await make({ ttl: 15 * DAY_S })
  expect(late).not.toHaveProperty('expires_soon')
  app.clock.advance(2 * DAY_S * 1000)
  expect(await read(late.id)).toMatchObject({ expires_soon: true })
  const answer = await app.ask('GET', '/datasets', { key: late.key })
  expect(answer.headers.get('api-key-expires-at')).toBe(new Date((late.expires_at ?? 0) * 1000).toISOString())
  expect((await app.ask('GET', '/datasets', { key: org.key })).headers.has('api-key-expires-at')).toBe(false)
})
