import { randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { ask, makeEngines, testDeps } from '../store/engine.fixture.ts'
import type { EventStore } from '../store/events.ts'
import { blockOf, DAY_START_MS, damaged, postOf } from './blocks.fixture.ts'
import { type EventWriter, openEventWriter, type WriterBounds } from './writer.ts'

const engines = makeEngines()
const writers: EventWriter[] = []
afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.close()
  await engines.cleanUp()
})

async function open(store: EventStore, bounds?: WriterBounds): Promise<EventWriter> {
  const writer = await openEventWriter(store, testDeps, bounds)
  writers.push(writer)
  return writer
}

async function openBoth(bounds?: WriterBounds): Promise<{ store: EventStore; writer: EventWriter }> {
  const store = await engines.open(await engines.madeDir())
  return { store, writer: await open(store, bounds) }
}

const DAY_MS = 86_400_000

test('a post is stored with its lines, consecutive numbers, and its idempotency key', async () => {
  const { store, writer } = await openBoth()
  const logId = randomUUID()
  const written = await writer.write(postOf(['one', 'two', 'three'], { orgNumber: 7, logId, idempotencyKey: 2n ** 64n - 1n }))
  if (written.kind !== 'stored') throw new Error('not stored')
  expect(written.rows).toBe(3)
  const rows = await ask(store.writer, 'select org_id, log_id, raw, seq, post, toString(ts) as ts from pattern_events_s order by seq')
  expect(rows).toEqual(
    ['one', 'two', 'three'].map((raw, row) => ({
      org_id: 7,
      log_id: logId,
      raw,
      seq: String(written.firstSeq + BigInt(row)),
      post: '18446744073709551615',
      ts: `2026-03-01 00:00:00.00${row}000000`,
    })),
  )
  expect(writer.waiting().bytes).toBe(0)
})

test('events of a post count as changing until it is stored, or refused in part', async () => {
  const { store, writer } = await openBoth()
  const logId = randomUUID()
  const day = { fromMs: DAY_START_MS, toMs: DAY_START_MS + DAY_MS }
  const next = { fromMs: day.toMs, toMs: day.toMs + DAY_MS }
  const isUnchanged = (range: typeof day, since: number) => store.changes?.areUnchanged([logId], range, since)
  const before = store.changes?.now() ?? 0
  const writing = writer.write(postOf(['one'], { logId }))
  expect(isUnchanged(day, before)).toBe(false)
  await writing
  await expect.poll(() => isUnchanged(day, store.changes?.now() ?? 0)).toBe(true)
  expect(isUnchanged(day, before)).toBe(false)
  expect(isUnchanged(next, before)).toBe(true)
  // One day is stored, the other refused: both outcomes are certain.
  const good = postOf(['two'], { logId })
  const bad = damaged(postOf(['three'], { logId }, day.toMs))
  await expect(writer.write({ ...good, blocks: [...good.blocks, ...bad.blocks] })).rejects.toThrow()
  const inBoth = { fromMs: day.fromMs, toMs: next.toMs }
  await expect.poll(() => isUnchanged(inBoth, store.changes?.now() ?? 0)).toBe(true)
})

test('two hundred small posts at once share a few inserts', async () => {
  const { store, writer } = await openBoth()
  const posts = Array.from({ length: 200 }, (_, n) => postOf([`line ${n}`]))
  const written = await Promise.all(posts.map((post) => writer.write(post)))
  expect(new Set(written.map((each) => each.kind === 'stored' && each.firstSeq)).size).toBe(200)
  const [found] = await ask(
    store.writer,
    'select count() as events, uniqExact(seq) as numbers, uniqExact(_part) as parts from pattern_events_s',
  )
  expect(found).toMatchObject({ events: '200', numbers: '200' })
  expect(Number(found?.parts)).toBeLessThan(5)
})

test('a post of many days and tables is stored as a whole', async () => {
  const { store, writer } = await openBoth()
  const [logId, orgNumber] = [randomUUID(), 1]
  const days = Array.from({ length: 120 }, (_, n) => DAY_START_MS + n * DAY_MS)
  const blocks = days.flatMap((dayMs) => [
    blockOf(['small'], { orgNumber, logId }, dayMs),
    blockOf(['large'], { orgNumber, logId, tableClass: 'l' }, dayMs),
  ])
  expect(await writer.write({ orgNumber, logId, idempotencyKey: 0n, bodyHash: 0n, blocks })).toMatchObject({ kind: 'stored', rows: 240 })
  const found = await ask(store.writer, 'select count() as events, uniqExact(toDate(ts)) as days from pattern_events_s')
  expect(found).toEqual([{ events: '120', days: '120' }])
  expect(await ask(store.writer, 'select count() as events from pattern_events_l')).toEqual([{ events: '120' }])
})

test('a post that the store cannot read is refused, and all others of its group are stored', async () => {
  const { store, writer } = await openBoth()
  const posts = Array.from({ length: 50 }, (_, n) => (n % 20 === 7 ? damaged(postOf([`bad ${n}`])) : postOf([`good ${n}`])))
  const ended = await Promise.allSettled(posts.map((post) => writer.write(post)))
  const refused = ended.flatMap((each, n) => (each.status === 'rejected' ? [[n, each.reason.status]] : []))
  expect(refused).toEqual([
    [7, 400],
    [27, 400],
    [47, 400],
  ])
  const [found] = await ask(store.writer, "select count() as events, countIf(startsWith(raw, 'good')) as good from pattern_events_s")
  expect(found).toEqual({ events: '47', good: '47' })
})
