import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestBucket, type TestBucket } from '../../files/bucket.fixture.ts'
import { linesOf, makeEngines, testDeps } from '../store/engine.fixture.ts'
import type { EventStore } from '../store/events.ts'
import { postOf } from '../writer/blocks.fixture.ts'
import type { Post } from '../writer/post.ts'
import { type EventWriter, openEventWriter } from '../writer/writer.ts'
import { moveParts } from './tiers.ts'

const DAY_MS = 86_400_000
const LOG_ID = '0b0e1f86-7d5b-4b4c-9d84-3f1c8f1f6c11'
/** Later than the next reading of the keys of other writers. */
const LATER_MS = 40_000

const engines = makeEngines()
let bucket: TestBucket
let store: EventStore
let skippedMs = 0
const deps = {
  ...testDeps,
  clock: {
    ...testDeps.clock,
    nowMs: () => testDeps.clock.nowMs() + skippedMs,
    monotonicMs: () => testDeps.clock.monotonicMs() + skippedMs,
  },
}
const writers: EventWriter[] = []

beforeAll(async () => {
  bucket = await startTestBucket()
  store = await engines.open(await engines.madeDir(), deps, { cold: { location: bucket.location } })
})
afterAll(async () => {
  for (const writer of writers) await writer.close()
  await engines.cleanUp()
  await bucket?.close()
})

async function openWriter(of = store): Promise<EventWriter> {
  const writer = await openEventWriter(of, deps)
  writers.push(writer)
  return writer
}

const nowMs = Date.now()
const post = (idempotencyKey: bigint, line: string, ageDays = 0): Post =>
  postOf([line], { logId: LOG_ID, idempotencyKey, bodyHash: BigInt(line.length) }, nowMs - ageDays * DAY_MS)

test('while the bucket is away, a writer that has just started stores posts with idempotency keys, each once', async () => {
  const first = await openWriter()
  await first.write(post(1n, 'young'))
  await first.write(post(2n, 'late', 40))
  const ages = { otherwiseMs: 30 * DAY_MS, byId: new Map() }
  expect(await moveParts(store, ages, { ...deps, signal: AbortSignal.timeout(60_000), datasets: [] })).toMatchObject({ moved: 1 })
  for (const state of ['refuses', 'hangs'] as const) {
    await bucket.set(state)
    const second = await openWriter()
    for (const round of [0, 1]) {
      skippedMs += round * LATER_MS
      const line = `${state} ${round}`
      const known = post(BigInt(10 + writers.length * 2 + round), line)
      expect(await second.write(known)).toMatchObject({ kind: 'stored' })
      expect(await second.write(known)).toEqual({ kind: 'duplicate' })
      expect(await second.write(post(1n, 'young'))).toEqual({ kind: 'duplicate' })
      await expect(second.write(post(2n, 'late', 40))).rejects.toMatchObject({
        status: 503,
        message: expect.stringContaining('cold storage'),
      })
    }
  }
  await bucket.set('works')
  skippedMs += LATER_MS
  expect(await (await openWriter()).write(post(2n, 'late', 40))).toEqual({ kind: 'duplicate' })
  expect(await linesOf(store.writer)).toEqual(['hangs 0', 'hangs 1', 'late', 'refuses 0', 'refuses 1', 'young'])
})

test('soon after the bucket is back, new posts are stored without looking up their keys', async () => {
  let lookUps = 0
  const client = store.writer
  const query: typeof client.query = (statement) => {
    if (statement.query.includes('{posts:Array(UInt64)}')) lookUps += 1
    return client.query(statement)
  }
  const writer = new Proxy(client, {
    get: (target, name) => {
      const member: unknown = name === 'query' ? query : Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const counted = new Proxy(store, { get: (target, name) => (name === 'writer' ? writer : Reflect.get(target, name)) })
  await bucket.set('refuses')
  skippedMs += LATER_MS
  const during = await openWriter(counted)
  expect(await during.write(post(100n, 'during'))).toMatchObject({ kind: 'stored' })
  expect(lookUps).toBe(1)
  await bucket.set('works')
  skippedMs += LATER_MS
  let key = 100n
  const lookUpsOfNewPost = async (): Promise<number> => {
    const before = lookUps
    key += 1n
    expect(await during.write(post(key, `after ${key}`))).toMatchObject({ kind: 'stored' })
    return lookUps - before
  }
  await expect.poll(lookUpsOfNewPost, { timeout: 60_000 }).toBe(0)
  expect(await during.write(post(1n, 'young'))).toEqual({ kind: 'duplicate' })
  expect(await during.write(post(2n, 'late', 40))).toEqual({ kind: 'duplicate' })
  expect(await during.write(post(100n, 'during'))).toEqual({ kind: 'duplicate' })
})
