import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'

const CART = 'a'.repeat(32)
const FAILED = 'b'.repeat(32)
const LONG = 'c'.repeat(32)

let app: TestApp
let org: TestOrganization
let folder: string
let startMs: number

type Given = { id: number; parent?: number; name: string; service: string; from: number; to: number; error?: string }

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  folder = await mkdtemp(join(tmpdir(), 'dendro-cli-'))
  startMs = app.clock.nowMs() - 60_000
  await sendSpans(CART, [
    { id: 1, name: 'GET /cart', service: 'shop', from: 0, to: 2_000 },
    { id: 2, parent: 1, name: 'load \u202e', service: 'store', from: 500, to: 1_000 },
  ])
  await sendSpans(FAILED, [{ id: 3, parent: 9, name: 'charge', service: 'pay', from: 3_000, to: 3_250, error: 'card refused' }])
  const headers = { 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  const log = { timestamp: new Date(startMs + 100).toISOString(), level: 'warn', message: 'slow store', trace_id: CART }
  expect((await org.ask('POST', '/ingest', { raw: JSON.stringify(log), headers })).status).toBe(200)
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function sendSpans(traceId: string, spans: readonly Given[]): Promise<void> {
  const nano = (offset: number) => `${startMs + offset}000000`
  const spanId = (id: number) => String(id).padStart(16, '0')
  const resourceSpans = spans.map(({ id, parent, name, service, from, to, error }) => ({
    resource: { attributes: [{ key: 'service.name', value: { stringValue: service } }] },
    scopeSpans: [
      {
        spans: [
          {
            traceId,
            spanId: spanId(id),
            ...(parent === undefined ? {} : { parentSpanId: spanId(parent) }),
            name,
            startTimeUnixNano: nano(from),
            endTimeUnixNano: nano(to),
            ...(error ? { status: { code: 2, message: error } } : {}),
          },
        ],
      },
    ],
  }))
  const headers = { 'content-type': 'application/json' }
  expect((await org.ask('POST', '/v1/traces', { raw: JSON.stringify({ resourceSpans }), headers })).status).toBe(200)
}

const dendro = (words: string[]): Promise<Ran> =>
  runCaptured(words, { env: { DENDRO_URL: app.url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: folder } })
const cellsOf = ({ out }: Ran): string[][] => out.split('\n').map((line) => line.split(/ {2,}/))

test('traces are a table, newest first', async () => {
  const ran = await dendro(['traces'])
  expect(ran).toMatchObject({ status: 0, err: '' })
  expect(cellsOf(ran)).toEqual([
    ['STARTED', 'DURATION', 'TRACE_ID', 'SPANS', 'FAILED', 'SERVICE', 'OPERATION', 'SERVICES'],
    [expect.stringMatching(/^\d{4}-\d\d-\d\d .*Z$/), '250 ms', FAILED, '1', '1', 'pay', '… charge', 'pay'],
    [expect.any(String), '2 s', CART, '2', '0', 'shop', 'GET /cart', 'shop, store'],
  ])
})

test.each([
  [['--slowest'], [CART, FAILED]],
  [['--service', 'store'], [CART]],
  [['--operation', 'charge', '--status', 'error'], [FAILED]],
  [['--min', '1s', '--max', '2s'], [CART]],
  [['--root'], [CART]],
  [['$span.name', '=', "'charge'"], [FAILED]],
  [['--where', "$span.name = 'GET /cart'"], [CART]],
  [['--from-expr', "collection = '.traces' AND dataset = 'pay'"], [FAILED]],
  [['-t', '15s'], []],
])('traces %s', async (words, ids) => {
  const { status, out, err } = await dendro(['traces', ...words, '--output', 'json'])
  expect({ status, err }).toEqual({ status: 0, err: '' })
  expect((JSON.parse(out) as { trace_id: string }[]).map(({ trace_id }) => trace_id)).toEqual(ids)
})

test('fewer traces than there are say so, and a wrong duration is refused', async () => {
  expect((await dendro(['traces', '-n', '1'])).err).toMatch(/^There are more/)
  expect(await dendro(['traces', '--min', '7'])).toMatchObject({
    status: 1,
    err: expect.stringContaining('min_duration must be a number and a unit'),
  })
  expect((await dendro(['traces', '-n', '101'])).status).toBe(2)
})

test('a trace is a tree of spans with bars, and control characters are not printed', async () => {
  const { status, out, err } = await dendro(['trace', CART])
  expect({ status, err }).toEqual({ status: 0, err: '' })
  const [head, , ...rows] = out.split('\n')
  expect(head).toMatch(new RegExp(`^${CART} · .* · 2 s · 2 spans · 2 services · 1 log event$`))
  expect(rows).toEqual([
    expect.stringMatching(/^STARTS {2,}TAKES {2,}SERVICE {2,}SPAN$/),
    `0 ns    2 s     ${'█'.repeat(24)}  shop     GET /cart`,
    `500 ms  500 ms  ${'·'.repeat(6)}${'█'.repeat(6)}${'·'.repeat(12)}  store      load \\u202e`,
  ])
})

test('a trace shows what failed, what is missing, and on request its log events', async () => {
  const failed = await dendro(['trace', FAILED])
  expect(failed.out).toMatch(/charge \(failed\) \(parent missing\)/)
  expect(failed.out).toMatch(/pay charge {2}yes {5}card refused/)
  expect(failed.err).toBe('1 parent span missing')
  expect((await dendro(['trace', CART, '--logs'])).out).toMatch(/WARN {2}default\.web slow store/)
  expect(JSON.parse((await dendro(['trace', CART, '--output', 'json'])).out)).toMatchObject({ trace_id: CART, spans: [{}, {}] })
  const lines = (await dendro(['trace', CART, '--output', 'ndjson'])).out.split('\n')
  expect(lines.map((line) => JSON.parse(line).name)).toEqual(['GET /cart', 'load \u202e'])
  expect(await dendro(['trace', '1'.repeat(32)])).toMatchObject({ status: 1, err: expect.stringContaining('no span or event') })
})

test('names of 100,000 characters are cut in tables, with an ellipsis, and whole in other forms', async () => {
  const name = 'n'.repeat(100_000)
  await sendSpans(LONG, [{ id: 4, name, service: `s${name}`, from: 0, to: 10, error: `m${name}` }])
  for (const words of [['trace', LONG], ['traces']]) {
    const { out } = await dendro(words)
    expect(Math.max(...out.split('\n').map((line) => line.length))).toBeLessThan(1_000)
    expect(out).toContain('nnn…')
  }
  expect(JSON.parse((await dendro(['trace', LONG, '--output', 'json'])).out)).toMatchObject({ spans: [{ name, service: `s${name}` }] })
})
