import type { ApiKey } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'
import { selectKeyUse, upsertKeyUses } from './rows.ts'
import { ApiKeyUses } from './uses.ts'

type Made = ApiKey & { key: string }
type Refused = { details: string }

const DAY_S = 86_400

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp({ DENDRO_EXTRA_KEY_HEADERS: 'X-Other-Key, x-third-key' })
  org = await app.newOrganization()
})
afterAll(() => app.close())

const make = async (body: object): Promise<Made> => (await org.ask<Made>('POST', '/api-keys', { body })).body

test('the secret is shown at creation and never again', async () => {
  const made = await org.ask<Made>('POST', '/api-keys', { body: { name: 'shipper', roles: ['IngestionApi'], tags: { team: 'web' } } })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ name: 'shipper', roles: ['IngestionApi'], tags: { team: 'web' } })
  expect(made.body.key).not.toContain(made.body.api_key)
  const { key, ...record } = made.body
  expect((await org.ask('GET', `/api-keys/${record.id}`)).body).toEqual(record)
  const listed = await org.ask<{ api_keys: ApiKey[] }>('GET', '/api-keys')
  expect(listed.body.api_keys.find((candidate) => candidate.id === record.id)).toEqual(record)
})

test('only a keyed hash of the secret is stored, in the record and in the audit trail', async () => {
  const { key } = await make({ name: 'hidden', roles: ['SearchApi'] })
  const rows = await app.app.world.meta.all<{ row: string }>(sql`
    select k::text as row from api_keys k where org_id = ${org.orgId} union all select a::text from audit a where org_id = ${org.orgId}`)
  expect(rows.length).toBeGreaterThan(1)
  const secret = key.slice(3)
  expect(rows.filter(({ row }) => row.includes(secret) || row.includes(Buffer.from(secret).toString('hex')))).toEqual([])
})

test('the metadata of a key names who created and changed it', async () => {
  const admin = await make({ name: 'second admin', roles: ['AdminApi'] })
  const made = await make({ name: 'plain', roles: ['SearchApi'] })
  const changed = await org.ask<ApiKey>('PATCH', `/api-keys/${made.id}`, { key: admin.key, body: { name: 'renamed' } })
  expect(changed.body.name).toBe('renamed')
  expect(changed.body.metadata.modified_by).toEqual({ type: 'API_KEY_ID', id: admin.id })
  expect(changed.body.metadata.created_by?.id).not.toBe(admin.id)
})

test('a key works until it expires and is still listed afterwards', async () => {
  const made = await make({ name: 'short', roles: ['SearchApi'], ttl: DAY_S })
  expect(made.expires_at).toBeGreaterThan(Date.now() / 1000 + DAY_S - 60)
  expect((await app.ask('GET', '/datasets', { key: made.key })).status).toBe(200)
  app.clock.advance((DAY_S + 1) * 1000)
  expect((await app.ask('GET', '/datasets', { key: made.key })).status).toBe(401)
  const listed = await org.ask<{ api_keys: ApiKey[] }>('GET', '/api-keys')
  expect(listed.body.api_keys.map((key) => key.id)).toContain(made.id)
})

test('a key shows when it was last used for a request of any kind, to the minute, and never goes back', async () => {
  const made = await make({ name: 'reader', roles: ['SearchApi'] })
  const read = async () => (await org.ask<ApiKey>('GET', `/api-keys/${made.id}`)).body
  const written = async (): Promise<number> => {
    app.clock.advance(3_001)
    return (await read()).last_used_at ?? 0
  }
  expect(await read()).not.toHaveProperty('last_used_at')
  const firstMs = app.clock.nowMs()
  expect((await app.ask('GET', '/datasets', { key: made.key })).status).toBe(200)
  await expect.poll(written).toBeGreaterThanOrEqual(firstMs)
  app.clock.advance(60_000)
  const secondMs = app.clock.nowMs()
  expect((await app.ask('GET', '/users', { key: made.key })).status).toBe(403)
  await expect.poll(written).toBeGreaterThanOrEqual(secondMs)
  const listed = (await org.ask<{ api_keys: ApiKey[] }>('GET', '/api-keys')).body.api_keys.find(({ id }) => id === made.id)
  expect(listed).toEqual(await read())
  expect(listed?.last_used_address).toMatch(/127\.0\.0\.1$/)
  await upsertKeyUses(app.app.world.meta, [{ id: made.id, used_at: firstMs, address: '192.0.2.1', previous_used_at: null }])
  expect(await read()).toEqual(listed)
  expect((await org.ask<ApiKey>('PATCH', `/api-keys/${made.id}`, { body: {} })).body).toEqual(listed)
})

test('a key is written once for many requests within a minute, and a use of a deleted key is dropped', async () => {
  const { meta, clock } = app.app.world
  let nowMs = clock.nowMs()
  const uses = new ApiKeyUses({ meta, clock: { ...clock, nowMs: () => nowMs } })
  const made = await make({ name: 'busy', roles: ['SearchApi'] })
  const startMs = nowMs
  const stored = async () => (await selectKeyUse(meta, org.orgId, made.id))?.used_at
  for (const passedMs of [0, 1, 59_999]) {
    nowMs = startMs + passedMs
    uses.record(made.id, '192.0.2.1')
    await uses.flush()
    expect(await stored()).toBe(startMs)
  }
  nowMs = startMs + 60_000
  uses.record(made.id, '192.0.2.1')
  await uses.flush()
  expect(await stored()).toBe(nowMs)
  nowMs += 60_000
  uses.record(made.id, '192.0.2.1')
  await org.ask('DELETE', `/api-keys/${made.id}`)
  await uses.flush()
  expect(await stored()).toBeUndefined()
})

test('a ttl of 0 means for ever', async () => {
  expect(await make({ name: 'for ever', roles: ['SearchApi'], ttl: 0 })).not.toHaveProperty('expires_at')
})

test.each([
  [{ roles: ['SearchApi'] }, 'name is required'],
  [{ name: '', roles: ['SearchApi'] }, 'name must be 1 to 255 characters'],
  [{ name: 'x'.repeat(256), roles: ['SearchApi'] }, 'name must be at most 255 characters'],
  [{ name: 'nul\0', roles: ['SearchApi'] }, 'name must not contain NUL'],
  [{ name: 'x' }, 'roles is required'],
  [{ name: 'x', roles: [] }, 'roles must have at least 1 item'],
  [{ name: 'x', roles: [''] }, 'roles.0 must be 1 to 255 characters'],
  [{ name: 'x', roles: 'SearchApi' }, 'roles must be a list'],
  [{ name: 'x', roles: ['Standard'] }, 'roles must each be one of AdminApi, SearchApi, IngestionApi'],
  [{ name: 'x', roles: ['SearchApi'], ttl: -1 }, 'ttl must be at least 0'],
  [{ name: 'x', roles: ['SearchApi'], ttl: 70_000_001 }, 'ttl must be at most 70000000'],
  [{ name: 'x', roles: ['SearchApi'], ttl: 1.5 }, 'ttl must be a whole number'],
  [{ name: 'x', roles: ['SearchApi'], ttl: 10, expires_at: 9_999_999_999 }, 'expires_at and ttl exclude each other'],
  [{ name: 'x', roles: ['SearchApi'], expires_at: 1_000 }, 'expires_at must be in the future'],
  [{ name: 'x', roles: ['SearchApi'], query_budget: { seconds: 0 } }, 'query_budget.seconds must be at least 1'],
  [{ name: 'x', roles: ['SearchApi'], query_budget: { seconds: 61 } }, 'query_budget.seconds must be at most 60, the limit of its roles'],
  [{ name: 'x', roles: ['SearchApi'], query_budget: { rows: 1.5 } }, 'query_budget.rows must be a whole number'],
  [{ name: 'x', roles: ['SearchApi'], query_budget: { running: 5 } }, 'query_budget.running must be at most 4, the limit of its roles'],
  [{ name: 'x', roles: ['SearchApi'], query_budget: { memory: 5 } }, 'query_budget'],
  [{ name: 'x', roles: ['IngestionApi'], event_defaults: { dataset: '.usage' } }, 'event_defaults.dataset must not begin with a dot'],
  [{ name: 'x', roles: ['IngestionApi'], event_defaults: { host: 'h' } }, 'event_defaults'],
])('a creation with %j is refused and told why', async (body, rule) => {
  const refused = await org.ask<Refused>('POST', '/api-keys', { body })
  expect(refused.status).toBe(400)
  expect(refused.body.details).toContain(rule)
})

test('changed roles hold from the next request on, and an empty change changes nothing', async () => {
  const made = await make({ name: 'promoted', roles: ['IngestionApi'] })
  expect((await app.ask('GET', '/datasets', { key: made.key })).status).toBe(403)
  expect((await org.ask('PATCH', `/api-keys/${made.id}`, { body: { roles: ['SearchApi'] } })).status).toBe(200)
  expect((await app.ask('GET', '/datasets', { key: made.key })).status).toBe(200)
  // The use of the key may be written meanwhile.
  const { last_used_at: _used, ...before } = (await org.ask<ApiKey>('GET', `/api-keys/${made.id}`)).body
  expect((await org.ask('PATCH', `/api-keys/${made.id}`, { body: {} })).body).toMatchObject(before)
})

test('tags and expiry can change, and null removes the expiry', async () => {
  const { id, key } = await make({ name: 'short', roles: ['SearchApi'], tags: { team: 'a' } })
  const change = (body: object) => org.ask<ApiKey & { details: string }>('PATCH', `/api-keys/${id}`, { body })
  const soon = Math.floor(app.clock.nowMs() / 1000) + 60
  expect((await change({ tags: { team: 'b' }, expires_at: soon })).body).toMatchObject({ tags: { team: 'b' }, expires_at: soon })
  expect((await change({ name: 'shorter' })).body).toMatchObject({ tags: { team: 'b' }, expires_at: soon })
  expect((await change({ tags: {} })).body).toMatchObject({ tags: {}, expires_at: soon })
  expect((await change({ expires_at: null })).body).not.toHaveProperty('expires_at')
  for (const expires_at of [1, soon * 1000]) expect((await change({ expires_at })).status).toBe(400)
  await change({ expires_at: soon })
  expect((await app.ask('GET', '/datasets', { key })).status).toBe(200)
  app.clock.advance(61_000)
  expect((await app.ask('GET', '/datasets', { key })).status).toBe(401)
  expect((await change({ name: 'past' })).body).toMatchObject({ name: 'past', expires_at: soon })
})

test('a deleted key is refused at once and a key may delete itself', async () => {
  const made = await make({ name: 'leaving', roles: ['AdminApi'] })
  expect((await app.ask('DELETE', `/api-keys/${made.id}`, { key: made.key })).status).toBe(204)
  expect((await app.ask('GET', '/datasets', { key: made.key })).status).toBe(401)
  expect((await org.ask('GET', `/api-keys/${made.id}`)).status).toBe(404)
})

test('of many deletions at once a single one is done and recorded', async () => {
  const made = await make({ name: 'contested', roles: ['SearchApi'] })
  const answers = await Promise.all(Array.from({ length: 10 }, () => org.ask('DELETE', `/api-keys/${made.id}`)))
  expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(9).fill(404)])
  const { audit } = (await org.ask<{ audit: unknown[] }>('GET', `/audit?action=apiKeys.remove&entity_id=${made.id}`)).body
  expect(audit).toHaveLength(1)
})

test('changes of several members at once keep each other', async () => {
  const bodies = [{ name: 'changed' }, { roles: ['IngestionApi'] }, { allowed_in_address: true }, { event_defaults: { dataset: 'web' } }]
  for (const round of Array(6).keys()) {
    const made = await make({ name: `shared ${round}`, roles: ['AdminApi'] })
    const answers = await Promise.all([...bodies, ...bodies].map((body) => org.ask('PATCH', `/api-keys/${made.id}`, { body })))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await org.ask('GET', `/api-keys/${made.id}`)).body).toMatchObject(Object.assign({}, ...bodies))
  }
})

test('the deployment can accept keys in further headers', async () => {
  for (const name of ['x-service-api-key', 'x-other-key', 'X-Third-Key']) {
    expect((await app.ask('GET', '/datasets', { headers: { [name]: org.key } })).status).toBe(200)
  }
  expect((await app.ask('GET', '/datasets', { headers: { 'x-fourth-key': org.key } })).status).toBe(401)
})

test('a key of another organization is unknown here', async () => {
  const other = await app.newOrganization()
  const made = await make({ name: 'ours', roles: ['SearchApi'] })
  for (const [method, body] of [['GET'], ['PATCH', { name: 'theirs' }], ['DELETE']] as const) {
    expect((await other.ask(method, `/api-keys/${made.id}`, body ? { body } : {})).status).toBe(404)
  }
})

test('milliseconds are not taken for seconds', async () => {
  const inAnHour = app.clock.nowMs() + 3_600_000
  const ask = (expires_at: number) => org.ask<Refused>('POST', '/api-keys', { body: { name: 'k', roles: ['SearchApi'], expires_at } })
  const refused = await ask(inAnHour)
  expect([refused.status, refused.body.details]).toEqual([400, 'expires_at must be in Unix seconds, not milliseconds'])
  expect((await ask(Math.floor(inAnHour / 1000))).status).toBe(201)
})

test('a role that is given twice is held once', async () => {
  const made = await org.ask<ApiKey>('POST', '/api-keys', { body: { name: 'k', roles: ['SearchApi', 'IngestionApi', 'SearchApi'] } })
  expect(made.body.roles).toEqual(['SearchApi', 'IngestionApi'])
  const changed = await org.ask<ApiKey>('PATCH', `/api-keys/${made.body.id}`, { body: { roles: ['SearchApi', 'SearchApi'] } })
  expect(changed.body.roles).toEqual(['SearchApi'])
})

test('a query budget limits the queries of a key until it is removed', async () => {
  const headers = { 'x-service-dataset': 'budget', 'content-type': 'application/x-ndjson' }
  const sent = await org.ask('POST', '/ingest', { raw: '{"n":1}\n{"n":2}\n{"n":3}', headers })
  expect(sent.status).toBe(200)
  const made = await make({ name: 'limited', roles: ['SearchApi'], query_budget: { rows: 2, bytes: 1_000_000_000 } })
  expect(made.query_budget).toEqual({ rows: 2, bytes: 1_000_000_000 })
  const search = () =>
    org.ask<Refused>('POST', '/search', {
      key: made.key,
      body: { from_expr: '*', select: ['n'], where: 'n > 1', time_range: 'Last 1 hour' },
    })
  const refused = await search()
  expect([refused.status, refused.body.details]).toEqual([400, expect.stringContaining('more than 2 events')])
  const change = (query_budget: object | null) => org.ask<ApiKey & Refused>('PATCH', `/api-keys/${made.id}`, { body: { query_budget } })
  expect((await change({ waiting: 9 })).body.details).toContain('query_budget.waiting must be at most 8, the limit of its roles')
  expect((await change({ rows: 3, waiting: 0 })).body.query_budget).toEqual({ rows: 3, waiting: 0 })
  expect((await search()).status).toBe(200)
  expect((await change({ rows: 2 })).body.query_budget).toEqual({ rows: 2 })
  expect((await org.ask<ApiKey>('PATCH', `/api-keys/${made.id}`, { body: { name: 'free' } })).body.query_budget).toEqual({ rows: 2 })
  expect((await search()).status).toBe(400)
  expect((await change(null)).body).not.toHaveProperty('query_budget')
  expect((await search()).status).toBe(200)
})
