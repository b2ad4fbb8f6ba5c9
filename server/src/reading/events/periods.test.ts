import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { deleteEvents, oldestEventMs } from '../../events/purge/purge.ts'
import { systemClock } from '../../kernel/clock.ts'
import { openLogger } from '../../kernel/log.ts'
import { LONGEST_PERIOD_S, NO_PERIOD } from '../../lines/layout/periods.ts'
import { eventsTable } from '../../lines/layout/table.ts'
import { growLayouts } from '../../resources/data/catalog/catalog.ts'
import type { EventPosition, FoundEvent, TimeBounds } from '../query.ts'
import { countMatching, readStats } from '../reading.ts'

/** Rows of one dataset lie in a table sorted by time and in periods of several lengths, as after an upgrade and several changes of volume. */
const ORDERS: readonly number[] = [NO_PERIOD, LONGEST_PERIOD_S, 3_600, 60, 1]
const DATASET = 'periods'
const EVENTS = 2_000
const DAY_MS = 86_400_000

type Stored = { readonly timeMs: number; readonly seq: bigint; readonly pattern: number }

let reader: Reader
let stored: readonly Stored[]
const store = () => reader.senders.app.app.world.events
const nowMs = () => reader.senders.app.clock.nowMs()

beforeAll(async () => {
  reader = await openReader()
  await reader.send(DATASET, ['{"message":"the first"}'])
  const { logId, located } = await reader.source(DATASET)
  expect(located?.periods).toEqual([LONGEST_PERIOD_S])
  const { world } = reader.senders.app.app
  for (const periodS of ORDERS) await growLayouts(world, reader.senders.org.orgId, new Map([[logId, { observed: [], open: [], periodS }]]))
  const { orgNumber } = await reader.query([DATASET])
  const { tableClass = 's' } = located?.map ?? {}
  const random = uniform(7)
  // Most times lie in the last hour, several events share one, and some lie at the borders of periods.
  const times = Array.from({ length: EVENTS }, () => {
    const ageMs = Math.floor(random() ** 4 * 3 * DAY_MS)
    const atMs = nowMs() - 1_000 - ageMs
    return random() < 0.2 ? Math.floor(atMs / 60_000) * 60_000 : atMs
  })
  const rows = times.map((timeMs, index) => ({ timeMs, seq: BigInt(index + 1), pattern: Math.floor(random() * 5) + 1 }))
  for (const [number, periodS] of ORDERS.entries()) {
    const values = rows.flatMap(({ timeMs, seq, pattern }, index) =>
      index % ORDERS.length !== number
        ? []
        : [
            {
              org_id: orgNumber,
              log_id: logId,
              ts: (timeMs / 1_000).toFixed(3),
              seq: String(seq),
              skeleton: pattern,
              sev: pattern === 1 ? 'error' : 'info',
              raw: `event ${seq} of ${pattern}`,
              ...(periodS === NO_PERIOD ? {} : { period_s: periodS }),
            },
          ],
    )
    await store().writer.insert({ table: eventsTable(tableClass, periodS), values, format: 'JSONEachRow' })
  }
  stored = rows
})
afterAll(() => reader?.close())

/** The same numbers between 0 and 1 in every run. */
function uniform(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

const inRange = ({ fromMs, toMs }: TimeBounds) => stored.filter(({ timeMs }) => timeMs >= fromMs && timeMs < toMs)
const oldestFirst = (a: Stored, b: Stored) => a.timeMs - b.timeMs || Number(a.seq - b.seq)
const ranges = (): TimeBounds[] => {
  const endMs = nowMs()
  const minute = Math.floor(endMs / 60_000) * 60_000
  return [
    { fromMs: 0, toMs: endMs },
    { fromMs: endMs - 3_600_000, toMs: endMs },
    { fromMs: minute - 120_000, toMs: minute - 60_000 },
    { fromMs: minute - 7_200_000, toMs: minute - 3_599_999 },
    { fromMs: endMs - 2 * DAY_MS, toMs: endMs - 90_000 },
  ]
}

describe('a dataset whose rows are sorted in several ways', () => {
  test.each([true, false])('has its events in one order, page by page, newest first: %s', async (newestFirst) => {
    for (const bounds of ranges()) {
      const expected = inRange(bounds).sort(oldestFirst)
      if (newestFirst) expected.reverse()
      const found: FoundEvent[] = []
      let after: EventPosition | undefined
      for (let more = true; more; ) {
        const page = await reader.events([DATASET], '', { limit: 700, newestFirst, ...(after ? { after } : {}) }, { bounds })
        found.push(...page.events)
        after = page.events.at(-1)
        more = page.hasMore
      }
      const own = found.filter(({ seq }) => seq <= BigInt(EVENTS))
      expect(own.map(({ seq }) => seq)).toEqual(expected.map(({ seq }) => seq))
      expect(own.map(({ raw }) => String(Buffer.from(raw ?? [])))).toEqual(expected.map(({ seq, pattern }) => `event ${seq} of ${pattern}`))
    }
  })

  test('is counted exactly in every range, by slices and groups', async () => {
    for (const bounds of ranges()) {
      const query = await reader.query([DATASET], "@raw LIKE 'event %'", { bounds })
      const expected = inRange(bounds)
      expect((await countMatching(store(), query)).count).toBe(expected.length)
      const { slices, groups } = await readStats(store(), query, { calls: [{ name: 'count' }], groups: ['@pattern'], slices: 7, limit: 10 })
      expect(slices.reduce((sum, { count }) => sum + count, 0)).toBe(expected.length)
      const sizes = [...Map.groupBy(expected, ({ pattern }) => pattern).values()].map(({ length }) => length)
      expect(groups.map(({ whole }) => whole.count).sort((a, b) => a - b)).toEqual(sizes.sort((a, b) => a - b))
    }
  })

  test('is filtered by text', async () => {
    const errors = stored.filter(({ pattern }) => pattern === 1)
    const lines = await reader.lines([DATASET], "@raw LIKE '% of 1'", { limit: EVENTS, newestFirst: false })
    expect(lines).toEqual(errors.toSorted(oldestFirst).map(({ seq }) => `event ${seq} of 1`))
    expect(await reader.lines([DATASET], "'event 77 of'")).toEqual([expect.stringMatching(/^event 77 of /)])
  })

  test('has its oldest event, and is deleted from all tables', async () => {
    const { logId } = await reader.source(DATASET)
    expect(await oldestEventMs(store(), logId)).toBe(stored.toSorted(oldestFirst)[0]?.timeMs)
    const { removed } = await deleteEvents(store(), [{ logIds: [logId] }], {
      clock: systemClock,
      log: openLogger('silent'),
      signal: new AbortController().signal,
      mayRewrite: true,
    })
    expect(removed.get(logId)).toBe(EVENTS + 1)
    expect((await countMatching(store(), await reader.query([DATASET]))).count).toBe(0)
    expect(await oldestEventMs(store(), logId)).toBe(undefined)
  })
})
