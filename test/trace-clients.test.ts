import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendSpans } from '../server/src/resources/queries/traces/spans.fixture.ts'
import { openTestApp, type TestApp, type TestOrganization } from './support/world.ts'

/** What Grafana's data sources for Tempo 13.1 and Jaeger 13.0 send, with the times and ids of this test. */

const TRACE = `00${'b'.repeat(30)}`
let app: TestApp
let org: TestOrganization
let startMs: number

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = app.clock.nowMs() - 600_000
  await sendSpans(org, startMs, TRACE, [
    { id: 's1', service: 'shop', name: 'GET /cart/{id}', kind: 2, from: 0, to: 2_000, error: 'no answer' },
    { id: 's2', parent: 's1', service: 'pay', name: 'charge', kind: 3, from: 10, to: 1_500, peer: { 'app/route': 'x' } },
  ])
})
afterAll(() => app.close())

async function get(path: string, accept = 'application/json'): Promise<{ status: number; type: string | null; text: string }> {
  const times = { START: startMs - 3_000_000, END: startMs + 600_000 }
  const whole = path
    .replace(/(START|END)_(US|MS)?/g, (_, name: 'START' | 'END', unit?: string) =>
      String(unit === 'US' ? times[name] * 1_000 : unit === 'MS' ? times[name] : Math.floor(times[name] / 1_000)),
    )
    .replaceAll('TRACE', TRACE)
  const authorization = `Basic ${Buffer.from(`any:${org.key}`).toString('base64')}`
  const reply = await fetch(app.url + whole, {
    headers: { authorization, accept, 'user-agent': 'Grafana/13.1.0', 'accept-encoding': 'gzip' },
  })
  return { status: reply.status, type: reply.headers.get('content-type'), text: await reply.text() }
}

const RANGE = 'start=START_&end=END_'
const search = (q: string) => `/tempo/api/search?end=END_&limit=20&q=${encodeURIComponent(q)}&spss=3&start=START_`
const values = (path: string, tag: string) =>
  `/tempo/api/v2/search/tag/${path}/values?${RANGE}&limit=5000&q=%7B%7D&tag=${encodeURIComponent(tag)}`
const metric = (name: string, q: string) =>
  `/tempo/api/metrics/${name}?end=END_&exemplars=100&q=${encodeURIComponent(q)}&start=START_${name === 'query' ? '' : '&step=15s'}`

test.each<[string, string]>([
  ['/tempo/api/echo', 'echo'],
  [`/tempo/api/v2/search/tags?${RANGE}&limit=5000`, '"app/route","cart.id"'],
  [values('resource.service.name', 'resource.service.name'), '{"type":"string","value":"pay"}'],
  [values('span:name', 'span%3Aname'), '"GET /cart/{id}"'],
  [values('status', 'status'), '{"type":"keyword","value":"error"}'],
  [values('span.app/route', 'span.app%2Froute'), '{"type":"string","value":"x"}'],
  [values('trace:rootName', 'trace%3ArootName'), '"GET /cart/{id}"'],
  [search('{}'), TRACE],
  [search('{traceDuration>1s && trace:rootService="shop"}'), TRACE],
  [search('{resource.service.name="shop" && name="GET /cart/{id}" && status=error && kind=server && duration>100ms}'), TRACE],
  [search('{name=~"GET /cart/{id}|charge" && (span.cart.id="cart-s1" || span.cart.id="cart-s2")}'), TRACE],
  [search('{resource.service.name=~"shop\\\\.eu|pay"} | select(span.cart.id, resource.service.name)'), TRACE],
  [search('{nestedSetParent<0 && status=error} | select(status, name)'), TRACE],
  [
    metric('query_range', '{nestedSetParent<0 && true} | rate() by(resource.service.name)'),
    '{"stringValue":"shop"}}],"samples":[{"timestampMs":"',
  ],
  [metric('query_range', '{nestedSetParent<0 && status=error} | histogram_over_time(duration)'), '"__bucket"'],
  [metric('query_range', '{true && resource.service.name != nil} | quantile_over_time(duration, .9)'), '{"doubleValue":0.9}'],
  [metric('query', '{status=error}|count_over_time()by(resource.service.name)'), '"value":1'],
  [metric('query_range', '{true && nestedSetParent<0} | compare({status = error})'), '"stringValue":"selection_total"'],
  [metric('query', '{} | compare({duration >= 1900ms}, 10, 1775053673000000000, 1975054024000000000)'), '"stringValue":"baseline"'],
  ['/jaeger/api/services', '"data":["pay","shop"]'],
  ['/jaeger/api/services/shop/operations', '"data":["GET /cart/{id}"]'],
  ['/jaeger/api/traces/TRACE', '"operationName":"charge"'],
  ['/jaeger/api/traces/TRACE?end=END_MS&start=START_MS', '"operationName":"charge"'],
  [
    '/jaeger/api/traces?end=END_US&limit=1500&maxDuration=1h&minDuration=1.2s&service=shop&start=START_US&tags=%7B%22error%22%3A%22true%22%7D',
    TRACE,
  ],
  ['/jaeger/api/dependencies?endTs=END_MS&lookback=3600000', '{"parent":"shop","child":"pay","callCount":1}'],
])('%s', async (path, expected) => {
  const { status, text } = await get(path)
  expect([status, text]).toEqual([200, expect.stringContaining(expected)])
})

test.each(['/tempo/api/v2/traces/TRACE', '/tempo/api/traces/TRACE', `/tempo/api/v2/traces/TRACE?${RANGE}`])(
  '%s is protobuf',
  async (path) => {
    const { status, type, text } = await get(path, 'application/protobuf')
    expect([status, type, text]).toEqual([200, 'application/protobuf', expect.stringContaining('GET /cart/{id}')])
  },
)

test.each([
  ['/tempo/api/v2/traces/abc', 404, 'trace not found'],
  [search('{event:name="x"}'), 400, 'not supported'],
  [metric('query_range', '{} | exemplars()'), 400, 'functions are rate'],
])('%s is refused in plain text, which Grafana shows', async (path, expected, reason) => {
  const { status, type, text } = await get(path)
  expect([status, type, text]).toEqual([expected, expect.stringContaining('text/plain'), expect.stringContaining(reason)])
})
