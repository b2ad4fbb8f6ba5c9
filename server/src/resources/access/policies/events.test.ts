import type { Event, Export, FailureBody, Policy, PolicyPreview, SearchResponse } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { connectAgent } from '../../../mcp/agent.fixture.ts'
import { makeServiceDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import { exporting } from '../../queries/exports/run.ts'

/** Two processes share the stores, so that a change in one must reach the other. */
let database: TestDatabase
let app: TestApp
let elsewhere: TestApp
let org: TestOrganization
let web: string
let reader: Key
beforeAll(async () => {
  database = await makeServiceDatabase(inject('stores'))
  app = await openTestApp({ DENDRO_POSTGRES_URL: database.url }, (world) => [exporting(world)])
  elsewhere = await openTestApp({ DENDRO_POSTGRES_URL: database.url })
})
beforeEach(async () => {
  org = await app.newOrganization()
  web = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: 'web' } })).body.id
  reader = await newKey()
  await send([
    { message: 'paid 5 by ann', team: 'shop', level: 'info', ms: 5, shop_key: 'x' },
    { message: 'paid 7 by bob', team: 'shop', level: 'error', ms: 7 },
    { message: 'secret sauce', team: 'lab', level: 'error', ms: 900, lab_key: 'x' },
    { message: 'no team', level: 'error', ms: 1 },
  ])
})
afterAll(async () => {
  await app?.close()
  await elsewhere?.close()
  await database?.drop()
})

type Key = { id: string; key: string }
const newKey = async (roles: readonly string[] = ['AdminApi']): Promise<Key> =>
  (await org.ask<Key>('POST', '/api-keys', { body: { name: 'for a test', roles } })).body

async function send(events: readonly object[], more: Record<string, string> = {}): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson', ...more }
  const raw = events.map((event) => JSON.stringify(event)).join('\n')
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
}

const show = async (where: string, change: object = {}, at: Pick<TestApp, 'ask'> = app): Promise<string> => {
  const body = {
    policy_type: 'CUSTOM',
    resource: { resource_type: 'LOG', resource_id: web },
    actions: ['read'],
    principal: { principal_type: 'APIKEY', principal_id: reader.id },
    when: { where },
    ...change,
  }
  const reply = await at.ask<Policy & FailureBody>('POST', '/policies', { key: org.key, body })
  expect(reply.status, reply.body.details).toBe(201)
  return reply.body.id
}

const search = async (body: object = {}, key = reader.key, at: Pick<TestApp, 'ask'> = app): Promise<SearchResponse> => {
  const wanted = { from: [web], select: ['*'], time_range: 'Last 1 hour', limit: 100, ...body }
  const reply = await at.ask<SearchResponse & FailureBody>('POST', '/search', { key, body: wanted })
  expect(reply.status, reply.body.details).toBeLessThan(300)
  return reply.body
}
const messages = async (body: object = {}, key = reader.key, at: Pick<TestApp, 'ask'> = app): Promise<string[]> =>
  (await search(body, key, at)).events.map(({ message_kvs }) => String(message_kvs.message)).sort()

describe('a search', () => {
  test('finds and counts the events that the policy shows, after an administrator has read all of them', async () => {
    await show("team = 'shop'")
    const everything = ['no team', 'paid 5 by ann', 'paid 7 by bob', 'secret sauce']
    const shown = ['paid 5 by ann', 'paid 7 by bob']
    for (const _ of [1, 2]) {
      expect(await messages({}, org.key)).toEqual(everything)
      expect(await messages()).toEqual(shown)
    }
    const counted = (await search({ select: ['count(*)', 'max(ms)'], groups: ['team'] })).totals
    expect(counted).toMatchObject({ count: 2 })
    expect(await messages({ where: 'secret' })).toEqual([])
    expect(await messages({ where: "not team = 'shop' or level = 'error'" })).toEqual(['paid 7 by bob'])
    expect((await search({ where: "lab_kee = 'x'" })).warnings ?? []).toEqual([])
  })

  test('follows a changed and a deleted policy at once, in every process', async () => {
    const id = await show("team = 'shop'", {}, elsewhere)
    await vi.waitFor(async () => expect(await messages()).toHaveLength(2), { timeout: 240_000, interval: 50 })
    expect(await messages({}, reader.key, elsewhere)).toHaveLength(2)
    expect((await elsewhere.ask('DELETE', `/policies/${id}`, { key: org.key })).status).toBe(200)
    expect(await messages({}, reader.key, elsewhere)).toHaveLength(4)
    await vi.waitFor(async () => expect(await messages()).toHaveLength(4), { timeout: 240_000, interval: 50 })
  })

  test('shows what any policy shows, for a role with its id or name, and whole logs where none applies', async () => {
    await show("team = 'shop'", { policy_type: 'ROLE_BASED', principal: { principal_type: 'ROLE', principal_id: 'SearchApi' } })
    const holder = await newKey(['SearchApi'])
    expect(await messages({}, holder.key)).toHaveLength(2)
    await show("team = 'lab'", { principal: { principal_type: 'APIKEY', principal_id: holder.id } })
    expect(await messages({}, holder.key)).toEqual(['paid 5 by ann', 'paid 7 by bob', 'secret sauce'])
    await send([{ message: 'elsewhere' }], { 'x-service-dataset': 'cart' })
    expect(await messages({ from: undefined, from_expr: "collection = 'shop'" }, holder.key)).toHaveLength(4)
  })

  test('meets conditions of context, with their operators', async () => {
    await show('', {
      when: {
        context: [
          { key: 'ms', operator: '<=', value: '7' },
          { key: 'team', operator: '==', value: 'shop' },
        ],
      },
      unless: { where: 'level = error' },
    })
    expect(await messages()).toEqual(['paid 5 by ann'])
  })

  test('that runs on its own is polled by no one who sees other events', async () => {
    const { body } = await org.ask<SearchResponse>('POST', '/search', {
      body: { from: [web], select: ['*'], time_range: 'Last 1 hour', async_enabled: true },
    })
    const id = body.links
      .find(({ rel }) => rel === 'status')
      ?.href.split('/')
      .at(-1)
    expect((await org.ask('GET', `/search/status/${id}`, { key: reader.key })).status).toBe(201)
    const policy = await show("team = 'shop'")
    expect((await org.ask('GET', `/search/status/${id}`, { key: reader.key })).status).toBe(404)
    const own = await org.ask<SearchResponse>('POST', '/search', {
      key: reader.key,
      body: { from: [web], select: ['*'], time_range: 'Last 1 hour', async_enabled: true },
    })
    const ownId = own.body.links
      .find(({ rel }) => rel === 'status')
      ?.href.split('/')
      .at(-1)
    expect((await org.ask<SearchResponse>('GET', `/search/status/${ownId}`, { key: reader.key })).body.events).toHaveLength(2)
    await org.ask('DELETE', `/policies/${policy}`)
    await show("team = 'lab'")
    expect((await org.ask('GET', `/search/status/${ownId}`, { key: reader.key })).status).toBe(404)
  })
})

test('charts, keys, patterns, changes and context count what the policy shows', async () => {
  await show("team = 'shop'")
  const time_range = 'Last 1 hour'
  const reads: [string, string, object?][] = [
    [
      'POST',
      '/timeseries/search',
      { queries: [{ name: 'a', from: [web], select: ['count(*)'], groups: ['message'] }], time_range: { natural: time_range } },
    ],
    ['POST', '/top-keys', { from: [web], where: '', time_range }],
    ['GET', `/top-keys?log_id=${web}`],
    ['POST', '/patterns', { search_details: { from: [web], where: '', time_range } }],
    ['POST', '/changes', { from: [web], where: '', time_range }],
    ['GET', `/context?from=${web}&timestamp=${app.clock.nowMs()}`],
  ]
  for (const [method, path, body] of reads) {
    for (const [key, isWhole] of [[org.key, true] as const, [reader.key, false] as const]) {
      const reply = await org.ask(method, path, { key, ...(body ? { body } : {}) })
      expect(reply.status, `${path} ${JSON.stringify(reply.body)}`).toBeLessThan(300)
      // A comparison names only what has changed.
      if (path !== '/changes' || !isWhole) expect(/secret|lab|no team/.test(JSON.stringify(reply.body)), path).toBe(isWhole)
    }
  }
})

describe('a live tail', () => {
  test('shows the events that the policy shows, beside one that shows all, and follows its changes', async () => {
    const policy = await show("team = 'shop'")
    const start = async (key: string) =>
      (await org.ask<{ job_id: string }>('POST', '/live-tail', { key, body: { from: [web] } })).body.job_id
    const seen = { all: [] as string[], some: [] as string[] }
    const [all, some] = [await start(org.key), await start(reader.key)]
    const poll = async (id: string, key: string, into: string[]) => {
      const { body } = await org.ask<{ logs: { events: Event[] }[] }>('GET', `/live-tail?job_id=${id}`, { key })
      into.push(...body.logs.flatMap(({ events }) => events.map(({ message_kvs }) => String(message_kvs.message))))
    }
    const until = (wanted: string, from: { id: string; key: string; into: string[] }) =>
      vi.waitFor(
        async () => {
          app.clock.advance(600)
          await poll(from.id, from.key, from.into)
          expect(from.into).toContain(wanted)
        },
        { timeout: 240_000, interval: 100 },
      )
    const [ofAll, ofSome] = [
      { id: all, key: org.key, into: seen.all },
      { id: some, key: reader.key, into: seen.some },
    ]
    await send([
      { message: 'hidden one', team: 'lab' },
      { message: 'shown one', team: 'shop' },
    ])
    await until('hidden one', ofAll)
    await until('shown one', ofSome)
    await org.ask('DELETE', `/policies/${policy}`)
    await show("team = 'lab'")
    await send([
      { message: 'hidden two', team: 'shop' },
      { message: 'shown two', team: 'lab' },
    ])
    await until('shown two', ofAll)
    await until('shown two', ofSome)
    expect(seen.all.sort()).toEqual(['hidden one', 'hidden two', 'shown one', 'shown two'])
    expect(seen.some.sort()).toEqual(['shown one', 'shown two'])
  })
})

describe('an export', () => {
  const finished = (id: string, key: string): Promise<Export> =>
    vi.waitFor(
      async () => {
        const { body } = await org.ask<Export>('GET', `/exports/${id}`, { key })
        expect(body.status).toBe('COMPLETE')
        return body
      },
      { timeout: 240_000, interval: 100 },
    )
  const exported = async (format: string, key = reader.key): Promise<Export> => {
    const body = { format, compression: 'none', search_details: { from: [web], time_range: 'Last 1 hour' } }
    return finished((await org.ask<Export>('POST', '/exports', { key, body })).body.export_id, key)
  }

  test.each(['ndjson', 'csv'])('has the events and columns that the policy showed when it was created: %s', async (format) => {
    const policy = await show("team = 'shop'")
    const made = await exported(format)
    const text = await (await fetch(made.location)).text()
    expect([text.includes('paid 5'), text.includes('paid 7')]).toEqual([true, true])
    expect(text).toContain('shop_key')
    expect(text).not.toMatch(/secret|lab|no team/)
    expect((await org.ask('GET', `/exports/${made.export_id}`)).status, 'for who sees all events').toBe(200)
    await org.ask('DELETE', `/policies/${policy}`)
    await show("team = 'lab'")
    expect((await org.ask('GET', `/exports/${made.export_id}`, { key: reader.key })).status, 'after the policy has changed').toBe(404)
    expect((await fetch(made.location)).status).toBe(403)
  })

  test('of a colleague who sees all events is unknown to who sees some', async () => {
    const made = await exported('ndjson', org.key)
    expect((await org.ask('GET', `/exports/${made.export_id}`, { key: reader.key })).status).toBe(200)
    await show("team = 'shop'")
    expect((await org.ask('GET', `/exports/${made.export_id}`, { key: reader.key })).status).toBe(404)
    expect((await org.ask('GET', '/exports', { key: reader.key })).body).toEqual({ exports: [] })
  })
})

test('other protocols show the same: Loki and tools of agents', async () => {
  await show("team = 'shop'")
  const now = app.clock.nowMs()
  const range = `start=${now - 3_600_000}000000&end=${now + 60_000}000000`
  const loki = async (path: string, key = reader.key) => {
    const reply = await app.ask('GET', `/loki/api/v1/${path}`, { headers: { authorization: `Bearer ${key}` } })
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    return JSON.stringify(reply.body)
  }
  const query = encodeURIComponent('{dataset="web"}')
  for (const path of [
    `query_range?query=${query}&${range}`,
    `labels?${range}`,
    `series?match[]=${query}&${range}`,
    `patterns?query=${query}&${range}`,
  ]) {
    expect(await loki(path), path).not.toMatch(/secret|lab_key|no team/)
  }
  expect(await loki(`query_range?query=${query}&${range}`)).toContain('paid 5')
  expect(await loki(`query_range?query=${query}&${range}`, org.key)).toContain('secret')
  const agent = await connectAgent(app.url, reader.key)
  try {
    const found = JSON.stringify(await agent.tool('search', { from: ['shop.web'], where: '' }))
    expect(found).toContain('paid 5')
    expect(found).not.toMatch(/secret|no team/)
  } finally {
    await agent.close()
  }
})

test('counts of all stored events are not for who sees some', async () => {
  const usage = async (key: string) =>
    JSON.stringify((await org.ask('GET', '/usage/organizations/logs?time_range=Last%201%20hour', { key })).body)
  await vi.waitFor(async () => expect(await usage(org.key)).toContain(web), { timeout: 240_000, interval: 100 })
  await show("team = 'shop'")
  expect(await usage(reader.key)).not.toContain(web)
  expect((await org.ask('GET', `/retention/${web}`)).status).toBe(200)
  expect((await org.ask('GET', `/retention/${web}`, { key: reader.key })).status).toBe(403)
})

describe('the preview of a policy', () => {
  const preview = async (change: object = {}, key = org.key) => {
    const body = {
      policy_type: 'CUSTOM',
      resource: { resource_type: 'COLLECTION', resource_id: 'shop' },
      actions: ['*'],
      principal: { principal_type: 'APIKEY', principal_id: reader.id },
      when: { where: "team = 'shop'" },
      ...change,
    }
    const reply = await org.ask<PolicyPreview & FailureBody>('POST', '/policies/preview', { key, body })
    return reply.status === 200 ? reply.body : reply.status
  }

  test('counts what the principal would see, next to other policies or in place of one', async () => {
    expect(await preview()).toEqual({ datasets: 1, events: 4, shown: 2 })
    expect(await preview({ policy_type: 'LOG_FORBID', when: undefined })).toEqual({ datasets: 1, events: 4, shown: 0 })
    const id = await show("team = 'lab'")
    expect(await preview()).toEqual({ datasets: 1, events: 4, shown: 3 })
    expect(await preview({ policy_id: id })).toEqual({ datasets: 1, events: 4, shown: 2 })
    const role = { policy_type: 'ROLE_BASED', principal: { principal_type: 'ROLE', principal_id: 'SearchApi' } }
    expect(await preview(role)).toEqual({ datasets: 1, events: 4, shown: 2 })
    expect(await messages(), 'nothing is kept').toEqual(['secret sauce'])
  })

  test('counts among what the caller sees, and refuses what could not be created', async () => {
    await show("team = 'shop'")
    expect(
      await preview({ when: { where: 'level = error' }, principal: { principal_type: 'ROLE', principal_id: 'SearchApi' } }, reader.key),
    ).toEqual({
      datasets: 1,
      events: 2,
      shown: 1,
    })
    expect(await preview({ when: { where: 'team = ' } })).toBe(400)
    expect(await preview({}, await org.newKey(['SearchApi']))).toBe(403)
  })
})
