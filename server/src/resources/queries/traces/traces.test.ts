import { contract, type FailureBody, type ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sendSpans, spanId } from './spans.fixture.ts'

type Answer = ReplyOf<typeof contract.traces.get> & FailureBody
const TRACE = '5b8efff798038103d269b633813fc60c'
const SHORT = '00f067aa0ba902b7'

let app: TestApp
let org: TestOrganization
let startMs: number

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = app.clock.nowMs() - 600_000
  await sendSpans(org, startMs, TRACE, [
    { id: 'a', service: 'shop', from: 0, to: 100, name: 'GET /cart', kind: 2 },
    { id: 'b', parent: 'a', service: 'shop', from: 10, to: 60, name: 'call pay', kind: 3 },
    // The clock of this service is 50 ms behind.
    { id: 'c', parent: 'b', service: 'pay', from: -35, to: 5, name: 'pay', kind: 2, error: 'card refused' },
    { id: 'd', parent: 'a', service: 'shop', from: 65, to: 95, name: 'render' },
    { id: 'e', parent: 'f0', service: 'mail', from: 70, to: 80, name: 'send' },
  ])
  await sendLogs(org, [
    { trace_id: TRACE, span_id: spanId('c'), message: 'refused by the bank' },
    { traceId: '5B8EFFF7-9803-8103-D269-B633813FC60C', message: 'upper case and dashes' },
    { dd: { trace_id: TRACE, span_id: spanId('d') }, message: 'members of an object' },
    { trace_id: `${TRACE.slice(0, -1)}d`, message: 'another trace' },
  ])
})
afterAll(() => app.close())

const get = (id: string, query = '', of = org): Promise<Reply<Answer>> => of.ask<Answer>('GET', `/traces/${encodeURIComponent(id)}${query}`)

async function sendLogs(to: TestOrganization, logs: readonly object[]): Promise<void> {
  const lines = logs.map((log, index) => JSON.stringify({ timestamp: new Date(startMs + 20 + index).toISOString(), ...log }))
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  expect((await to.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
}

test('a trace has its spans as a tree, their logs, services, errors and the critical path', async () => {
  const { status, body } = await get(TRACE)
  expect(status).toBe(200)
  expect(contract.traces.get.reply.safeParse(body).error?.issues ?? []).toEqual([])
  expect(body.spans.map(({ name, depth, parent }) => [name, depth, parent])).toEqual([
    ['GET /cart', 0, 'none'],
    ['call pay', 1, 'present'],
    ['pay', 2, 'present'],
    ['render', 1, 'present'],
    ['send', 0, 'missing'],
  ])
  expect(body).toMatchObject({
    trace_id: TRACE,
    root: 0,
    spans_total: 5,
    logs_total: 3,
    is_exact: true,
    duration_nano: 100e6,
    start_time: startMs,
  })
  expect(body.missing_spans).toEqual([spanId('f0')])
  expect(body.spans[2]).toMatchObject({ start_nano: 15e6, duration_nano: 40e6, skew_nano: 50e6, service: 'pay', status: 'error' })
  expect(body.spans[2]?.attributes).toMatchObject({ '$cart.id': 'cart-c' })
  expect(body.spans[2]?.events).toEqual([{ name: 'exception', start_nano: 16e6, attributes: { 'exception.type': 'Refused' } }])
  expect(body.errors).toEqual([{ span: 2, message: 'card refused', is_origin: true }])
  expect(body.logs.map(({ span_id, event }) => [span_id, event.message_kvs.message])).toEqual([
    [spanId('c'), 'refused by the bank'],
    [undefined, 'upper case and dashes'],
    [spanId('d'), 'members of an object'],
  ])
  expect(body.critical_path.reduce((sum, step) => sum + step.duration_nano, 0)).toBe(100e6)
  expect(body.services.map(({ service, spans, errors }) => [service, spans, errors])).toEqual([
    ['shop', 3, 0],
    ['pay', 1, 1],
    ['mail', 1, 0],
  ])
})

test.each([
  ['upper case', TRACE.toUpperCase()],
  ['with dashes', '5b8efff7-9803-8103-d269-b633813fc60c'],
  ['in base64', Buffer.from(TRACE, 'hex').toString('base64')],
])('an id is found %s', async (_form, id) => {
  expect((await get(id)).body.spans_total).toBe(5)
})

test('an id of 16 digits is found with and without its zeros', async () => {
  const own = await app.newOrganization()
  await sendSpans(own, startMs, SHORT.padStart(32, '0'), [{ id: 'a', service: 's', from: 0, to: 1 }])
  await sendLogs(own, [{ trace_id: SHORT, message: 'short' }])
  for (const id of [SHORT, SHORT.padStart(32, '0')]) expect((await get(id, '', own)).body).toMatchObject({ spans_total: 1, logs_total: 1 })
})

test('a rough time and a range find it, and fewer logs are said to be fewer', async () => {
  expect((await get(TRACE, `?timestamp=${startMs + 60_000}`)).body.spans_total).toBe(5)
  expect((await get(TRACE, `?from_ts=${startMs - 1_000}&to_ts=${startMs + 1_000}`)).body.spans_total).toBe(5)
  expect((await get(TRACE, `?from_ts=${startMs - 1_000}&to_ts=${startMs - 500}`)).status).toBe(404)
  expect((await get(TRACE, '?logs=1')).body).toMatchObject({ logs_total: 3, logs: [expect.anything()], is_exact: false })
  expect((await get(TRACE, '?logs=0')).body).toMatchObject({ logs_total: 3, logs: [], is_exact: false })
})

test('events alone make a trace without spans', async () => {
  const { body } = await get(`${TRACE.slice(0, -1)}d`)
  expect(body).toMatchObject({ spans: [], logs_total: 1, is_exact: true })
  expect(body.root).toBeUndefined()
})

test('a text that is no id is a 400 that names it; an unknown one and that of another organization are a 404', async () => {
  const refused = await get('xyz')
  expect([refused.status, refused.body.details]).toEqual([400, expect.stringContaining('traceId must be')])
  expect((await get('0'.repeat(32))).status).toBe(400)
  expect((await get(TRACE, '?timestamp=1&time_range=last%201%20day')).status).toBe(400)
  expect((await get('1'.repeat(32))).status).toBe(404)
  expect((await get(TRACE, '', await app.newOrganization())).status).toBe(404)
})
