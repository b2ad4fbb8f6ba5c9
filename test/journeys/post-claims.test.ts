import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { ask, MEMORY_BYTES, makeEngines, testDeps } from '../../server/src/events/store/engine.fixture.ts'
import { type EventStore, openEventStore } from '../../server/src/events/store/events.ts'
import { blockOf, DAY_START_MS, damaged, postOf } from '../../server/src/events/writer/blocks.fixture.ts'
import type { Post } from '../../server/src/events/writer/post.ts'
import { type EventWriter, openEventWriter } from '../../server/src/events/writer/writer.ts'
import { type Clock, systemClock } from '../../server/src/kernel/clock.ts'
import { unavailable } from '../../server/src/kernel/errors.ts'
import { makeServiceDatabase, makeTestDatabase, type TestDatabase } from '../../server/src/meta/database.fixture.ts'
import type { Db, Meta } from '../../server/src/meta/meta.ts'
import { forgetPosts, openPostClaims } from '../../server/src/meta/post-claims.ts'
import { sql } from '../../server/src/meta/sql.ts'
import { openTestApp } from '../support/world.ts'
import { type BadNetwork, startBadNetwork } from './writer-bad-network.ts'

const DAY_MS = 86_400_000
const LATE_MS = 9_750
/** SHORT_LEASE_MS is for tests in which an owner dies. */
const SHORT_LEASE_MS = 500

const engines = makeEngines()
let engine: EventStore
let database: TestDatabase
let meta: Meta
const opened: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  engine = await engines.open(await engines.madeDir())
  database = await makeTestDatabase(inject('stores').meta)
  meta = await database.open()
})
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close()
})
afterAll(async () => {
  await engines.cleanUp()
  await database.drop()
})

/** A writer of one of several processes. `dead` disconnects it from the metadata; its clock runs slowly and can be advanced by a test. */
type Process = { writer: EventWriter; clock: Clock & { advancedMs: number }; dead: boolean; network: BadNetwork }

async function newProcess(leaseMs?: number): Promise<Process> {
  const network = await startBadNetwork(Number(new URL(engine.url).port))
  const store = await openEventStore({ url: network.url(engine.url), dataDir: '', memoryBytes: MEMORY_BYTES }, testDeps)
  const clock = { ...systemClock, advancedMs: 0, monotonicMs: (): number => systemClock.monotonicMs() / 1_000 + clock.advancedMs }
  const guarded =
    <A extends unknown[], R>(run: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (self.dead) throw unavailable('the metadata store cannot be reached')
      return run(...args)
    }
  const db: Db = { all: guarded(meta.all) as Db['all'], one: guarded(meta.one) as Db['one'], run: guarded(meta.run) }
  const openClaims = (writerId: string) => openPostClaims(db, writerId, { ...testDeps, clock }, leaseMs)
  const writer = await openEventWriter(store, { ...testDeps, clock, openClaims }, { gatherMs: 0 })
  const self: Process = { writer, clock, dead: false, network }
  opened.push(network, store, writer)
  return self
}

const named = (identity: bigint, lines: readonly string[], logId: string, given: Partial<Post> = {}): Post =>
  postOf(lines, { logId, idempotencyKey: identity, bodyHash: BigInt(lines.join().length), ...given })

const kindOf = (answer: Promise<{ kind: string }>): Promise<string> =>
  answer.then(
    ({ kind }) => kind,
    (failure) => `failed ${failure.status}`,
  )

const countOf = async (logId: string): Promise<number> =>
  Number((await ask<{ rows: string }>(engine.writer, `select count() as rows from pattern_events_s where log_id = '${logId}'`))[0]?.rows)

const claimsOf = (logId: string) =>
  meta.all<{ is_stored: boolean; owner: string | null }>(sql`select is_stored, owner from post_claims where log_id = ${logId}`)

test('the same posts sent to two processes at once are stored once', async () => {
  const [a, b] = [await newProcess(), await newProcess()]
  const logId = randomUUID()
  const posts = Array.from({ length: 60 }, (_, n) => named(2n ** 64n - 1n - BigInt(n), [`line ${n}`], logId))
  const kinds = await Promise.all(
    posts.map(async (post) => (await Promise.all([a, b].map(({ writer }) => kindOf(writer.write(post))))).sort()),
  )
  expect(kinds).toEqual(posts.map(() => ['duplicate', 'stored']))
  expect(await countOf(logId)).toBe(posts.length)
  const [first] = posts
  if (!first) throw new Error('there are posts')
  await expect(a.writer.write({ ...first, bodyHash: 99n })).rejects.toMatchObject({ status: 422 })
  await expect(b.writer.write({ ...first, bodyHash: 99n })).rejects.toMatchObject({ status: 422 })
  const c = await newProcess()
  expect(await kindOf(c.writer.write(first))).toBe('duplicate')
  await expect(c.writer.write({ ...first, bodyHash: 98n })).rejects.toMatchObject({ status: 422 })
})

test('a sender that repeats on another process while the store stalls has its post stored once', async () => {
  const [a, b] = [await newProcess(), await newProcess()]
  const logId = randomUUID()
  const post = named(7n, ['one', 'two'], logId)
  await a.writer.write(named(6n, ['zero'], logId))
  a.network.mood = 'deaf'
  const first = kindOf(a.writer.write(post))
  await expect.poll(async () => (await claimsOf(logId)).length).toBe(2)
  const second = kindOf(b.writer.write(post))
  a.clock.advancedMs += LATE_MS
  expect(await first).toBe('failed 503')
  b.clock.advancedMs += LATE_MS
  expect(await second).toBe('failed 503')
  a.network.mood = 'pass'
  await expect.poll(() => kindOf(b.writer.write(post))).toMatch(/duplicate|stored/)
  await expect.poll(() => a.writer.waiting().bytes).toBe(0)
  expect(await kindOf(a.writer.write(post))).toBe('duplicate')
  expect(await countOf(logId)).toBe(3)
})

test('a post stored by a process that died before its response is found by another, and a partial one is completed', async () => {
  const [a, b] = [await newProcess(SHORT_LEASE_MS), await newProcess(SHORT_LEASE_MS)]
  const logId = randomUUID()
  const day = (n: number) => blockOf([`day ${n}`], { orgNumber: 1, logId }, DAY_START_MS + n * DAY_MS)
  const long: Post = { orgNumber: 1, logId, idempotencyKey: 9n, bodyHash: 1n, blocks: [0, 1, 2].map(day) }
  const whole = named(8n, ['whole'], logId)
  await meta.run(sql`delete from post_owners`)
  const stored = [a.writer.write(whole), a.writer.write({ ...long, blocks: long.blocks.slice(0, 1) })]
  expect(await Promise.all(stored.map(kindOf))).toEqual(['stored', 'stored'])
  await expect.poll(() => claimsOf(logId)).toEqual([1, 2].map(() => ({ is_stored: true, owner: null })))
  a.dead = true
  // As a death between the insert and its mark leaves them.
  const [owner] = await meta.all<{ id: string }>(sql`select id from post_owners`)
  await meta.run(sql`update post_claims set is_stored = false, owner = ${owner?.id} where log_id = ${logId}`)
  expect(await kindOf(b.writer.write(whole))).toBe('duplicate')
  expect(await b.writer.write(long)).toMatchObject({ kind: 'stored', rows: 2 })
  expect(await countOf(logId)).toBe(4)
})

test('a process that lost its lease stores nothing of what another has taken over', async () => {
  const [a, b] = [await newProcess(SHORT_LEASE_MS), await newProcess(SHORT_LEASE_MS)]
  const logId = randomUUID()
  // On a busy machine the short lease may end before the first insert.
  await expect.poll(() => kindOf(a.writer.write(named(1n, ['before'], logId)))).toMatch(/stored|duplicate/)
  const post = named(2n, ['one'], logId)
  a.network.mood = 'deaf'
  const first = kindOf(a.writer.write(post))
  await expect.poll(async () => (await claimsOf(logId)).length).toBe(2)
  a.dead = true
  expect(await kindOf(b.writer.write(post))).toBe('stored')
  a.clock.advancedMs += SHORT_LEASE_MS
  a.network.mood = 'pass'
  expect(await first).toMatch(/stored|failed 503/)
  expect(await countOf(logId)).toBe(2)
  a.dead = false
  await expect.poll(() => kindOf(a.writer.write(post))).toBe('duplicate')
  expect(await countOf(logId)).toBe(2)
})

test('while no claim is possible, requests with an idempotency key get a retryable status and others are stored', async () => {
  const a = await newProcess()
  const logId = randomUUID()
  await a.writer.write(named(1n, ['known'], logId))
  a.dead = true
  const refused = kindOf(a.writer.write(named(2n, ['new'], logId)))
  expect(await kindOf(a.writer.write(named(1n, ['known'], logId)))).toBe('duplicate')
  expect(await kindOf(a.writer.write(named(0n, ['without'], logId)))).toBe('stored')
  a.clock.advancedMs += LATE_MS
  expect(await refused).toBe('failed 503')
  a.dead = false
  await expect.poll(() => kindOf(a.writer.write(named(2n, ['new'], logId)))).toBe('stored')
  expect(await countOf(logId)).toBe(3)
})

test('a post that was refused may come again at once, to any process', async () => {
  const [a, b] = [await newProcess(), await newProcess()]
  const logId = randomUUID()
  const good = named(3n, ['line'], logId)
  expect(await kindOf(a.writer.write(damaged(good)))).toBe('failed 400')
  await expect.poll(() => kindOf(b.writer.write(good))).toBe('stored')
  expect(await countOf(logId)).toBe(1)
})

test('claims are forgotten when they are older than identities are remembered', async () => {
  const logId = randomUUID()
  const a = await newProcess()
  for (const identity of [1n, 2n]) await a.writer.write(named(identity, ['x'], logId))
  await expect.poll(() => claimsOf(logId)).toEqual([1, 2].map(() => ({ is_stored: true, owner: null })))
  await meta.run(sql`update post_claims set claimed_at = claimed_at - 71 * 60000 where log_id = ${logId} and post = 1`)
  await forgetPosts(meta)
  expect((await claimsOf(logId)).length).toBe(1)
})

test('two services on the same stores take one Idempotency-Key once', async () => {
  const shared = await makeServiceDatabase(inject('stores'))
  const apps = [await openTestApp({ DENDRO_POSTGRES_URL: shared.url }), await openTestApp({ DENDRO_POSTGRES_URL: shared.url })]
  opened.push({ close: () => shared.drop() }, ...apps)
  const organization = await apps[0]?.newOrganization()
  const headers = (n: number) => ({ 'idempotency-key': `key ${n}`, 'x-service-dataset': 'web' })
  const statuses = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      Promise.all(
        apps.map(async (app) => {
          const reply = await app.ask('POST', '/ingest', {
            key: organization?.key ?? '',
            headers: headers(n),
            body: { message: `line ${n}` },
          })
          return reply.status
        }),
      ),
    ),
  )
  expect(statuses.flat().filter((status) => status >= 300)).toEqual([])
  const [app] = apps
  const counted = await app?.app.world.events.writer.query({
    query: 'select toUInt32(count()) as events from pattern_events_s where post != 0 and org_id = {number:UInt32}',
    query_params: {
      number: (await app.app.world.meta.one<{ number: number }>(sql`select number from organisations where id = ${organization?.orgId}`))
        ?.number,
    },
    format: 'JSONEachRow',
  })
  expect(await counted?.json()).toEqual([{ events: 30 }])
})
