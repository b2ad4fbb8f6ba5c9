import type { AggregateCall } from '@dendro/language/tree'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { budget, openReader, type Reader } from '../../../../test/support/reader.ts'
import { parseSelect } from '../../query/query.ts'
import type { StatsRequest, StatsResult } from '../query.ts'
import { readStats } from '../reading.ts'

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
  await reader.send('first', firstLines)
  await reader.send('second', secondLines)
  await reader.send('wide', [
    JSON.stringify(Object.fromEntries(Array.from({ length: 40 }, (_, key) => [`k${key}`, `v${key}`]))),
    ...wideLines,
  ])
})
afterAll(() => reader?.close())

const fromMs = Date.UTC(2026, 9, 1)
const minute = (index: number) => new Date(fromMs + index * 60_000).toISOString()
const bounds = { fromMs, toMs: fromMs + 600_000 }
const firstLines = [
  `{"timestamp":"${minute(0)}","service":"api","ms":10,"user":"u1"}`,
  `{"timestamp":"${minute(0)}","service":"api","ms":"20.5","user":"u2"}`,
  `{"timestamp":"${minute(1)}","service":"web","ms":"fast","user":"u1"}`,
  `{"timestamp":"${minute(5)}","service":"api","ms":30,"user":""}`,
  `{"timestamp":"${minute(9)}","ms":1e400}`,
]
const secondLines = [
  `{"timestamp":"${minute(5)}","zone":"x","service":"web","ms":4}`,
  `{"timestamp":"${minute(10)}","service":"web","ms":5}`,
]
const wideLines = [`{"timestamp":"${minute(7)}","service":"null","ms":-7,"user":"u9"}`]

const callsOf = (items: readonly string[]): AggregateCall[] =>
  parseSelect(items).flatMap((item) => (item.kind === 'call' ? [item.call] : []))

async function stats(
  datasets: readonly string[],
  select: readonly string[],
  wish: Partial<StatsRequest> = {},
  where = '',
): Promise<StatsResult> {
  const query = await reader.query(datasets, where, { bounds })
  return readStats(reader.senders.app.app.world.events, query, { calls: callsOf(select), groups: [], slices: 10, limit: 10, ...wish })
}

const values = (measured: { stats: readonly { value: number | string | null }[] }) => measured.stats.map(({ value }) => value)

test('every function over one dataset', async () => {
  const select = [
    'count(*)',
    'count(service)',
    'sum(ms)',
    'avg(ms)',
    'min(ms)',
    'max(ms)',
    'unique(user)',
    'variance(ms)',
    'rate(*)',
    'first(user)',
    'last(user)',
  ]
  const { whole, slices, isExact } = await stats(['first'], select)
  expect(whole.count).toBe(5)
  expect(values(whole)).toEqual([5, 4, 60.5, 60.5 / 3, 10, 30, 3, expect.closeTo(100.08, 1), 5 / 600, 'u1', ''])
  expect(slices.map(({ count }) => count)).toEqual([2, 1, 0, 0, 0, 1, 0, 0, 0, 1])
  expect(values(slices[2] ?? whole)).toEqual([0, 0, null, null, null, null, 0, null, 0, null, null])
  expect(isExact).toBe(false)
})

test('percentiles come with their quantiles', async () => {
  const { whole, slices } = await stats(['first'], ['p50(ms)', 'median(nothing)'])
  expect(whole.stats[0]).toMatchObject({ value: 20.5, quantiles: { min: 10, p50: 20.5, max: 30 } })
  expect(whole.stats[1]).toEqual({ value: null })
  expect(slices[0]?.stats[0]?.quantiles).toMatchObject({ min: 10, max: 20.5 })
})

describe('exact percentiles', () => {
  // So many that the limit of memory, which they exceed by one, is above the 4 MiB by which the store counts.
  const SENT = 20_000
  const sent = Array.from({ length: SENT }, (_, at) => ((at * 7_919) % 104_729) * 1_000_003 + 1)
  const serviceOf = (at: number) => `s${(at * at) % 3}`
  const sorted = (isWanted = (_: number) => true) => sent.filter((_, at) => isWanted(at)).toSorted((a, b) => a - b)
  const at = (share: number, of: readonly number[]) => of[Math.floor(of.length * share)]
  const select = ['exact_percentile(nanos, 95)', 'EXACT_PERCENTILE(nanos, 50)', 'exact_percentile(nothing, 50)']

  beforeAll(() =>
    reader.send(
      'sorted',
      sent.map((nanos, index) => JSON.stringify({ timestamp: minute(index % 10), nanos, service: serviceOf(index) })),
    ),
  )

  test('are values of events, in the whole, in groups and in slices', async () => {
    const { whole, groups, slices, isExact } = await stats(['sorted'], select, { groups: ['service'] })
    expect(isExact).toBe(true)
    const all = sorted()
    expect(whole.stats.map(({ value }) => value)).toEqual([at(0.95, all), at(0.5, all), null])
    expect(whole.stats[0]?.quantiles).toMatchObject({
      min: all[0],
      p50: at(0.5, all),
      p99: at(0.99, all),
      p999: at(0.999, all),
      max: all.at(-1),
    })
    for (const [slice, own] of slices.entries())
      expect(own.stats[0]?.value).toBe(
        at(
          0.95,
          sorted((index) => index % 10 === slice),
        ),
      )
    expect(groups.map(({ values: [service] }) => service).toSorted()).toEqual(['s0', 's1'])
    for (const {
      values: [service],
      whole: own,
    } of groups)
      expect(own.stats[0]?.value).toBe(
        at(
          0.95,
          sorted((index) => serviceOf(index) === service),
        ),
      )
  })

  test('are estimates of events that take too much memory, and the answer says so', async () => {
    const query = await reader.query(['sorted'], '', { bounds, budget: { ...budget, memoryBytes: (SENT - 1) * 512 } })
    const found = await readStats(reader.senders.app.app.world.events, query, { calls: callsOf(select), groups: [], slices: 1, limit: 1 })
    expect(found.isExact).toBe(false)
    expect(found.whole.stats[0]?.value).toBeGreaterThan(at(0.9, sorted()) ?? 0)
    expect(found.whole.stats[0]?.value).toBeLessThan(at(0.99, sorted()) ?? 0)
  })
})

describe('datasets with keys in different columns are aggregated together', () => {
  test('as a whole and by slices', async () => {
    const { whole, slices } = await stats(
      ['first', 'second', 'wide'],
      ['sum(ms)', 'p50(ms)', 'unique(user)', 'last(service)'],
      {},
      'EXISTS service',
    )
    expect(whole.count).toBe(6)
    expect(values(whole)).toEqual([57.5, 10, 4, 'null'])
    expect(slices.map(({ count }) => count)).toEqual([2, 1, 0, 0, 0, 2, 0, 1, 0, 0])
  })

  test('by groups, the largest first, then by name', async () => {
    const found = await stats(['first', 'second', 'wide'], ['count(*)', 'max(ms)'], { groups: ['service'], limit: 3 })
    expect(found.groupsTotal).toBe(4)
    expect(found.groups.map(({ values: names, whole }) => [...names, ...values(whole)])).toEqual([
      ['api', 3, 30],
      ['web', 2, 4],
      [null, 1, null],
    ])
    expect(found.groups[0]?.slices.map(({ count }) => count)).toEqual([2, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    expect(found.whole.count).toBe(7)
  })

  test('by several keys, built-in ones among them', async () => {
    const found = await stats(['first', 'second', 'wide'], ['sum(ms)'], { groups: ['@dataset', 'service'] }, 'ms > 0 OR ms < 0')
    expect(found.groups.map(({ values: names, whole }) => [...names, ...values(whole)])).toEqual([
      ['first', 'api', 60.5],
      ['second', 'web', 4],
      ['wide', 'null', -7],
    ])
  })
})

test('nothing found is nothing measured', async () => {
  const found = await stats(['first'], ['count(*)', 'avg(ms)'], { groups: ['service'] }, "service = 'emptyStats'")
  expect(found).toMatchObject({ whole: { count: 0, stats: [{ value: 0 }, { value: null }] }, groups: [], groupsTotal: 0 })
  expect(found.slices).toHaveLength(10)
})

test('a key that is in the overflow map in one event and in a column in another counts in both', async () => {
  const [at, others] = [minute(3), Object.fromEntries(Array.from({ length: 400 }, (_, key) => [`other${key}`, key]))]
  await reader.send('strays', [`{"timestamp":"${at}","name":"x"}`])
  await reader.send('strays', [JSON.stringify({ timestamp: at, ...others, late: 5, $tenth: 'a' })])
  await reader.send('strays', [`{"timestamp":"${at}","late":7}`])
  const { sources } = await reader.query(['strays'], '', { bounds })
  expect(sources[0]?.located?.map.slots.has('late')).toBe(true)
  const { whole } = await stats(['strays'], ['sum(late)', 'count(late)', 'max(other399)', 'count(tenth)', 'count(nowhere)'])
  expect(values(whole)).toEqual([12, 2, 399, 1, 0])
  expect((await stats(['strays'], ['count(*)'], {}, 'late > 4')).whole.count).toBe(2)
  const { groups } = await stats(['strays'], ['count(*)'], { groups: ['late'], slices: 1 })
  expect(groups.map((group) => [...group.values, ...values(group.whole)])).toEqual([
    ['5', 1],
    ['7', 1],
    [null, 1],
  ])
})

test('the smallest and the largest of numbers beyond 2^53 are exact, and they are put in order by their digits', async () => {
  const ids = ['9007199254740993', '9007199254740992', '12345678901234567890123', '-9007199254740993', '-9007199254740994', '7']
  await reader.send(
    'ids',
    ids.map((id) => `{"id":${id},"sign":"${id.startsWith('-') ? '-' : '+'}"}`),
  )
  const calls = [
    { name: 'min', key: 'id' },
    { name: 'max', key: 'id' },
  ] as const
  const { whole, groups } = await readStats(reader.senders.app.app.world.events, await reader.query(['ids']), {
    calls,
    groups: ['sign'],
    slices: 2,
    limit: 5,
  })
  expect(whole.stats.map(({ exact }) => exact)).toEqual([-9007199254740994n, 12345678901234567890123n])
  const of = (sign: string) => groups.find(({ values }) => values[0] === sign)?.whole.stats
  expect(of('-')?.map(({ exact }) => exact)).toEqual([-9007199254740994n, -9007199254740993n])
  expect(of('+')?.map(({ value, exact }) => exact ?? value)).toEqual([7, 12345678901234567890123n])
  const { events } = await reader.events(['ids'], '', { orderBy: { key: 'id', descending: false } })
  expect(events.map(({ leaves }) => leaves.get('id'))).toEqual([...ids].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1)))
})

test('a key with @ that is not built in is counted in the overflow map also next to other keys', async () => {
  const others = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`other ${n}`, 'y']))
  const timestamp = minute(1)
  const odd = JSON.stringify({ timestamp, n: 'odd', '@version': '1', rare: 'x', ...others })
  await reader.send('at names', [JSON.stringify({ timestamp, n: 'one' })])
  await reader.send('at names', [odd])
  const count = async (where: string) => values((await stats(['at names'], ['count(@version)'], {}, where)).whole)
  for (const where of [
    '',
    'EXISTS @version',
    "@version = '1' AND rare = 'x'",
    'EXISTS @version AND NOT n = 8',
    'EXISTS @version AND NOT EXISTS gone',
  ])
    expect([where, await count(where)]).toEqual([where, [1]])
})

test('the deviation of large numbers that lie close together is exact', async () => {
  const timestamp = minute(1)
  const ids = [1, 2, 3, 4].map((last) => `180000000000000${last}`)
  await reader.send(
    'close numbers',
    ids.map((id) => JSON.stringify({ timestamp, id, group: 'one' })),
  )
  const { whole, groups } = await stats(['close numbers'], ['variance(id)', 'stddev(id)'], { groups: ['group'] })
  const deviation = [expect.closeTo(5 / 3, 9), expect.closeTo(Math.sqrt(5 / 3), 9)]
  expect(values(whole)).toEqual(deviation)
  expect(groups.map((group) => values(group.whole))).toEqual([deviation])
  expect(values((await stats(['close numbers', 'wide'], ['variance(id)'], { slices: 1 })).whole)).toEqual([deviation[0]])
})

/** The store returns infinity as the deviation of a single value, and as a sum beyond the largest float. */
test('groups whose first aggregate has no value come after the others', async () => {
  const timestamp = minute(1)
  const valuesOf = { b: [1, 2, 4], single: [5], c: [1, 9], none: ['x'], huge: ['1e308', '1e308'] }
  const lines = Object.entries(valuesOf).flatMap(([group, all]) => all.map((value) => JSON.stringify({ timestamp, group, value })))
  await reader.send('single values', lines)
  await reader.send('more single values', wideLines)
  for (const [call, found] of [
    ['stddev(value)', ['c', 'b']],
    ['variance(value)', ['c', 'b']],
    ['sum(value)', ['c', 'b', 'single']],
  ] as const) {
    for (const datasets of [['single values'], ['single values', 'more single values']]) {
      for (const groups of [['group'], ['group', '@collection']]) {
        const { groups: largest } = await stats(datasets, [call], { groups, limit: found.length })
        expect([call, datasets, groups, largest.map((group) => group.values[0])]).toEqual([call, datasets, groups, found])
      }
    }
  }
})

test('an empty range has no events in any slice', async () => {
  const at = fromMs + 60_000
  const query = await reader.query(['first', 'second'], '', { bounds: { fromMs: at, toMs: at } })
  for (const groups of [[], ['service'], ['service', '@dataset']]) {
    const calls = callsOf(['count(*)', 'sum(ms)', 'rate(*)', 'p50(ms)'])
    const found = await readStats(reader.senders.app.app.world.events, query, { calls, groups, slices: 10, limit: 10 })
    expect([found.whole.count, found.groups, values(found.whole)]).toEqual([0, [], [0, null, 0, null]])
    expect(found.slices.map(({ count }) => count)).toEqual(Array.from({ length: 10 }, () => 0))
  }
})
