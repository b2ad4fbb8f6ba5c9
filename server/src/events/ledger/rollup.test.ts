import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isNightly } from '../../../../test/support/nightly.ts'
import { NIL_ID } from '../../kernel/ids.ts'
import { ask, makeEngines } from '../store/engine.fixture.ts'
import type { EventStore } from '../store/events.ts'
import type { LedgerCell } from './page.ts'
import { selectIngested, selectTotals } from './reads.ts'
import { rolledBefore, rollUp, unitAt } from './rollup.ts'
import { rollSpan } from './rollup-rows.ts'
import { insertCells, insertCorrections } from './rows.ts'

const engines = makeEngines()
let store: EventStore
beforeAll(async () => {
  store = await engines.open(await engines.madeDir())
})
afterAll(engines.cleanUp)

const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000]
const NOW_MS = Date.UTC(2026, 10, 21, 10, 0)
const signal = new AbortController().signal
const ORG = 7
const keys = ['11111111-1111-1111-1111-111111111111', '22222222-2222-2222-2222-222222222222'] as const
const logs = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002'] as const

/** Each case rolls 90 days up several times, which takes seconds; the nightly run has ten. */
const CASES = isNightly ? 10 : 1
const count = fc.nat(1_000_000_000)
/** Times near the boundaries of units. */
const minuteMs = fc
  .tuple(fc.constantFrom(0, 1, 2, 3, 4, 5, 89, 90, 91, 92), fc.nat(24 * 60 - 1))
  .map(([days, minute]) => Math.floor(NOW_MS / DAY_MS) * DAY_MS - days * DAY_MS + minute * MINUTE_MS)
const cellOf = fc.record({
  orgNumber: fc.constant(ORG),
  logId: fc.constantFrom(...logs, NIL_ID),
  minuteMs,
  identity: fc.record({ type: fc.constant('API_KEY_ID' as const), id: fc.constantFrom(...keys) }),
  protocol: fc.constantFrom('native', 'otlp'),
  counts: fc.record({
    received: count,
    stored: count,
    duplicate: count,
    rejected: count,
    dropped: count,
    truncated: count,
    late: count,
    wire_bytes: count,
    raw_bytes: count,
    dropped_bytes: count,
  }),
  reasons: fc
    .dictionary(fc.constantFrom('limit', 'size', 'form'), fc.integer({ min: 1, max: 1_000 }))
    .map((said) => new Map(Object.entries(said))),
  rules: fc.dictionary(fc.constantFrom('one', 'two'), fc.integer({ min: 1, max: 1_000 })).map((acted) => new Map(Object.entries(acted))),
  changes: fc.constant(1),
  written: fc.constant(0),
})
const page = fc.uniqueArray(cellOf, {
  maxLength: 40,
  selector: ({ logId, minuteMs: at, identity, protocol }: LedgerCell) => `${logId} ${at} ${identity.id} ${protocol}`,
})

const all = { orgNumber: ORG, fromMs: 0, toMs: NOW_MS + DAY_MS, isOpen: false, logIds: undefined }
const sums =
  'sum(received) as r, sum(stored) as s, sum(duplicate) as d, sum(rejected) as x, sum(truncated) as t, sum(late) as l, sum(missing) as m, sum(wire_bytes) as w, sum(raw_bytes) as b, sum(dropped) as p, sum(dropped_bytes) as q, arraySort(mapKeys(sumMap(rules))) as y, arraySum(mapValues(sumMap(rules))) as z, arraySort(mapKeys(sumMap(reasons))) as k, arraySum(mapValues(sumMap(reasons))) as v'
const having = `having r + s + d + x + t + l + m + w + b + p + q > 0 or v + z > 0`
/** The complete ledger by dataset, identity and protocol, for each day, and for each hour and minute as far as they are kept. */
const ledgerSums = async () => {
  const { hoursMs, daysMs } = rolledBefore(NOW_MS)
  const group = (unit: string, fromMs: number) =>
    ask(
      store.writer,
      `select log_id, identity_id, protocol, ${unit}(minute) as at, ${sums} from ledger final where org_id = ${ORG} and minute >= fromUnixTimestamp(${fromMs / 1_000})
       group by log_id, identity_id, protocol, at ${having} order by log_id, identity_id, protocol, at`,
    )
  return {
    totals: await selectTotals(store, all),
    days: await group('toStartOfDay', 0),
    hours: await group('toStartOfHour', daysMs),
    minutes: await group('toStartOfMinute', hoursMs),
    ingested: await selectIngested(store, all, { slices: 1, isByLog: true }),
  }
}
const rowsLeft = async (where: string) =>
  Number((await ask<{ n: string }>(store.writer, `select count() as n from ledger where ${where}`))[0]?.n)

test('rollups never change a sum, however often they run and however late counts arrive', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 3 }), page, async (pages, late) => {
      await store.writer.command({ query: 'truncate table ledger' })
      for (const cells of pages) {
        const id = randomUUID()
        await insertCells(
          store,
          id,
          1,
          cells.map((cell) => ({ ...cell, counts: { ...cell.counts, stored: 1 } })),
        )
        await insertCells(store, id, 2, cells)
      }
      await insertCorrections(store, [
        { org_id: ORG, log_id: logs[0], minuteMs: NOW_MS - 100 * DAY_MS, version: 1, added: 5, missing: 0, rawBytes: 0 },
        { org_id: ORG, log_id: logs[0], minuteMs: NOW_MS - 5 * DAY_MS, version: 1, added: 0, missing: 3, rawBytes: 0 },
      ])
      const before = await ledgerSums()
      // Simulates a process killed between writing a day and deleting its parts.
      const killedMs = Math.floor(NOW_MS / DAY_MS) * DAY_MS - 90 * DAY_MS
      await rollSpan(store, { fromMs: killedMs, toMs: killedMs + DAY_MS, unit: 'hour' })
      expect(await ledgerSums()).toEqual(before)
      await rollUp(store, NOW_MS, signal)
      expect(await ledgerSums()).toEqual(before)
      expect(await rollUp(store, NOW_MS, signal)).toBe(0)
      await insertCells(store, randomUUID(), 1, late)
      const withLate = await ledgerSums()
      await rollUp(store, NOW_MS, signal)
      expect(await ledgerSums()).toEqual(withLate)
      await rollUp(store, NOW_MS + 95 * DAY_MS, signal)
      const { totals, days, ingested } = await ledgerSums()
      expect({ totals, days, ingested }).toEqual({ totals: withLate.totals, days: withLate.days, ingested: withLate.ingested })
    }),
    { numRuns: CASES },
  )
}, 300_000)

test('the rows of old minutes are deleted from disk: one row per hour, later per day, remains', async () => {
  await store.writer.command({ query: 'truncate table ledger' })
  const [hoursMs, daysMs] = [rolledBefore(NOW_MS).hoursMs, rolledBefore(NOW_MS).daysMs]
  for (const untilMs of [hoursMs + DAY_MS, daysMs + DAY_MS]) {
    await store.writer.command({
      query: `insert into ledger (org_id, log_id, minute, identity_id, protocol, page, version, received, stored, raw_bytes)
        select ${ORG}, '${logs[0]}', fromUnixTimestamp(${untilMs / 1_000} - 60 * (number + 1)), '${keys[0]}', 'native', generateUUIDv4(number), 1, 1, 1, 100
        from numbers(${3 * 1440})`,
    })
  }
  const before = await ledgerSums()
  await rollUp(store, NOW_MS, signal)
  expect(await ledgerSums()).toEqual(before)
  const inDays = await rowsLeft(`minute < fromUnixTimestamp(${daysMs / 1_000})`)
  const inHours = await rowsLeft(`minute >= fromUnixTimestamp(${daysMs / 1_000}) and minute < fromUnixTimestamp(${hoursMs / 1_000})`)
  const inMinutes = await rowsLeft(`minute >= fromUnixTimestamp(${hoursMs / 1_000})`)
  expect({ inDays, inHours, inMinutes }).toEqual({ inDays: 2, inHours: 24 + 2 * 24, inMinutes: 1440 })
}, 300_000)

test('the resolution of the ledger depends on the age of a day', () => {
  const { hoursMs, daysMs } = rolledBefore(NOW_MS)
  expect([unitAt(hoursMs, NOW_MS), unitAt(hoursMs - 1, NOW_MS)]).toEqual([MINUTE_MS, HOUR_MS])
  expect([unitAt(daysMs, NOW_MS), unitAt(daysMs - 1, NOW_MS)]).toEqual([HOUR_MS, DAY_MS])
})
