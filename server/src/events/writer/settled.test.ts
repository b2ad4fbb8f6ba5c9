import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Clock } from '../../kernel/clock.ts'
import { MEMORY_BYTES, makeEngines, testDeps } from '../store/engine.fixture.ts'
import { type EventStore, openEventStore } from '../store/events.ts'
import { postOf } from './blocks.fixture.ts'
import { openSeq, SEND_MS } from './seq.ts'
import { openSettledNumbers } from './settled.ts'
import { openEventWriter } from './writer.ts'

const engines = makeEngines()
let own: EventStore
let shared: EventStore
beforeAll(async () => {
  own = await engines.open(await engines.madeDir())
  shared = await openEventStore({ url: own.url, dataDir: '', memoryBytes: MEMORY_BYTES }, testDeps)
})
afterAll(async () => {
  await shared?.close()
  await engines.cleanUp()
})

type MovedClock = Clock & { advance(ms: number): void }

function movedClock(): MovedClock {
  let shiftMs = 0
  return {
    nowMs: () => testDeps.clock.nowMs() + shiftMs,
    monotonicMs: () => testDeps.clock.monotonicMs() + shiftMs,
    sleep: testDeps.clock.sleep,
    advance: (ms) => {
      shiftMs += ms
    },
  }
}

/** A process on a store, before it has stored anything. */
function processOn(store: EventStore) {
  const clock = movedClock()
  const seq = openSeq(store, { ...testDeps, clock })
  return { clock, seq, settled: openSettledNumbers(store, seq, { ...testDeps, clock }) }
}

const SETTLE_MS = SEND_MS + 5_000

test('the only process on a store waits for its own inserts and for nothing else', async () => {
  const before = processOn(own)
  expect(await before.settled.below()).toBe(await before.seq.last())
  const { seq, settled } = before
  const first = await seq.reserve(5)
  const second = await seq.reserve(7)
  expect(await settled.below()).toBe(first)
  seq.end(second)
  expect(await settled.below()).toBe(first)
  seq.end(first)
  expect(await settled.below()).toBe(second + 7n)
  expect(await settled.next()).toBe(second + 7n)
  expect(await seq.reserve(1)).toBeGreaterThanOrEqual(second + 7n)
})

test('an event is below the settled number as soon as the only process has answered its post', async () => {
  const writer = await openEventWriter(own, testDeps)
  const answer = await writer.write(postOf(['one', 'two']))
  if (answer.kind !== 'stored') throw new Error('the post is not stored')
  await vi.waitFor(async () => expect(await writer.settled.below()).toBeGreaterThan(answer.firstSeq + 1n), 240_000)
  await writer.close()
})

test('with several processes numbers are settled by age, whether the others are idle, ended or busy', async () => {
  const [other, reader] = [processOn(shared), processOn(shared)]
  const abandoned = await other.seq.reserve(3)
  expect(await reader.settled.below()).toBeUndefined()
  reader.clock.advance(SETTLE_MS - 1_000)
  expect(await reader.settled.below()).toBeUndefined()
  reader.clock.advance(1_000)
  const later = await processOn(shared).seq.reserve(1)
  const below = await reader.settled.below()
  expect(below).toBeGreaterThan(abandoned + 2n)
  expect(below).toBeLessThanOrEqual(later)
})

test('numbers are not sent anymore once they are old', async () => {
  const { clock, seq } = processOn(shared)
  const first = await seq.reserve(2)
  expect(seq.mayBeSent(first)).toBe(true)
  clock.advance(SEND_MS)
  expect(seq.mayBeSent(first)).toBe(false)
  const next = await seq.reserve(2)
  expect(seq.mayBeSent(next)).toBe(true)
  seq.end(next)
  expect(seq.mayBeSent(next)).toBe(false)
})

test('an insert that the store still runs is waited for, also when its process is gone', async () => {
  const [gone, reader] = [processOn(shared), processOn(shared)]
  const first = await gone.seq.reserve(3)
  const running = shared.writer.query({
    query: 'select sleepEachRow(2) from numbers(3) settings max_block_size = 1',
    query_id: `${randomUUID()} ${first} 3 1`,
  })
  await reader.settled.below()
  reader.clock.advance(SETTLE_MS)
  await vi.waitFor(async () => expect(await reader.settled.below()).toBe(first), 240_000)
  await (await running).text()
  await vi.waitFor(async () => expect(await reader.settled.below()).toBeGreaterThan(first + 2n), 240_000)
})

test('events that arrive from now on have higher numbers, also at another process with an older claim', async () => {
  const [other, reader] = [processOn(shared), processOn(shared)]
  await other.seq.reserve(1)
  const from = await reader.settled.next()
  expect(await other.seq.reserve(1)).toBeGreaterThanOrEqual(from)
  expect(await reader.seq.reserve(1)).toBeGreaterThanOrEqual(from)
})
