import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { ask, linesOf, MEMORY_BYTES, makeEngines, testDeps } from '../store/engine.fixture.ts'
import { type EventStore, openEventStore } from '../store/events.ts'
import { blockOf, DAY_START_MS, damaged, postOf } from './blocks.fixture.ts'
import type { Post } from './post.ts'
import { type EventWriter, openEventWriter } from './writer.ts'

const engines = makeEngines()
const writers: EventWriter[] = []
afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.close()
  await engines.cleanUp()
})

const DAY_MS = 86_400_000
const DUPLICATE = { kind: 'duplicate' }
const STORED = { kind: 'stored' }

async function open(store: EventStore): Promise<EventWriter> {
  const writer = await openEventWriter(store, testDeps)
  writers.push(writer)
  return writer
}

const newStore = async (): Promise<EventStore> => engines.open(await engines.madeDir())

const wearing = (identity: bigint, lines: readonly string[], given: Partial<Post> = {}): Post =>
  postOf(lines, {
    logId: '0b0e1f86-7d5b-4b4c-9d84-3f1c8f1f6c11',
    idempotencyKey: identity,
    bodyHash: BigInt(lines.join().length),
    ...given,
  })

test('a second post with the key and body of the first is a duplicate; with another body it is refused', async () => {
  const store = await newStore()
  const writer = await open(store)
  const post = wearing(5n, ['one', 'two'])
  expect(await writer.write(post)).toMatchObject(STORED)
  expect(await writer.write(post)).toEqual(DUPLICATE)
  await expect(writer.write({ ...post, bodyHash: 99n })).rejects.toMatchObject({ status: 422 })
  expect(await linesOf(store.writer)).toEqual(['one', 'two'])
})

test('an idempotency key belongs to one dataset of one organization', async () => {
  const store = await newStore()
  const writer = await open(store)
  const posts = [
    wearing(5n, ['a']),
    wearing(6n, ['b']),
    wearing(5n, ['c'], { logId: randomUUID() }),
    wearing(5n, ['d'], { orgNumber: 2 }),
    wearing(0n, ['e']),
    wearing(0n, ['e']),
  ]
  for (const post of posts) expect(await writer.write(post)).toMatchObject(STORED)
  expect(await linesOf(store.writer)).toEqual(['a', 'b', 'c', 'd', 'e', 'e'])
})

test('repeats during the first attempt wait for it and get the same outcome', async () => {
  const store = await newStore()
  const writer = await open(store)
  const post = wearing(5n, ['one'])
  const ended = await Promise.all(Array.from({ length: 20 }, () => writer.write(post)))
  expect(ended.filter(({ kind }) => kind === 'stored').length).toBe(1)
  expect(ended.filter(({ kind }) => kind === 'duplicate').length).toBe(19)
  const bad = damaged(wearing(6n, ['bad']))
  const refused = await Promise.allSettled([writer.write(bad), writer.write(bad), writer.write({ ...bad, bodyHash: 1n })])
  expect(refused.map((each) => each.status === 'rejected' && each.reason.status)).toEqual([400, 400, 422])
  expect(await writer.write(wearing(6n, ['good']))).toMatchObject(STORED)
  expect(await linesOf(store.writer)).toEqual(['good', 'one'])
})

test('idempotency keys are known after a full restart, also with another number of events', async () => {
  const dir = await engines.madeDir()
  const post = wearing(5n, ['one', 'two'])
  const first = await engines.open(dir)
  const before = await openEventWriter(first, testDeps)
  await before.write(post)
  await before.close()
  first.engine?.kill()
  await first.close()
  const store = await engines.open(dir)
  const writer = await open(store)
  expect(await writer.write(post)).toEqual(DUPLICATE)
  await expect(writer.write(wearing(5n, ['one', 'two', 'three']))).rejects.toMatchObject({ status: 422 })
  await expect(writer.write(wearing(5n, ['one']))).rejects.toMatchObject({ status: 422 })
  expect(await writer.write(wearing(7n, ['new']))).toMatchObject(STORED)
  expect(await linesOf(store.writer)).toEqual(['new', 'one', 'two'])
})

test('a repeat stores the rest of a post that was interrupted between its days', async () => {
  const store = await newStore()
  const before = await open(store)
  const [orgNumber, logId] = [1, randomUUID()]
  const day = (n: number) => [`day ${n}`, `day ${n} again`]
  const blocks = [0, 1, 2, 3].map((n) => blockOf(day(n), { orgNumber, logId }, DAY_START_MS + n * DAY_MS))
  const post: Post = { orgNumber, logId, idempotencyKey: 8n, bodyHash: 1n, blocks }
  // The state after a crash: two of four days are stored.
  await before.write({ ...post, blocks: blocks.slice(1, 3) })
  const writer = await open(store)
  expect(await writer.write(post)).toMatchObject({ kind: 'stored', rows: 4 })
  expect(await writer.write(post)).toEqual(DUPLICATE)
  expect(await linesOf(store.writer)).toEqual([0, 1, 2, 3].flatMap(day))
})

test("two processes on one store know each other's posts", async () => {
  const store = await newStore()
  const other = await openEventStore({ url: store.url, dataDir: '', memoryBytes: MEMORY_BYTES }, testDeps)
  const [a, b] = [await open(store), await open(other)]
  await a.write(wearing(1n, ['of a']))
  expect(await b.write(wearing(1n, ['of a']))).toEqual(DUPLICATE)
  for (let n = 2n; n < 22n; n += 1n) {
    const [first, second] = n % 2n === 0n ? [a, b] : [b, a]
    expect(await first.write(wearing(n, ['same']))).toMatchObject(STORED)
    // A single process checks for others once a second.
    if (n === 2n) await testDeps.clock.sleep(1_100)
    expect(await second.write(wearing(n, ['same']))).toEqual(DUPLICATE)
  }
  const [found] = await ask(store.writer, 'select count() as events, uniqExact(seq) as numbers from pattern_events_s')
  expect(found).toEqual({ events: '21', numbers: '21' })
  await other.close()
})

test('while the store cannot say whether a post is stored the caller waits', async () => {
  const store = await newStore()
  const before = await open(store)
  await before.write(wearing(5n, ['one']))
  const writer = await open(store)
  store.engine?.kill()
  expect(await writer.write(wearing(5n, ['one']))).toEqual(DUPLICATE)
  expect(await writer.write(wearing(6n, ['two']))).toMatchObject(STORED)
  expect(await linesOf(store.writer)).toEqual(['one', 'two'])
})

test('many consecutive repeats during a crash of the engine are all found when it is back', async () => {
  const store = await newStore()
  const before = await open(store)
  const posts = Array.from({ length: 300 }, (_, n) => wearing(BigInt(n + 1), [`line ${n}`]))
  await Promise.all(posts.map((post) => before.write(post)))
  const writer = await open(store)
  const answers: Promise<unknown>[] = []
  for (const [n, post] of posts.entries()) {
    answers.push(writer.write(post))
    if (n % 10 === 0) await testDeps.clock.sleep(2)
    if (n === 100) store.engine?.kill()
  }
  expect(await Promise.all(answers)).toEqual(posts.map(() => DUPLICATE))
  expect((await linesOf(store.writer)).length).toBe(posts.length)
})
