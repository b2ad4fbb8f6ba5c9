import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { deleteEvents } from '../../events/purge/purge.ts'
import type { EventQuery } from '../query.ts'
import { countMatching, readEvents, readStats } from '../reading.ts'

const MINUTE_MS = 60_000

let reader: Reader
let startMs: number
beforeAll(async () => {
  reader = await openReader()
  startMs = Math.floor(reader.senders.app.clock.nowMs() / MINUTE_MS) * MINUTE_MS - 120 * MINUTE_MS
})
afterAll(() => reader?.close())

const world = () => reader.senders.app.app.world
const line = (atMs: number, more = '') => `{"timestamp":"${new Date(atMs).toISOString()}","level":"info"${more}}`

/** How many statements reach the store while `work` runs. */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const read = vi.spyOn(world().events, 'read')
  await work()
  const { length } = read.mock.calls
  read.mockRestore()
  return length
}

describe('a repeated query', () => {
  test('reads nothing until events of its range change', async () => {
    await reader.send('repeated', [line(startMs), line(startMs + MINUTE_MS)])
    const query = async (): Promise<EventQuery> => ({
      ...(await reader.query(['repeated'])),
      bounds: { fromMs: startMs, toMs: startMs + 10 * MINUTE_MS },
    })
    const given = await query()
    const page = async () => (await readEvents(world().events, given, { limit: 10, newestFirst: true, keys: 'all', withRaw: true })).events
    expect(await page()).toHaveLength(2)
    expect(await statementsOf(page)).toBe(0)
    expect(await page()).toHaveLength(2)
    // An event of another time, and one of another dataset.
    await reader.send('repeated', [line(startMs + 30 * MINUTE_MS)])
    await reader.send('other', [line(startMs)])
    expect(await statementsOf(page)).toBe(0)
    await reader.send('repeated', [line(startMs + 9 * MINUTE_MS)])
    expect(await page()).toHaveLength(3)
    expect(await statementsOf(page)).toBe(0)
  })

  test('that counts counts only the minutes at its borders again when its range has moved on within a minute', async () => {
    await reader.send(
      'counted',
      [0, 1, 30, 59, 60].map((minute) => line(startMs + minute * MINUTE_MS + 30_000)),
    )
    const query = await reader.query(['counted'])
    const countIn = (fromMs: number, toMs: number) =>
      countMatching(world().events, {
        ...query,
        keepsResults: { slicesFromRows: Number.MAX_SAFE_INTEGER },
        bounds: { fromMs: startMs + fromMs, toMs: startMs + toMs },
      })
    const groupsIn = (fromMs: number, toMs: number) =>
      readStats(
        world().events,
        { ...query, keepsResults: { slicesFromRows: Number.MAX_SAFE_INTEGER }, bounds: { fromMs: startMs + fromMs, toMs: startMs + toMs } },
        { calls: [{ name: 'count' }], groups: ['@status'], slices: 1, limit: 10 },
      )
    const hour = 60 * MINUTE_MS
    expect((await countIn(10_000, hour + 40_000)).count).toBe(5)
    expect((await countIn(40_000, hour + 40_000)).count).toBe(4)
    expect((await countIn(40_000, hour + 20_000)).count).toBe(3)
    expect(await statementsOf(() => countIn(41_000, hour + 21_000))).toBe(1)
    expect((await groupsIn(10_000, hour + 40_000)).groups).toMatchObject([{ values: ['info'], whole: { count: 5 } }])
    expect((await groupsIn(40_000, hour + 20_000)).groups).toMatchObject([{ values: ['info'], whole: { count: 3 } }])
    expect(await statementsOf(() => groupsIn(41_000, hour + 21_000))).toBe(1)
    // The minute at the end of the range is at its border, so those before it stay counted.
    await reader.send('counted', [line(startMs + hour + 10_000)])
    expect(await statementsOf(() => countIn(41_000, hour + 21_000))).toBe(1)
    expect((await countIn(41_000, hour + 21_000)).count).toBe(4)
  })

  test('costs as much as the first, and its budget applies', async () => {
    await reader.send('costs', [line(startMs, ',"n":1'), line(startMs, ',"n":2')])
    const query = await reader.query(['costs'], 'n > 0')
    const first = await countMatching(world().events, query)
    const again = await countMatching(world().events, query)
    expect(again.cost).toMatchObject({ rows: first.cost.rows, bytes: first.cost.bytes })
    expect(first.cost.rows).toBeGreaterThan(1)
    const poor = { ...query, budget: { ...query.budget, rows: 1 } }
    await expect(countMatching(world().events, poor)).rejects.toThrow('more than 1 events')
  })

  test('is read again while events arrive, and after they were deleted', async () => {
    await reader.send('deleted', [line(startMs), line(startMs + MINUTE_MS)])
    const query = await reader.query(['deleted'])
    const count = async () => (await countMatching(world().events, query)).count
    expect(await count()).toBe(2)
    const { changes } = world().events
    const change = changes?.begin([query.sources[0]?.logId ?? ''], query.bounds)
    expect(await statementsOf(count)).toBeGreaterThan(0)
    expect(await statementsOf(count)).toBeGreaterThan(0)
    change?.end()
    expect(await statementsOf(count)).toBeGreaterThan(0)
    expect(await statementsOf(count)).toBe(0)
    const { clock, log } = world()
    const deps = { clock, log, signal: new AbortController().signal, mayRewrite: true }
    await deleteEvents(world().events, [{ logIds: query.sources.map(({ logId }) => logId) }], deps)
    expect(await count()).toBe(0)
  })

  test('of another organization or another limit of groups is a query of its own', async () => {
    await reader.send('groups', [line(startMs, ',"n":"a"'), line(startMs, ',"n":"b"')])
    const query = await reader.query(['groups'])
    const groups = (limit: number, own = query) =>
      readStats(world().events, own, { calls: [{ name: 'count' }], groups: ['n'], slices: 1, limit })
    expect((await groups(1)).groups).toHaveLength(1)
    expect((await groups(2)).groups).toHaveLength(2)
    // The engine shows another organization nothing.
    expect((await groups(2, { ...query, orgNumber: query.orgNumber + 1_000_000 })).groups).toHaveLength(0)
  })
})

test('kept and fresh answers are equal while events arrive at any time', async () => {
  const wheres = ['', "level = 'info'", "'7'", 'n > 3', 'rare IS NOT NULL']
  const step = fc.record({
    minute: fc.integer({ min: 0, max: 40 }),
    events: fc.integer({ min: 0, max: 3 }),
    from: fc.integer({ min: 0, max: 40 }),
    minutes: fc.integer({ min: 1, max: 41 }),
    where: fc.constantFrom(...wheres),
    hasRareKey: fc.boolean(),
  })
  let run = 0
  const everything = { calls: [{ name: 'count' as const }, { name: 'avg' as const, key: 'n' }], groups: ['level'], slices: 4, limit: 10 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
      run += 1
      const dataset = `random-${run}`
      await reader.send(dataset, [line(startMs, ',"n":0')])
      for (const { minute, events, from, minutes, where, hasRareKey } of steps) {
        const lines = Array.from({ length: events }, (_, index) =>
          line(startMs + minute * MINUTE_MS + index * 500, `,"n":${index + minute}${hasRareKey ? `,"rare":"${minute}"` : ''}`),
        )
        // Some reads run while the events arrive; only what is read afterwards is compared.
        const fromMs = startMs + from * MINUTE_MS
        const query = await reader.query([dataset], where, { bounds: { fromMs, toMs: fromMs + minutes * MINUTE_MS } })
        const read = async (isKept: boolean) => {
          const { keepsResults, ...fresh } = query
          const own = isKept ? query : fresh
          const page = await readEvents(world().events, own, { limit: 5, newestFirst: true, keys: 'all', withRaw: true })
          const { cost: _, ...stats } = await readStats(world().events, own, everything)
          return { page: page.events, hasMore: page.hasMore, stats, count: (await countMatching(world().events, own)).count }
        }
        await Promise.all([lines.length > 0 ? reader.send(dataset, lines) : undefined, read(true)])
        // A new key may have got a column meanwhile.
        Object.assign(query, { sources: [await reader.source(dataset)] })
        expect(await read(true)).toEqual(await read(false))
        expect(await read(true)).toEqual(await read(false))
      }
    }),
    { numRuns: 4 },
  )
})
