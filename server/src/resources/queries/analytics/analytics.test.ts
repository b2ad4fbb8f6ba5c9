import { contract, type FailureBody, type MetricItem } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
let logs: Record<string, string>
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  await send('web', ['error', 'error', 'warn', 'info'])
  await send('api', ['warn', 'debug'])
  await send('quiet', ['info'])
  const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
  logs = Object.fromEntries(datasets.map(({ id, dataset }) => [dataset, id]))
})
afterAll(() => app.close())

async function send(dataset: string, levels: readonly string[]): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
  const raw = levels.map((level) => JSON.stringify({ level, message: `it says ${level}` })).join('\n')
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
}

const ask = (query = '', key?: string): Promise<Reply<MetricItem & FailureBody>> =>
  org.ask('GET', `/analytics/errors${query}`, key === undefined ? {} : { key })
const shape = ({ groups_series }: MetricItem) =>
  groups_series.map(({ name, count, value, groups_series: inner }) => [name, count, value, inner?.map((one) => [one.name, one.count])])

test('errors and warnings are counted by dataset and status, by default over an hour', async () => {
  const { status, body } = await ask()
  expect([status, contract.analytics.errors.reply.strict().safeParse(body).error?.issues ?? []]).toEqual([200, []])
  expect(body).toMatchObject({ total_count: 4, total_value: 4, is_exact: true })
  expect(shape(body)).toEqual([
    [
      logs.web,
      3,
      3,
      [
        ['error', 2],
        ['warn', 1],
      ],
    ],
    [logs.api, 1, 1, [['warn', 1]]],
  ])
  expect(body.series).toHaveLength(60)
  expect(body.series.reduce((sum, { count }) => sum + Number(count), 0)).toBe(4)
  const [first] = body.groups_series
  expect(first?.timeseries.reduce((sum, { count }) => sum + Number(count), 0)).toBe(3)
})

test('of many datasets the worst are returned, and the total counts all of them', async () => {
  const { body } = await ask('?limit=1&num_of_slices=3&time_range=Last%202%20hours')
  expect([body.total_count, shape(body).map(([name]) => name), body.series.length]).toEqual([4, [logs.web], 3])
  expect(body.series.reduce((sum, { value }) => sum + Number(value), 0)).toBe(4)
})

test('a relative range takes precedence over timestamps, and an absolute one is used as it is', async () => {
  const past = 'from_ts=1000&to_ts=61000'
  expect((await ask(`?${past}`)).body).toMatchObject({ total_count: 0, groups_series: [], series: [{ '@timestamp': '1000', count: '0' }] })
  expect((await ask(`?${past}&time_range=Last%201%20hour`)).body.total_count).toBe(4)
})

test.each([['?limit=0'], ['?limit=101'], ['?num_of_slices=0'], ['?time_range=someday'], ['?from_ts=1']])('%s is refused', async (query) => {
  expect((await ask(query)).status).toBe(400)
})

test('it does not count as a search, and is refused for keys that only send', async () => {
  const before = (await org.ask<MetricItem>('GET', '/usage?usage_type=search')).body.total_count
  expect((await ask('', await org.newKey(['SearchApi']))).status).toBe(200)
  expect((await org.ask<MetricItem>('GET', '/usage?usage_type=search')).body.total_count).toBe(before)
  expect((await ask('', await org.newKey(['IngestionApi']))).status).toBe(403)
})
