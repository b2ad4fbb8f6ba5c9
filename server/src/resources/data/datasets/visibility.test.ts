import { randomUUID } from 'node:crypto'
import type { Export, FailureBody, Monitor, MonitorEvaluation } from '@dendro/api'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { makeServiceDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import { exporting } from '../../queries/exports/run.ts'
import { createEvaluationRound } from '../../watching/evaluations/evaluations.ts'

/** Two processes share the stores, so that a change in one must reach the other. */
let database: TestDatabase
let app: TestApp
let elsewhere: TestApp
let org: TestOrganization
let web: string
let cart: string
beforeAll(async () => {
  database = await makeServiceDatabase(inject('stores'))
  app = await openTestApp({ DENDRO_POSTGRES_URL: database.url }, (world) => [exporting(world)])
  elsewhere = await openTestApp({ DENDRO_POSTGRES_URL: database.url })
})
beforeEach(async () => {
  org = await app.newOrganization()
  web = await dataset('web')
  cart = await dataset('cart')
})
afterAll(async () => {
  await app?.close()
  await elsewhere?.close()
  await database?.drop()
})

type Key = { id: string; key: string }

const dataset = async (name: string): Promise<string> =>
  (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: name } })).body.id

const newKey = async (roles: readonly string[] = ['AdminApi']): Promise<Key> =>
  (await org.ask<Key>('POST', '/api-keys', { body: { name: 'for a test', roles } })).body

/** Sends an administrator's change to the other process. */
const there = async (method: string, path: string, body?: object) => {
  const reply = await elsewhere.ask(method, path, { key: org.key, ...(body ? { body } : {}) })
  expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
}

const hide = (id: string, principal: object) =>
  there('POST', '/policies', {
    policy_type: 'LOG_FORBID',
    resource: { resource_type: 'LOG', resource_id: id },
    actions: ['*'],
    principal,
  })
const hideFrom = (id: string, key: Key) => hide(id, { principal_type: 'APIKEY', principal_id: key.id })

/** Waits until this process refuses what the other one has revoked. */
const noticed = (path: string, credential: { key?: string; token?: string }, status: number) =>
  vi.waitFor(async () => expect((await app.ask('GET', path, credential)).status).toBe(status), { timeout: 240_000, interval: 20 })

async function send(messages: readonly string[], name = 'web', more: object = {}): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': name, 'content-type': 'application/x-ndjson' }
  const raw = messages.map((message) => JSON.stringify({ message, level: 'error', ...more })).join('\n')
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
}

describe('an export', () => {
  const finished = async (ids: readonly string[], key = org.key): Promise<Export> => {
    await send(['a line'])
    const { body } = await org.ask<Export>('POST', '/exports', { key, body: { search_details: { from: ids, time_range: 'Last 1 hour' } } })
    return read(body.export_id, key)
  }
  const read = (id: string, key: string): Promise<Export> =>
    vi.waitFor(
      async () => {
        const { body } = await org.ask<Export>('GET', `/exports/${id}`, { key })
        expect(body.status).toBe('COMPLETE')
        return body
      },
      { timeout: 240_000, interval: 100 },
    )
  const fetched = async (location: string, init: RequestInit = {}): Promise<number> => {
    const answer = await fetch(location, init)
    await answer.arrayBuffer()
    return answer.status
  }

  test('of another user is a 404 for callers from whom a dataset is hidden, and their links stop working', async () => {
    const done = await finished([web, cart])
    const limited = await newKey()
    const given = (await read(done.export_id, limited.key)).location
    expect(await fetched(given)).toBe(200)
    await hideFrom(cart, limited)
    await noticed(`/exports/${done.export_id}`, { key: limited.key }, 404)
    expect((await org.ask('GET', '/exports', { key: limited.key })).body).toEqual({ exports: [] })
    expect((await org.ask('DELETE', `/exports/${done.export_id}`, { key: limited.key })).status).toBe(404)
    expect(await fetched(given)).toBe(403)
    expect(await fetched(done.location), 'the link of whoever may see it').toBe(200)
  })

  test('is downloaded by no link of a key that is deleted, has expired, or has lost the permission', async () => {
    const done = await finished([web])
    const [deleted, demoted] = [await newKey(), await newKey()]
    const expiring = (await org.ask<Key>('POST', '/api-keys', { body: { name: 'soon', roles: ['AdminApi'], ttl: 60 } })).body
    const links = new Map<Key, string>()
    for (const key of [deleted, demoted, expiring]) links.set(key, (await read(done.export_id, key.key)).location)
    for (const link of links.values()) expect(await fetched(link)).toBe(200)
    await there('DELETE', `/api-keys/${deleted.id}`)
    await there('PATCH', `/api-keys/${demoted.id}`, { name: 'for a test', roles: ['IngestionApi'] })
    await noticed('/exports', { key: deleted.key }, 401)
    await noticed('/exports', { key: demoted.key }, 403)
    for (const { clock } of [app, elsewhere]) clock.advance(61_000)
    for (const link of links.values()) expect(await fetched(link)).toBe(403)
  })

  test('leaves a record of each request that got bytes of it, and of no other', async () => {
    const { location, export_id, bytes } = await finished([web])
    const records = async () => {
      const { audit } = (await org.ask<{ audit: { action: string; entity_id: string; after: object }[] }>('GET', '/audit?limit=50')).body
      return audit.filter(({ action, entity_id }) => action === 'exports.download' && entity_id === export_id).map(({ after }) => after)
    }
    expect(await fetched(location, { method: 'HEAD' })).toBe(200)
    expect(await fetched(location, { headers: { range: `bytes=${bytes}-` } })).toBe(416)
    expect(await records()).toEqual([])
    expect(await fetched(location, { headers: { range: 'bytes=1-' } })).toBe(206)
    expect(await fetched(location, { headers: { range: 'bytes=-3' } })).toBe(206)
    expect(await fetched(location)).toBe(200)
    expect(await records()).toEqual([
      { from_byte: 0, bytes, of_bytes: bytes },
      { from_byte: bytes - 3, bytes: 3, of_bytes: bytes },
      { from_byte: 1, bytes: bytes - 1, of_bytes: bytes },
    ])
  })
})

describe('the stream of a live tail', () => {
  let leaving: AbortController
  beforeEach(() => {
    leaving = new AbortController()
  })
  afterEach(() => leaving.abort())

  /** Opens a stream over both datasets; `said` is the text so far, `over` settles with the stream. */
  async function watching(credential: { key?: string; token?: string }) {
    const { body } = await app.ask<{ job_id: string }>('POST', '/live-tail', { ...credential, body: { from: [web, cart] } })
    const headers = credential.key ? { 'x-service-api-key': credential.key } : { authorization: `Bearer ${credential.token}` }
    const response = await fetch(`${app.url}/live-tail/stream?job_id=${body.job_id}`, { headers, signal: leaving.signal })
    expect(response.status).toBe(200)
    let said = ''
    const reading = async () => {
      for await (const chunk of response.body ?? []) said += Buffer.from(chunk).toString()
    }
    // A client that leaves aborts, which rejects the read.
    const over = reading().catch((thrown) => expect(leaving.signal.aborted, String(thrown)).toBe(true))
    await vi.waitFor(() => expect(said).toContain('watching'), { timeout: 240_000 })
    return { said: () => said, over }
  }

  test('ends when its key is deleted, or loses the permission, in whichever process', async () => {
    const [deleted, demoted] = [await newKey(), await newKey()]
    const streams = [await watching({ key: deleted.key }), await watching({ key: demoted.key })]
    await send(['before'])
    for (const { said } of streams) await vi.waitFor(() => expect(said()).toContain('before'), { timeout: 240_000 })
    await there('DELETE', `/api-keys/${deleted.id}`)
    await there('PATCH', `/api-keys/${demoted.id}`, { name: 'for a test', roles: ['IngestionApi'] })
    await noticed('/datasets', { key: deleted.key }, 401)
    await noticed('/exports', { key: demoted.key }, 403)
    await send(['behind'])
    for (const { over, said } of streams) {
      await over
      expect(said()).toMatch(/: over, since the caller may not watch any more\n\n$/)
      expect(said()).not.toContain('behind')
    }
  })

  test('ends when its user logs out', async () => {
    const user = await org.newUser(['Standard'])
    const { over, said } = await watching({ token: user.token })
    expect((await elsewhere.ask('POST', '/auth/logout', { token: user.token })).status).toBe(204)
    await over
    expect(said()).toContain(': over')
  })

  test('continues without a dataset that a policy has hidden meanwhile', async () => {
    const limited = await newKey()
    const { said } = await watching({ key: limited.key })
    await hideFrom(web, limited)
    await noticed(`/datasets/${web}`, { key: limited.key }, 404)
    await send(['hidden'])
    await send(['shown'], 'cart')
    await vi.waitFor(() => expect(said()).toContain('shown'), { timeout: 240_000 })
    expect(said()).not.toContain('hidden')
  })
})

test('a pagination token works only for the caller who got it', async () => {
  await send(['one', 'two', 'three'])
  const [asking, other] = [await newKey(), await newKey()]
  const body = { from: [web], select: ['*'], time_range: 'Last 1 hour', limit: 1 }
  type Page = { pagination: { next_page_url: string } } & FailureBody
  const first = await org.ask<Page>('POST', '/search', { key: asking.key, body })
  const next = first.body.pagination.next_page_url.slice(app.url.length)
  const own = await org.ask<Page>('GET', next, { key: asking.key })
  expect(own.status).toBe(200)
  const foreign = await org.ask<Page>('GET', next, { key: other.key })
  expect([foreign.status, foreign.body.details]).toEqual([403, expect.stringContaining('pagination_token was given to another caller')])
  const later = own.body.pagination.next_page_url.slice(app.url.length)
  expect((await org.ask('GET', later, { key: other.key })).status, 'a page further on').toBe(403)
  expect((await org.ask('GET', later, { key: asking.key })).status).toBe(200)
})

describe('a monitor', () => {
  const query = (source: object) => ({ name: 'errors', select: ['count(*)'], where: 'level = error', groups: ['note'], ...source })
  const bodyOf = (source: object) => ({
    name: 'by note',
    comparison_operator: 'ABOVE',
    threshold: 0,
    window: 'Last 5 minutes',
    actions: [{ email: 'oncall@example.org' }],
    queries: [query(source)],
  })
  const watch = async (source: object, credential: { key?: string; token?: string } = {}): Promise<string> => {
    const reply = await org.ask<Monitor & FailureBody>('POST', '/monitors', { body: bodyOf(source), ...credential })
    expect(reply.body.details).toBe(undefined)
    return reply.body.id
  }
  const evaluate = () => createEvaluationRound(app.app.world)(new AbortController().signal)
  const statusFor = async (id: string, credential: { key?: string; token?: string }) =>
    (await org.ask('GET', `/monitors/${id}/evaluations`, credential)).status

  test('stays 404 for callers from whom a dataset it has read is hidden, even when it watches another one', async () => {
    await send(['bad'], 'web', { note: 'secret' })
    const id = await watch({ from: [web] })
    await evaluate()
    const limited = await newKey()
    expect(await statusFor(id, { key: limited.key })).toBe(200)
    expect((await org.ask('PUT', `/monitors/${id}`, { body: bodyOf({ from: [cart] }) })).status).toBe(200)
    await hideFrom(web, limited)
    await noticed(`/monitors/${id}/evaluations`, { key: limited.key }, 404)
    expect((await org.ask('GET', '/monitors', { key: limited.key })).body).toEqual({ monitors: [] })
  })

  test('by a limited author with a selector for everything is visible to equally limited callers, but not to those who see less', async () => {
    const [author, colleague, other] = [await newKey(), await newKey(), await newKey()]
    for (const key of [author, colleague, other]) await hideFrom(web, key)
    await hideFrom(cart, other)
    await noticed(`/datasets/${cart}`, { key: other.key }, 404)
    await noticed(`/datasets/${web}`, { key: author.key }, 404)
    await noticed(`/datasets/${web}`, { key: colleague.key }, 404)
    await send(['bad'], 'web', { note: 'secret' })
    await send(['bad'], 'cart', { note: 'plain' })
    const id = await watch({ from_expr: "collection = 'shop'" }, { key: author.key })
    await evaluate()
    const { body } = await org.ask<{ evaluations: MonitorEvaluation[] }>('GET', `/monitors/${id}/evaluations`, { key: author.key })
    expect(body.evaluations.flatMap(({ groups }) => groups.map(({ group_id }) => group_id))).toEqual(['note:plain'])
    expect(await statusFor(id, { key: colleague.key })).toBe(200)
    expect(await statusFor(id, { key: other.key })).toBe(404)
    const everything = await watch({ from_expr: '*' })
    expect(await statusFor(everything, { key: author.key })).toBe(404)
  })

  test('reads with the roles of its author after the author is deleted', async () => {
    const role = await org.ask<{ role_id: string }>('POST', '/roles', {
      body: { role_type: 'API', display_name: `limited ${randomUUID()}`, permissions: ['logs_read', 'monitors_write'] },
    })
    await hide(web, { principal_type: 'ROLE', principal_id: role.body.role_id })
    const author = await newKey([role.body.role_id])
    await noticed(`/datasets/${web}`, { key: author.key }, 404)
    await send(['bad'], 'web', { note: 'secret' })
    await send(['bad'], 'cart', { note: 'plain' })
    const id = await watch({ from_expr: "collection = 'shop'" }, { key: author.key })
    expect((await org.ask('DELETE', `/api-keys/${author.id}`)).status).toBe(204)
    await evaluate()
    const { body } = await org.ask<{ evaluations: MonitorEvaluation[] }>('GET', `/monitors/${id}/evaluations`)
    expect(body.evaluations.flatMap(({ groups }) => groups.map(({ group_id }) => group_id))).toEqual(['note:plain'])
  })

  test('reads with all roles of its author, including those of groups', async () => {
    const name = `limited ${randomUUID()}`
    const role = await org.ask<{ role_id: string }>('POST', '/roles', {
      body: { role_type: 'USER', display_name: name, permissions: ['logs_read'] },
    })
    await hide(web, { principal_type: 'ROLE', principal_id: role.body.role_id })
    const user = await org.newUser(['Standard'])
    const group = (await org.ask<{ id: string }>('POST', '/groups', { body: { name } })).body.id
    await there('POST', `/groups/${group}/members`, { members: [{ member_id: user.id, member_type: 'USER' }] })
    await there('POST', `/organizations/${org.orgId}/access/group/${group}`, { roles: [role.body.role_id], status: 'active' })
    await noticed(`/datasets/${web}`, { token: user.token }, 404)
    await send(['bad'], 'web', { note: 'secret' })
    await send(['bad'], 'cart', { note: 'plain' })
    const id = await watch({ from_expr: "collection = 'shop'" }, { token: user.token })
    await evaluate()
    const { body } = await org.ask<{ evaluations: MonitorEvaluation[] }>('GET', `/monitors/${id}/evaluations`)
    expect(body.evaluations.flatMap(({ groups }) => groups.map(({ group_id }) => group_id))).toEqual(['note:plain'])
  })
})

test('templates with unresolved selectors are hidden from callers with a policy, and shown to all others', async () => {
  const limited = await newKey()
  await hideFrom(web, limited)
  const query = { name: 'errors', select: ['count(*)'], where: '' }
  for (const from_expr of ["dataset = '{{which}}'", 'dataset = (', `id = '${cart}'`]) {
    const body = { name: from_expr, description: '', queries: [{ ...query, from_expr }], parameters: { which: { type: 'STRING' } } }
    const made = await org.ask<FailureBody>('POST', '/metrics/definitions/templates', { body })
    expect([made.status, made.body.details]).toEqual([201, undefined])
  }
  await noticed(`/datasets/${web}`, { key: limited.key }, 404)
  const names = async (key: string) => {
    const { body } = await org.ask<{ templates: { name: string }[] }>('GET', '/metrics/definitions/templates', { key })
    return body.templates.map(({ name }) => name).toSorted()
  }
  expect(await names(limited.key)).toEqual([`id = '${cart}'`])
  expect(await names(org.key)).toHaveLength(3)
})
