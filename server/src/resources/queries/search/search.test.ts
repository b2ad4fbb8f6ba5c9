import { contract, type Event, type FailureBody, type ResultRow, type SearchResponse } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { arrivalOfSeq } from '../../../kernel/sequence-time.ts'

let app: TestApp
let org: TestOrganization
let web: string
let api: string
let startMs: number
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  startMs = Math.floor(app.clock.nowMs() / 60_000) * 60_000 - 600_000
  const lines = Array.from({ length: 25 }, (_, index) =>
    JSON.stringify({
      timestamp: new Date(startMs + index * 1_000).toISOString(),
      level: index % 5 === 0 ? 'error' : 'info',
      message: `request ${index} done`,
      status: index % 5 === 0 ? 500 : 200,
      ms: index * 1.5,
    }),
  )
  web = await send('web', lines)
  api = await send('api', [JSON.stringify({ timestamp: new Date(startMs + 30_500).toISOString(), message: 'elsewhere', 'odd key': 'x' })])
})
afterAll(() => app.close())

async function send(dataset: string, lines: readonly string[]): Promise<string> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  const reply = await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })
  expect(reply).toMatchObject({ status: 200, body: { accepted: lines.length } })
  const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  return body.datasets.find((one) => one.dataset === dataset)?.id ?? ''
}

type Answer = SearchResponse & FailureBody
const post = (ask: object): Promise<Reply<Answer>> => org.ask<Answer>('POST', '/search', { body: { from: [web], ...range(), ...ask } })
const range = () => ({ from_ts: startMs, to_ts: startMs + 60_000 })
const messages = (events: readonly Event[]) => events.map((event) => event.message_kvs.message)
const pathOf = (url: string | undefined): string => (url ?? '').slice(app.url.length)

describe('events', () => {
  test('are returned newest first, by GET and POST, as the contract says', async () => {
    const reply = await post({ select: ['*', '@raw'], limit: 2, where: "level = 'error'" })
    expect(reply.status).toBe(200)
    expect(contract.search.run.reply.safeParse(reply.body).error?.issues ?? []).toEqual([])
    const { events, result, metadata, links, pagination } = reply.body
    expect(messages(events)).toEqual(['request 20 done', 'request 15 done'])
    expect(events[0]).toMatchObject({
      '@raw': expect.stringContaining('"message":"request 20 done"'),
      '@status': 'error',
      message_kvs: { level: 'error', status: '500', ms: '30' },
      metadata: { service_id: web, timestamp: startMs + 20_000 },
      links: [{ rel: 'context', href: expect.stringContaining(`${app.url}/context?from=${web}&timestamp=${startMs + 20_000}&sequence=`) }],
    })
    expect(result[1]).toMatchObject({ message: 'request 15 done', level: 'error', '@raw': events[1]?.['@raw'], metadata: { logId: web } })
    expect(metadata).toEqual({ select: ['*', '@raw'], correlation_id: reply.headers.get('x-correlation-id') })
    expect(links).toEqual([{ rel: 'next', href: pagination.next_page_url }])
  })

  test('come oldest first on request, and without their lines unless these are selected', async () => {
    const { body } = await post({ select: ['message'], most_recent_first: false, limit: 3 })
    expect(messages(body.events)).toEqual(['request 0 done', 'request 1 done', 'request 2 done'])
    expect(body.events[0]).toMatchObject({ '@raw': null, message_kvs: { message: 'request 0 done' }, attributes: {} })
    expect(Object.keys(body.result[0] as ResultRow).sort()).toEqual(['@context', '@sequence', '@time', 'links', 'message', 'metadata'])
  })

  test('of several datasets come in one order', async () => {
    const { body } = await post({ from: [web, api], select: ['message', '@dataset'], most_recent_first: true, limit: 2 })
    expect(body.result.map((row) => [row.message, row['@dataset']])).toEqual([
      ['elsewhere', 'api'],
      ['request 24 done', 'web'],
    ])
  })

  test('have sequence numbers larger than a double can hold, exact by GET and POST', async () => {
    const response = await fetch(`${app.url}/search`, {
      method: 'POST',
      headers: { 'x-service-api-key': org.key },
      body: JSON.stringify({ from: [web], select: ['@sequence'], limit: 1, ...range() }),
    })
    const text = await response.text()
    const [, digits] = /"sequence":(\d{17,}),/.exec(text) ?? []
    expect(text).toContain(`"@sequence":"${digits}"`)
  })

  test('that match are counted when all of them are shown', async () => {
    const { body } = await post({ select: ['*'], where: "level = 'error'" })
    expect(body).toMatchObject({ totals: { count: 5 }, is_exact: true, explain: { 'Matching events': '5' }, links: [], pagination: {} })
  })

  test('are the same by GET, which shows everything by default', async () => {
    const query = new URLSearchParams({
      from: web,
      from_ts: String(startMs),
      to_ts: String(startMs + 60_000),
      where: "level = 'error'",
      limit: '1',
    })
    const { body } = await org.ask<Answer>('GET', `/search?${query}`)
    expect(messages(body.events)).toEqual(['request 20 done'])
    expect(body.events[0]?.['@raw']).toContain('request 20 done')
    const named = await org.ask<Answer>('GET', `/search?${query}&select=message,"odd key"&select=@status`)
    expect(named.body.metadata.select).toEqual(['message', '"odd key"', '@status'])
  })
})

describe('numbers', () => {
  const sliced = (values: number[], name: string) => values.map((value) => ({ [name]: value.toFixed(1) }))

  test('over the range and its slices come under the text of the item', async () => {
    const { body } = await post({ select: ['COUNT(*)', 'sum(ms) AS total'], num_of_slices: 6, where: "level = 'error'" })
    expect(contract.search.run.reply.safeParse(body).error?.issues ?? []).toEqual([])
    expect(body).toMatchObject({
      events: [],
      groups: [],
      groups_series: [],
      links: [],
      is_exact: true,
      explain: { 'Matching events': '5' },
    })
    expect(body.totals).toMatchObject({ count: 5, 'COUNT(*)': 5, total: 75 })
    expect(body.totals.timeseries?.map(({ count, value }) => [count, value])).toEqual([
      [2, 2],
      [2, 2],
      [1, 1],
      [0, 0],
      [0, 0],
      [0, 0],
    ])
    expect(body.totals.timeseries?.[1]).toEqual({ '@timestamp': String(startMs + 10_000), count: 2, value: 2, quantiles: {} })
    expect(body.result).toMatchObject(sliced([2, 2, 1, 0, 0, 0], 'COUNT(*)'))
    expect(body.result[1]).toMatchObject({ total: '37.5', '@timestamp': String(startMs + 10_000) })
    expect(body.result[0]?.['@time']).toMatch(/^\w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}$/)
  })

  test('of a percentile bring the whole set of them, and are not exact', async () => {
    const { body } = await post({ select: ['p95(ms)'], num_of_slices: 1 })
    expect(body.is_exact).toBe(false)
    expect(Object.keys(body.totals.timeseries?.[0]?.quantiles ?? {}).sort()).toEqual([
      'max',
      'min',
      'p25',
      'p50',
      'p75',
      'p90',
      'p95',
      'p99',
      'p999',
    ])
  })

  test('of nothing are null as a whole and 0 in slices', async () => {
    const { body } = await post({ select: ['avg(nowhere)'], num_of_slices: 2 })
    expect(body.totals).toMatchObject({ count: 25, 'avg(nowhere)': null })
    expect(body.result).toMatchObject(sliced([0, 0], 'avg(nowhere)'))
    expect(body.totals.timeseries).toMatchObject(Array(2).fill({ value: 0, no_value: true }))
    const found = await post({ select: ['avg(ms)'], num_of_slices: 2 })
    expect(found.body.totals.timeseries?.map(({ count, no_value }) => [Number(count) > 0, no_value === undefined])).toEqual(
      found.body.totals.timeseries?.map(({ count }) => [Number(count) > 0, Number(count) > 0]),
    )
    expect((await post({ select: ['avg(nowhere)'], groups: ['level'] })).body.groups_series).toMatchObject(
      Array(2).fill({ value: 0, no_value: true }),
    )
  })

  test('of groups come in three forms, the largest group first, with the number of all groups', async () => {
    const { body } = await post({ select: ['count(*)', 'max(ms)'], groups: ['level'], num_of_slices: 2 })
    expect(contract.search.run.reply.safeParse(body).error?.issues ?? []).toEqual([])
    expect(body.totals).toMatchObject({ count: 25, 'count(*)': 25, 'max(ms)': 36, total_groups: 2, retrieved_groups: 2 })
    expect(body.result).toEqual([
      { group: '[info]', count: 20, 'count(*)': 20, 'max(ms)': 36 },
      { group: '[error]', count: 5, 'count(*)': 5, 'max(ms)': 30 },
    ])
    expect(body.groups[1]).toMatchObject({ group: '[error]', count: 5, stat: 'count(*)', value: 5, 'max(ms)': 30 })
    expect(body.groups[1]?.timeseries.map(({ value }) => value)).toEqual([5, 0])
    expect(body.groups_series).toMatchObject([
      { key: 'level', name: 'info', count: 20, stat: 'count(*)', value: 20, series_resolution_ms: 30_000 },
      {
        key: 'level',
        name: 'error',
        count: 5,
        aggregates: [
          { function: 'count(*)', value: 5 },
          { function: 'max(ms)', value: 30 },
        ],
      },
    ])
    const top = await post({ select: ['count(*)'], groups: ['level'], limit: 1 })
    expect(top.body.totals).toMatchObject({ count: 25, total_groups: 2, retrieved_groups: 1 })
  })

  test('of groups within groups are nested, each level measured by itself, the missing value called null', async () => {
    const { body } = await post({ from: [web, api], select: ['avg(ms)'], groups: ['@dataset', 'level'] })
    expect(body.result.map(({ group, count }) => [group, count])).toEqual([
      ['[web, info]', 20],
      ['[web, error]', 5],
      ['[api, null]', 1],
    ])
    const tree = body.groups_series.map((outer) => [
      outer.name,
      outer.value,
      outer.groups_series?.map(({ key, name, value }) => [key, name, value]),
    ])
    expect(tree).toEqual([
      [
        'web',
        18,
        [
          ['level', 'info', 18.75],
          ['level', 'error', 15],
        ],
      ],
      ['api', 0, [['level', 'null', 0]]],
    ])
  })

  test('of groups by keys that a dataset without events in the range lacks have no group without events', async () => {
    const earlierMs = startMs - 200 * 60_000
    const lines = Array.from({ length: 320 }, (_, index) =>
      JSON.stringify({ timestamp: new Date(earlierMs + (index % 20) * 10).toISOString(), message: `retry ${index}` }),
    )
    const earlier = await send('earlier', lines)
    const { body } = await post({ from: [web, earlier], select: ['count(*)'], groups: ['status', 'ms'], num_of_slices: 30, limit: 100 })
    expect(body.groups.filter(({ count }) => count === 0)).toEqual([])
    expect(body.groups).toHaveLength(25)
    const alone = await post({ from: [earlier], select: ['count(*)'], groups: ['status', 'ms'] })
    expect(alone.body.groups).toEqual([])
  })

  test('of groups are counts when no aggregate is named', async () => {
    const { body } = await post({ select: ['level'], groups: ['level'] })
    expect(body.groups_series).toMatchObject([
      { name: 'info', stat: 'count(*)', value: 20 },
      { name: 'error', value: 5 },
    ])
  })
})

test('events are ordered by a key, those without it last, and then have no pages', async () => {
  const { body } = await post({ from: [web, api], select: ['ms'], order_by: 'ms DESC', limit: 3 })
  expect(body.events.map(({ message_kvs }) => message_kvs.ms)).toEqual(['36', '34.5', '33'])
  expect(body.links).toEqual([])
  const all = await post({ from: [web, api], select: ['message'], order_by: 'ms', limit: 100 })
  expect(messages(all.body.events).at(-1)).toBe('elsewhere')
})

test('the time of arrival is selected, filtered, measured and grouped by, apart from the time of the event', async () => {
  const arrival = '$ingest.time'
  const [event] = (await post({ select: [arrival, '@time'], order_by: `${arrival} DESC`, limit: 1 })).body.events
  const written = event?.attributes[arrival] ?? ''
  const ms = Date.parse(written.replace(' UTC', 'Z'))
  // The numbers of a shared store may be ahead of the clock.
  expect(ms).toBe(Math.floor(arrivalOfSeq(BigInt(event?.metadata.sequence ?? 0))))
  expect(ms - (event?.metadata.timestamp ?? 0)).toBeGreaterThan(300_000)
  const counted = async (where: string) => (await post({ select: ['count(*)'], where })).body.totals?.count
  const all = await counted('')
  expect(await counted(`${arrival} <= '${written}'`)).toBe(all)
  expect(await counted(`${arrival} > ${ms}`)).toBe(0)
  expect(await counted(`${arrival} > @`)).toBeUndefined()
  expect((await post({ select: [`max(${arrival})`] })).body.totals).toMatchObject({ [`max(${arrival})`]: ms })
  expect((await post({ select: ['count(*)'], groups: [arrival] })).body.groups?.map(({ group }) => group)).toContain(`[${ms}]`)
})

test('from_sequence begins within the first millisecond, at that number', async () => {
  const [first, second] = [10, 11].map((index) => startMs + index * 1_000)
  const found = await post({ select: ['message', '@sequence'], from_ts: first, to_ts: second, most_recent_first: false })
  const sequence = BigInt(found.body.result[0]?.['@sequence'] ?? 0)
  const ask = (from_sequence: bigint) =>
    post({ select: ['message'], from_ts: first, to_ts: (second ?? 0) + 1, from_sequence: String(from_sequence), most_recent_first: false })
  expect(messages((await ask(sequence)).body.events)).toEqual(['request 10 done', 'request 11 done'])
  expect(messages((await ask(sequence + 1n)).body.events)).toEqual(['request 11 done'])
})

test('from_sequence leaves events out of counts, groups and later pages too', async () => {
  const [first, last] = [10, 13].map((index) => startMs + index * 1_000)
  const found = await post({ select: ['message'], from_ts: first, to_ts: (first ?? 0) + 1 })
  const sequence = BigInt(found.body.result[0]?.['@sequence'] ?? 0)
  const begun = { from_ts: first, to_ts: (last ?? 0) + 1, from_sequence: String(sequence + 1n), most_recent_first: false }
  const page = await post({ ...begun, select: ['message'], limit: 2 })
  expect(page.body).toMatchObject({ totals: { count: 3 }, explain: { 'Matching events': '3' } })
  const next = await org.ask<Answer>('GET', pathOf(page.body.pagination.next_page_url))
  expect([page, next].map(({ body }) => messages(body.events))).toEqual([['request 11 done', 'request 12 done'], ['request 13 done']])
  expect((await post({ ...begun, select: ['count(*)'] })).body.totals).toMatchObject({ count: 3, 'count(*)': 3 })
  expect((await post({ ...begun, select: ['count(*)'], groups: ['message'] })).body.totals).toMatchObject({ count: 3, total_groups: 3 })
})

test('more events than fit are counted too', async () => {
  const { body } = await post({ select: ['message'], limit: 3 })
  expect(body).toMatchObject({ totals: { count: 25 }, is_exact: true })
  const next = await org.ask<Answer>('GET', pathOf(body.pagination.next_page_url))
  expect(next.body).toMatchObject({ totals: { count: 25 }, is_exact: true })
})

describe('pages', () => {
  test('continue to the end and back, whatever arrives meanwhile', async () => {
    const first = await post({ select: ['message'], limit: 10 })
    await send('web', [JSON.stringify({ timestamp: new Date(startMs + 59_000).toISOString(), message: 'late' })])
    const second = await org.ask<Answer>('GET', pathOf(first.body.pagination.next_page_url))
    const third = await org.ask<Answer>('GET', pathOf(second.body.pagination.next_page_url))
    const seen = [first, second, third].flatMap(({ body }) => messages(body.events))
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => `request ${24 - index} done`))
    expect([second, third].map(({ body }) => body.links.map(({ rel }) => rel))).toEqual([
      ['next', 'prev', 'first'],
      ['prev', 'first'],
    ])
    const back = await org.ask<Answer>('GET', pathOf(third.body.links[0]?.href))
    expect(messages(back.body.events)).toEqual(messages(second.body.events))
    const start = await org.ask<Answer>('GET', pathOf(third.body.links[1]?.href))
    expect(messages(start.body.events).slice(-9)).toEqual(messages(first.body.events).slice(0, 9))
    expect(start.body.links.map(({ rel }) => rel)).toEqual(['next'])
  })

  test('may have another size, requested by POST with the token alone', async () => {
    const first = await post({ select: ['message'], limit: 2, where: "level = 'info'" })
    const pagination_token = new URL(first.body.pagination.next_page_url ?? '').searchParams.get('pagination_token')
    const { body } = await org.ask<Answer>('POST', '/search', {
      body: { pagination_token, per_page: 3, select: 5, limit: 0, where: '((', from_ts: 1 },
    })
    expect(messages(body.events)).toEqual(['request 22 done', 'request 21 done', 'request 19 done'])
    expect(body.metadata.select).toEqual(['message'])
  })

  test('expire after an hour, and are unknown for an invalid token or another caller', async () => {
    const { body } = await post({ select: ['message'], limit: 2 })
    const path = pathOf(body.pagination.next_page_url)
    const other = await app.newOrganization()
    expect((await other.ask('GET', path)).status).toBe(400)
    app.clock.advance(3_601_000)
    expect((await org.ask('GET', path)).status).toBe(410)
    expect((await org.ask('GET', '/search?pagination_token=00000000-0000-4000-8000-000000000000')).status).toBe(400)
    expect((await org.ask('GET', '/search?pagination_token=nonsense')).status).toBe(400)
  })
})

describe('datasets', () => {
  test('are named by id, by selector, which goes first, or by tags', async () => {
    const bySelector = await post({ from_expr: "collection = 'shop' AND dataset = 'api'", select: ['message'] })
    expect(messages(bySelector.body.events)).toEqual(['elsewhere'])
    await org.ask('POST', '/tags', { body: { name: 'team', value: 'a', entity: { type: 'log', id: api } } })
    const byTag = await post({ from: undefined, from_tags: ['team:a'], select: ['message'] })
    expect(messages(byTag.body.events)).toEqual(['elsewhere'])
  })

  test('are required (400) and must exist (404), unless others in the list do', async () => {
    expect(await post({ from: [], select: ['*'] })).toMatchObject({ status: 400, body: { errors: [{ code: 'MISSING_SOURCE' }] } })
    const nowhere = '00000000-0000-4000-8000-000000000000'
    expect(await post({ from: [nowhere], select: ['*'] })).toMatchObject({ status: 404, body: { details: 'no datasets matched' } })
    expect((await post({ from_expr: "dataset = 'none'", select: ['*'] })).status).toBe(404)
    expect((await post({ from: [nowhere, api], select: ['message'] })).body.events).toHaveLength(1)
  })

  test('are named by id in any letter case, or by collection and dataset, and their pages continue', async () => {
    const { body } = await post({ from: ['shop.web', api.toUpperCase()], select: ['*'], limit: 20 })
    const { count } = (await post({ from: [web, api], select: ['*'] })).body.totals
    expect([body.totals.count, body.events.length]).toEqual([count, 20])
    const next = await org.ask<Answer>('GET', pathOf(body.pagination.next_page_url))
    expect(next.body.events).toHaveLength(Number(count) - 20)
    const one = await org.ask<Answer>('GET', `/search?from=shop.web&from_ts=${startMs}&to_ts=${startMs + 60_000}`)
    expect(one.body.totals.count).toBe((await post({ select: ['*'] })).body.totals.count)
    expect((await post({ from: ['shop.nowhere'], select: ['*'] })).status).toBe(404)
  })

  test('of another organization are not found', async () => {
    const other = await app.newOrganization()
    const body = { from: [web], select: ['*'], ...range() }
    expect((await other.ask('POST', '/search', { body })).status).toBe(404)
  })
})

describe('a question that is wrong', () => {
  test('is refused with the position of the error and a fix', async () => {
    expect(await post({ select: ['*'], where: 'status == 500' })).toMatchObject({
      status: 400,
      body: {
        errors: [
          { field: 'where', code: 'BAD_OPERATOR', position: 7, length: 2, hint: 'use =', fix: { position: 7, length: 2, text: '=' } },
        ],
      },
    })
  })

  test.each([
    [{}, 'select'],
    [{ select: ['*'], limit: 0 }, 'limit'],
    [{ select: ['*'], limit: 10_001 }, 'limit'],
    [{ select: ['count(*)'], num_of_slices: 1_441 }, 'num_of_slices'],
    [{ select: ['*'], time_range: 'Last 5 minutes' }, 'time_range'],
    [{ select: ['*'], from: ['web'] }, 'from.0'],
    [{ select: ['*'], pagination_token: 'x' }, 'pagination_token'],
  ])('%j names the field', async (ask, field) => {
    const { status, body } = await post(ask)
    expect([status, body.errors?.[0]?.field]).toEqual([400, field])
  })

  test.each(['limit', 'num_of_slices'])('%s that is no number within its bounds is out of range, in both forms', async (field) => {
    for (const value of [0, 10_001, 1.5]) {
      const replies = [
        await post({ select: ['count(*)'], [field]: value }),
        await org.ask<Answer>('GET', `/search?from=${web}&${field}=${value}`),
      ]
      for (const { status, body } of replies) {
        expect([status, body.errors?.[0]?.field, status === 400 && body.errors?.[0]?.code]).toEqual([400, field, expect.any(String)])
      }
      expect(replies[0]?.body.errors?.[0]?.code).toBe('OUT_OF_RANGE')
    }
  })

  test('that is valid but unusual is answered with a warning', async () => {
    const { status, body } = await post({ select: ['*'], where: 'level = "error"' })
    expect([status, body.warnings?.map(({ code }) => code)]).toEqual([200, ['DQ_VALUE']])
  })

  test.each([
    ['events', { select: ['*'] }],
    ['numbers', { select: ['count(*)'] }],
  ])('that leaves out %s it may mean is answered with how many these are', async (_, more) => {
    const { body } = await post({ from: [web, api], where: "level != 'info' AND message LIKE '%s%'", ...more })
    expect(body.totals.count).toBe(5)
    expect(body.warnings).toMatchObject([{ field: 'where', code: 'MISSING_EXCLUDED', message: '1 event lacks level and is left out' }])
  })
})

test.each([
  ["level = 'ERROR'", 'VALUE_CASE', "level = 'error'"],
  ["level = 'eror' AND message LIKE '%'", 'UNKNOWN_VALUE', "level = 'error'"],
  ["level IN ('Info', 'info')", undefined, undefined],
  ["lvel = 'error'", 'UNKNOWN_KEY', "level = 'error'"],
  ["level = 'completely else'", undefined, undefined],
])('a search for %s that finds nothing says what was nearly found', async (where, code, text) => {
  for (const select of [['*'], ['count(*)']]) {
    const { body } = await post({ from: [web, api], select, where })
    expect(body.warnings?.map((warning) => [warning.code, warning.fix?.text]) ?? []).toEqual(code ? [[code, text]] : [])
    const [warning] = body.warnings ?? []
    if (!warning?.fix) continue
    const { position, length } = warning.fix
    const changed = where.slice(0, position) + warning.fix.text + where.slice(position + length)
    expect(Number((await post({ from: [web, api], select, where: changed })).body.totals.count)).toBeGreaterThan(0)
  }
})

test('an id that is found in another case is named, one that is not there is looked for by the index only', async () => {
  const id = '0123456789abcdef0123456789abcdef'
  const from = [await send('ids', [JSON.stringify({ timestamp: new Date(startMs).toISOString(), trace: id, message: 'one id' })])]
  const warnings = async (where: string) => (await post({ from, select: ['*'], where })).body.warnings?.map(({ code }) => code) ?? []
  expect(await warnings(`trace = '${id.toUpperCase()}'`)).toEqual(['VALUE_CASE'])
  const statements = vi.spyOn(app.app.world.events, 'read')
  expect(await warnings(`trace = '${id.replace('0', '1')}'`)).toEqual([])
  const texts = statements.mock.calls.map(([{ body }]) => body)
  statements.mockRestore()
  expect(texts.filter((text) => text.includes('group by')).every((text) => text.includes('has(tokens('))).toBe(true)
})

test('explain_only reports what a query would read, and reads nothing', async () => {
  // The store numbers arrivals for all tests that share it, and some of them move their clocks by months.
  const to_ts = app.clock.nowMs() + 10 * 365 * 86_400_000
  const bytes = async () => {
    const { body } = await post({ select: ['*'], explain_only: true, from_ts: startMs - 3_600_000, to_ts })
    expect(body).toMatchObject({ events: [], result: [], totals: { count: 0 } })
    expect(Object.keys(body.explain).sort()).toEqual(['Approximate bytes in time range', 'Execution time (millis)'])
    return Number(body.explain['Approximate bytes in time range'])
  }
  await expect.poll(bytes).toBeGreaterThan(2_000)
})

test('a query over the budget of its caller is refused with a hint how to narrow it', async () => {
  const strict = await openTestApp({ DENDRO_QUERY_ROWS: '1000000,AdminApi=3' })
  const reply = await strict.ask<FailureBody>('POST', '/search', {
    key: org.key,
    body: { from: [web], select: ['*'], where: "level = 'none'", ...range() },
  })
  expect([reply.status, reply.body.details]).toEqual([400, expect.stringContaining('narrow the time range')])
  await strict.close()
})

test.each(['message', '@raw', '@pattern'])(
  'a regular expression on %s that is too large for the store is a failure of the caller',
  async (key) => {
    const where = `${key} ~ '(?:[a-zA-Z0-9]{1000}[a-z]{1000}){1}\\pL{1000}'`
    const { status, body } = await post({ select: ['count(*)'], where })
    expect(status, JSON.stringify(body)).toBe(400)
    expect(body.errors).toMatchObject([{ field: 'where' }])
  },
)

test('an asynchronous search gives the same answer, at once when it is quick', async () => {
  const { status, body } = await post({ select: ['message'], where: "level = 'error'", async_enabled: true })
  expect([201, 202]).toContain(status)
  expect(body.metadata.select).toEqual(['message'])
  // A result that comes at once has its address too: a client polls, reads it again or cancels it in one way.
  const address = body.links.find(({ rel }) => rel === 'status')?.href ?? ''
  await expect.poll(async () => (await org.ask('GET', new URL(address).pathname)).status).toBe(201)
  const again = await org.ask<SearchResponse>('GET', new URL(address).pathname)
  expect(again.body.links).toContainEqual({ rel: 'status', href: address })
  const id = '00000000-0000-4000-8000-000000000000'
  expect((await org.ask('GET', `/search/status/${id}`)).status).toBe(404)
  expect((await org.ask('DELETE', `/search/status/${id}`)).status).toBe(404)
})
