import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { openSendersAlone } from '../../../../test/support/senders.ts'
import { deleteEvents } from '../../events/purge/purge.ts'
import { eventsTable } from '../../lines/layout/table.ts'
import { parseFilter } from '../../query/query.ts'
import { growLayouts } from '../../resources/data/catalog/catalog.ts'
import type { EventQuery, QuerySource } from '../query.ts'
import { startQueryRun } from '../run/run.ts'
import { presentPatterns } from './pattern-counts.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
/** The lengths of the periods of each dataset. */
const PERIODS: Readonly<Record<string, readonly number[]>> = { web: [60, 600], jobs: [86_400, 60] }
const DATASETS = Object.keys(PERIODS)
const EVENTS = 40_000
const SPAN_MS = 240 * MINUTE_MS

/** An event as the test counts it. */
type Stored = { readonly dataset: string; readonly atMs: number; readonly seq: number; readonly pattern: number; readonly isError: boolean }

let reader: Reader
/** Before midnight, so that whole partitions and parts of them are removed. */
let startMs: number
let stored: Stored[] = []
beforeAll(async () => {
  // With stores of its own, so that its tables hold nothing else.
  reader = await openReader(await openSendersAlone())
  startMs = Math.floor(nowMs() / DAY_MS) * DAY_MS - 90 * MINUTE_MS
  for (const dataset of DATASETS) await reader.send(dataset, [`{"timestamp":"${new Date(startMs - DAY_MS).toISOString()}","level":"info"}`])
  for (const [dataset, periods] of Object.entries(PERIODS)) for (const periodS of periods) await store(dataset, EVENTS / 4, periodS)
})
afterAll(() => reader?.close())

const events = () => reader.senders.app.app.world.events
const nowMs = () => reader.senders.app.clock.nowMs()

/** Stores rows as the writer does: in a period of a length that the layout of the dataset lists. */
async function store(dataset: string, count: number, periodS: number): Promise<void> {
  const { world } = reader.senders.app.app
  const { logId } = await reader.source(dataset)
  await growLayouts(world, reader.senders.org.orgId, new Map([[logId, { observed: [], open: [], periodS }]]))
  const { located } = await reader.source(dataset)
  const { orgNumber } = await reader.query([dataset])
  const added = Array.from({ length: count }, (_, index): Stored => {
    const seq = stored.length + index + 1
    return { dataset, atMs: startMs + ((seq * 7_919) % SPAN_MS), seq, pattern: seq % 6, isError: seq % 5 === 0 }
  })
  stored = [...stored, ...added]
  await events().writer.insert({
    table: eventsTable(located?.map.tableClass ?? 's', periodS),
    values: added.map(({ atMs, seq, pattern, isError }) => ({
      org_id: orgNumber,
      log_id: logId,
      ts: (atMs / 1_000).toFixed(3),
      seq,
      skeleton: pattern,
      sev: isError ? 'error' : 'info',
      raw: `event ${seq}`,
      period_s: periodS,
    })),
    format: 'JSONEachRow',
  })
  world.events.changes?.beginAnywhere().end()
}

type Wanted = {
  readonly bounds: EventQuery['bounds']
  readonly keptSinceMs?: Readonly<Record<string, number | undefined>>
  readonly required?: QuerySource['required']
}

/** The counts of patterns by dataset as the store returns them, and what it read for that. */
async function found({ bounds, keptSinceMs = {}, required }: Wanted) {
  const query = await reader.query(DATASETS, '', { bounds })
  const sources = query.sources.map((source) => ({
    ...source,
    keptSinceMs: keptSinceMs[source.dataset],
    ...(required ? { required } : {}),
  }))
  const { keepsResults: _, ...fresh } = query
  const queryRun = startQueryRun(fresh)
  const counts = async (run: typeof queryRun, of: EventQuery) => {
    const present = await presentPatterns(events(), run, { ...of, sources })
    return sources.flatMap(({ logId, dataset }) =>
      [...(present.get(logId) ?? [])].map(([pattern, { count, seq }]) => `${dataset} ${pattern}: ${count}, newest ${seq}`),
    )
  }
  const inOrder = (await counts(queryRun, fresh)).sort()
  // Kept results and slices are equal to what is read.
  expect((await counts(startQueryRun({ ...query, sources }), query)).sort()).toEqual(inOrder)
  return { counts: inOrder, rows: queryRun.rows, storedRows: queryRun.storedRows }
}

function expected({ bounds, keptSinceMs = {} }: Wanted, isSeen: (event: Stored) => boolean = () => true): readonly string[] {
  const inRange = stored.filter(
    ({ dataset, atMs, pattern }) => pattern !== 0 && atMs >= Math.max(bounds.fromMs, keptSinceMs[dataset] ?? 0) && atMs < bounds.toMs,
  )
  return [...Map.groupBy(inRange.filter(isSeen), ({ dataset, pattern }) => `${dataset} ${pattern}`)]
    .map(([name, own]) => `${name}: ${own.length}, newest ${Math.max(...own.map(({ seq }) => seq))}`)
    .sort()
}

/** Ranges on and off the borders of periods, wide and narrow. */
const range = fc
  .tuple(
    fc.integer({ min: -20 * MINUTE_MS, max: SPAN_MS }),
    fc.integer({ min: 1, max: SPAN_MS + 40 * MINUTE_MS }),
    fc.constantFrom(1, SECOND_MS, MINUTE_MS),
  )
  .map(([from, length, step]) => {
    const onStep = (ms: number) => Math.floor(ms / step) * step
    return { fromMs: onStep(startMs + from), toMs: onStep(startMs + from) + Math.max(1, onStep(length)) }
  })
const cutoff = fc.option(
  fc.integer({ min: 0, max: SPAN_MS }).map((ms) => startMs + ms),
  { nil: undefined },
)

const expectCounts = async (numRuns: number) =>
  fc.assert(
    fc.asyncProperty(range, cutoff, cutoff, async (bounds, web, jobs) => {
      const wanted = { bounds, keptSinceMs: { web, jobs } }
      expect((await found(wanted)).counts).toEqual(expected(wanted))
    }),
    { numRuns },
  )

describe('counts of patterns that the store keeps by period', () => {
  test('are equal to the events in every range, for datasets with retentions of their own', () => expectCounts(12))

  test('are read instead of events', async () => {
    const wanted = { bounds: { fromMs: startMs - MINUTE_MS, toMs: startMs + SPAN_MS } }
    const { counts, rows, storedRows } = await found(wanted)
    expect(counts).toEqual(expected(wanted))
    expect(storedRows).toBeGreaterThan(0)
    expect(rows).toBeLessThan(EVENTS / 2)
  })

  test('are not used for readers who see only some events', async () => {
    const { filter: required } = parseFilter("@status = 'error'")
    const wanted = { bounds: { fromMs: startMs - MINUTE_MS, toMs: startMs + SPAN_MS }, required }
    const { counts, storedRows } = await found(wanted)
    expect(counts).toEqual(expected(wanted, ({ isError }) => isError))
    expect(storedRows).toBe(0)
  })

  test('show no other organization its rows', async () => {
    const { orgNumber } = await reader.query(DATASETS)
    const visible = async (comment: string) => {
      const rows = await events().reader.query({
        query: 'select skeleton, count() as n from pattern_events_s where period_s = 60 and period >= 0 group by skeleton',
        format: 'JSONEachRow',
        clickhouse_settings: { log_comment: comment },
      })
      return (await rows.json<{ n: string }>()).reduce((sum, { n }) => sum + Number(n), 0)
    }
    expect([await visible(String(orgNumber)), await visible(String(orgNumber + 1_000_000)), await visible('')]).toEqual([EVENTS / 2, 0, 0])
  })

  test('include late events, and parts that have no counts yet', async () => {
    const { writer } = events()
    await writer.command({
      query: 'alter table pattern_events_s clear projection pattern_counts',
      clickhouse_settings: { mutations_sync: '2' },
    })
    await expectCounts(4)
    await store('web', 500, 60)
    await expectCounts(4)
    await writer.command({ query: 'optimize table pattern_events_s' })
    await expectCounts(4)
  })

  test('leave out what was deleted: old days and a whole dataset', async () => {
    const { clock, log } = reader.senders.app.app.world
    const deps = { clock, log, signal: new AbortController().signal, mayRewrite: true }
    const logIdOf = async (dataset: string) => (await reader.source(dataset)).logId
    const beforeDay = Math.floor(startMs / DAY_MS) + 1
    await deleteEvents(events(), [{ logIds: [await logIdOf('web')], old: { beforeDay, beforeSeq: 2n ** 63n } }], deps)
    stored = stored.filter(({ dataset, atMs }) => dataset !== 'web' || atMs >= beforeDay * DAY_MS)
    await expectCounts(4)
    await deleteEvents(events(), [{ logIds: [await logIdOf('jobs')] }], deps)
    stored = stored.filter(({ dataset }) => dataset !== 'jobs')
    await expectCounts(4)
  })
})
