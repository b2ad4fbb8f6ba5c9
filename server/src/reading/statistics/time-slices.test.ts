import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import type { EventQuery, StatsRequest, TimeBounds } from '../query.ts'
import { countMatching, readStats } from '../reading.ts'
import { openRanges, rangesOf, sliceLengthMs, wholeSlices } from '../run/time-slices.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const START_MS = Date.UTC(2026, 2, 1)

describe('the slices of a range', () => {
  test.each([
    ['a chart on multiples of its slices', { fromMs: START_MS, toMs: START_MS + HOUR_MS }, 60, MINUTE_MS],
    ['slices of seconds', { fromMs: START_MS, toMs: START_MS + MINUTE_MS }, 60, 1_000],
    ['a chart between them', { fromMs: START_MS + 1, toMs: START_MS + HOUR_MS + 1 }, 60, undefined],
    ['slices of a fraction', { fromMs: START_MS, toMs: START_MS + HOUR_MS }, 7, undefined],
    ['slices shorter than a second', { fromMs: START_MS, toMs: START_MS + 1_000 }, 10, undefined],
    ['an hour without slices', { fromMs: START_MS + 1, toMs: START_MS + HOUR_MS + 1 }, 1, 5 * MINUTE_MS],
    ['a day without slices', { fromMs: START_MS + 1, toMs: START_MS + 24 * HOUR_MS }, 1, HOUR_MS],
    ['a short range', { fromMs: START_MS, toMs: START_MS + 10 * MINUTE_MS }, 1, undefined],
    ['an empty range', { fromMs: START_MS, toMs: START_MS }, 1, undefined],
    ['a time before 1970', { fromMs: -HOUR_MS, toMs: START_MS }, 1, undefined],
  ])('%s', (_, bounds, slices, expected) => {
    expect(sliceLengthMs(bounds, slices)).toBe(expected)
  })

  test('and what is left beside some of them cover it once', () => {
    const range = fc.tuple(fc.nat(1_000), fc.integer({ min: 1, max: 1_000 }))
    fc.assert(
      fc.property(range, fc.integer({ min: 1, max: 50 }), fc.infiniteStream(fc.boolean()), ([fromMs, length], lengthMs, isKept) => {
        const bounds = { fromMs, toMs: fromMs + length }
        const kept = wholeSlices(bounds, lengthMs).filter(() => isKept.next().value)
        const closed = rangesOf(kept, lengthMs)
        const open = openRanges(bounds, closed)
        if (!open) return
        const all = [...closed, ...open].sort((one, other) => one.fromMs - other.fromMs)
        expect(all[0]?.fromMs).toBe(bounds.fromMs)
        expect(all.at(-1)?.toMs).toBe(bounds.toMs)
        for (const [index, { toMs }] of all.slice(0, -1).entries()) expect(all[index + 1]?.fromMs).toBe(toMs)
      }),
    )
  })
})

describe('statistics from closed slices', () => {
  let reader: Reader
  /** Two hours of events that have passed. */
  let fromMs: number
  beforeAll(async () => {
    reader = await openReader()
    fromMs = Math.floor(world().clock.nowMs() / DAY_MS) * DAY_MS - DAY_MS
    for (const [dataset, seed] of [
      ['web', 1],
      ['jobs', 5],
    ] as const) {
      await reader.send(dataset, linesOf(600, seed))
    }
  })
  afterAll(() => reader?.close())

  const world = () => reader.senders.app.app.world
  function linesOf(count: number, seed: number): string[] {
    return Array.from({ length: count }, (_, index) => {
      const at = (index * 7_919_000 + seed * 104_729) % (2 * HOUR_MS)
      const level = ['info', 'warn', 'error'][(index * seed) % 3]
      return JSON.stringify({
        timestamp: new Date(fromMs + at).toISOString(),
        level,
        n: (at % 1_000) / 8,
        user: `u${index % 50}`,
        ...(index % 7 ? { host: `h${index % 4}` } : {}),
      })
    })
  }

  const withoutCost = async (query: EventQuery, request: StatsRequest) => {
    const { cost: _, ...stats } = await readStats(world().events, query, request)
    return { ...stats, counted: (await countMatching(world().events, query)).count }
  }
  const fresh = ({ keepsResults: _, ...query }: EventQuery): EventQuery => query

  /** Estimates depend on the order in which states are merged. */
  function expectAlike(found: unknown, expected: unknown): void {
    const numbers = (value: unknown) =>
      JSON.stringify(value, (_, one) => (typeof one === 'number' ? Number(one.toPrecision(4)) : typeof one === 'bigint' ? `${one}n` : one))
    expect(numbers(found)).toBe(numbers(expected))
  }

  const requests: readonly StatsRequest[] = [
    { calls: [{ name: 'count' }], groups: [], slices: 1, limit: 10 },
    { calls: [{ name: 'count' }], groups: ['level'], slices: 1, limit: 2 },
    { calls: [{ name: 'count' }, { name: 'rate' }], groups: ['@status'], slices: 24, limit: 10 },
    {
      calls: [
        { name: 'avg', key: 'n' },
        { name: 'sum', key: 'n' },
        { name: 'min', key: 'n' },
        { name: 'max', key: 'n' },
      ],
      groups: ['host'],
      slices: 24,
      limit: 3,
    },
    { calls: [{ name: 'percentile', key: 'n', percent: 95 }], groups: [], slices: 24, limit: 10 },
    {
      calls: [
        { name: 'unique', key: 'user' },
        { name: 'stddev', key: 'n' },
      ],
      groups: ['level'],
      slices: 1,
      limit: 10,
    },
    {
      calls: [
        { name: 'first', key: 'user' },
        { name: 'last', key: 'user' },
        { name: 'count', key: 'host' },
      ],
      groups: [],
      slices: 24,
      limit: 10,
    },
    { calls: [{ name: 'bytes', key: '@raw' }], groups: ['@dataset'], slices: 24, limit: 10 },
  ]

  test.each(requests.map((request) => [JSON.stringify(request), request] as const))('%s', async (_, request) => {
    for (const where of ['', 'n > 60', "level = 'none'"]) {
      const query = await reader.query(['web', 'jobs'], where, { bounds: { fromMs: fromMs, toMs: fromMs + 2 * HOUR_MS } })
      const expected = await withoutCost(fresh(query), request)
      // Read as a whole, from the kept result, slice by slice, and from slices, also in part.
      expectAlike(await withoutCost(query, request), expected)
      expectAlike(await withoutCost(query, request), expected)
      for (const moved of [1, 2, 0, 1]) {
        const bounds = { fromMs: query.bounds.fromMs + moved * 5 * MINUTE_MS, toMs: query.bounds.toMs + moved * 5 * MINUTE_MS }
        expectAlike(await withoutCost({ ...query, bounds }, request), await withoutCost({ ...fresh(query), bounds }, request))
      }
    }
  })

  test('read no event when all slices are known, whatever else the query asks', async () => {
    const request = (limit: number): StatsRequest => ({ calls: [{ name: 'avg', key: 'n' }], groups: ['level'], slices: 60, limit })
    const query = await reader.query(['web'])
    const moved = (minutes: number): TimeBounds => ({ fromMs: fromMs + minutes * MINUTE_MS, toMs: fromMs + (minutes + 60) * MINUTE_MS })
    for (const minutes of [0, 1, 2, 20, 40]) await readStats(world().events, { ...query, bounds: moved(minutes) }, request(10))
    const expected = await withoutCost({ ...fresh(query), bounds: moved(30) }, request(2))
    const { cost, ...found } = await readStats(world().events, { ...query, bounds: moved(30) }, request(2))
    expectAlike({ ...found, counted: found.whole.count }, expected)
    expect(cost.rows).toBeLessThan(10)
  })

  test('are exact while events arrive in some of them', async () => {
    const step = fc.record({
      minute: fc.nat(119),
      events: fc.integer({ min: 0, max: 2 }),
      moved: fc.nat(40),
      request: fc.nat(requests.length - 1),
    })
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 10 }), async (steps) => {
        run += 1
        const dataset = `moving-${run}`
        await reader.send(dataset, linesOf(40, run))
        for (const { minute, events, moved, request: index } of steps) {
          const request = requests[index]
          if (!request) continue
          const lines = Array.from({ length: events }, (_, number) =>
            JSON.stringify({
              timestamp: new Date(fromMs + minute * MINUTE_MS + number).toISOString(),
              level: 'debug',
              n: number,
              late: minute,
            }),
          )
          if (lines.length > 0) await reader.send(dataset, lines)
          const bounds = { fromMs: fromMs + moved * MINUTE_MS, toMs: fromMs + (moved + 72) * MINUTE_MS }
          const query = await reader.query([dataset], '', { bounds })
          for (let round = 0; round < 3; round += 1)
            expectAlike(await withoutCost(query, request), await withoutCost(fresh(query), request))
        }
      }),
      { numRuns: 3 },
    )
  })
})
