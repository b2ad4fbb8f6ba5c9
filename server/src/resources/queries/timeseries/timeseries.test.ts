import { contract, type FailureBody, type MetricDefinition, type MetricTimeseries } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const MINUTE_MS = 60_000

let app: TestApp
let org: TestOrganization
let log: string
let startMs: number
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = Math.floor(app.clock.nowMs() / MINUTE_MS) * MINUTE_MS - 10 * MINUTE_MS
  // Ten events in each of two minutes; in the first minute every second one is an error, in the second every fifth.
  const lines = Array.from({ length: 20 }, (_, index) =>
    JSON.stringify({
      timestamp: new Date(startMs + index * 6_000).toISOString(),
      level: index % (index < 10 ? 2 : 5) === 0 ? 'error' : 'info',
      ms: index + 1,
    }),
  )
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  log = body.datasets.find(({ dataset }) => dataset === 'web')?.id ?? ''
})
afterAll(() => app.close())

type Answer = Record<string, MetricTimeseries>
const query = (name: string, more: object = {}) => ({ name, select: ['count(*)'], from: [log], where: '', ...more })
const range = () => ({ from_ts: startMs, to_ts: startMs + 2 * MINUTE_MS })
const ask = (body: object): Promise<Reply<Answer>> =>
  org.ask<Answer>('POST', '/timeseries/search', { body: { time_range: range(), num_of_slices: 2, ...body } })
const values = (measured: MetricTimeseries | undefined) => measured?.series.map(({ value }) => value)

describe('queries and formulas', () => {
  test('give slices and one number each, under their names', async () => {
    const reply = await ask({
      queries: [query('errors', { where: "level = 'error'" }), query('total')],
      formulas: [{ name: 'share', expression: 'errors / total * 100' }],
    })
    expect(reply.status).toBe(200)
    expect(contract.timeseries.search.reply.safeParse(reply.body).error?.issues ?? []).toEqual([])
    const { errors, total, share } = reply.body
    expect([values(errors), values(total), values(share)]).toEqual([
      [5, 2],
      [10, 10],
      [50, 20],
    ])
    expect(errors).toMatchObject({ name: 'errors', aggregates: [{ function: 'count(*)', value: 7 }], is_exact: true, groups_series: [] })
    expect(errors?.series[1]).toEqual({ '@timestamp': String(startMs + MINUTE_MS), count: 2, value: 2, quantiles: {} })
    expect(share).toMatchObject({
      aggregates: [{ function: 'errors / total * 100', value: 35 }],
      queries: [{ name: 'errors' }, { name: 'total' }],
      formulas: [{ name: 'share' }],
    })
  })

  test('apply the time function to a key and reduce_to to the slices', async () => {
    const { body } = await ask({
      queries: [
        query('plain', { select: ['ms'] }),
        query('most', { select: ['ms'], aggregation: [{ time: 'max', reduce_to: 'min' }] }),
        query('whole', { select: ['avg(ms)'] }),
      ],
    })
    expect(body.plain).toMatchObject({ aggregates: [{ function: 'sum(ms)', value: 105 }] })
    expect(values(body.plain)).toEqual([55, 155])
    expect(body.most).toMatchObject({ aggregates: [{ function: 'max(ms)', value: 10 }] })
    expect(body.whole).toMatchObject({ aggregates: [{ function: 'avg(ms)', value: 10.5 }] })
  })

  test('are given for each group, and formulas for the groups that all of their queries have', async () => {
    const { body } = await ask({
      queries: [
        query('all', { groups: ['level'] }),
        query('early', { groups: ['level'], where: "ms <= 2 AND level = 'info'" }),
        query('alone', { where: "level = 'error'" }),
      ],
      formulas: [
        { name: 'share', expression: 'early / all' },
        { name: 'of', expression: 'all / alone' },
      ],
    })
    expect(
      body.all?.groups_series.map(({ key, name, value, timeseries }) => [key, name, value, timeseries.map((slice) => slice.value)]),
    ).toEqual([
      ['level', 'info', 13, [5, 8]],
      ['level', 'error', 7, [5, 2]],
    ])
    expect(body.share?.groups_series.map(({ name, count, timeseries }) => [name, count, timeseries.map((slice) => slice.value)])).toEqual([
      ['info', 14, [0.2, 0]],
    ])
    expect(body.of?.groups_series.map(({ name, value }) => [name, value])).toEqual([
      ['info', 13 / 7],
      ['error', 1],
    ])
  })

  test('are compared with the period before, or with a named one', async () => {
    const time_range = { from_ts: startMs + MINUTE_MS, to_ts: startMs + 2 * MINUTE_MS }
    const queries = [query('errors', { where: "level = 'error'", groups: ['level'] })]
    const before = await ask({ queries, time_range, delta: { enabled: true } })
    const delta = {
      start_time: startMs,
      end_time: startMs + MINUTE_MS,
      total_count: 5,
      total_value: 5,
      delta_value: -3,
      delta_factor: -0.6,
    }
    expect(before.body.errors?.delta).toEqual({
      ...delta,
      aggregates: [{ function: 'count(*)', value: 5 }],
      changes: [{ function: 'count(*)', value: -3, factor: -0.6 }],
    })
    expect(before.body.errors?.groups_series[0]?.delta).toMatchObject(delta)
    const named = await ask({ queries, time_range, delta: { enabled: true, from_ts: 0, to_ts: 1_000, natural: 'yesterday' } })
    expect((named.body.errors?.delta?.end_time ?? 0) - (named.body.errors?.delta?.start_time ?? 0)).toBe(24 * 60 * MINUTE_MS)
    expect((await ask({ queries, time_range, delta: { enabled: false } })).body.errors).not.toHaveProperty('delta')
  })

  test('compare a group with its own past, also where it was not among the largest, and with 0 where it was not', async () => {
    const time_range = { from_ts: startMs + MINUTE_MS, to_ts: startMs + 2 * MINUTE_MS }
    const compared = (where: string, more: object = {}) =>
      ask({ queries: [query('one', { groups: ['ms'], where, ...more })], time_range, limit: 1, delta: { enabled: true, ...range() } })
    // The group of 11 is the first of the minute; all groups before it in the longer range are as large.
    const deltas = async (reply: Promise<Reply<Answer>>) => (await reply).body.one?.groups_series.map(({ name, delta }) => [name, delta])
    expect(await deltas(compared(''))).toMatchObject([['11', { total_count: 1, delta_value: 0, aggregates: [{ value: 1 }] }]])
    const before = { delta: { enabled: true } }
    const gone = await ask({ queries: [query('one', { groups: ['ms'], where: 'ms > 10' })], time_range, limit: 1, ...before })
    expect(gone.body.one?.groups_series[0]?.delta).toMatchObject({ total_count: 0, aggregates: [{ function: 'count(*)', value: 0 }] })
    const least = await ask({ queries: [query('one', { groups: ['ms'], select: ['min(ms)'] })], time_range, limit: 1, ...before })
    expect(least.body.one?.groups_series[0]?.delta).toMatchObject({ total_count: 0, aggregates: [{ function: 'min(ms)', value: null }] })
  })

  test('give a formula the largest of its own groups, whatever the groups of its queries are', async () => {
    // Both queries have the groups 6 and 7, and neither has them first.
    const queries = [query('late', { groups: ['ms'], where: 'ms > 5' }), query('early', { groups: ['ms'], where: 'ms < 8' })]
    const { body } = await ask({ queries, formulas: [{ name: 'both', expression: 'late + early' }], limit: 1 })
    expect(body.both?.groups_series.map(({ name, value }) => [name, value])).toEqual([['6', 2]])
    expect([body.late, body.early].map((measured) => measured?.groups_series.length)).toEqual([1, 1])
  })

  test('carry warnings for each query, also about events that a query may leave out by mistake', async () => {
    const { body } = await ask({
      queries: [query('odd', { where: 'level = "error"' }), query('lost', { where: "level = 'error' AND region != 'eu'" }), query('plain')],
      formulas: [{ name: 'both', expression: 'odd + lost' }],
    })
    const said = Object.entries(body).map(([name, { warnings }]) => [name, warnings?.map(({ field, code }) => `${field} ${code}`)])
    expect(said).toEqual([
      ['odd', ['queries.0.where DQ_VALUE']],
      ['lost', ['queries.1.where UNKNOWN_KEY', 'queries.1.where MISSING_EXCLUDED']],
      ['plain', undefined],
      ['both', undefined],
    ])
    expect(contract.timeseries.search.reply.safeParse(body).error?.issues ?? []).toEqual([])
  })

  test.each<[string, object, string]>([
    ['no range', { time_range: {} }, 'time_range.natural'],
    ['two ranges', { time_range: { natural: 'Last 1 hour', from_ts: 1, to_ts: 2 } }, 'time_range.natural'],
    ['half a range', { time_range: { from_ts: 1 } }, 'time_range.from_ts'],
    ['a period that is none', { delta: { enabled: true, natural: 'soon' } }, 'delta.natural'],
    ['half a period', { delta: { enabled: true, to_ts: 1 } }, 'delta.to_ts'],
    [
      'a selector that is none',
      { queries: [{ name: 'a', select: ['count(*)'], from_expr: 'dataset ==', where: '' }] },
      'queries.0.from_expr',
    ],
    ['a filter that is none', { queries: [{ name: 'a', select: ['count(*)'], from_expr: '*', where: 'b =' }] }, 'queries.0.where'],
    ['no dataset named', { queries: [{ name: 'a', select: ['count(*)'], where: '' }] }, 'queries.0.from'],
    ['a formula over nothing', { formulas: [{ name: 'f', expression: 'nobody * 2' }] }, 'formulas.0.expression'],
    [
      'seven queries',
      { queries: Array.from({ length: 7 }, (_, index) => ({ name: `q${index}`, select: ['count(*)'], from_expr: '*', where: '' })) },
      'queries',
    ],
    ['two selected', { queries: [{ name: 'a', select: ['x', 'y'], from_expr: '*', where: '' }] }, 'queries.0.select'],
  ])('with %s are refused by naming the field', async (_, wrong, field) => {
    const { status, body } = await ask({ queries: [query('a')], ...wrong })
    expect([status, (body as unknown as FailureBody).errors?.[0]?.field]).toEqual([400, field])
  })

  test('over datasets that do not exist are a 404', async () => {
    expect((await ask({ queries: [query('a', { from: ['00000000-0000-4000-8000-000000000000'] })] })).status).toBe(404)
  })
})

describe('a metric definition', () => {
  const draft = () => ({
    name: 'Share of errors',
    queries: [query('errors', { where: "level = 'error'" }), query('total')],
    formulas: [{ name: 'share', expression: 'errors / total' }],
  })
  const create = () => org.ask<MetricDefinition & FailureBody>('POST', '/metrics/definitions', { body: draft() })

  test('is stored, listed, replaced and deleted', async () => {
    const made = await create()
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'Share of errors', queries: [{ id: expect.any(String), name: 'errors' }, {}] },
    })
    const { id } = made.body
    expect(
      (await org.ask<{ metric_definitions: MetricDefinition[] }>('GET', '/metrics/definitions')).body.metric_definitions,
    ).toContainEqual(made.body)
    const replaced = await org.ask('PUT', `/metrics/definitions/${id}`, { body: { queries: [query('one')] } })
    expect(replaced).toMatchObject({ status: 200, body: { id, queries: [{ name: 'one' }] } })
    expect(replaced.body).not.toHaveProperty('name')
    expect((await org.ask('GET', `/metrics/definitions/${id}`)).body).toEqual(replaced.body)
    expect((await org.ask('DELETE', `/metrics/definitions/${id}`)).status).toBe(204)
    expect((await org.ask('GET', `/metrics/definitions/${id}`)).status).toBe(404)
  })

  test('is measured by its id, with a further condition when one is given', async () => {
    const { id } = (await create()).body
    const path = `/timeseries/${id}?from_ts=${startMs}&to_ts=${startMs + 2 * MINUTE_MS}&num_of_slices=2`
    const whole = await org.ask<Answer>('GET', path)
    expect(contract.timeseries.get.reply.safeParse(whole.body).error?.issues ?? []).toEqual([])
    expect([values(whole.body.errors), values(whole.body.share)]).toEqual([
      [5, 2],
      [0.5, 0.2],
    ])
    const part = await org.ask<Answer>('GET', `${path}&where=${encodeURIComponent('ms <= 4')}&delta=true`)
    expect([values(part.body.errors), part.body.total?.delta?.total_count]).toEqual([[2, 0], 0])
    expect((await org.ask<Answer>('GET', `/timeseries/${id}`)).body.total?.series).toHaveLength(10)
  })

  test('that is invalid, or names datasets that do not exist, is rejected', async () => {
    const refused = async (body: object) => (await org.ask<FailureBody>('POST', '/metrics/definitions', { body })).body.errors?.[0]?.field
    expect(await refused({ queries: [query('a', { where: 'x ==  1' })] })).toBe('queries.0.where')
    expect(await refused({ queries: [query('a', { from: ['00000000-0000-4000-8000-000000000000'] })] })).toBe('queries.0.from')
    expect(await refused({ queries: [] })).toBe('queries')
  })
})
