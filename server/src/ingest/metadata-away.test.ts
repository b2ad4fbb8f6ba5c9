import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { makeServiceDatabase, type TestDatabase } from '../meta/database.fixture.ts'
import { type NetworkProxy, openProxy } from '../meta/proxy.fixture.ts'

/** A service on a PostgreSQL server of its own that goes away, and comes back. */

/** Each request waits for one connection, one statement and one lock at most. A busy machine takes its time on top. */
const BOUND_MS = 60_000

const SEARCH = { from_expr: '*', time_range: 'Last 60 minutes', select: ['@raw'], limit: 1_000 }

let database: TestDatabase
let proxy: NetworkProxy
let app: TestApp
let org: TestOrganization

beforeEach(async () => {
  database = await makeServiceDatabase(inject('stores'))
  proxy = await openProxy(database.url)
  app = await openTestApp({ DENDRO_POSTGRES_URL: proxy.url })
  org = await app.newOrganization()
})
afterEach(async () => {
  await app?.close()
  await proxy?.close()
  await database?.drop()
})

/** A standby after a failover answers, and refuses to write. */
const setReadOnly = (isOn: boolean): Promise<void> =>
  database.administer(
    `alter database ${new URL(database.url).pathname.slice(1)} set default_transaction_read_only = ${isOn ? 'on' : 'off'}`,
  )

const ways = {
  'refuses connections': { begin: () => proxy.refuse(), end: () => proxy.restore() },
  'resets connections': { begin: async () => proxy.cut(), end: () => proxy.restore() },
  hangs: { begin: async () => proxy.silence(), end: () => proxy.restore() },
  'loses replies': { begin: async () => proxy.loseReplies(), end: () => proxy.restore() },
  'is a standby that only reads': {
    begin: async () => {
      await setReadOnly(true)
      await proxy.restore()
    },
    end: async () => {
      await setReadOnly(false)
      await proxy.restore()
    },
  },
}

type Post = { line: string; headers: Record<string, string> }
const newPost = (line: string, isRepeatable: boolean): Post => ({
  line,
  headers: { 'content-type': 'text/plain', 'x-service-dataset': 'web', ...(isRepeatable ? { 'idempotency-key': randomUUID() } : {}) },
})

/** The status of each request, which must come in time. */
async function statusOf(method: string, path: string, given: Parameters<TestOrganization['ask']>[2] = {}): Promise<number> {
  const { status, headers } = await Promise.race([
    org.ask(method, path, given),
    sleep(BOUND_MS, undefined, { ref: false }).then(() => ({ status: 0, headers: new Headers() })),
  ])
  expect({ method, path, status }).toEqual({ method, path, status: expect.toSatisfy((one) => [200, 201, 503].includes(one)) })
  if (status === 503) expect([path, headers.get('retry-after')]).toEqual([path, expect.stringMatching(/^\d+$/)])
  return status
}
const send = ({ line, headers }: Post): Promise<number> => statusOf('POST', '/ingest', { raw: line, headers })

async function storedLines(): Promise<string[]> {
  const reply = await org.ask<{ events: { '@raw': string }[] }>('POST', '/search', { body: SEARCH })
  expect(reply.status).toBe(200)
  return reply.body.events.map((event) => event['@raw']).sort()
}

for (const [way, { begin, end }] of Object.entries(ways)) {
  test(`while PostgreSQL ${way}, requests end in time with 503 or with what is known, and nothing acknowledged is lost or doubled`, async () => {
    expect(await send(newPost('before', true))).toBe(200)
    await begin()
    const posts = Array.from({ length: 8 }, (_, n) => newPost(`during ${n}`, n % 4 !== 0))
    const [answers, reads, writes] = await Promise.all([
      Promise.all(posts.map(send)),
      Promise.all(
        ['/datasets', '/users', '/monitors', '/ledger', '/usage?time_range=Last%2060%20minutes', '/notebooks'].map((path) =>
          statusOf('GET', path),
        ),
      ),
      Promise.all([
        statusOf('POST', '/notebooks', { body: { name: 'during' } }),
        statusOf('POST', '/groups', { body: { name: 'during', description: '' } }),
        statusOf('POST', '/search', { body: SEARCH }),
      ]),
    ])
    expect(reads.length).toBe(6)
    expect(writes.slice(0, 2)).toEqual([503, 503])
    await end()
    // A sender repeats what was not answered.
    for (const [n, post] of posts.entries()) {
      if (answers[n] === 200) continue
      if (post.headers['idempotency-key'] === undefined) answers[n] = 503
      else await expect.poll(() => send(post), { timeout: BOUND_MS }).toBe(200)
    }
    const wanted = ['before', ...posts.filter((post, n) => answers[n] === 200 || post.headers['idempotency-key']).map(({ line }) => line)]
    const unanswered = new Set(posts.filter((post, n) => answers[n] !== 200 && !post.headers['idempotency-key']).map(({ line }) => line))
    // A post without a key that was answered 503 may be stored or not.
    const stored = async () => (await storedLines()).filter((line) => !unanswered.has(line))
    await expect.poll(stored, { timeout: BOUND_MS }).toEqual(wanted.sort())
    await expect.poll(() => statusOf('POST', '/notebooks', { body: { name: 'after' } }), { timeout: BOUND_MS }).toBe(201)
    await expect.poll(async () => (await app.ask('GET', '/health')).status, { timeout: BOUND_MS }).toBe(200)
  })
}
