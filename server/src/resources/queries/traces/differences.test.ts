import { contract, type FailureBody, type ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { type GivenSpan, sendSpans } from './spans.fixture.ts'

type Answer = ReplyOf<typeof contract.traces.differences> & FailureBody

let app: TestApp
let org: TestOrganization

const TRACES = 240
const idOf = (at: number): string => `f${at.toString(16).padStart(31, '0')}`

/** A request that a second service serves; the customer is known at the root, the version below it. */
function requestOf(at: number): GivenSpan[] {
  const customer = `customer-${at % 8}`
  const version = at % 6 === 0 ? '2.0' : '1.9'
  const isSlow = customer === 'customer-2' && version === '2.0'
  const isFailed = at % 40 === 7
  const to = isSlow ? 2_000 : 50 + (at % 30)
  return [
    { id: `root${at}`, name: 'GET /cart', service: 'shop', from: at * 100, to: at * 100 + to, kind: 2, peer: { 'customer.id': customer } },
    {
      ...{ id: `pay${at}`, parent: `root${at}`, name: 'charge', service: 'pay', kind: 2 },
      ...{ from: at * 100 + 5, to: at * 100 + to - 5, peer: { 'pay.version': version } },
      ...(isFailed ? { error: 'refused', peer: { 'pay.version': version, bank: 'northbank' } } : {}),
    },
  ]
}

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  await sendSpans(
    org,
    app.clock.nowMs() - 120_000,
    Array.from({ length: TRACES }, (_, at) => [idOf(at), requestOf(at)] as const),
  )
})
afterAll(() => app?.close())

const differences = (query: string, of = org): Promise<Reply<Answer>> => of.ask<Answer>('GET', `/traces/differences?${query}`)
const labelsOf = ({ findings }: Answer): string[] =>
  findings.flatMap(({ names, shared }) => [...names, ...(shared?.names ?? [])].map(({ label }) => label))

test('slow traces have a customer at the root and a version below it that others have not', async () => {
  const { status, body } = await differences('spans=root&min_duration=1s')
  expect([status, contract.traces.differences.reply.safeParse(body).error?.issues ?? []]).toEqual([200, []])
  expect(body).toMatchObject({ traces: 10, spans: 20, other_traces: TRACES - 10, other_spans: 2 * (TRACES - 10), is_exact: true })
  expect(labelsOf(body)).toEqual(expect.arrayContaining(['$customer.id = customer-2', '$pay.version = 2.0']))
  const customer = body.findings.find(({ names }) => names.some(({ label }) => label === '$customer.id = customer-2'))
  expect(customer).toMatchObject({ change: 'INCREASED', count: 10, baseline_count: 20 })
  expect(customer?.text).toContain('in 50 % of these events and 4.3 % of the others (10 and 20)')
})

test('failed traces are compared with those in which no span failed', async () => {
  const { body } = await differences('status=error')
  expect(body).toMatchObject({ traces: 6, spans: 12, other_traces: TRACES - 6 })
  expect(labelsOf(body)).toContain('$bank = northbank')
  expect(body.findings.find(({ names }) => names.some(({ key }) => key === '$bank'))?.text).toContain('Only here: ')
})

test('the other conditions narrow both sides', async () => {
  const { body } = await differences(`service=pay&min_duration=1s&where=${encodeURIComponent("$pay.version = '2.0'")}`)
  expect(body).toMatchObject({ traces: 10, other_traces: TRACES / 6 - 10 })
  expect(labelsOf(body)).toContain('$customer.id = customer-2')
  expect(labelsOf(body)).not.toContain('$pay.version = 2.0')
})

test('without selected traces, without others and without spans the reply says so', async () => {
  const none = await differences('min_duration=1h')
  expect(none.body).toMatchObject({ traces: 0, spans: 0, other_spans: 0, summary: 'No trace meets the conditions.', findings: [] })
  const all = await differences('min_duration=1ns')
  expect(all.body).toMatchObject({ traces: TRACES, other_traces: 0, summary: `${2 * TRACES} events, and no others to compare with.` })
  const empty = await differences('min_duration=1ns', await app.newOrganization())
  expect(empty.body).toMatchObject({ traces: 0, findings: [], is_exact: true })
})

test('a policy that hides a dataset hides it from findings and numbers', async () => {
  const key = (await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'limited', roles: ['SearchApi'] } })).body
  const { datasets } = (
    await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets?from_expr=collection%3D%27.traces%27')
  ).body
  const pay = datasets.find(({ dataset }) => dataset === 'pay')?.id
  const policy = await org.ask('POST', '/policies', {
    body: {
      policy_type: 'LOG_FORBID',
      resource: { resource_type: 'LOG', resource_id: pay },
      actions: ['*'],
      principal: { principal_type: 'APIKEY', principal_id: key.id },
    },
  })
  expect(policy.status).toBe(201)
  const { body } = await org.ask<Answer>('GET', '/traces/differences?min_duration=1s', { key: key.key })
  expect(body).toMatchObject({ traces: 10, spans: 10, other_traces: TRACES - 10, other_spans: TRACES - 10 })
  expect(labelsOf(body)).toContain('$customer.id = customer-2')
  expect(JSON.stringify(body)).not.toMatch(/pay|charge/)
})

test('a selection without a duration and a status is refused by name', async () => {
  const { status, body } = await differences('service=pay')
  expect([status, body.errors?.map(({ field }) => field)]).toEqual([400, ['min_duration']])
})
