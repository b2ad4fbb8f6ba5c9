import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { countMatching, readEvents, readStats } from '../reading.ts'
import { startQueryRun } from '../run/run.ts'
import { findOverflowKeys, queriedPaths } from './overflow-keys.ts'
import { tableReadsFor } from './table-reads.ts'

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
})
afterAll(() => reader?.close())

const store = () => reader.senders.app.app.world.events
const plain = (from: number) => Array.from({ length: 100 }, (_, index) => `{"message":"order ${from + index}","zone":"north"}`)

test('a text is found in lines of a shape that appeared since the last search for it', async () => {
  await reader.send('shapes', plain(0))
  const found = async () => ({
    lines: (await reader.lines(['shapes'], "'needle'")).length,
    count: (await countMatching(store(), await reader.query(['shapes'], "'needle'"))).count,
  })
  for (let round = 0; round < 3; round += 1) expect(await found()).toEqual({ lines: 0, count: 0 })
  await reader.send('shapes', ['{"message":"needle","added":{"later":true}}'])
  for (let round = 0; round < 3; round += 1) expect(await found()).toEqual({ lines: 1, count: 1 })
  await reader.send('shapes', ['the needle in plain text', '{"other":"a needle"}'])
  for (let round = 0; round < 3; round += 1) expect(await found()).toEqual({ lines: 3, count: 3 })
})

test('a key is counted in events that have it as an overflow key since the last query on it', async () => {
  await reader.send('overflow', plain(0))
  // Keys of an open map have no slots.
  await reader.openMaps('overflow', ['labels.'])
  const found = async () => {
    const query = await reader.query(['overflow'], 'labels.rare IS NULL')
    const all = { ...query, filter: { kind: 'all' } as const }
    const { groups } = await readStats(store(), all, { calls: [{ name: 'count' }], groups: ['labels.rare'], slices: 1, limit: 10 })
    return { absent: (await countMatching(store(), query)).count, groups: groups.map(({ values, whole }) => [values[0], whole.count]) }
  }
  for (let round = 0; round < 3; round += 1) expect(await found()).toEqual({ absent: 100, groups: [[null, 100]] })
  await reader.send('overflow', [...plain(100), '{"message":"order 1","zone":"north","labels":{"rare":"yes"}}'])
  const { located } = await reader.source('overflow')
  expect(located?.map.slots.has('labels.rare')).toBe(false)
  const later = {
    absent: 200,
    groups: [
      [null, 200],
      ['yes', 1],
    ],
  }
  for (let round = 0; round < 3; round += 1) expect(await found()).toEqual(later)
})

test('all paths of one key may overflow when one does, and of several keys those that do', async () => {
  await reader.send('paths', plain(0))
  await reader.openMaps('paths', ['labels.'])
  await reader.send('paths', ['{"message":"order 1","zone":"north","labels":{"rare":"yes"}}'])
  const query = await reader.query(['paths'])
  const overflowing = async (...keys: string[]) => {
    const tableReads = tableReadsFor(query.sources, keys)
    const [found] = await findOverflowKeys(store(), startQueryRun(query), tableReads, { keys, bounds: query.bounds })
    return queriedPaths(keys).filter((path) => found?.overflowKeys?.has(path))
  }
  expect(await overflowing('labels.rare', '@raw', 'labels.rare')).toEqual(['labels.rare', '$labels.rare'])
  expect(await overflowing('zone')).toEqual([])
  expect(await overflowing('labels.rare', 'zone', 'labels.none')).toEqual(['labels.rare'])
})

/** Reads a page and counts all matches, as a search does. */
async function pageAndCount(dataset: string, where: string, limit = 10) {
  // One time window holds all events.
  const bounds = { fromMs: 0, toMs: reader.senders.app.clock.nowMs() + 60_000 }
  const query = await reader.query([dataset], where, { bounds, sharedFacts: new Map(), keepsResults: undefined })
  const { events } = await readEvents(store(), query, { limit, newestFirst: true, keys: 'all', withRaw: true })
  return { events: events.length, count: (await countMatching(store(), query)).count }
}

test('a page and its count find a key that overflows since the last search on it', async () => {
  await reader.send('pages', plain(0))
  await reader.openMaps('pages', ['labels.'])
  const where = "labels.rare = 'yes' OR zone = 'south'"
  for (let round = 0; round < 3; round += 1) expect(await pageAndCount('pages', where)).toEqual({ events: 0, count: 0 })
  await reader.send('pages', [...plain(100), '{"message":"order 1","zone":"north","labels":{"rare":"yes"}}'])
  for (let round = 0; round < 3; round += 1) expect(await pageAndCount('pages', where)).toEqual({ events: 1, count: 1 })
})

test('a page and its count find out once which shapes and overflow keys there are', async () => {
  await reader.send('once', plain(0))
  const statements = vi.spyOn(store(), 'read')
  const statementsOf = async (where: string) => {
    statements.mockClear()
    expect(await pageAndCount('once', where)).toEqual({ events: 10, count: 100 })
    return statements.mock.calls.length
  }
  // The page, what is there, and the count; shapes and overflow keys are two statements.
  for (const [where, expected] of [
    ["'order'", 3],
    ["zone = 'north'", 3],
    ["zone = 'north' AND 'order'", 4],
  ] as const) {
    for (let round = 0; round < 3; round += 1) expect(await statementsOf(where), where).toBe(expected)
  }
  statements.mockRestore()
})

test('shapes and overflow keys are not asked for again until events of the range change', async () => {
  await reader.send('held', plain(0))
  await reader.openMaps('held', ['labels.'])
  const nowMs = reader.senders.app.clock.nowMs()
  const statements = vi.spyOn(store(), 'read')
  /** The matching events and the statements that it took to count them, for a query that is new each time. */
  let shiftMs = 0
  const counted = async (where: string) => {
    shiftMs += 1
    const query = await reader.query(['held'], where, { bounds: { fromMs: shiftMs, toMs: nowMs + 3_600_000 - shiftMs } })
    statements.mockClear()
    const { count } = await countMatching(store(), query)
    return { count, statements: statements.mock.calls.length }
  }
  expect((await counted("'order'")).count).toBe(100)
  expect(await counted("'order'")).toEqual({ count: 100, statements: 1 })
  expect((await counted("labels.rare = 'yes'")).count).toBe(0)
  // No event can match.
  expect(await counted("labels.rare = 'yes'")).toEqual({ count: 0, statements: 0 })
  await reader.send('held', ['{"message":"order 1","zone":"north","labels":{"rare":"yes"}}', 'order without a shape'])
  const again = await counted("'order'")
  expect(again).toEqual({ count: 102, statements: expect.any(Number) })
  expect(again.statements).toBeGreaterThan(1)
  expect((await counted("labels.rare = 'yes'")).count).toBe(1)
  for (let round = 0; round < 2; round += 1) {
    await counted("'order'")
    await counted("labels.rare = 'yes'")
  }
  expect(await counted("'order'")).toEqual({ count: 102, statements: 1 })
  expect(await counted("labels.rare = 'yes'")).toEqual({ count: 1, statements: 1 })
  statements.mockRestore()
})

test('facts of a range serve one that has moved on', async () => {
  await reader.send('moved', plain(0))
  const nowMs = Math.floor(reader.senders.app.clock.nowMs() / 3_600_000) * 3_600_000
  const statements = vi.spyOn(store(), 'read')
  const statementsOf = async (movedMs: number) => {
    const bounds = { fromMs: nowMs - 7_200_000 + movedMs, toMs: nowMs + 7_200_000 + movedMs }
    // Without slices, which would be a statement of their own.
    const keepsResults = { slicesFromRows: Number.POSITIVE_INFINITY }
    const query = await reader.query(['moved'], "'order' AND zone = 'north'", { bounds, keepsResults })
    statements.mockClear()
    expect((await countMatching(store(), query)).count).toBe(100)
    return statements.mock.calls.length
  }
  expect(await statementsOf(1)).toBeGreaterThan(1)
  for (const movedMs of [2, 60_000, 500_000]) expect(await statementsOf(movedMs)).toBe(1)
  statements.mockRestore()
})
