import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { readTraceparent } from '../kernel/own-spans.ts'

type Attribute = { key: string; value: { stringValue?: string; intValue?: string } }
type SentSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: Attribute[]
}

const received: SentSpan[] = []
const posts: { authorization: string | undefined; traceparent: string | undefined }[] = []
let status = 200
/** Whether spans go on to the service that they are about. */
let isForwarding = false
const forwarded: number[] = []
let collector: Server
let app: TestApp
let org: TestOrganization

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    const body = await text(request)
    const { resourceSpans } = JSON.parse(body)
    posts.push({ authorization: request.headers.authorization, traceparent: String(request.headers.traceparent) })
    if (status === 200) received.push(...resourceSpans[0].scopeSpans[0].spans)
    if (isForwarding) {
      const headers = { traceparent: String(request.headers.traceparent), 'content-type': 'application/json', 'x-service-api-key': org.key }
      forwarded.push((await fetch(`${app.url}/v1/traces`, { method: 'POST', headers, body })).status)
    }
    response.writeHead(status).end('{}')
  })
  await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done))
  app = await openTestApp({
    DENDRO_TRACES_URL: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    DENDRO_TRACES_KEY: 'the key of the collector',
    DENDRO_TRACES_SHARE: '0',
  })
  org = await app.newOrganization()
})
afterAll(async () => {
  await app?.close()
  collector?.closeAllConnections()
  collector?.close()
})

let traces = 0
/** A trace of a caller that is recorded. */
function newTrace(): { traceId: string; headers: { traceparent: string } } {
  traces += 1
  const traceId = traces.toString(16).padStart(32, 'a')
  return { traceId, headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } }
}

const spansOf = (traceId: string, name: RegExp): Promise<SentSpan> =>
  vi.waitFor(
    () => {
      const found = received.find((span) => span.traceId === traceId && name.test(span.name))
      if (!found) throw new Error(`no span ${name} of ${received.filter((span) => span.traceId === traceId).map((span) => span.name)}`)
      return found
    },
    { timeout: 240_000, interval: 100 },
  )

const factsOf = ({ attributes }: SentSpan) =>
  Object.fromEntries(attributes.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? Number(intValue)]))

test('a request with a body is a span of its caller, with its statements below it, and no text of it', async () => {
  const { traceId, headers } = newTrace()
  const body = { from_expr: '*', where: "message = 'a secret word'", select: ['count(*)'], time_range: 'Last 1 hour' }
  expect((await org.ask('POST', '/search', { body, headers })).status).toBe(200)
  const request = await spansOf(traceId, /^POST \/search$/)
  expect(request).toMatchObject({ kind: 2, parentSpanId: '00f067aa0ba902b7' })
  expect(factsOf(request)).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/search',
    'http.response.status_code': 200,
    'dendro.action': 'search.run',
    'dendro.organization_id': org.orgId,
    'dendro.correlation_id': expect.any(String),
  })
  const statement = await spansOf(traceId, /^meta select$/)
  expect(statement).toMatchObject({ kind: 3, parentSpanId: request.spanId })
  expect(BigInt(statement.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(request.startTimeUnixNano))
  expect(BigInt(statement.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(request.endTimeUnixNano))
  expect(JSON.stringify(received)).not.toContain('a secret word')
  expect(posts.at(-1)?.authorization).toBe('Bearer the key of the collector')
  // Its own trace is not recorded.
  expect(readTraceparent(posts.at(-1)?.traceparent)?.isSampled).toBe(false)
})

test('a post of events has the phases of ingestion, and a read the statements of the event store', async () => {
  const { traceId, headers } = newTrace()
  const routing = { 'x-service-collection': 'spans', 'x-service-dataset': 'own' }
  expect((await org.ask('POST', '/ingest', { raw: '{"message":"here"}', headers: { ...headers, ...routing } })).status).toBe(200)
  const request = await spansOf(traceId, /^POST ingest/)
  for (const phase of ['ingest parse', 'ingest split', 'ingest store'])
    expect(await spansOf(traceId, new RegExp(phase))).toMatchObject({ kind: 1, parentSpanId: request.spanId })
  const read = newTrace()
  await org.ask('POST', '/search', { body: { from_expr: '*', select: ['*'], time_range: 'Last 1 hour' }, headers: read.headers })
  expect(await spansOf(read.traceId, /^events read$/)).toMatchObject({ kind: 3 })
})

test('a path has its template, also where it is unknown, and its failure a status', async () => {
  const named = newTrace()
  await org.ask('GET', '/datasets/3f0c9a52-7a0e-4a3f-9f6e-0d8f3c1d2b4a', { headers: named.headers })
  expect(factsOf(await spansOf(named.traceId, /^GET /))).toMatchObject({
    'http.response.status_code': 404,
    'http.route': expect.stringContaining('/datasets/:'),
  })
  const unknown = newTrace()
  await org.ask('GET', '/no-such-path/ada@example.org', { headers: unknown.headers })
  expect((await spansOf(unknown.traceId, /^GET /)).name).not.toContain('ada')
})

test('a caller whose trace is not recorded, and a share of nothing, have no spans', async () => {
  const { traceId, headers } = newTrace()
  const before = received.length
  await org.ask('GET', '/datasets', { headers: { traceparent: headers.traceparent.replace(/01$/, '00') } })
  await org.ask('GET', '/datasets')
  const last = newTrace()
  await org.ask('GET', '/sources', { headers: last.headers })
  await spansOf(last.traceId, /^GET \/sources$/)
  expect(received.slice(before).filter((span) => span.traceId !== last.traceId)).toEqual([])
  expect(received.some((span) => span.traceId === traceId)).toBe(false)
})

test('an endpoint that is away gets the spans later, and one that refuses them for good loses them, which is counted', async () => {
  const metric = async (outcome: string): Promise<number> => {
    const { body } = await app.ask<string>('GET', '/metrics', { key: app.managementKey })
    return Number(new RegExp(`^dendro_own_spans_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(body)?.[1])
  }
  status = 503
  const kept = newTrace()
  const before = posts.length
  await org.ask('GET', '/sources', { headers: kept.headers })
  await vi.waitFor(() => expect(posts.length).toBeGreaterThan(before), { timeout: 240_000 })
  status = 200
  await spansOf(kept.traceId, /^GET \/sources$/)
  expect(await metric('delivered')).toBeGreaterThan(0)
  expect(await metric('lost')).toBe(0)
  status = 400
  await org.ask('GET', '/sources', { headers: newTrace().headers })
  await vi.waitFor(async () => expect(await metric('lost')).toBeGreaterThan(0), { timeout: 240_000, interval: 100 })
  status = 200
})

test('spans that a service sends to itself are a trace there, and no span is about that', async () => {
  isForwarding = true
  const { traceId, headers } = newTrace()
  await org.ask('GET', '/sources', { headers })
  await spansOf(traceId, /^GET \/sources$/)
  await vi.waitFor(
    async () => {
      const found = await org.ask<{ spans: unknown[] }>('GET', `/traces/${traceId}`)
      expect([found.status, found.body.spans?.length ?? 0]).toEqual([200, expect.any(Number)])
    },
    { timeout: 240_000, interval: 500 },
  )
  isForwarding = false
  expect(new Set(forwarded)).toEqual(new Set([200]))
  expect(received.filter(({ name }) => name.includes('traces') && name.startsWith('POST'))).toEqual([])
})

test.each([
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', false],
  ['ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', undefined],
  ['00-00000000000000000000000000000000-b7ad6b7169203331-01', undefined],
  ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', undefined],
  ['x', undefined],
])('the header traceparent %s', (header, isSampled) => {
  expect(readTraceparent(header)?.isSampled).toBe(isSampled)
})
