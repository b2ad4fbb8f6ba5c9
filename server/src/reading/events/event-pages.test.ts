import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import type { EventQuery, EventsRequest, TimeBounds } from '../query.ts'
import { readEvents } from '../reading.ts'

const MINUTE_MS = 60_000

let reader: Reader
let startMs: number
beforeAll(async () => {
  reader = await openReader()
  startMs = Math.floor(reader.senders.app.clock.nowMs() / MINUTE_MS) * MINUTE_MS - 120 * MINUTE_MS
})
afterAll(() => reader?.close())

const store = () => reader.senders.app.app.world.events
const minutes = (from: number, to: number): TimeBounds => ({ fromMs: startMs + from * MINUTE_MS, toMs: startMs + to * MINUTE_MS })
const line = (minute: number, number = minute) =>
  `{"timestamp":"${new Date(startMs + minute * MINUTE_MS).toISOString()}","level":"info","n":${number}}`
const page = (limit: number): EventsRequest => ({ limit, newestFirst: true, keys: ['n'], withRaw: false })

type Read = { readonly numbers: readonly number[]; readonly since: readonly number[]; readonly rows: number }

/** The numbers of the events of a page, and for each statement that reads it the minute since which it reads. */
async function read(query: EventQuery, limit: number): Promise<Read> {
  const sent = vi.spyOn(store(), 'read')
  const { events, cost } = await readEvents(store(), query, page(limit))
  const since = sent.mock.calls.map(([{ body }]) => (Number(/\d{19}/.exec(body.toString())?.[0]) / 1e6 - startMs) / MINUTE_MS)
  sent.mockRestore()
  return { numbers: events.map(({ leaves }) => Number(leaves.get('n'))), since, rows: cost.rows }
}

test('a search that is sent again later reads the newer events only', async () => {
  await reader.send(
    'moving',
    [1, 3, 5, 7].map((minute) => line(minute)),
  )
  const query = await reader.query(['moving'], 'n > 0')
  expect((await read({ ...query, bounds: minutes(0, 6) }, 10)).numbers).toEqual([5, 3, 1])
  const later = await read({ ...query, bounds: minutes(2, 8) }, 10)
  expect(later).toMatchObject({ numbers: [7, 5, 3], since: [6] })
  // A part of the range is known as a whole.
  expect(await read({ ...query, bounds: minutes(3, 8) }, 10)).toMatchObject({ numbers: [7, 5, 3], since: [] })
  // The page knows too little of an earlier range.
  expect(await read({ ...query, bounds: minutes(0, 8) }, 10)).toMatchObject({ numbers: [7, 5, 3, 1], since: [0] })
})

test('ranges and retention may begin and end between two milliseconds', async () => {
  await reader.send(
    'between',
    [1, 3, 5, 7].map((minute) => line(minute)),
  )
  const query = await reader.query(['between'], 'n > 0')
  const sources = query.sources.map((source) => ({ ...source, keptSinceMs: startMs + 2.5 * MINUTE_MS + 0.25 }))
  const moved = (byMs: number, from: number, to: number) => {
    const { fromMs, toMs } = minutes(from, to)
    return { ...query, sources, bounds: { fromMs: fromMs + byMs, toMs: toMs + byMs } }
  }
  expect((await read(moved(0.5, 0, 6), 10)).numbers).toEqual([5, 3])
  expect((await read(moved(0.75, 1, 8), 10)).numbers).toEqual([7, 5, 3])
  expect(await read(moved(0.1, 2, 7), 10)).toMatchObject({ numbers: [7, 5, 3].slice(1), since: [] })
})

test('known events that a dataset no longer keeps are left out, and come back when it keeps them longer', async () => {
  await reader.send(
    'short',
    [1, 3, 5].map((minute) => line(minute)),
  )
  await reader.send(
    'long',
    [2, 4].map((minute) => line(minute)),
  )
  const query = { ...(await reader.query(['short', 'long'], 'n > 0')), bounds: minutes(0, 6) }
  const keptSince = (minute: number | undefined) => ({
    ...query,
    sources: query.sources.map((source, index) =>
      index === 0 && minute !== undefined ? { ...source, keptSinceMs: startMs + minute * MINUTE_MS } : source,
    ),
  })
  expect((await read(keptSince(undefined), 10)).numbers).toEqual([5, 4, 3, 2, 1])
  expect((await read(keptSince(4), 10)).numbers).toEqual([5, 4, 2])
  expect((await read(keptSince(2), 10)).numbers).toEqual([5, 4, 3, 2])
  expect((await read(keptSince(undefined), 10)).numbers).toEqual([5, 4, 3, 2, 1])
})

test('a page that is full continues with older events where it ended', async () => {
  await reader.send(
    'full',
    [1, 2, 3, 4, 5].map((minute) => line(minute)),
  )
  const query = await reader.query(['full'], 'n > 0')
  expect((await read({ ...query, bounds: minutes(0, 6) }, 3)).numbers).toEqual([5, 4, 3])
  // Three and one more are known, which lack one to tell whether there are more.
  expect(await read({ ...query, bounds: minutes(0, 5) }, 3)).toMatchObject({ numbers: [4, 3, 2], since: [0] })
  expect(await read({ ...query, bounds: minutes(0, 4) }, 3)).toMatchObject({ numbers: [3, 2, 1], since: [0] })
})

test('events before the first change are known while newer ones arrive', async () => {
  await reader.send(
    'arriving',
    [1, 5].map((minute) => line(minute)),
  )
  const query = { ...(await reader.query(['arriving'], 'n > 0')), bounds: minutes(0, 10) }
  expect((await read(query, 10)).numbers).toEqual([5, 1])
  await reader.send('arriving', [line(6, 60)])
  const again = await read(query, 10)
  expect(again.numbers).toEqual([60, 5, 1])
  expect(again.since).toHaveLength(1)
  // Changes are noted by minute.
  expect(again.since[0]).toBeGreaterThanOrEqual(5)
  await reader.send('arriving', [line(0, 70)])
  expect((await read(query, 10)).numbers).toEqual([60, 5, 1, 70])
})

test('a page that is requested again costs as much as before, within the budget', async () => {
  await reader.send(
    'again',
    [1, 5].map((minute) => line(minute)),
  )
  const query = { ...(await reader.query(['again'], 'n > 0')), bounds: minutes(0, 10) }
  const first = await read(query, 10)
  expect(first.rows).toBeGreaterThan(1)
  expect(await read(query, 10)).toEqual({ ...first, since: [] })
  await expect(read({ ...query, budget: { ...query.budget, rows: 1 } }, 10)).rejects.toThrow('more than 1 events')
})

test('pages that are known in part and fresh ones are equal, whatever arrives and is kept', async () => {
  const minute = fc.integer({ min: 0, max: 12 })
  const step = fc.record({
    dataset: fc.constantFrom('one', 'two'),
    arrives: fc.array(minute, { maxLength: 3 }),
    isMeanwhile: fc.boolean(),
    from: minute,
    length: fc.integer({ min: 1, max: 13 }),
    keptSince: fc.array(fc.option(minute, { nil: undefined }), { minLength: 2, maxLength: 2 }),
    limit: fc.constantFrom(2, 4),
  })
  let run = 0
  let number = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (steps) => {
      run += 1
      const names = [`one-${run}`, `two-${run}`]
      for (const name of names) await reader.send(name, [line(6)])
      for (const { dataset, arrives, isMeanwhile, from, length, keptSince, limit } of steps) {
        const lines = arrives.map((at, index) => line(at, number + index))
        number += lines.length
        const sending = lines.length === 0 ? undefined : reader.send(`${dataset}-${run}`, lines)
        if (!isMeanwhile) await sending
        const query = { ...(await reader.query(names, 'n >= 0')), bounds: minutes(from, from + length) }
        const sources = query.sources.map((source, index) => {
          const since = keptSince[index]
          return { ...source, keptSinceMs: since === undefined ? undefined : startMs + since * MINUTE_MS }
        })
        await readEvents(store(), { ...query, sources }, page(limit))
        await sending
        const { keepsResults: _, ...fresh } = { ...query, sources }
        const wanted = await readEvents(store(), fresh, page(limit))
        const found = await readEvents(store(), { ...query, sources }, page(limit))
        expect(found).toEqual({ ...wanted, cost: found.cost })
      }
    }),
    { numRuns: 6 },
  )
})
