import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ClusterServices, openClusterServices } from '../../../../../test/support/cluster-services.ts'
import type { TestApp, TestOrganization } from '../../../../../test/support/world.ts'
import { startTestCluster, type TestCluster } from '../../../events/store/cluster.fixture.ts'

let cluster: TestCluster
let services: ClusterServices
let app: TestApp
let lenient: TestApp
let organization: TestOrganization

beforeAll(async () => {
  cluster = await startTestCluster()
  services = await openClusterServices(cluster.url)
  ;({ app, lenient, organization } = services)
})
afterAll(async () => {
  await services?.close()
  await cluster?.close()
})

test('while a shard is unavailable, queries and the health are 503 with the reason, and all is well when it is back', async () => {
  const headers = { 'x-service-dataset': 'web' }
  expect((await organization.ask('POST', '/ingest', { headers, body: { message: 'here' } })).status).toBeLessThan(300)
  const { body: listed } = await organization.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  const from = listed.datasets.filter(({ dataset }) => dataset === 'web').map(({ id }) => id)
  const nowMs = app.clock.nowMs()
  const body = { from, select: ['*'], from_ts: nowMs - 3_600_000, to_ts: nowMs + 3_600_000 }
  const search = () => organization.ask<{ details: string; events: unknown[] }>('POST', '/search', { body })
  expect(await search()).toMatchObject({ status: 200, body: { totals: { count: 1 } } })
  expect((await app.ask('GET', '/health')).status).toBe(200)
  await cluster.stop(1)
  const refused = await search()
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)])
  expect(refused.body.details).toContain('a shard of its cluster is unavailable')
  await partial(from, body)
  await expect
    .poll(async () => (await app.ask<{ details: string }>('GET', '/health')).body.details)
    .toContain('a shard of the cluster both')
  expect((await app.ask('GET', '/health')).status).toBe(503)
  await cluster.start(1)
  await expect.poll(async () => (await search()).status).toBe(200)
  await expect.poll(async () => (await app.ask('GET', '/health')).status).toBe(200)
})

/** Sends a request to the second process, which is configured to omit unavailable shards. */
async function partial(from: readonly string[], { from_ts, to_ts }: { from_ts: number; to_ts: number }): Promise<void> {
  const ask = <T>(path: string, body: object) => lenient.ask<T>('POST', path, { key: organization.key, body })
  type Answer = { is_exact: boolean; warnings: { code: string }[]; totals: { count: number } }
  for (const select of [['*'], ['count(*)']]) {
    const { status, body: found } = await ask<Answer>('/search', { from, from_ts, to_ts, select })
    expect([status, found.is_exact, found.warnings[0]?.code]).toEqual([200, false, 'MISSING_SHARD'])
    if (select.includes('*')) expect(found.totals.count).toBe(1)
  }
  const queries = [{ name: 'a', from, where: '', select: ['count(*)'] }]
  const series = await ask<unknown>('/timeseries/search', { time_range: { from_ts, to_ts }, num_of_slices: 2, queries })
  expect(JSON.stringify(series.body)).toContain('MISSING_SHARD')
}
