import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Clock, systemClock } from '../../kernel/clock.ts'
import { startTestCluster, type TestCluster } from '../store/cluster.fixture.ts'
import { MEMORY_BYTES, testDeps } from '../store/engine.fixture.ts'
import { type EventStore, openEventStore } from '../store/events.ts'
import { postOf } from './blocks.fixture.ts'
import type { Post, PostResult } from './post.ts'
import { type EventWriter, openEventWriter } from './writer.ts'

/** After the 9.5 s at which a caller gets a 503. */
const LATE_MS = 9_750
const TEN_MINUTES_MS = 600_000
let cluster: TestCluster
let store: EventStore
let writer: EventWriter
let advancedMs = 0
const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / 100 + advancedMs }

beforeAll(async () => {
  cluster = await startTestCluster()
  store = await openEventStore({ url: cluster.url, dataDir: '', memoryBytes: MEMORY_BYTES }, testDeps)
  writer = await openEventWriter(store, { ...testDeps, clock })
  // Before the first claim, every shard is asked for its highest number.
  await writer.write(postOf(['before']))
})
afterEach(async () => {
  cluster.verdict = () => 'pass'
  await cluster.start(1)
})
afterAll(async () => {
  await writer?.close()
  await store?.close()
  await cluster?.close()
})

const isInsert = (statement: string): boolean => statement.startsWith('insert into pattern_events_')
const storedIn = (logId: string): Promise<string> => cluster.ask(0, `select count() from pattern_events_s_local where log_id = '${logId}'`)

async function written(post: Post): Promise<{ answer: string; end: PostResult }> {
  const end = Promise.withResolvers<PostResult>()
  const answer = writer.write({ ...post, onSettled: end.resolve }).then(
    ({ kind }) => kind,
    (failure) => `failed ${failure.status}`,
  )
  return { answer: await answer, end: await end.promise }
}

test('an insert whose answer is lost while another node is away is found, and nothing waits for that node', async () => {
  await cluster.stop(1)
  const logId = randomUUID()
  let lost = 0
  cluster.verdict = (statement) => {
    if (!isInsert(statement) || lost > 0) return 'pass'
    lost += 1
    return 'lose answer'
  }
  expect((await written(postOf(['one', 'two'], { logId }))).answer).toBe('stored')
  expect(lost).toBe(1)
  expect((await written(postOf(['three'], { logId }))).answer).toBe('stored')
  expect(await storedIn(logId)).toBe('3')
})

test('an insert that did not arrive is done again, though no statement reaches all nodes', async () => {
  const logId = randomUUID()
  let cut = 0
  cluster.verdict = (statement) => {
    if (/on cluster/i.test(statement)) return { code: 159, message: 'There are 1 unfinished hosts' }
    if (!isInsert(statement) || cut > 0) return 'pass'
    cut += 1
    return { code: 210, message: 'the connection was lost' }
  }
  expect((await written(postOf(['one', 'two'], { logId }))).answer).toBe('stored')
  expect(cut).toBe(1)
  expect(await storedIn(logId)).toBe('2')
})

test('posts of the same day continue while the outcome of one insert is unknown, and that post fails in the end', async () => {
  const logId = randomUUID()
  let lost = 0
  const isUnanswered = (statement: string): boolean => /from pattern_events_\w+\s+where toDate/.test(statement)
  cluster.verdict = (statement) => {
    if (isUnanswered(statement)) return { code: 279, message: 'All connection tries failed' }
    if (!isInsert(statement) || lost > 0) return 'pass'
    lost += 1
    return 'lose answer'
  }
  const end = Promise.withResolvers<PostResult>()
  const first = writer.write({ ...postOf(['one'], { logId, idempotencyKey: 5n }), onSettled: end.resolve })
  await expect.poll(() => lost).toBe(1)
  advancedMs += LATE_MS
  await expect(first).rejects.toMatchObject({ status: 503 })
  expect((await written(postOf(['two'], { logId }))).answer).toBe('stored')
  expect(writer.waitingBytes()).toBeGreaterThan(0)
  cluster.verdict = () => 'pass'
  const { stored } = await end.promise
  expect(stored.length).toBe(1)
  expect(writer.waitingBytes()).toBe(0)
  expect((await written(postOf(['one'], { logId, idempotencyKey: 5n }))).answer).toBe('duplicate')
  expect(await storedIn(logId)).toBe('2')
})

test('an outcome that is unknown for ten minutes is given up, and checked when the post is repeated', async () => {
  const logId = randomUUID()
  let lost = 0
  let counts = 0
  cluster.verdict = (statement) => {
    if (/from pattern_events_\w+\s+where toDate/.test(statement)) {
      counts += 1
      return { code: 279, message: 'All connection tries failed' }
    }
    if (!isInsert(statement) || lost > 0) return 'pass'
    lost += 1
    return 'lose answer'
  }
  const post = postOf(['one'], { logId, idempotencyKey: 6n })
  const end = Promise.withResolvers<PostResult>()
  const first = writer.write({ ...post, onSettled: end.resolve })
  first.catch(() => undefined)
  // The ten minutes begin with the first attempt to count: the clock must not move before it.
  await expect.poll(() => counts).toBeGreaterThan(0)
  advancedMs += TEN_MINUTES_MS
  expect(await end.promise).toMatchObject({ stored: [], failure: { status: 503 } })
  expect(writer.waitingBytes()).toBe(0)
  cluster.verdict = () => 'pass'
  expect((await written(post)).answer).toBe('duplicate')
  expect(await storedIn(logId)).toBe('1')
})
