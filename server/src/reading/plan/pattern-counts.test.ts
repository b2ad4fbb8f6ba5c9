import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import type { EventQuery } from '../query.ts'
import { startQueryRun } from '../run/run.ts'
import { presentPatterns } from './pattern-counts.ts'

const MINUTE_MS = 60_000
/** The slices of an hour. */
const SLICE_MS = 5 * MINUTE_MS
const words = ['order', 'payment', 'session', 'parcel']

let reader: Reader
let startMs: number
beforeAll(async () => {
  reader = await openReader()
  startMs = Math.floor(reader.senders.app.clock.nowMs() / SLICE_MS) * SLICE_MS - 120 * MINUTE_MS
})
afterAll(() => reader?.close())

const store = () => reader.senders.app.app.world.events
const line = (minute: number, word: string) =>
  `{"timestamp":"${new Date(startMs + minute * MINUTE_MS + 500).toISOString()}","message":"${word} is late"}`
const patternsOf = (query: EventQuery) => presentPatterns(store(), startQueryRun(query), query)

test('patterns that are counted again read the newest slices, until others change', async () => {
  await reader.send(
    'slices',
    Array.from({ length: 60 }, (_, minute) => line(minute, words[minute % 4] ?? '')),
  )
  const query = await reader.query(['slices'])
  const countIn = async (from: number, to: number) => {
    const sent = vi.spyOn(store(), 'read')
    const found = await patternsOf({ ...query, bounds: { fromMs: startMs + from * MINUTE_MS, toMs: startMs + to * MINUTE_MS } })
    const since = sent.mock.calls.flatMap(([{ body }]) => [...body.toString().matchAll(/\d{19}/g)].map(([ns]) => Number(ns) / 1e6))
    sent.mockRestore()
    const counts = [...(found.get(query.sources[0]?.logId ?? '') ?? []).values()].map(({ count }) => count)
    return { counts: counts.sort((a, b) => a - b), from: Math.round((Math.min(...since) - startMs) / MINUTE_MS) }
  }
  expect(await countIn(0, 60)).toEqual({ counts: [15, 15, 15, 15], from: 0 })
  // Slices are read to be kept.
  expect(await countIn(0, 61)).toEqual({ counts: [15, 15, 15, 15], from: 0 })
  expect(await countIn(5, 66)).toEqual({ counts: [13, 14, 14, 14], from: 60 })
  await reader.send('slices', [line(30, 'order')])
  expect(await countIn(5, 67)).toEqual({ counts: [14, 14, 14, 14], from: 30 })
})

test('counts of kept and of fresh slices are equal while events arrive', async () => {
  const minute = fc.integer({ min: 0, max: 40 })
  const step = fc.record({
    arrives: fc.array(fc.tuple(fc.constantFrom('one', 'two'), minute, fc.constantFrom(...words)), { maxLength: 4 }),
    from: fc.integer({ min: 0, max: 20 }),
    length: fc.integer({ min: 12, max: 40 }),
    keptSince: fc.option(minute, { nil: undefined }),
  })
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 10 }), async (steps) => {
      run += 1
      for (const dataset of ['one', 'two']) await reader.send(`${dataset}-${run}`, [line(5, 'order')])
      for (const { arrives, from, length, keptSince } of steps) {
        const sending = arrives.map(([dataset, at, word]) => reader.send(`${dataset}-${run}`, [line(at, word)]))
        const query = await reader.query([`one-${run}`, `two-${run}`], '', {
          bounds: { fromMs: startMs + from * MINUTE_MS, toMs: startMs + (from + length) * MINUTE_MS },
        })
        const keptSinceMs = keptSince === undefined ? undefined : startMs + keptSince * MINUTE_MS
        const own = { ...query, sources: query.sources.map((source, index) => (index === 0 ? { ...source, keptSinceMs } : source)) }
        await patternsOf(own)
        await Promise.all(sending)
        const { keepsResults: _, ...fresh } = own
        expect(await patternsOf(own)).toEqual(await patternsOf(fresh))
      }
    }),
    { numRuns: 5 },
  )
})
