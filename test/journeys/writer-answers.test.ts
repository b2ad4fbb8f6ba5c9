import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ask, MEMORY_BYTES, makeEngines, pidOf, testDeps } from '../../server/src/events/store/engine.fixture.ts'
import { type EventStore, openEventStore } from '../../server/src/events/store/events.ts'
import { postOf } from '../../server/src/events/writer/blocks.fixture.ts'
import type { WriteResult } from '../../server/src/events/writer/post.ts'
import { type EventWriter, openEventWriter, type WriterBounds } from '../../server/src/events/writer/writer.ts'
import { type Clock, systemClock } from '../../server/src/kernel/clock.ts'
import { type BadNetwork, startBadNetwork } from './writer-bad-network.ts'

const POSTS = 1_000
const WRITERS = 20
/** How much slower the writer's clock runs than the wall clock: a slow disk does not count as late, and tests advance it by 10 s. */
const SLOWNESS = 100
/** The grouping delay of the service, on the writer's clock. */
const GATHER_MS = 50 / SLOWNESS
/** LATE_MS is within the 10 s that are promised, with some of them left for the way back. */
const LATE_MS = 9_750

const engines = makeEngines()
let engine: EventStore
let network: BadNetwork
let store: EventStore
const writers: EventWriter[] = []
let advancedMs = 0
const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() / SLOWNESS + advancedMs }

beforeEach(async () => {
  engine = await engines.open(await engines.madeDir())
  network = await startBadNetwork(Number(new URL(engine.url).port))
  store = await openEventStore({ url: network.url(engine.url), dataDir: '', memoryBytes: MEMORY_BYTES }, testDeps)
})
afterEach(async () => {
  network.mood = 'pass'
  for (const writer of writers.splice(0)) await writer.close()
  await store.close()
  await network.close()
  await engines.cleanUp()
})

async function open(over: EventStore, bounds?: WriterBounds): Promise<EventWriter> {
  const writer = await openEventWriter(over, { ...testDeps, clock }, { gatherMs: GATHER_MS, ...bounds })
  writers.push(writer)
  return writer
}

/** Stores requests of two lines named after their number, by many concurrent callers, and returns the results. */
async function writeAll(writer: EventWriter, posts: number): Promise<PromiseSettledResult<WriteResult>[]> {
  const logId = randomUUID()
  const answers: PromiseSettledResult<WriteResult>[] = []
  let next = 0
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      for (let n = next; n < posts; n = next) {
        next += 1
        const [answer] = await Promise.allSettled([writer.write(postOf([`${n} a`, `${n} b`], { logId }))])
        answers.push(answer)
      }
    }),
  )
  return answers
}

test.each([
  ['lose answers', 0.2],
  ['cut requests', 0.2],
] as const)('a network that likes to %s: every post is acknowledged and stored once', { timeout: 1_200_000 }, async (mood, harm) => {
  const writer = await open(store)
  Object.assign(network, { mood, harm })
  const answers = await writeAll(writer, POSTS)
  network.mood = 'pass'
  expect(answers.filter(({ status }) => status === 'rejected')).toEqual([])
  expect(network.struck).toBeGreaterThan(10)
  const [found] = await ask(
    engine.writer,
    'select count() as events, uniqExact(raw) as lines, uniqExact(seq) as numbers from pattern_events_s',
  )
  expect(found).toEqual({ events: String(2 * POSTS), lines: String(2 * POSTS), numbers: String(2 * POSTS) })
})

test('a store that does not answer: 503 within 10 s, at once when memory is full, and all is well when it answers again', async () => {
  const writer = await open(store, { waitingBytesMax: 2_000 })
  expect(await writer.write(postOf(['before']))).toMatchObject({ kind: 'stored' })
  network.mood = 'deaf'
  const held = Array.from({ length: 10 }, () => writer.write(postOf(['held'])))
  expect(writer.waiting().bytes).toBeGreaterThan(0)
  const big = postOf(['x'.repeat(3_000)])
  const refused = await Promise.allSettled(Array.from({ length: 20 }, () => writer.write(big)))
  expect(refused.map((each) => each.status === 'rejected' && each.reason.status)).toEqual(Array(20).fill(503))
  const retryAfter = refused.map((each) => each.status === 'rejected' && each.reason.headers['retry-after'])
  expect(new Set(retryAfter).size).toBeGreaterThan(3)
  advancedMs += LATE_MS
  const ended = await Promise.allSettled(held)
  expect(ended.map((each) => each.status === 'rejected' && each.reason.status)).toEqual(Array(10).fill(503))
  network.mood = 'pass'
  expect(await writer.write(postOf(['after']))).toMatchObject({ kind: 'stored' })
  await expect.poll(() => writer.waiting().bytes).toBe(0)
  const lines = (await ask<{ raw: string }>(engine.writer, 'select raw from pattern_events_s')).map(({ raw }) => raw)
  expect(lines).toContain('before')
  expect(lines).toContain('after')
})

test('an engine that hangs is killed; posts get 503 within 10 s, no acknowledged event is lost, and service resumes', async () => {
  const writer = await open(engine)
  await writer.write(postOf(['before']))
  process.kill(pidOf(engine), 'SIGSTOP')
  const held = writer.write(postOf(['held']))
  advancedMs += LATE_MS
  await expect(held).rejects.toMatchObject({ status: 503 })
  await expect.poll(() => engine.engine?.state()).toMatchObject({ kind: 'up', restarts: 1 })
  expect(await writer.write(postOf(['after']))).toMatchObject({ kind: 'stored' })
  const lines = (await ask<{ raw: string }>(engine.writer, 'select raw from pattern_events_s order by raw')).map(({ raw }) => raw)
  expect(lines.filter((line) => line !== 'held')).toEqual(['after', 'before'])
})
