import { expect, test } from 'vitest'
import type { Actor } from '../../http/actor.ts'
import { Failure, forbidden, unavailable } from '../../kernel/errors.ts'
import { systemIds } from '../../kernel/ids.ts'
import { openLogger } from '../../kernel/log.ts'
import { Secret } from '../../kernel/secret.ts'
import type { MessageBatch } from '../intake/intake.ts'
import { messagesOf } from '../receivers/messages.ts'
import { syslog } from '../receivers/syslog/syslog.ts'
import { ListenerCounters } from './counters.ts'
import { MessageQueue, QueueMemory } from './message-queue.ts'

const source = { address: '192.0.2.1', attributes: [] }
const actor = { orgId: 'org', identity: { id: 'key' } } as unknown as Actor

/** A queue on a store that answers as told; undefined stores the post. */
function openQueue(
  answer: (texts: readonly string[], post: number) => Failure | undefined,
  bytesMax = 2 ** 20,
  memory = new QueueMemory(bytesMax),
  sender: Actor = actor,
) {
  const posts: { texts: string[]; key: string | undefined; isLost: boolean }[] = []
  const storeMessages = async ({ request, isLost }: MessageBatch) => {
    const texts = [...messagesOf(request.body)].map(({ start, end }) => Buffer.from(request.body.subarray(start, end)).toString())
    const failure = answer(texts, posts.length)
    posts.push({ texts, key: request.headers['idempotency-key'], isLost: failure !== undefined && isLost(failure) })
    if (failure) throw failure
    return {
      outcome: { kind: 'stored' as const, accepted: texts.length, rejected: [], total: texts.length, duplicates: [] },
      parsed: undefined,
    }
  }
  const counters = new ListenerCounters('test')
  const access = { actorOf: async () => sender, actorOfFirst: async () => sender }
  const parts = { ids: systemIds, log: openLogger('silent'), intake: { storeMessages }, access }
  const routing = { collection: undefined, dataset: undefined, tags: {} }
  return { posts, counters, queue: new MessageQueue(parts, new Secret('key'), { parser: syslog, routing, bytesMax, memory, counters }) }
}

test('a post that fails for a while is repeated under the same idempotency key', async () => {
  const { posts, counters, queue } = openQueue((_, post) => (post < 2 ? unavailable('not now') : undefined))
  const end = new Promise<Failure | undefined>((done) => queue.add(Buffer.from('one'), source, done))
  expect(await end).toBeUndefined()
  expect(posts.map(({ texts }) => texts)).toEqual([['one'], ['one'], ['one']])
  expect(new Set(posts.map(({ key }) => key)).size).toBe(1)
  expect(posts.some(({ isLost }) => isLost)).toBe(false)
  expect(counters.droppedTotal).toBe(0)
})

test('while the store is down the queue is full, and its senders go on once there is space', async () => {
  let isDown = true
  const { queue } = openQueue(() => (isDown ? unavailable('not now') : undefined), 1_000)
  for (let n = 0; n < 4; n += 1) queue.add(Buffer.from(`message ${n}`), source)
  expect(queue.isFull).toBe(true)
  const space = new Promise<void>((done) => queue.onSpace(done))
  isDown = false
  await space
  expect(queue.isFull).toBe(false)
})

test('queues share the memory of their listener, and whoever waits goes on when any of them has stored', async () => {
  const memory = new QueueMemory(1_000)
  let isDown = true
  const busy = openQueue(() => (isDown ? unavailable('not now') : undefined), 1_000, memory)
  const other = openQueue(() => undefined, 1_000, memory)
  for (let n = 0; n < 4; n += 1) busy.queue.add(Buffer.from(`message ${n}`), source)
  expect(other.queue.isFull).toBe(true)
  const space = new Promise<void>((done) => other.queue.onSpace(done))
  isDown = false
  await space
  expect([busy.queue.isFull, other.queue.isFull]).toEqual([false, false])
})

test('a message that the worker cannot take is found by halving, and the others are stored', async () => {
  const { posts, counters, queue } = openQueue((texts) => (texts.includes('bad') ? new Failure(413, 'too many values') : undefined))
  const ends = await Promise.all(
    ['a', 'b', 'bad', 'c', 'd'].map(
      (text) =>
        new Promise<[string, number | undefined]>((done) =>
          queue.add(Buffer.from(text), source, (failure) => done([text, failure?.status])),
        ),
    ),
  )
  expect(ends).toEqual([
    ['a', undefined],
    ['b', undefined],
    ['bad', 413],
    ['c', undefined],
    ['d', undefined],
  ])
  expect(posts.filter(({ isLost }) => isLost).map(({ texts }) => texts)).toEqual([['bad']])
  expect(counters.dropped.get('refused')).toBe(1)
})

test('a sender that may not send is refused at once', async () => {
  const { posts, queue } = openQueue(() => forbidden('no'))
  expect((await new Promise<Failure | undefined>((done) => queue.add(Buffer.from('one'), source, done)))?.status).toBe(403)
  expect(posts).toHaveLength(1)
})

test('a key with allowed addresses stores the messages of these, also in a batch with others', async () => {
  const limited = { ...actor, mayCallFrom: (address: string) => address === '192.0.2.1' }
  const { posts, counters, queue } = openQueue(() => undefined, undefined, undefined, limited)
  const ended = (text: string, address: string) =>
    new Promise<number | undefined>((done) => queue.add(Buffer.from(text), { ...source, address }, (failure) => done(failure?.status)))
  await Promise.all([ended('one', '192.0.2.2'), ended('two', '192.0.2.1'), ended('three', '192.0.2.3')])
  expect(posts.flatMap(({ texts }) => texts)).toEqual(['two'])
  expect(counters.dropped.get('refused')).toBe(2)
  expect(await ended('four', '192.0.2.2')).toBe(403)
  expect(counters.dropped.get('refused')).toBe(3)
})

test('a close stores what waits, and gives up what cannot be stored in time', async () => {
  const { posts, queue } = openQueue(() => undefined)
  queue.add(Buffer.from('one'), source)
  queue.addAlone(Buffer.from('two'), source, () => undefined, 'chunk')
  await queue.close(60_000)
  expect(posts.map(({ texts }) => texts).sort()).toEqual([['one'], ['two']])
  expect(posts.map(({ key }) => key)).toContain('chunk')
  const stuck = openQueue(() => unavailable('not now'))
  const end = new Promise<Failure | undefined>((done) => stuck.queue.add(Buffer.from('three'), source, done))
  await stuck.queue.close(0)
  expect((await end)?.status).toBe(503)
  expect(stuck.posts.at(-1)?.isLost).toBe(true)
})
