import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { parseSelect } from '../../query/query.ts'
import { readNestedWindows, readWindows, type WindowGroup } from './sliding-windows.ts'

const MINUTE_MS = 60_000
const endMs = Date.UTC(2026, 9, 2)

/** Returns a generator of numbers from 0 to 1, the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
const random = randomFrom(11)
const upTo = (most: number): number => Math.floor(random() * most)

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
  // Includes events at the edges of windows, and two datasets whose keys are in different columns.
  const lines = Array.from({ length: 400 }, (_, index) => {
    const agoMs = index % 4 === 0 ? upTo(60) * MINUTE_MS + upTo(3) - 1 : upTo(60 * MINUTE_MS)
    return JSON.stringify({ timestamp: new Date(endMs - agoMs).toISOString(), region: `r${upTo(4)}`, ms: upTo(1_000) - 500 })
  })
  await reader.send('one', lines.slice(0, 250))
  await reader.send('two', ['{"zone":"x","region":"r9","ms":1}', ...lines.slice(250)])
})
afterAll(() => reader?.close())

const select = ['count(*)', 'avg(ms)', 'min(ms)', 'rate(*)', 'last(region)']
const calls = parseSelect(select).flatMap((item) => (item.kind === 'call' ? [item.call] : []))
const sorted = (found: readonly Omit<WindowGroup, 'window'>[]) =>
  found.map(({ values, measured }) => JSON.stringify([values, measured])).sort()

test('windows of several lengths with one end give the same results in one scan as separately', async () => {
  const { events } = reader.senders.app.app.world
  for (let round = 0; round < 5; round += 1) {
    const lengthsMs = [...new Set(Array.from({ length: 2 + upTo(3) }, () => (1 + upTo(50)) * MINUTE_MS))].sort((a, b) => a - b)
    const groups = round % 2 === 0 ? [] : ['region']
    const datasets = round % 3 === 0 ? ['one'] : ['one', 'two']
    const where = round % 4 === 0 ? 'ms > 0' : ''
    const over = (lengthMs: number) => reader.query(datasets, where, { bounds: { fromMs: endMs - lengthMs, toMs: endMs } })
    const { groups: together } = await readNestedWindows(events, await over(lengthsMs.at(-1) ?? 0), { calls, groups, lengthsMs })
    for (const [index, lengthMs] of lengthsMs.entries()) {
      const { groups: alone } = await readWindows(events, await over(lengthMs), { calls, groups, stepMs: lengthMs, windowMs: lengthMs })
      const here = together.filter(({ window }) => window === index)
      expect(here.length).toBeGreaterThan(0)
      expect(sorted(here)).toEqual(sorted(alone))
    }
  }
})

test.each([
  ['handed to each window', ['count(*)', 'sum(ms)', 'max(ms)'], ['region'], ''],
  ['slid over', ['count(*)', 'p50(ms)', 'unique(region)'], ['region'], ''],
  ['slid over where most steps have no events', ['p95(ms)', 'first(region)'], ['region'], 'ms > 440'],
  ['slid over without groups', ['rate(*)', 'p50(ms)'], [], 'ms > 440'],
] as const)('windows that overlap give what each gives by itself: steps %s', async (_, items, groups, where) => {
  const { events } = reader.senders.app.app.world
  const wanted = parseSelect(items).flatMap((item) => (item.kind === 'call' ? [item.call] : []))
  const [stepMs, windowMs, rangeMs] = [5 * MINUTE_MS, 30 * MINUTE_MS, 60 * MINUTE_MS]
  const over = (fromMs: number, lengthMs: number) => reader.query(['one', 'two'], where, { bounds: { fromMs, toMs: fromMs + lengthMs } })
  const { groups: rolling } = await readWindows(events, await over(endMs - rangeMs, rangeMs), { calls: wanted, groups, stepMs, windowMs })
  for (const index of [0, 1, 3, 6]) {
    const query = await over(endMs - rangeMs + index * stepMs, windowMs)
    const { groups: alone } = await readWindows(events, query, { calls: wanted, groups, stepMs: windowMs, windowMs })
    const here = rolling.filter(({ window }) => window === index)
    expect(sorted(here)).toEqual(sorted(alone))
  }
  expect(Math.max(...rolling.map(({ window }) => window))).toBe(6)
})
