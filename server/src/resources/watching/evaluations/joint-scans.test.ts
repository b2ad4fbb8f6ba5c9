import { ClickHouseError } from '@clickhouse/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import type { Actor } from '../../../http/actor.ts'
import { sql } from '../../../meta/sql.ts'
import type { World } from '../../../world.ts'
import { allDatasets, type DatasetRow } from '../../data/datasets/datasets.ts'
import { planMetrics } from '../../queries/timeseries/timeseries.ts'
import { monitorActor } from '../monitor-definitions/monitor-definitions.ts'
import { readSeries, type WindowSeries } from '../observations/observations.ts'
import { ScanSizes } from './scan-sizes.ts'
import { groupIntoScans, readScan, type SeriesRequest } from './shared-scans.ts'

const MINUTE_MS = 60_000
const SETS = ['one', 'two', 'three', 'four']
const forEver = new AbortController().signal

let senders: Senders
let world: World
let actor: Actor
let datasets: readonly DatasetRow[]
let endMs: number
beforeAll(async () => {
  // Usage counts by sequence number, and those of a shared store may be ahead of the clock.
  senders = await openSendersAlone()
  world = senders.app.app.world
  const nowMs = senders.app.clock.nowMs()
  for (const [at, name] of SETS.entries()) {
    // The same keys lie in other columns of the second dataset, and the last one has none of them.
    const lines = Array.from({ length: 40 * (at + 1) }, (_, index) => ({
      ...(at === 1 ? { [`zone${index % 3}`]: 'x' } : {}),
      timestamp: new Date(nowMs - ((index * 37) % 600) * 1_000 - 1).toISOString(),
      ...(at === 3 ? { other: 1 } : { level: index % 4 === 0 ? 'error' : 'info', region: `r${index % (at + 2)}`, ms: index * (at + 1) }),
      message: `request ${index} of ${name} took ${index} ms`,
    }))
    const { status } = await senders.post(lines.map((line) => JSON.stringify(line)).join('\n'), { headers: { 'x-service-dataset': name } })
    expect(status).toBe(200)
  }
  endMs = senders.app.clock.nowMs() + 1
  const { orgId } = senders.org
  const key = await world.meta.one<{ id: string }>(sql`select id from api_keys where org_id = ${orgId} limit 1`)
  const author = { type: 'API_KEY_ID', id: key?.id ?? '' } as const
  actor = await monitorActor(world, { org_id: orgId, author, author_roles: ['Admin'] })
  datasets = (await allDatasets(world, orgId)).filter(({ dataset }) => SETS.includes(dataset))
  expect(datasets).toHaveLength(SETS.length)
})
afterAll(() => senders?.close())

type Wanted = {
  select?: string
  where?: string
  groups?: string[]
  lengthsMs?: number[]
  windows?: number
  isUsage?: boolean
  patterns?: boolean
}

function requestsFor(chosen: readonly (readonly DatasetRow[])[], wanted: Wanted): SeriesRequest[] {
  const { select = 'count(*)', where = '', groups = [], lengthsMs = [5 * MINUTE_MS], windows = 1, isUsage = false } = wanted
  const [query] = planMetrics([{ name: 'a', select: [select], from_expr: '*', where, groups }]).queries
  if (!query) throw new Error('no query')
  return chosen.flatMap((own) =>
    lengthsMs.map((windowMs) => {
      const fromMs = endMs - windows * windowMs
      const series: WindowSeries = {
        query,
        groups: wanted.patterns ? ['@pattern'] : query.groups,
        isUsage,
        fromMs,
        toMs: endMs,
        stepMs: windowMs,
        windowMs,
        ...(wanted.patterns ? { patternBounds: { fromMs: fromMs - 10 * MINUTE_MS, toMs: endMs } } : {}),
      }
      return { actor, datasets: own, series }
    }),
  )
}

const shown = (reading: unknown): unknown =>
  Array.isArray(reading) ? reading.map((cells: ReadonlyMap<string, unknown>) => [...cells].sort(([a], [b]) => (a < b ? -1 : 1))) : reading

test.each<[string, Wanted]>([
  ['counts', { where: 'level = error' }],
  ['counts of an hour, which are kept by minute', { lengthsMs: [60 * MINUTE_MS] }],
  ['free text', { where: '"took 3"' }],
  ['sums by groups', { select: 'sum(ms)', groups: ['region'] }],
  ['largest values by two groups', { select: 'max(ms)', groups: ['region', '@status'] }],
  ['percentiles', { select: 'p95(ms)' }],
  ['different values', { select: 'unique(region)', where: 'ms > 3' }],
  ['last values', { select: 'last(region)' }],
  ['windows in a row', { windows: 5, lengthsMs: [2 * MINUTE_MS], where: 'EXISTS region' }],
  ['windows of several lengths', { select: 'avg(ms)', lengthsMs: [5 * MINUTE_MS, 10 * MINUTE_MS], groups: ['region'] }],
  ['patterns', { patterns: true }],
  ['usage', { isUsage: true, lengthsMs: [10 * MINUTE_MS] }],
  ['usage by dataset', { isUsage: true, groups: ['@dataset'], lengthsMs: [10 * MINUTE_MS] }],
])('%s of each dataset are the same in one scan as separately', async (_, wanted) => {
  const [one, two, three, four] = datasets
  const apart = [[one], [two], [three, four]].map((own) => own.filter((row) => row !== undefined))
  const requests = requestsFor(apart, wanted)
  const scans = groupIntoScans(requests)
  expect(scans).toHaveLength(1)
  expect(scans[0]).toHaveLength(3)
  const found = await readScan(world, scans[0] ?? [], forEver)
  for (const { series, datasets: own } of requests) {
    const [alone] = await readSeries(world, actor, [series], own, forEver)
    expect(alone?.length).toBeGreaterThan(0)
    expect(shown(found.get(series))).toEqual(shown(alone))
  }
  // Otherwise the results could be the same because there are none.
  expect(
    [...found.values()].some((reading) => Array.isArray(reading) && reading.some((cells: ReadonlyMap<string, unknown>) => cells.size > 0)),
  ).toBe(true)
})

/** The store, but statements that read a dataset fail. */
function storeThatFails({ id }: DatasetRow, failure: unknown): World {
  const read: World['events']['read'] = (statement) =>
    statement.body.includes(id) ? Promise.reject(failure) : world.events.read(statement)
  return { ...world, events: Object.create(world.events, { read: { value: read } }) }
}

test('one whose statement fails does so by itself, and is read apart from the others from then on', async () => {
  const [bad] = datasets
  if (!bad) throw new Error('no dataset')
  const sizes = new ScanSizes(() => endMs)
  const requests = requestsFor(
    datasets.map((own) => [own]),
    { select: 'sum(ms)', where: 'ms >= 0', lengthsMs: [7 * MINUTE_MS] },
  )
  const poor = storeThatFails(bad, new ClickHouseError({ code: '158', type: 'TOO_MANY_ROWS', message: 'too many rows' }))
  const found = await readScan(poor, groupIntoScans(requests)[0] ?? [], forEver, sizes)
  for (const { series, datasets: own } of requests) {
    const [alone] = await readSeries(world, actor, [series], own, forEver)
    const expected = own[0] === bad ? { thrown: expect.any(Error) } : shown(alone)
    expect(shown(found.get(series))).toEqual(expected)
  }
  expect(groupIntoScans(requests, sizes).length).toBeGreaterThan(1)
})
