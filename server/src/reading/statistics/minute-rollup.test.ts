import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openReader, type Reader } from '../../../../test/support/reader.ts'
import { openSendersAlone } from '../../../../test/support/senders.ts'
import { deleteEvents } from '../../events/purge/purge.ts'
import { sliceOf } from '../../query/slices.ts'
import type { EventQuery, StatsRequest } from '../query.ts'
import { countMatching, readStats } from '../reading.ts'
import { minutesOf, wholeMinutes } from './minute-rollup.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const [LEVELS, HOSTS] = [
  ['info', 'warn', 'error'],
  ['node-1', 'node-2', 'node-3', ''],
]

/** An event as the test counts it. */
type Sent = { atMs: number; dataset: string; level: string; host: string; took: number }

let reader: Reader
let sent: Sent[] = []
/** Between the first and the second day, so that whole partitions and parts of them expire. */
let startMs: number
beforeAll(async () => {
  // With stores of its own, so that no merge of other events delays the counts.
  reader = await openReader(await openSendersAlone())
  startMs = Math.floor(reader.senders.app.clock.nowMs() / DAY_MS) * DAY_MS - DAY_MS - 90 * MINUTE_MS + 7_123
  // The store uses counts only where they have fewer granules than the events.
  await send('web', 24_000, 1)
  await send('jobs', 12_000, 2)
  await merge()
  // They arrive after the merge, some of them late.
  await send('web', 300, 3)
})
afterAll(() => reader?.close())

const store = () => reader.senders.app.app.world.events

/** Sends events that are spread over three hours. */
async function send(dataset: string, count: number, seed: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index): Sent => {
    const at = (index * 7_919 + seed * 104_729) % 10_800_000
    return {
      atMs: startMs + at,
      dataset,
      level: LEVELS[(index * seed + (at % 7)) % LEVELS.length] ?? '',
      host: HOSTS[(index + (at % 5)) % HOSTS.length] ?? '',
      // Has no counts, since its values do not repeat.
      took: at,
    }
  })
  const lines = events.map(({ atMs, level, host, took }) =>
    JSON.stringify({ timestamp: new Date(atMs).toISOString(), level, ...(host === '' ? {} : { host }), took }),
  )
  await reader.send(dataset, lines)
  sent = [...sent, ...events]
}

/** Merges each day into one part. The store leaves out parts that it is merging already. */
async function merge(): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    await store().writer.command({ query: 'optimize table pattern_events_s final' })
    const rows = await store().writer.query({
      query: `select count() as parts from system.parts where active and database = currentDatabase() and table = 'pattern_events_s'
        group by partition having parts > 1 or max(level) = 0`,
      format: 'JSONEachRow',
    })
    if ((await rows.json()).length === 0) return
  }
  throw new Error('the parts were not merged')
}

async function storedEvents(): Promise<number> {
  const rows = await store().writer.query({ query: 'select count() as n from pattern_events_s', format: 'JSONEachRow' })
  return Number((await rows.json<{ n: string }>())[0]?.n)
}

const DATASETS = ['web', 'jobs']
const countCall = { name: 'count' } as const

/** The counts of a query, as the store returns them and as the test counts them. */
async function bothCounts(
  bounds: EventQuery['bounds'],
  { groups = [], slices = 1, where = '', keptSinceMs = {} }: Partial<StatsRequest> & Wanted = {},
  meets: (one: Sent) => boolean = () => true,
) {
  const query = await reader.query(DATASETS, where, { bounds })
  const sources = query.sources.map((source) => ({ ...source, keptSinceMs: keptSinceMs[source.dataset] }))
  const eventQuery = { ...query, sources }
  const found = await readStats(store(), eventQuery, { calls: [countCall], groups, slices, limit: 100 })
  const { count } = await countMatching(store(), eventQuery)
  const events = sent.filter(
    (one) => one.atMs >= Math.max(bounds.fromMs, keptSinceMs[one.dataset] ?? 0) && one.atMs < bounds.toMs && meets(one),
  )
  const name = (one: Sent) => JSON.stringify(groups.map((key) => shownValue(one, key)))
  const inSlices = (own: readonly Sent[]) => {
    const counts = Array.from({ length: slices }, () => 0)
    for (const { atMs } of own) counts[sliceOf(bounds, slices, atMs)] = (counts[sliceOf(bounds, slices, atMs)] ?? 0) + 1
    return counts
  }
  const expected = {
    count: events.length,
    whole: events.length,
    slices: slices === 1 ? [events.length] : inSlices(events),
    groups: groups.length === 0 ? {} : Object.fromEntries([...Map.groupBy(events, name)].map(([key, own]) => [key, inSlices(own)])),
  }
  const answer = {
    count,
    whole: found.whole.count,
    slices: found.slices.map((one) => one.count),
    groups: Object.fromEntries(found.groups.map(({ values, slices: own }) => [JSON.stringify(values), own.map((one) => one.count)])),
  }
  return {
    answer,
    expected: { ...expected, slices: slices === 1 && groups.length > 0 ? [events.length] : expected.slices },
    cost: found.cost,
  }
}
type Wanted = { where?: string; keptSinceMs?: Record<string, number> }

function shownValue(one: Sent, key: string): string | null {
  if (key === '@status') return one.level
  if (key === '@dataset') return one.dataset
  return key === 'level' ? one.level : one.host === '' ? null : one.host
}

/** Ranges on and off the borders of minutes, wide and narrow. */
const ranges = () => [
  { fromMs: startMs - MINUTE_MS, toMs: startMs + 200 * MINUTE_MS },
  { fromMs: startMs + 1, toMs: startMs + 10_799_999 },
  { fromMs: Math.ceil(startMs / MINUTE_MS) * MINUTE_MS, toMs: Math.ceil(startMs / MINUTE_MS) * MINUTE_MS + 60 * MINUTE_MS },
  { fromMs: startMs + 33 * MINUTE_MS, toMs: startMs + 34 * MINUTE_MS },
  { fromMs: 0, toMs: startMs + 90 * MINUTE_MS },
]

const GROUPS = [[], ['@status'], ['level'], ['host'], ['@dataset'], ['level', 'host']]

/** Every range with every number of slices, each with other groups. */
async function expectCounts(): Promise<void> {
  const wanted = ranges().flatMap((bounds) => [1, 7, 60].map((slices) => ({ bounds, slices })))
  for (const [index, { bounds, slices }] of wanted.entries()) {
    const groups = GROUPS[index % GROUPS.length] ?? []
    const { answer, expected } = await bothCounts(bounds, { groups, slices })
    const request = { bounds, slices, groups }
    expect({ request, answer }).toEqual({ request, answer: expected })
  }
}

describe('counts by minute are the counts of the events', () => {
  test('for every range, slice and group, with late events', expectCounts)

  test.each<[string, (one: Sent) => boolean]>([
    ["level = 'error'", ({ level }) => level === 'error'],
    ['host IS NULL', ({ host }) => host === ''],
    ["NOT @status = 'info'", ({ level }) => level !== 'info'],
    ["host IN ('node-1', 'node-3')", ({ host }) => host === 'node-1' || host === 'node-3'],
    ["level = 'error' AND host = 'node-2'", ({ level, host }) => level === 'error' && host === 'node-2'],
    ['took > 5000000', ({ took }) => took > 5_000_000],
  ])('where %s', async (where, meets) => {
    const { answer, expected } = await bothCounts(ranges()[1] ?? { fromMs: 0, toMs: 1 }, { where, groups: ['host'], slices: 4 }, meets)
    expect(answer).toEqual(expected)
  })

  test('when datasets keep their events for different times', async () => {
    const keptSinceMs = { web: startMs + 40 * MINUTE_MS + 11, jobs: startMs + 71 * MINUTE_MS }
    const { answer, expected } = await bothCounts(ranges()[1] ?? { fromMs: 0, toMs: 1 }, { groups: ['level'], slices: 5, keptSinceMs })
    expect(answer).toEqual(expected)
  })

  test('and read few rows', async () => {
    const fromMs = Math.floor(startMs / MINUTE_MS) * MINUTE_MS
    const { answer, expected, cost } = await bothCounts({ fromMs, toMs: fromMs + 200 * MINUTE_MS }, { groups: ['host'] })
    expect(answer).toEqual(expected)
    expect(cost.rows).toBeLessThan(sent.length / 2)
  })

  test('also in parts from before there were counts, which merges add', async () => {
    const { writer } = store()
    await writer.command({
      query: 'alter table pattern_events_s clear projection minute_counts',
      clickhouse_settings: { mutations_sync: '2' },
    })
    await expectCounts()
    await send('web', 100, 6)
    await expectCounts()
  })

  test('and show no other organization its rows', async () => {
    const { orgNumber } = await reader.query(DATASETS)
    const visible = async (comment: string) => {
      const rows = await store().reader.query({
        query: 'select c0, count() as n from pattern_events_s where toRelativeMinuteNum(ts) >= 0 group by c0',
        format: 'JSONEachRow',
        clickhouse_settings: { log_comment: comment },
      })
      return (await rows.json<{ n: string }>()).reduce((sum, { n }) => sum + Number(n), 0)
    }
    expect([await visible(String(orgNumber)), await visible(String(orgNumber + 1_000_000)), await visible('')]).toEqual([
      await storedEvents(),
      0,
      0,
    ])
  })

  test('after a deletion of old events and of a dataset, merged or not', async () => {
    const { app } = reader.senders
    const { clock, log } = app.app.world
    const deps = { clock, log, signal: new AbortController().signal, mayRewrite: true }
    const logIdOf = async (dataset: string) => (await reader.source(dataset)).logId
    await send('web', 200, 5)
    const beforeDay = Math.floor(startMs / DAY_MS) + 1
    await deleteEvents(store(), [{ logIds: [await logIdOf('web')], old: { beforeDay, beforeSeq: 2n ** 63n } }], deps)
    sent = sent.filter(({ dataset, atMs }) => dataset !== 'web' || atMs >= beforeDay * DAY_MS)
    await expectCounts()
    await merge()
    await expectCounts()
    await deleteEvents(store(), [{ logIds: [await logIdOf('jobs')] }], deps)
    sent = sent.filter(({ dataset }) => dataset !== 'jobs')
    await expectCounts()
  })
})

test('the minutes at the borders of ranges and slices are counted event by event', () => {
  const bounds = { fromMs: 90_000, toMs: 360_000 }
  expect(minutesOf(bounds, { bounds, slices: 1 })).toEqual({ first: 1, end: 6, mixed: [1] })
  expect(minutesOf(bounds, { bounds, slices: 3 })).toEqual({ first: 1, end: 6, mixed: [1, 4] })
  const whole = { fromMs: 60_000, toMs: 300_000 }
  expect(minutesOf(whole, { bounds: whole, slices: 4 })).toEqual({ first: 1, end: 5, mixed: [] })
})

test.each([
  [
    { first: 1, end: 6, mixed: [] },
    { first: 1, end: 6, inner: [] },
  ],
  [
    { first: 1, end: 6, mixed: [1] },
    { first: 2, end: 6, inner: [] },
  ],
  [
    { first: 1, end: 6, mixed: [5] },
    { first: 1, end: 5, inner: [] },
  ],
  [
    { first: 1, end: 6, mixed: [1, 3, 5] },
    { first: 2, end: 5, inner: [3] },
  ],
  [
    { first: 1, end: 2, mixed: [1] },
    { first: 2, end: 1, inner: [] },
  ],
])('the minutes %o have %o as whole ones', (minutes, whole) => {
  expect(wholeMinutes(minutes)).toEqual({ ...whole, mixed: minutes.mixed })
})
