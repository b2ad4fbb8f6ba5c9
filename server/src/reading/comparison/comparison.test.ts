import { afterAll, beforeAll, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { openComparison } from './comparison.ts'

const fromMs = Date.UTC(2026, 9, 1)
const MINUTE_MS = 60_000
const bounds = {
  before: { fromMs, toMs: fromMs + 80 * MINUTE_MS },
  now: { fromMs: fromMs + 80 * MINUTE_MS, toMs: fromMs + 160 * MINUTE_MS },
}

let reader: Reader
beforeAll(async () => {
  reader = await openReader()
  const line = (at: number) => ({ timestamp: new Date(fromMs + at * MINUTE_MS).toISOString(), zone: at < 80 ? 'a' : 'b', ms: at })
  await reader.send(
    'minutes',
    Array.from({ length: 160 }, (_, at) => JSON.stringify(line(at))),
  )
})
afterAll(() => reader?.close())

const totals = { now: 80, before: 80 }
const opened = async (where = '') =>
  openComparison(reader.senders.app.app.world.events, await reader.query(['minutes'], where, { bounds: bounds.now }), bounds)

test.each(['', 'zone'])('values and numbers are counted in both ranges; no key has no values (%s)', async (where) => {
  const comparison = await opened(where)
  expect(await comparison.values([], totals)).toEqual(new Map())
  const counts = await comparison.values([{ key: 'zone' }, { key: 'ms', edges: [-1e300, 0, 100] }, { key: 'nowhere' }], totals)
  expect([...counts]).toEqual([
    [
      'zone',
      [
        { value: 'a', now: 0, before: 80 },
        { value: 'b', now: 80, before: 0 },
      ],
    ],
    [
      'ms',
      [
        { value: '100', now: 60, before: 0 },
        { value: '0', now: 20, before: 80 },
      ],
    ],
    ['nowhere', [{ value: null, now: 80, before: 80 }]],
  ])
  expect(await comparison.distinct(['zone', 'ms'])).toEqual(
    new Map([
      ['zone', 2],
      ['ms', 160],
    ]),
  )
})

test('a share is counted in even slices of both ranges', async () => {
  const counts = await (await opened()).values([{ key: 'zone' }], totals, 1 / 10)
  expect(counts.get('zone')).toEqual([
    { value: 'a', now: 0, before: 8 },
    { value: 'b', now: 8, before: 0 },
  ])
})
