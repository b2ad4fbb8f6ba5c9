import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sendSpans, spanId } from '../traces/spans.fixture.ts'
import type { JaegerTrace } from './shown-trace.ts'

type Answer<T> = { data: T; total: number; errors: { code?: number; msg: string }[] | null }

const SLOW = 'b'.repeat(32)
const BROKEN = 'c'.repeat(32)

let app: TestApp
let org: TestOrganization
let startMs: number

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = app.clock.nowMs() - 600_000
  await sendSpans(org, startMs, SLOW, [
    { id: 's1', service: 'shop', name: 'GET /cart', kind: 2, from: 0, to: 2_000 },
    { id: 's2', parent: 's1', service: 'pay', name: 'charge', kind: 3, from: 10, to: 1_500 },
  ])
  await sendSpans(org, startMs, BROKEN, [
    { id: 'b1', service: 'shop', name: 'GET /cart', kind: 2, from: 5_000, to: 5_300, error: 'no answer' },
  ])
})
afterAll(() => app.close())

const ask = async <T>(path: string, of = org) => {
  const { status, body } = await of.ask<Answer<T>>('GET', `/jaeger/api/${path}`)
  return { status, ...body }
}
const idsOf = async (query: string): Promise<string[]> => {
  const { status, data, errors } = await ask<JaegerTrace[]>(`traces?${query}`)
  expect([status, errors]).toEqual([200, null])
  return data.map(({ traceID }) => traceID)
}

test('services, their operations and the kinds of these are listed', async () => {
  expect(await ask('services')).toMatchObject({ status: 200, data: ['pay', 'shop'], total: 2, errors: null })
  expect((await ask('services/shop/operations')).data).toEqual(['GET /cart'])
  expect((await ask('operations?service=pay')).data).toEqual([{ name: 'charge', spanKind: 'client' }])
  expect((await ask('operations?service=pay&spanKind=server')).data).toEqual([])
  expect((await ask('operations')).status).toBe(400)
})

test('dependencies are the calls between services in the time before endTs', async () => {
  expect((await ask(`dependencies?endTs=${app.clock.nowMs()}&lookback=3600000`)).data).toEqual([
    { parent: 'shop', child: 'pay', callCount: 1 },
  ])
  expect((await ask('dependencies')).data).toHaveLength(1)
  expect((await ask(`dependencies?endTs=${startMs}&lookback=1000`)).data).toEqual([])
  for (const query of ['endTs=now', 'lookback=1h', 'lookback=0']) expect((await ask(`dependencies?${query}`)).status).toBe(400)
})

test('a trace by its id has its spans, references, processes, tags and logs', async () => {
  const { status, data } = await ask<JaegerTrace[]>(`traces/${BROKEN}`)
  expect(status).toBe(200)
  const [trace] = data
  expect(trace).toMatchObject({ traceID: BROKEN, processes: { p1: { serviceName: 'shop' } }, warnings: null })
  const [span] = trace?.spans ?? []
  expect(span).toMatchObject({
    traceID: BROKEN,
    spanID: spanId('b1'),
    operationName: 'GET /cart',
    references: [],
    startTime: (startMs + 5_000) * 1_000,
    duration: 300_000,
    processID: 'p1',
  })
  expect(span?.tags).toEqual(
    expect.arrayContaining([
      { key: 'cart.id', type: 'string', value: 'cart-b1' },
      { key: 'span.kind', type: 'string', value: 'server' },
      { key: 'otel.status_description', type: 'string', value: 'no answer' },
      { key: 'error', type: 'bool', value: true },
    ]),
  )
  expect(span?.logs).toEqual([
    {
      timestamp: (startMs + 5_001) * 1_000,
      fields: [
        { key: 'event', type: 'string', value: 'exception' },
        { key: 'exception.type', type: 'string', value: 'Refused' },
      ],
    },
  ])
  // Microseconds, or, as Grafana sends them, milliseconds.
  for (const unit of [1, 1_000]) {
    const within = (from: number, to: number) => ask(`traces/${BROKEN}?start=${(startMs + from) * unit}&end=${(startMs + to) * unit}`)
    expect([unit, (await within(0, 60_000)).status]).toEqual([unit, 200])
    expect([unit, (await within(-90_000, -60_000)).status]).toEqual([unit, 404])
  }
  const slow = await ask<JaegerTrace[]>(`traces/${SLOW.toUpperCase()}`)
  expect(slow.data[0]?.spans.map(({ references }) => references.map(({ refType, spanID }) => [refType, spanID]))).toEqual([
    [],
    [['CHILD_OF', spanId('s1')]],
  ])
  expect(Object.values(slow.data[0]?.processes ?? {}).map(({ serviceName }) => serviceName)).toEqual(['shop', 'pay'])
})

test('traces are found newest first by service, operation, tags, durations and times', async () => {
  expect(await idsOf('service=shop')).toEqual([BROKEN, SLOW])
  expect(await idsOf('service=shop&limit=1')).toEqual([BROKEN])
  expect(await idsOf('service=shop&limit=1500')).toEqual([BROKEN, SLOW])
  expect(await idsOf('service=pay&operation=charge')).toEqual([SLOW])
  expect(await idsOf('service=shop&operation=all&minDuration=1.5s')).toEqual([SLOW])
  expect(await idsOf('service=shop&maxDuration=500ms')).toEqual([BROKEN])
  expect(await idsOf(`service=shop&tags=${encodeURIComponent('{"error":"true"}')}`)).toEqual([BROKEN])
  expect(await idsOf(`service=shop&tags=${encodeURIComponent('{"cart.id":"cart-s1","span.kind":"server"}')}`)).toEqual([SLOW])
  expect(await idsOf('service=shop&tag=cart.id:cart-b1')).toEqual([BROKEN])
  expect(await idsOf(`service=shop&start=${(startMs + 4_000) * 1_000}&end=${(startMs + 9_000) * 1_000}`)).toEqual([BROKEN])
  expect(await idsOf('service=shop&lookback=1m')).toEqual([])
  expect(await idsOf(`traceID=${SLOW}&traceID=${BROKEN}`)).toEqual([SLOW, BROKEN])
})

test.each([
  ['traces', 'service'],
  ['traces?service=shop&limit=0', 'limit'],
  ['traces?service=shop&limit=all', 'limit'],
  ['traces?service=shop&minDuration=fast', 'minDuration'],
  ['traces?service=shop&minDuration=2s&maxDuration=1s', 'minDuration'],
  ['traces?service=shop&start=yesterday', 'start'],
  ['traces?service=shop&tags=[]', 'tags'],
  ['traces?service=shop&tags={', 'tags'],
  ['traces?service=shop&tag=x', 'tag'],
  ['traces/nothing', 'traceId'],
])('%s is refused and names %s', async (path, field) => {
  const { status, errors, data } = await ask(path)
  expect([status, data]).toEqual([400, null])
  expect(errors?.[0]).toMatchObject({ code: 400, msg: expect.stringContaining(field) })
})

test('another organization, unknown traces and other paths find nothing', async () => {
  const other = await app.newOrganization()
  expect((await ask('services', other)).data).toEqual([])
  expect((await ask(`traces/${SLOW}`, other)).status).toBe(404)
  expect((await ask(`traces/${'9'.repeat(32)}`)).errors).toEqual([{ code: 404, msg: 'trace not found' }])
  expect((await ask('dependencies', other)).data).toEqual([])
  expect((await ask('metrics/latencies')).status).toBe(404)
})

test('times and durations in the wrong order are refused by the names that they have here', async () => {
  const reason = async (path: string) => (await ask(path)).errors
  const times = [{ code: 400, msg: 'end must not be before start' }]
  expect(await reason('traces?service=shop&start=5&end=3')).toEqual(times)
  expect(await reason(`traces/${SLOW}?start=5&end=3`)).toEqual(times)
  const durations = [{ code: 400, msg: 'minDuration must not be longer than maxDuration' }]
  expect(await reason('traces?service=shop&minDuration=1m1s&maxDuration=1s')).toEqual(durations)
  expect((await ask('traces?service=shop&minDuration=2000h')).status).toBe(200)
})
