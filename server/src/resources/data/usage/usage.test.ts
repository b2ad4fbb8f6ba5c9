import { contract, type Delta, type MetricItem, type UsageSeries } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import type { TestOrganization } from '../../../../../test/support/world.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSendersAlone()
})
afterAll(() => senders?.close())

const MINUTE_MS = 60_000

async function newSender() {
  const owner = await senders.app.newOrganization()
  const send = (bytes: number, dataset = 'web') => senders.post('x'.repeat(bytes), { owner, headers: { 'x-service-dataset': dataset } })
  const read = async <T>(path: string, key?: string): Promise<T> => {
    const reply = await owner.ask<T>('GET', path, key ? { key } : {})
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    return reply.body
  }
  return { owner, send, read }
}

const idOf = async (owner: TestOrganization, dataset: string): Promise<string> =>
  (await senders.datasets(owner)).find((one) => one.dataset === dataset)?.id ?? 'none'

const LAST = 'time_range=Last%2020%20minutes'

describe('usage of ingestion', () => {
  test('covers the whole organization over time, equals the ledger to the byte, and has numbers of slices as strings', async () => {
    const { owner, send, read } = await newSender()
    // Both at the beginning of a minute with new sequence numbers.
    senders.app.clock.advance(2 * MINUTE_MS - (senders.app.clock.nowMs() % MINUTE_MS))
    await send(10)
    await send(20, 'mail')
    senders.app.clock.advance(2 * MINUTE_MS)
    await send(5)
    const usage = await read<MetricItem>(`/usage?${LAST}`)
    expect(usage).toMatchObject({
      id: 'usage.ingestion',
      name: 'ingestion',
      filter: "usage_type = 'ingestion'",
      stat: 'SUM',
      key: 'bytes_total',
      total_count: 3,
      total_value: 35,
      is_exact: true,
      groups_series: [],
      aggregates: [{ function: 'sum(bytes_total)', value: 35 }],
    })
    expect(usage.series).toHaveLength(20)
    expect(usage.series.filter(({ value }) => value !== '0.0').map(({ count, value }) => [count, value])).toEqual([
      ['2', '30.0'],
      ['1', '5.0'],
    ])
    expect(usage.series[0]?.['@time']).toMatch(/^[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{2}:\d{2}:00 UTC \d{4}$/)
    expect(Number(usage.series[1]?.['@timestamp']) - Number(usage.series[0]?.['@timestamp'])).toBe(MINUTE_MS)
    const ledger = (await owner.ask<{ totals: { raw_bytes: number; stored: number } }>('GET', '/ledger')).body.totals
    expect([usage.total_value, usage.total_count]).toEqual([ledger.raw_bytes, ledger.stored])
    expect(contract.usage.organization.reply.strict().parse(usage)).toEqual(usage)
  })

  test('is reported for each dataset, largest first, at most as many as requested', async () => {
    const { owner, send, read } = await newSender()
    for (const [bytes, dataset] of [
      [10, 'a'],
      [30, 'b'],
      [5, 'a'],
      [20, 'c'],
    ] as const)
      await send(bytes, dataset)
    const usage = await read<UsageSeries>(`/usage/organizations/logs?${LAST}`)
    const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => idOf(owner, name)))
    expect(usage.groups_series.map(({ name, value, count }) => [name, value, count])).toEqual([
      [b, 30, 1],
      [c, 20, 1],
      [a, 15, 2],
    ])
    expect(usage.groups_series[0]).toMatchObject({ key: 'log_id', stat: 'sum(bytes_total)', series_resolution_ms: MINUTE_MS })
    expect(usage.groups_series[0]?.timeseries).toHaveLength(20)
    expect(usage.groups_series[0]?.timeseries.reduce((sum, { value }) => sum + value, 0)).toBe(30)
    const top = await read<UsageSeries>(`/usage/organizations/logs?${LAST}&limit=1&num_of_slices=4`)
    expect(top.groups_series.map(({ name, timeseries }) => [name, timeseries.length])).toEqual([[b, 4]])
    expect(contract.usage.logs.reply.parse(usage)).toEqual(usage)
  })

  test('is compared with the earlier period on request', async () => {
    const { send, read } = await newSender()
    await send(10)
    senders.app.clock.advance(25 * MINUTE_MS)
    await send(15)
    const { delta } = await read<{ delta: Delta }>(`/usage?${LAST}&delta=true`)
    expect(delta).toMatchObject({ total_count: 1, total_value: 10, delta_value: 5, delta_factor: 0.5 })
    expect(delta.changes).toEqual([{ function: 'sum(bytes_total)', value: 5, factor: 0.5 }])
    expect((await read<{ delta: Delta }>(`/usage/organizations/logs?${LAST}&delta=1`)).delta).toMatchObject({
      total_value: 10,
      delta_value: 5,
    })
    const empty = await read<{ delta: Delta }>(`/usage?${LAST}&delta=true&delta_from_ts=0&delta_to_ts=${MINUTE_MS}`)
    expect(empty.delta).toMatchObject({ start_time: 0, end_time: MINUTE_MS, total_value: 0, delta_value: 15, delta_factor: 0 })
    expect(await read(`/usage?${LAST}`)).not.toHaveProperty('delta')
  })

  test('of a dataset that is hidden from the caller is left out, and of another organization never seen', async () => {
    const { owner, send, read } = await newSender()
    await send(10, 'seen')
    await send(20, 'hidden')
    const hidden = await idOf(owner, 'hidden')
    await owner.ask('POST', '/policies', {
      body: {
        policy_type: 'LOG_FORBID',
        resource: { resource_type: 'LOG', resource_id: hidden },
        actions: ['*'],
        principal: { principal_type: 'ROLE', principal_id: 'SearchApi' },
      },
    })
    const key = await owner.newKey(['SearchApi'])
    expect((await read<MetricItem>(`/usage?${LAST}`, key)).total_value).toBe(10)
    const logs = await read<UsageSeries>(`/usage/organizations/logs?${LAST}`, key)
    expect(logs.groups_series.map(({ name }) => name)).toEqual([await idOf(owner, 'seen')])
    const stranger = await newSender()
    expect((await stranger.read<MetricItem>(`/usage?${LAST}`)).total_value).toBe(0)
    expect((await stranger.read<UsageSeries>('/usage/organizations/logs')).groups_series).toEqual([])
  })
})

describe('usage of searches', () => {
  /** Records searches as readers of events do. */
  const searched = (owner: TestOrganization, identityId: string, logIds: string[], bytes: number, latencyMs = 10) =>
    senders.app.app.world.usage.note({ kind: 'search', orgId: owner.orgId, identityId, logIds, bytes, latencyMs })

  test('is reported for each user and dataset to keys and administrators, to others only their own', async () => {
    const { owner, send, read } = await newSender()
    await send(1, 'a')
    await send(1, 'b')
    const [a, b] = await Promise.all([idOf(owner, 'a'), idOf(owner, 'b')])
    const [ada, bob] = [await owner.newUser(['ReadOnly']), await owner.newUser(['Admin'])]
    searched(owner, ada.id, [a, b], 101)
    searched(owner, ada.id, [a], 10, 40)
    searched(owner, bob.id, [b], 500)
    const all = await read<UsageSeries>(`/usage/users?${LAST}`)
    expect(all).toMatchObject({ name: 'search', stat: 'SUM', key: 'bytes_total', filter: "usage_type = 'search'" })
    expect(all.groups_series.map(({ key, name, value, count }) => [key, name, value, count])).toEqual([
      ['user_id', bob.id, 500, 1],
      ['user_id', ada.id, 111, 3],
    ])
    expect(all.groups_series[1]?.groups_series?.map(({ key, value }) => [key, value]).toSorted()).toEqual([
      ['log_id', 50],
      ['log_id', 61],
    ])
    const own = (await senders.app.ask<UsageSeries>('GET', `/usage/users?${LAST}&metric=data`, { token: ada.token })).body
    expect(own.filter).toContain(ada.id)
    expect(own.groups_series.map(({ name, value }) => [name, value])).toEqual([
      [a, 61],
      [b, 50],
    ])
    const admin = (await senders.app.ask<UsageSeries>('GET', `/usage/users?${LAST}`, { token: bob.token })).body
    expect(admin.groups_series).toHaveLength(2)
    const latency = (await senders.app.ask<UsageSeries>('GET', `/usage/users?${LAST}&metric=latency`, { token: ada.token })).body
    expect(latency).toMatchObject({ stat: 'AVG', key: 'latency_ms' })
    expect(latency.groups_series.find(({ name }) => name === a)).toMatchObject({ value: 25, count: 2, stat: 'avg(latency_ms)' })
    expect((await read<MetricItem>(`/usage?${LAST}&usage_type=search`)).total_value).toBe(611)
    expect((await read<UsageSeries>(`/usage/organizations/logs?${LAST}&usage_type=search&limit=1`)).groups_series).toHaveLength(1)
    expect((await read<MetricItem>(`/usage?${LAST}&usage_type=export`)).total_value).toBe(0)
    expect(contract.usage.users.reply.parse(all)).toEqual(all)
    for (const series of [...all.groups_series, ...(all.groups_series[0]?.groups_series ?? [])]) expect(series.quantiles).toEqual({})
  })

  test('is compared with an earlier period', async () => {
    const { owner, send, read } = await newSender()
    await send(1, 'a')
    const a = await idOf(owner, 'a')
    searched(owner, a, [a], 100)
    senders.app.clock.advance(25 * MINUTE_MS)
    searched(owner, a, [a], 50)
    expect((await read<UsageSeries>(`/usage/users?${LAST}&delta=true`)).delta).toMatchObject({ total_value: 100, delta_factor: -0.5 })
  })
})

test.each([
  ['/usage?time_range=some%20day', 'time_range'],
  ['/usage?from_ts=1', 'belong together'],
  ['/usage?from_ts=1&to_ts=2&time_range=today', 'not both'],
  ['/usage?usage_type=storage', 'usage_type must be one of'],
  ['/usage?num_of_slices=1441', 'num_of_slices'],
  ['/usage?delta=perhaps', 'delta must be true or false'],
  ['/usage?delta=true&delta_from_ts=1', 'belong together'],
  ['/usage/organizations/logs?limit=501', 'limit'],
  ['/usage/users?limit=101', 'limit'],
  ['/usage/users?num_of_slices=721', 'num_of_slices'],
  ['/usage/users?usage_type=ingestion', 'usage_type'],
  ['/usage/users?metric=colour', 'metric must be one of'],
])('%s is refused by naming the rule', async (path, details) => {
  const reply = await senders.org.ask<{ details: string }>('GET', path)
  expect([reply.status, reply.body.details]).toEqual([400, expect.stringContaining(details)])
})

test('slices are whole milliseconds long, and 20 minutes stay 20 slices wherever they begin', async () => {
  const { owner, send, read } = await newSender()
  await send(1, 'a')
  const a = await idOf(owner, 'a')
  senders.app.app.world.usage.note({ kind: 'search', orgId: owner.orgId, identityId: a, logIds: [a], bytes: 1, latencyMs: 1 })
  const three = await read<UsageSeries>(`/usage/users?time_range=Last%203%20days&num_of_slices=21`)
  expect(three.groups_series.map(({ series_resolution_ms }) => series_resolution_ms)).toEqual([12_342_857])
  const nowMs = senders.app.clock.nowMs()
  // It begins within the minute before that of the search.
  const unaligned = nowMs - (nowMs % MINUTE_MS) - MINUTE_MS + 31_007
  const moved = await read<UsageSeries>(`/usage/users?from_ts=${unaligned}&to_ts=${unaligned + 20 * MINUTE_MS}`)
  expect(moved.groups_series.map(({ timeseries, series_resolution_ms }) => [timeseries.length, series_resolution_ms])).toEqual([
    [20, MINUTE_MS],
  ])
})

test('an empty range has no usage, and reading usage needs the permission', async () => {
  const nowMs = senders.app.clock.nowMs()
  const minuteMs = nowMs - (nowMs % MINUTE_MS)
  expect((await senders.org.ask<MetricItem>('GET', `/usage?from_ts=${minuteMs}&to_ts=${minuteMs}`)).body).toMatchObject({ total_value: 0 })
  const key = await senders.org.newKey(['IngestionApi'])
  for (const path of ['/usage', '/usage/organizations/logs', '/usage/users']) {
    expect((await senders.org.ask('GET', path, { key })).status).toBe(403)
  }
})

test('a search counts for its caller with the bytes it read; an explain-only search does not', async () => {
  const { owner, send, read } = await newSender()
  await send(100, 'a')
  const a = await idOf(owner, 'a')
  await owner.ask('POST', '/search', { body: { from: [a], select: ['*'], time_range: 'Last 1 hour' } })
  await owner.ask('POST', '/search', { body: { from: [a], select: ['*'], time_range: 'Last 1 hour', explain_only: true } })
  const usage = await read<UsageSeries>(`/usage/users?${LAST}`)
  expect(usage.groups_series.map(({ count }) => count)).toEqual([1])
  expect(usage.groups_series[0]?.value).toBeGreaterThan(0)
  expect(usage.groups_series[0]?.groups_series?.map(({ name }) => name)).toEqual([a])
})

describe('whatever else reads events is counted as a search is:', () => {
  const range = (nowMs: number) => ({ from_ts: nowMs - 600_000, to_ts: nowMs + 60_000 })
  test.each<[string, number, (log: string, nowMs: number) => { method?: string; path: string; body?: object }]>([
    ['the events around one', 1, (log, nowMs) => ({ path: `/context?from=${log}&timestamp=${nowMs}` })],
    [
      'every query over time',
      2,
      (log, nowMs) => {
        const query = (name: string) => ({ name, select: ['count(*)'], from: [log], where: '' })
        return { path: '/timeseries/search', body: { time_range: range(nowMs), queries: [query('a'), query('b')] } }
      },
    ],
    ['patterns', 1, (log, nowMs) => ({ path: '/patterns', body: { search_details: { from: [log], ...range(nowMs) } } })],
    ['the keys of a log', 1, (log) => ({ path: `/top-keys?log_id=${log}` })],
    [
      'looking for keys',
      1,
      (_, nowMs) => ({
        path: '/datasets/resolve',
        body: { keys: ['n'], match_type: 'EXACT', expand_type: 'DISABLED', from_expr: "dataset = 'a'", ...range(nowMs) },
      }),
    ],
    ['watching', 1, (log) => ({ path: '/live-tail', body: { from: [log] } })],
  ])('%s', async (_, count, requestOf) => {
    const { owner, read } = await newSender()
    await senders.post('{"n":1}', { owner, headers: { 'x-service-dataset': 'a' } })
    const a = await idOf(owner, 'a')
    const { path, body } = requestOf(a, senders.app.clock.nowMs())
    const reply = await owner.ask(body ? 'POST' : 'GET', path, body ? { body } : {})
    expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300)
    const [usage] = (await read<UsageSeries>(`/usage/users?${LAST}`)).groups_series
    expect(usage?.groups_series?.map(({ name, count: own }) => [name, own])).toEqual([[a, count]])
    expect(usage?.value).toBeGreaterThan(0)
  })
})

test('the bytes of a shared live tail are split among its viewers, each for the datasets they may see', async () => {
  const { owner, send, read } = await newSender()
  await send(100, 'open')
  await send(100, 'secret')
  const [open, secret] = [await idOf(owner, 'open'), await idOf(owner, 'secret')]
  const key = await owner.newKey(['SearchApi'])
  const hidden = {
    policy_type: 'LOG_FORBID',
    resource: { resource_type: 'LOG', resource_id: secret },
    actions: ['*'],
    principal: { principal_type: 'ROLE', principal_id: 'SearchApi' },
  }
  expect((await owner.ask('POST', '/policies', { body: hidden })).status).toBe(201)
  const begin = async (own: object) =>
    (await owner.ask<{ job_id: string }>('POST', '/live-tail', { body: { from_expr: '*' }, ...own })).body.job_id
  const watching = [
    { id: await begin({}), own: {} },
    { id: await begin({ key }), own: { key } },
  ]
  for (let round = 0; round < 6; round += 1) {
    await send(100, 'open')
    await send(100, 'secret')
    senders.app.clock.advance(600)
    // The first of a round reads for both.
    for (const { id, own } of round % 2 === 0 ? watching : watching.toReversed())
      expect((await owner.ask('GET', `/live-tail?job_id=${id}`, own)).status).toBe(200)
  }
  const usage = await read<UsageSeries>(`/usage/users?${LAST}`)
  const shares = usage.groups_series.map(({ groups_series = [] }) => new Map(groups_series.map(({ name, value }) => [name, value])))
  expect(shares.map((share) => share.has(secret)).toSorted()).toEqual([false, true])
  for (const share of shares) expect(share.get(open)).toBeGreaterThan(0)
})
