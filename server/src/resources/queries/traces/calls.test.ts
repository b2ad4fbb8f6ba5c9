import { createHash } from 'node:crypto'
import { contract, type FailureBody, type ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { someEnds } from './calls.ts'
import { type CallSpan, serviceCalls } from './service-calls.ts'
import { type GivenSpan, sendSpans } from './spans.fixture.ts'

type Answer = ReplyOf<typeof contract.traces.calls> & FailureBody

let app: TestApp
let org: TestOrganization
let startMs = 0

/** One request: shop calls pay, which has its own step and a database, and sends a message. */
const request: readonly GivenSpan[] = [
  { id: 'root', service: 'shop', from: 0, to: 100, kind: 2 },
  { id: 'out', parent: 'root', service: 'shop', from: 10, to: 90, kind: 3, peer: { 'server.address': 'pay.internal' } },
  { id: 'charge', parent: 'out', service: 'pay', from: 20, to: 60, kind: 2, error: 'refused' },
  { id: 'step', parent: 'charge', service: 'pay', from: 21, to: 30 },
  { id: 'sql', parent: 'charge', service: 'pay', from: 31, to: 41, kind: 3, peer: { 'db.system': 'postgresql', 'server.address': 'db1' } },
  { id: 'mail', parent: 'charge', service: 'pay', from: 42, to: 43, kind: 4, peer: { 'messaging.system': 'kafka' } },
  { id: 'lost', parent: 'never', service: 'mail', from: 42, to: 43, kind: 5 },
]

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = app.clock.nowMs() - 600_000
  for (const digit of '1234') await sendSpans(org, startMs, digit.repeat(32), digit === '1' ? request : request.slice(0, 3))
})
afterAll(() => app.close())

const list = (query = '', of = org): Promise<Reply<Answer>> => of.ask<Answer>('GET', `/traces/calls${query}`)

test('calls between services and to peers have their number, durations and failures', async () => {
  const { status, body } = await list()
  expect(status).toBe(200)
  expect(contract.traces.calls.reply.safeParse(body).error?.issues ?? []).toEqual([])
  const numbers = { p50_nano: 40e6, p95_nano: 40e6, max_nano: 40e6 }
  expect(body.calls).toEqual([
    { from: 'shop', to: 'pay', kind: 'service', calls: 4, per_second: 4 / 3_600, errors: 4, ...numbers },
    expect.objectContaining({ from: 'pay', to: 'kafka', kind: 'queue', calls: 1, errors: 0 }),
    expect.objectContaining({ from: 'pay', to: 'postgresql', kind: 'database', calls: 1, p50_nano: 10e6 }),
  ])
  expect(body.services).toEqual([
    { service: 'shop', spans: 8, errors: 0 },
    { service: 'pay', spans: 7, errors: 4 },
    { service: 'mail', spans: 1, errors: 0 },
  ])
  expect(body).toMatchObject({ services_total: 3, calls_total: 3, spans_total: 16, spans_read: 16, is_exact: true })
})

test.each([
  ['?service=shop', ['shop pay']],
  ['?service=mail', []],
  ['?service=kafka', []],
  ['?limit=1', ['shop pay']],
  ['?from=.traces.pay', ['pay kafka', 'pay postgresql']],
])('%s', async (query, expected) => {
  expect((await list(query)).body.calls.map(({ from, to }) => `${from} ${to}`)).toEqual(expected)
})

test('another organization sees none, and bad parameters are named', async () => {
  expect((await list('', await app.newOrganization())).body).toMatchObject({ services: [], calls: [], spans_total: 0, is_exact: true })
  const { status, body } = await list('?limit=501')
  expect([status, body.details]).toEqual([400, expect.stringContaining('limit')])
})

test('of many spans a part is read, whole traces each, and the numbers are estimates', async () => {
  const busy = await app.newOrganization()
  const requests = 15_000
  const spans = (at: number): GivenSpan[] => [
    { id: `a${at}`, service: 'web', from: 0, to: 20 },
    { id: `b${at}`, parent: `a${at}`, service: 'api', from: 5, to: 15, ...(at % 10 === 0 ? { error: 'no' } : {}) },
  ]
  const batch = 250
  for (let at = 0; at < requests; at += batch) {
    const traces = Array.from({ length: batch }, (_, n) => [traceIdOf(at + n), spans(at + n)] as const)
    await sendSpans(busy, startMs, traces)
  }
  // A trace with very many spans, which is not read, has no part in the numbers of the others.
  const steps = Array.from({ length: 12_000 }, (_, at): GivenSpan => ({ id: at.toString(36), service: 'batch', from: 0, to: 1 }))
  await sendSpans(busy, startMs, 'f'.repeat(32), steps)
  const { body } = await list('', busy)
  expect(body).toMatchObject({ spans_total: 42_000, is_exact: false, calls_total: 1 })
  expect(body.spans_read).toBeGreaterThan(5_000)
  expect(body.spans_read).toBeLessThan(20_000)
  const [call] = body.calls
  expect(call).toMatchObject({ from: 'web', to: 'api', p50_nano: 10e6 })
  expect(Math.abs((call?.calls ?? 0) - requests)).toBeLessThan(requests / 20)
  expect(Math.abs((call?.errors ?? 0) - requests / 10)).toBeLessThan(requests / 50)
})

/** Ids whose ends are spread evenly, without chance. */
const traceIdOf = (at: number): string => createHash('md5').update(String(at)).digest('hex')

describe('serviceCalls', () => {
  test('sampled spans count for those that they stand for, also in percentiles', () => {
    const calls = [1, 1, 8].map((weight, at) => [
      span({ traceId: `t${at}`, service: 'a' }),
      span({ traceId: `t${at}`, id: '2', parentId: '1', service: 'b', durationNano: 30 - 10 * at, weight, isFailed: at === 0 }),
    ])
    const [found] = serviceCalls(calls.flat(), { weight: 1, seconds: 10 })
    expect(found).toMatchObject({ calls: 10, errors: 1, per_second: 1, p50_nano: 10, p95_nano: 30, max_nano: 30 })
  })

  const span = (given: Partial<CallSpan>): CallSpan => ({
    traceId: 't',
    id: '1',
    parentId: undefined,
    service: 'a',
    kind: 'SPAN_KIND_INTERNAL',
    isFailed: false,
    durationNano: 5,
    peer: undefined,
    weight: 1,
    ...given,
  })
  const one = { weight: 1, seconds: 1 }

  test('a span with the same id in another trace is no parent', () => {
    expect(serviceCalls([span({}), span({ traceId: 'u', id: '2', parentId: '1', service: 'b' })], one)).toEqual([])
  })
  test('a server that shares the id of its client is called by it, and has its own spans', () => {
    const client = span({ kind: 'SPAN_KIND_CLIENT', peer: { name: 'b:80', kind: 'peer' } })
    const server = span({ kind: 'SPAN_KIND_SERVER', service: 'b' })
    const store = span({ id: '2', parentId: '1', service: 'b' })
    for (const spans of [
      [client, server, store],
      [store, server, client],
    ]) {
      expect(serviceCalls(spans, one)).toMatchObject([{ from: 'a', to: 'b', kind: 'service', calls: 1 }])
    }
  })
  test('a parent is found whatever the order', () => {
    expect(serviceCalls([span({ id: '2', parentId: '1', service: 'b' }), span({})], one)).toMatchObject([{ from: 'a', to: 'b', calls: 1 }])
  })
  test('a peer named by a span that is no client is none', () => {
    expect(serviceCalls([span({ peer: { name: 'db', kind: 'database' } })], one)).toEqual([])
  })
  test('numbers are multiplied, durations are not', () => {
    const called = span({ id: '2', parentId: '1', service: 'b', isFailed: true })
    expect(serviceCalls([span({}), called], { weight: 3, seconds: 2 })).toMatchObject([
      { calls: 3, per_second: 1.5, errors: 3, p50_nano: 5, max_nano: 5 },
    ])
  })
})

test.each([
  [0.5, 1, 8],
  [0.99, 1, 15],
  [1 / 16, 1, 1],
  [0.06, 2, 15],
  [1 / 3_000, 3, 1],
])('a share of %s of all ids', (share, digits, number) => {
  const choices = someEnds(share)
  expect(choices[0]).toHaveLength(number)
  const ends = choices.flat()
  expect(new Set(ends).size).toBe(ends.length)
  for (const end of ends) expect(end).toHaveLength(digits)
})
