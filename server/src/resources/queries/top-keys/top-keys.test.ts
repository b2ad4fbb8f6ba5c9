import { contract, type FailureBody, type ReplyOf, type SearchResponse, type TopKey } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
let log: string
let empty: string
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  const lines = Array.from({ length: 20 }, (_, index) =>
    JSON.stringify({
      level: index < 15 ? 'info' : 'error',
      ms: index,
      ok: index % 2 === 0,
      mixed: index === 0 ? 'x' : index,
      id: `id-${index}`,
      ...(index < 5 ? { rare: 'yes' } : {}),
    }),
  )
  const headers = {
    'x-service-collection': 'shop',
    'x-service-dataset': 'web',
    'x-service-tags': 'team=a',
    'content-type': 'application/x-ndjson',
  }
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  empty = (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: 'empty' } })).body.id
  const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  log = body.datasets.find(({ dataset }) => dataset === 'web')?.id ?? ''
})
afterAll(() => app.close())

type Answer = Record<string, Record<string, TopKey>> & FailureBody
const ask = (query = ''): Promise<Reply<Answer>> => org.ask<Answer>('GET', `/top-keys${query}`)

test('keys are ranked by how often they occur, with their type, place and most frequent values', async () => {
  const { body } = await ask(`?log_id=${log}`)
  expect(contract.topKeys.get.reply.safeParse(body).error?.issues ?? []).toEqual([])
  expect(body[log]?.level).toEqual({
    type: 'STRING',
    field_type: 'MESSAGE_KVP',
    rank: 20,
    values: { info: { value: 'info', rank: 15 }, error: { value: 'error', rank: 5 } },
  })
  const types = Object.fromEntries(Object.entries(body[log] ?? {}).map(([key, { type, rank }]) => [key, `${type} ${rank}`]))
  expect(types).toMatchObject({ ms: 'NUMBER 20', ok: 'BOOLEAN 20', mixed: 'STRING 20', rare: 'STRING 5' })
  expect(body[log]?.$team).toMatchObject({ field_type: 'ATTRIBUTE', values: { a: { rank: 20 } } })
  expect(Object.keys(body[log]?.id?.values ?? {})).toHaveLength(10)
  expect(Object.keys((await ask(`?log_id=${log}&limit=3`)).body[log] ?? {})).toHaveLength(3)
})

test('datasets without data are returned when they were named and left out otherwise', async () => {
  expect((await ask(`?log_id=${empty}`)).body).toEqual({ [empty]: {} })
  expect(Object.keys((await ask()).body)).toEqual([log])
  expect(Object.keys((await ask(`?from_expr=${encodeURIComponent("collection = 'shop'")}`)).body)).toEqual([log])
  expect((await ask(`?log_id=${log}&from_ts=0&to_ts=1000`)).body).toEqual({ [log]: {} })
})

test('unknown datasets, those of other organizations, and invalid ranges are refused', async () => {
  expect((await ask('?log_id=00000000-0000-4000-8000-000000000000')).status).toBe(404)
  expect((await (await app.newOrganization()).ask('GET', `/top-keys?log_id=${log}`)).status).toBe(404)
  expect((await ask('?time_range=today&from_ts=1&to_ts=2')).status).toBe(400)
  expect((await ask("?from_expr=dataset = 'none'")).status).toBe(404)
})

type Sampled = ReplyOf<typeof contract.topKeys.sample>

describe('an even sample of matching events', () => {
  const fromMs = Date.UTC(2026, 10, 1)
  let large: string
  /** 4,000 events within an hour; errors only in the first half, and none among the newest. */
  beforeAll(async () => {
    const raw = Array.from({ length: 4_000 }, (_, at) =>
      JSON.stringify({
        timestamp: fromMs + at * 900,
        level: at < 2_000 && at % 4 === 0 ? 'error' : 'info',
        number: at,
        ...(at < 2_000 ? { early: true } : {}),
      }),
    ).join('\n')
    const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'large', 'content-type': 'application/x-ndjson' }
    expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
    const rare = Array.from({ length: 60 }, (_, at) => JSON.stringify({ timestamp: fromMs + at * 1_000, level: 'info', seldom: 'yes' }))
    const rareHeaders = { ...headers, 'x-service-dataset': 'rare' }
    expect((await org.ask('POST', '/ingest', { raw: rare.join('\n'), headers: rareHeaders })).status).toBe(200)
    const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
    large = body.datasets.find(({ dataset }) => dataset === 'large')?.id ?? ''
  })
  const sample = async (body: object): Promise<Reply<Sampled & FailureBody>> =>
    org.ask('POST', '/top-keys', { body: { from: [large], from_ts: fromMs - 86_400_000, to_ts: fromMs + 86_400_000, ...body } })
  const keyOf = ({ body }: Reply<Sampled & FailureBody>, name: string) => body.keys.find(({ key }) => key === name)

  test('covers the whole range, not only its newest events', async () => {
    const reply = await sample({})
    expect(contract.topKeys.sample.reply.safeParse(reply.body).error?.issues ?? []).toEqual([])
    expect(reply.body).toMatchObject({ count: 4_000, is_exact: false, are_counts_exact: true, is_cut: false })
    expect(reply.body.sampled).toBe(512)
    expect(keyOf(reply, 'level')).toMatchObject({ type: 'STRING', count: 4_000 })
    expect(keyOf(reply, 'early')).toMatchObject({ type: 'BOOLEAN', count: 2_000 })
    expect(keyOf(reply, 'timestamp')).toMatchObject({ count: 4_000 })
    const estimated = await sample({ estimate: true })
    expect(estimated.body).toMatchObject({ count: 4_000, is_exact: false, are_counts_exact: false })
    expect(Math.abs(Number(keyOf(estimated, 'early')?.count) - 2_000)).toBeLessThan(100)
    const exact = await sample({ exact: true })
    expect(exact.body).toMatchObject({ count: 4_000, are_counts_exact: true, is_cut: false })
    // The sample may have other events.
    const countsOf = ({ body }: Reply<Sampled & FailureBody>) => Object.fromEntries(body.keys.map(({ key, count }) => [key, count]))
    expect(countsOf(exact)).toEqual(countsOf(reply))
    const errors = Number(keyOf(reply, 'level')?.values.find(({ value }) => value === 'error')?.count)
    expect(Math.abs(errors - 500)).toBeLessThan(100)
  })

  test('follows the query, and is exact when it has every match', async () => {
    const reply = await sample({ where: "level = 'error' AND number < 400" })
    expect(reply.body).toMatchObject({ count: 100, sampled: 100, is_exact: true })
    expect(keyOf(reply, 'level')).toMatchObject({ count: 100, values: [{ value: 'error', count: 100 }] })
    expect((await sample({ where: "level = 'fatal'" })).body).toEqual({
      count: 0,
      sampled: 0,
      is_exact: true,
      are_counts_exact: true,
      is_cut: false,
      keys: [],
    })
  })

  test('a value is counted in every dataset, also where others are more frequent', async () => {
    const own = await app.newOrganization()
    for (const dataset of ['a', 'b']) {
      const values = Array.from({ length: 33 }, (_, at) => `${dataset}${at % 11}`)
      const lines = [...values, 'both', 'both'].map((plan) => JSON.stringify({ plan }))
      const headers = { 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
      expect((await own.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
    }
    const { body } = await own.ask<Sampled>('POST', '/top-keys', { body: { from_expr: '*' } })
    expect(body).toMatchObject({ count: 70, is_exact: true })
    expect(body.keys.find(({ key }) => key === 'plan')?.values[0]).toEqual({ value: 'both', count: 4 })
  })

  test('a busy dataset does not hide the keys of a rare one', async () => {
    const reply = await sample({ from: undefined, from_expr: "dataset IN ('large', 'rare')" })
    expect(reply.body.count).toBe(4_060)
    expect(keyOf(reply, 'seldom')).toMatchObject({ count: 60 })
    expect((await sample({ limit: 2 })).body).toMatchObject({ is_cut: true })
  })

  test('every key is counted in every matching event, wherever its values are stored', async () => {
    const own = await app.newOrganization()
    const counts = new Map<string, number>()
    const post = async (dataset: string, lines: readonly string[], more: object = {}) => {
      const headers = { 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson', ...more }
      expect((await own.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
    }
    // Maps with other keys in each event, a value of one event, a time that the line names, JSON in a string, and lines of text.
    await post(
      'web',
      Array.from({ length: 900 }, (_, at) =>
        JSON.stringify({
          time: new Date(fromMs + at * 1_000).toISOString(),
          level: 'info',
          ...(at === 451 ? { failure: { code: 17 } } : {}),
          labels: { [`label${at}`]: at, all: 'a' },
          empty: '',
          nothing: null,
          ...(at % 3 === 0
            ? { message: `{"inner":"${at}","user":{"id":${at}}}` }
            : { message: `served request ${at} in ${at % 40} ms for user=u${at}` }),
        }),
      ),
      { 'x-service-tags': 'team=a' },
    )
    await post(
      'text',
      Array.from(
        { length: 300 },
        (_, at) => `Nov  1 10:00:00 web-${at % 3} sshd[${at}]: session ${at} opened for user u${at} uid=${at % 7}`,
      ),
      {
        'content-type': 'text/plain',
      },
    )
    await post('few', ['{"level":"error","failure":{"code":18}}'])
    const body = { from_expr: '*', from_ts: 0, to_ts: app.clock.nowMs() + 86_400_000 }
    const search = await own.ask<SearchResponse>('POST', '/search', { body: { ...body, select: ['*'], limit: 5_000 } })
    expect(search.body.events).toHaveLength(1_201)
    for (const { message_kvs, attributes } of search.body.events)
      for (const key of Object.keys({ ...message_kvs, ...attributes })) counts.set(key, (counts.get(key) ?? 0) + 1)
    const ask = async (where?: string) =>
      (await own.ask<Sampled>('POST', '/top-keys', { body: { ...body, limit: 5_000, ...(where ? { where } : {}) } })).body
    const found = await ask()
    expect(found).toMatchObject({ count: 1_201, is_exact: false, are_counts_exact: true, is_cut: false })
    expect(found.sampled).toBeLessThan(700)
    expect(Object.fromEntries(found.keys.map(({ key, count }) => [key, count]))).toEqual(Object.fromEntries(counts))
    expect(counts.get('failure.code')).toBe(2)
    // A key that no event of the sample has is listed without values and without a type.
    const rare = found.keys.find(({ key, values }) => key.startsWith('labels.label') && values.length === 0)
    expect(rare).toEqual({ key: expect.stringMatching(/^labels\.label/), field_type: 'MESSAGE_KVP', count: 1, values: [] })
    const some = await ask("labels.all = 'a' AND message ~ 'request'")
    expect(some).toMatchObject({ count: 600, are_counts_exact: true })
    expect(some.keys.find(({ key }) => key === 'message')).toMatchObject({ count: 600 })
    expect(some.keys.some(({ key }) => key === 'failure.code')).toBe(true)
  })

  test('events of one moment are sampled too', async () => {
    const own = await app.newOrganization()
    const raw = Array.from({ length: 800 }, (_, at) => JSON.stringify({ time: new Date(fromMs).toISOString(), kind: `k${at % 3}` })).join(
      '\n',
    )
    const headers = { 'x-service-dataset': 'moment', 'content-type': 'application/x-ndjson' }
    expect((await own.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
    const body = { from_expr: '*', from_ts: fromMs - 1_000, to_ts: fromMs + 1_000 }
    expect((await own.ask<Sampled>('POST', '/top-keys', { body })).body).toMatchObject({ count: 800, sampled: 512 })
  })

  test('keys are counted in more datasets than are sampled', async () => {
    const own = await app.newOrganization()
    for (let at = 0; at < 55; at += 1) {
      const headers = { 'x-service-dataset': `d${at}`, 'content-type': 'application/json' }
      expect((await own.ask('POST', '/ingest', { raw: JSON.stringify({ all: at, [`of${at}`]: 1 }), headers })).status).toBe(200)
    }
    const { body } = await own.ask<Sampled>('POST', '/top-keys', { body: { from_expr: '*' } })
    expect(body).toMatchObject({ count: 55, sampled: 50, is_exact: false, are_counts_exact: true, is_cut: false })
    expect(body.keys[0]).toMatchObject({ key: 'all', count: 55 })
    expect(body.keys).toHaveLength(56)
  })

  test('a mistaken query and unknown datasets are refused', async () => {
    const { status, body } = await sample({ where: 'level = ' })
    expect([status, body.errors?.[0]?.field]).toEqual([400, 'where'])
    expect((await sample({ from: ['00000000-0000-4000-8000-000000000000'] })).status).toBe(404)
    expect((await sample({ from: [] })).status).toBe(400)
    const both = await sample({ estimate: true, exact: true })
    expect([both.status, both.body.errors?.[0]?.field]).toEqual([400, 'exact'])
  })
})
