import { type ContextResponse, contract, type Event, type FailureBody } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

const SECOND_MS = 1_000

let app: TestApp
let org: TestOrganization
let log: string
let startMs: number
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = Math.floor(app.clock.nowMs() / 60_000) * 60_000 - 3_600_000
  // 40 events a second apart, five of them in one millisecond, then more than a minute of silence, then three more.
  const seconds = [...Array.from({ length: 40 }, (_, index) => (index >= 20 && index < 25 ? 20 : index)), 101, 102, 103]
  const lines = seconds.map((second, index) =>
    JSON.stringify({ timestamp: new Date(startMs + second * SECOND_MS).toISOString(), n: index }),
  )
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  log = body.datasets.find(({ dataset }) => dataset === 'web')?.id ?? ''
})
afterAll(() => app.close())

type Answer = ContextResponse & FailureBody
const around = (query: Record<string, string | number>): Promise<Reply<Answer>> =>
  org.ask<Answer>(
    'GET',
    `/context?${new URLSearchParams({ from: log, ...Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])) })}`,
  )
const numbers = (reply: Reply<Answer>): number[] => reply.body.events.map((event: Event) => Number(event.message_kvs.n))
const upTo = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, index) => first + index)
const follow = (reply: Reply<Answer>, rel: string): Promise<Reply<Answer>> =>
  org.ask<Answer>('GET', (reply.body.links.find((link) => link.rel === rel)?.href ?? '').slice(app.url.length))
const rels = (reply: Reply<Answer>): string[] => reply.body.links.map(({ rel }) => rel)

/** The context link of an event of a search. */
async function contextOf(n: number): Promise<string> {
  const body = { from: [log], where: `n = ${n}`, select: ['n'], from_ts: startMs, to_ts: startMs + 200_000 }
  const found = await org.ask<Answer>('POST', '/search', { body })
  return (found.body.events[0]?.links[0]?.href ?? '').slice(app.url.length)
}

describe('the events around one', () => {
  test('are found by the link it carries, whole, oldest first, in both forms', async () => {
    const reply = await org.ask<Answer>('GET', `${await contextOf(22)}&limit=5`)
    expect(reply.status).toBe(200)
    expect(contract.context.get.reply.safeParse(reply.body).error?.issues ?? []).toEqual([])
    expect(numbers(reply)).toEqual([20, 21, 22, 23, 24])
    expect(reply.body.events[2]).toMatchObject({ '@raw': expect.stringContaining('"n":22') })
    expect(reply.body.result.map((row) => row.n)).toEqual(['20', '21', '22', '23', '24'])
  })

  test('are before it, after it, or half and half, and always include the event itself', async () => {
    const path = await contextOf(22)
    expect(numbers(await org.ask('GET', `${path}&limit=4&direction=before`))).toEqual([19, 20, 21, 22])
    expect(numbers(await org.ask('GET', `${path}&limit=4&direction=after`))).toEqual([22, 23, 24, 25])
    expect(numbers(await org.ask('GET', `${path}&limit=4`))).toEqual([20, 21, 22, 23])
    expect(numbers(await org.ask('GET', `${path}&limit=1`))).toEqual([22])
  })

  test('fill up with one side when the other has too few', async () => {
    expect(numbers(await org.ask('GET', `${await contextOf(1)}&limit=10`))).toEqual(upTo(0, 9))
    expect(numbers(await org.ask('GET', `${await contextOf(38)}&limit=10`))).toEqual(upTo(30, 39))
  })

  test('end at a gap of one minute, with no link beyond it', async () => {
    const end = await org.ask<Answer>('GET', `${await contextOf(39)}&limit=100`)
    expect(numbers(end)).toEqual(upTo(0, 39))
    expect(rels(end)).toEqual([])
    expect(numbers(await org.ask('GET', await contextOf(41)))).toEqual([40, 41, 42])
  })

  test('continue by links, each event once', async () => {
    const middle = await org.ask<Answer>('GET', `${await contextOf(22)}&limit=10`)
    expect(rels(middle)).toEqual(['prev', 'next'])
    const [older, newer] = [await follow(middle, 'prev'), await follow(middle, 'next')]
    expect([...numbers(older), ...numbers(middle), ...numbers(newer)]).toEqual(upTo(7, 36))
    expect([rels(older), rels(newer)]).toEqual([['prev'], ['next']])
    expect(numbers(await follow(newer, 'next'))).toEqual([37, 38, 39])
  })
})

test('a condition leaves out other events, reaches over gaps, and is part of the links', async () => {
  const own = await app.newOrganization()
  const headers = { 'x-service-collection': 'fleet', 'x-service-dataset': 'all', 'content-type': 'application/x-ndjson' }
  // Every third event is of `pay`; two minutes lie between neighbors.
  const lines = Array.from({ length: 24 }, (_, n) =>
    JSON.stringify({ timestamp: new Date(startMs + n * 120_000).toISOString(), n, service: n % 3 ? 'cart' : 'pay' }),
  )
  expect((await own.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  const ask = (query: Record<string, string>) =>
    own.ask<Answer>('GET', `/context?${new URLSearchParams({ from_expr: '*', timestamp: String(startMs + 12 * 120_000), ...query })}`)
  expect(numbers(await ask({}))).toEqual([12])
  expect(numbers(await ask({ where: "service = 'pay'" }))).toEqual(upTo(0, 7).map((n) => 3 * n))
  const middle = await ask({ where: "service = 'pay'", limit: '2' })
  expect(numbers(middle)).toEqual([12])
  const more = await ask({ where: "service = 'pay'", limit: '40', direction: 'before' })
  expect(numbers(more)).toEqual([0, 3, 6, 9, 12])
  const page = await ask({ where: "service = 'pay'", limit: '8', direction: 'before' })
  expect(numbers(page)).toEqual([9, 12])
  const refused = await ask({ where: 'service =' })
  expect([refused.status, refused.body.details]).toEqual([400, expect.stringContaining('where')])
})

describe('a place without an event', () => {
  test('is the first of its millisecond when no number is given', async () => {
    expect(numbers(await around({ timestamp: startMs + 20_000, limit: 2, direction: 'after' }))).toEqual([20, 21])
    expect(numbers(await around({ timestamp: startMs + 20_000, limit: 2, direction: 'before' }))).toEqual([19, 20])
  })

  test('may lie between events, or carry a number that no event has', async () => {
    expect(numbers(await around({ timestamp: startMs + 10_500, limit: 4 }))).toEqual([9, 10, 11, 12])
    expect(numbers(await around({ timestamp: startMs + 20_000, from_sequence: 1, limit: 2, direction: 'after' }))).toEqual([20, 21])
    expect(numbers(await around({ timestamp: startMs + 20_000, sequence: 1, limit: 2, direction: 'before' }))).toEqual([18, 19])
  })

  test('far from every event has nothing around it', async () => {
    expect(numbers(await around({ timestamp: startMs - 120_000 }))).toEqual([])
  })
})

test.each([
  ['timestamp is required', {}],
  ['direction must be one of', { timestamp: 1, direction: 'up' }],
  ['limit must be', { timestamp: 1, limit: 10_001 }],
  ['timestamp must be epoch milliseconds', { timestamp: 'now' }],
  ['sequence must be a whole number', { timestamp: 1, sequence: 'x' }],
])('refused: %s', async (details, query) => {
  const reply = await around(query as Record<string, string>)
  expect([reply.status, reply.body.details]).toEqual([400, expect.stringContaining(details)])
})

test('without datasets it is a 400, with unknown ones or those of another organization a 404', async () => {
  expect((await org.ask('GET', '/context?timestamp=1')).status).toBe(400)
  expect((await around({ timestamp: 1, from: '00000000-0000-4000-8000-000000000000' })).status).toBe(404)
  expect((await (await app.newOrganization()).ask('GET', await contextOf(3))).status).toBe(404)
})

test('explain_only reads nothing', async () => {
  const reply = await around({ timestamp: startMs, explain_only: 'true' })
  expect(reply.body).toMatchObject({
    events: [],
    result: [],
    links: [],
    explain: { 'Approximate bytes in time range': expect.any(String) },
  })
})

test('explain=true shows the events with what it took to find them', async () => {
  const reply = await around({ timestamp: startMs, limit: 2, explain: 'true' })
  expect(numbers(reply)).toEqual([0, 1])
  expect(reply.body.explain).toMatchObject({ 'Bytes searched': expect.any(String) })
})

test('the datasets may be named by their tags or by an expression, as in a search', async () => {
  expect((await org.ask('PUT', `/datasets/${log}`, { body: { collection: 'shop', tags: { team: 'payments' } } })).status).toBe(200)
  const by = async (query: Record<string, string>) =>
    org.ask<Answer>('GET', `/context?${new URLSearchParams({ timestamp: String(startMs + 3_000), limit: '3', ...query })}`)
  const queries: Record<string, string>[] = [{ from_tags: 'team:payments' }, { from_expr: "team = 'payments'" }]
  for (const query of queries) expect(numbers(await by(query))).toEqual([2, 3, 4])
  expect((await by({ from_tags: 'team:nobody' })).status).toBe(404)
  const links = (await by({ from_tags: 'team:payments' })).body.links
  expect(numbers(await org.ask('GET', (links.find(({ rel }) => rel === 'next')?.href ?? '').slice(app.url.length)))).toEqual([5, 6, 7])
})
