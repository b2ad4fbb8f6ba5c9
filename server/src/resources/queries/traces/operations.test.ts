import { contract, type FailureBody, type ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { type GivenSpan, sendSpans } from './spans.fixture.ts'

type Answer = ReplyOf<typeof contract.traces.operations> & FailureBody

let app: TestApp
let org: TestOrganization

beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  const startMs = app.clock.nowMs() - 600_000
  const carts = Array.from(
    { length: 100 },
    (_, at): GivenSpan => ({ id: `c${at}`, service: 'shop', name: 'GET /cart', from: at, to: 2 * at + 1 }),
  )
  const charges = Array.from(
    { length: 10 },
    (_, at): GivenSpan => ({
      id: `p${at}`,
      parent: `c${at}`,
      service: 'pay',
      name: 'charge',
      from: 0,
      to: 1_000,
      ...(at < 4 ? { error: 'refused' } : {}),
    }),
  )
  const mails: GivenSpan[] = [{ id: 'm', service: 'mail', name: 'GET /cart', from: 0, to: 5_000, error: 'no answer' }]
  await sendSpans(org, startMs, 'a'.repeat(32), [...carts, ...charges, ...mails])
})
afterAll(() => app.close())

const list = (query = '', of = org): Promise<Reply<Answer>> => of.ask<Answer>('GET', `/traces/operations${query}`)
const namesOf = ({ body }: Reply<Answer>): string[] => body.operations.map(({ service, operation }) => `${service} ${operation}`)

test('operations have their number, rate, failures and durations', async () => {
  const { status, body } = await list()
  expect(status).toBe(200)
  expect(contract.traces.operations.reply.safeParse(body).error?.issues ?? []).toEqual([])
  expect(body).toMatchObject({ operations_total: 3, is_exact: true })
  const [carts, charges, mails] = body.operations
  expect(carts).toMatchObject({ service: 'shop', operation: 'GET /cart', spans: 100, errors: 0, max_nano: 100e6 })
  expect(carts?.per_second).toBeCloseTo(100 / 3_600, 6)
  // Durations are 1 to 100 ms, one each.
  expect([carts?.p50_nano, carts?.p95_nano, carts?.p99_nano]).toEqual([51e6, 96e6, 100e6])
  expect(charges).toMatchObject({ service: 'pay', spans: 10, errors: 4, p50_nano: 1_000e6, p99_nano: 1_000e6 })
  // The same name in another service is another operation.
  expect(mails).toMatchObject({ service: 'mail', operation: 'GET /cart', spans: 1, errors: 1 })
})

test.each([
  ['', ['shop GET /cart', 'pay charge', 'mail GET /cart']],
  ['?order=slowest', ['mail GET /cart', 'pay charge', 'shop GET /cart']],
  ['?order=failing', ['pay charge', 'mail GET /cart']],
  ['?order=failing&limit=1', ['pay charge']],
  ['?limit=1', ['shop GET /cart']],
  ['?service=pay', ['pay charge']],
  ['?spans=root', ['shop GET /cart', 'mail GET /cart']],
  [`?where=${encodeURIComponent("$cart.id = 'cart-p3'")}`, ['pay charge']],
  ['?from=.traces.mail', ['mail GET /cart']],
])('%s', async (query, names) => {
  expect(namesOf(await list(query))).toEqual(names)
})

test('those that fail have the number of all their spans', async () => {
  expect((await list('?order=failing')).body.operations.map(({ spans, errors }) => [spans, errors])).toEqual([
    [10, 4],
    [1, 1],
  ])
})

test('another organization sees none, and bad parameters are named', async () => {
  expect((await list('', await app.newOrganization())).body).toEqual({ operations: [], operations_total: 0, is_exact: true })
  for (const [query, field] of [
    ['?limit=201', 'limit'],
    ['?order=newest', 'order'],
    ['?where=%28', 'where'],
  ] as const) {
    const { status, body } = await list(query)
    expect([status, body.details]).toEqual([400, expect.stringContaining(field)])
  }
})
