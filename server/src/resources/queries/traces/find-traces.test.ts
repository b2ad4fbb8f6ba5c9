import { contract, type FailureBody, type ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { spansRead } from './find-traces.ts'
import { sendSpans } from './spans.fixture.ts'

type Answer = ReplyOf<typeof contract.traces.find> & FailureBody

const FAST = 'a'.repeat(32)
const SLOW = 'b'.repeat(32)
const BROKEN = 'c'.repeat(32)
const ORPHAN = 'd'.repeat(32)

let app: TestApp
let org: TestOrganization
let startMs: number

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = app.clock.nowMs() - 600_000
  await sendSpans(org, startMs, SLOW, [
    { id: 's1', service: 'shop', name: 'GET /cart', from: 0, to: 2_000 },
    { id: 's2', parent: 's1', service: 'pay', name: 'charge', from: 10, to: 1_500 },
    { id: 's3', parent: 's2', service: 'pay', name: 'store', from: 20, to: 40 },
  ])
  await sendSpans(org, startMs, FAST, [{ id: 'f1', service: 'shop', name: 'GET /', from: 1_000, to: 1_003 }])
  await sendSpans(org, startMs, BROKEN, [
    { id: 'b1', service: 'shop', name: 'GET /cart', from: 5_000, to: 5_300, error: 'no answer' },
    { id: 'b2', parent: 'b1', service: 'pay', name: 'charge', from: 5_010, to: 5_200, error: 'refused' },
  ])
  await sendSpans(org, startMs, ORPHAN, [{ id: 'o1', parent: 'gone', service: 'mail', name: 'send', from: 9_000, to: 9_050 }])
})
afterAll(() => app.close())

const find = (query = '', of = org): Promise<Reply<Answer>> => of.ask<Answer>('GET', `/traces${query}`)
const idsOf = async (query: string): Promise<string[]> => {
  const { status, body } = await find(query)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.traces.map(({ trace_id }) => trace_id[0] ?? '')
}

test('traces are listed newest first, each with its root, services, failures and times', async () => {
  const { status, body } = await find()
  expect(status).toBe(200)
  expect(contract.traces.find.reply.safeParse(body).error?.issues ?? []).toEqual([])
  expect(body).toMatchObject({ has_more: false, is_exact: true })
  expect(body.traces.map(({ trace_id }) => trace_id)).toEqual([ORPHAN, BROKEN, FAST, SLOW])
  const slow = body.traces[3]
  expect(slow).toMatchObject({
    start_time: startMs,
    start_time_unix_nano: `${startMs}000000`,
    duration_nano: 2_000e6,
    spans: 3,
    errors: 0,
    services_total: 2,
    root: { service: 'shop', name: 'GET /cart', status: 'unset', duration_nano: 2_000e6 },
  })
  expect(slow?.services).toEqual([
    { service: 'pay', spans: 2, errors: 0 },
    { service: 'shop', spans: 1, errors: 0 },
  ])
  expect(body.traces[1]).toMatchObject({ errors: 2, root: { status: 'error' } })
  expect(body.traces[0]?.root).toBeUndefined()
  expect(body.traces[0]?.found).toMatchObject({ service: 'mail', name: 'send', duration_nano: 50e6 })
})

test.each([
  ['order=slowest', ['b', 'c', 'd', 'a']],
  ['service=pay', ['c', 'b']],
  ['service=pay&order=slowest', ['b', 'c']],
  ['operation=store', ['b']],
  ['status=error', ['c']],
  ['status=unset', ['d', 'a', 'b']],
  ['status=ok', []],
  ['spans=root', ['c', 'a', 'b']],
  ['service=pay&spans=root', []],
  ['min_duration=1s', ['b']],
  ['min_duration=50ms&max_duration=0.05s', ['d']],
  ['max_duration=3ms', ['a']],
  ['min_duration=15000us&max_duration=20000000ns', ['b']],
  [`where=${encodeURIComponent("$cart.id = 'cart-s3'")}`, ['b']],
  // Both conditions hold for one span.
  [`where=${encodeURIComponent("$cart.id = 'cart-s3'")}&service=shop`, []],
  [`where=${encodeURIComponent('$span.duration_nano > 1000000000')}`, ['b']],
])('%s', async (query, ids) => {
  expect(await idsOf(`?${query}`)).toEqual(ids)
})

test('a limit leaves out the last ones and says so', async () => {
  expect((await find('?limit=2')).body).toMatchObject({
    has_more: true,
    is_exact: true,
    traces: [{ trace_id: ORPHAN }, { trace_id: BROKEN }],
  })
  expect((await find('?limit=4')).body.has_more).toBe(false)
})

test('a range of time leaves out other traces, but not the other spans of a trace that lies in it', async () => {
  const range = `?from_ts=${startMs + 5}&to_ts=${startMs + 2_000}`
  const { traces } = (await find(range)).body
  expect(traces.map(({ trace_id }) => trace_id)).toEqual([FAST, SLOW])
  expect(traces[1]).toMatchObject({ spans: 3, start_time: startMs })
})

test('spans are counted by duration, whatever durations are selected', async () => {
  const expected = [
    { from_nano: 2e6, to_nano: 5e6, spans: 1, errors: 0 },
    { from_nano: 5e6, to_nano: 10e6, spans: 0, errors: 0 },
    { from_nano: 10e6, to_nano: 20e6, spans: 0, errors: 0 },
    { from_nano: 20e6, to_nano: 50e6, spans: 1, errors: 0 },
    { from_nano: 50e6, to_nano: 100e6, spans: 1, errors: 0 },
    { from_nano: 100e6, to_nano: 200e6, spans: 1, errors: 1 },
    { from_nano: 200e6, to_nano: 500e6, spans: 1, errors: 1 },
    { from_nano: 500e6, to_nano: 1e9, spans: 0, errors: 0 },
    { from_nano: 1e9, to_nano: 2e9, spans: 1, errors: 0 },
    { from_nano: 2e9, to_nano: 5e9, spans: 1, errors: 0 },
  ]
  expect((await find('?durations=true')).body.durations).toEqual(expected)
  expect((await find('?durations=true&min_duration=1s')).body).toMatchObject({ durations: expected, traces: [{ trace_id: SLOW }] })
  expect((await find('?durations=true&status=ok')).body.durations).toEqual([])
  expect((await find()).body.durations).toBeUndefined()
})

test('the first page of the newest spans is small, later ones and those of the slowest are large', () => {
  expect([0, 1, 2].map((page) => spansRead(page, 20, undefined))).toEqual([336, 1_000, 1_000])
  expect(spansRead(0, 1, undefined)).toBe(32)
  expect(spansRead(0, 100, undefined)).toBe(1_000)
  expect(spansRead(0, 20, 'slowest')).toBe(1_000)
})

test('a trace with more spans than one page hides no other', async () => {
  const own = await app.newOrganization()
  const many = Array.from({ length: 1_500 }, (_, at) => ({ id: `n${at}`, service: 'batch', from: 2_000 + at, to: 2_001 + at }))
  await sendSpans(own, startMs, FAST, [{ id: 'f1', service: 'shop', from: 0, to: 1 }])
  await sendSpans(own, startMs, SLOW, many)
  const { body } = await find('', own)
  expect(body).toMatchObject({
    is_exact: false,
    has_more: false,
    traces: [
      { trace_id: SLOW, spans: 1_500 },
      { trace_id: FAST, spans: 1 },
    ],
  })
})

test('datasets are selected like those of a search; those of other organizations are not seen', async () => {
  expect(await idsOf('?from=.traces.mail')).toEqual(['d'])
  expect(await idsOf(`?from_expr=${encodeURIComponent("collection = '.traces' AND dataset = 'pay'")}`)).toEqual(['c', 'b'])
  // The whole trace is described, though only one of its datasets was searched.
  expect((await find('?from=.traces.pay')).body.traces[1]).toMatchObject({ spans: 3, root: { service: 'shop' } })
  expect((await find('?from=.traces.none')).status).toBe(404)
  const other = await app.newOrganization()
  expect((await find('?durations=true', other)).body).toEqual({
    traces: [],
    has_more: false,
    durations: [],
    is_sampled: false,
    is_exact: true,
  })
})

test('a policy that hides a dataset hides its spans, in the list and in the rows of other traces', async () => {
  const { body: listed } = await org.ask<{ datasets: { id: string; collection: string; dataset: string }[] }>(
    'GET',
    '/datasets?from_expr=collection%3D%27.traces%27',
  )
  const shop = listed.datasets.find(({ dataset }) => dataset === 'shop')
  const made = await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'limited', roles: ['AdminApi'] } })
  const policy = await org.ask('POST', '/policies', {
    body: {
      policy_type: 'LOG_PERMIT',
      resource: { resource_type: 'LOG', resource_id: shop?.id },
      actions: ['*'],
      principal: { principal_type: 'APIKEY', principal_id: made.body.id },
    },
  })
  expect(policy.status, JSON.stringify(policy.body)).toBeLessThan(300)
  const { body } = await org.ask<Answer>('GET', '/traces?durations=true', { key: made.body.key })
  expect(body.traces.map(({ trace_id, spans, services_total }) => [trace_id, spans, services_total])).toEqual([
    [BROKEN, 1, 1],
    [FAST, 1, 1],
    [SLOW, 1, 1],
  ])
  expect(body.durations?.reduce((sum, { spans }) => sum + spans, 0)).toBe(3)
})

test.each([
  ['min_duration=1', 'min_duration must be a number and a unit'],
  ['min_duration=-1ms', 'min_duration must be a number and a unit'],
  ['max_duration=999999999h', 'max_duration must be less than'],
  ['min_duration=2s&max_duration=1s', 'min_duration must not be longer'],
  ['limit=101', 'limit'],
  ['order=oldest', 'order'],
  ['status=failed', 'status'],
  ['where=%28', 'where'],
  ['from_ts=1', 'to_ts'],
])('%s is a 400 that names it', async (query, details) => {
  const { status, body } = await find(`?${query}`)
  expect([status, body.details]).toEqual([400, expect.stringContaining(details)])
})
