import type { FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type BadNetwork, startBadNetwork } from '../../../../../test/journeys/writer-bad-network.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

/** The replies to many concurrent callers while the event store accepts every connection and never responds. */

const TAILS = 100
const SEARCHES = 40
const KEYS = 5

let network: BadNetwork
let app: TestApp
let org: TestOrganization
let logId: string
beforeAll(async () => {
  const { events } = inject('stores')
  network = await startBadNetwork(Number(new URL(events).port))
  app = await openTestApp({ DENDRO_CLICKHOUSE_URL: network.url(events), DENDRO_QUERY_TIME: '1s' })
  org = await app.newOrganization()
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  expect((await org.ask('POST', '/ingest', { raw: '{"message":"one","level":"error"}', headers })).status).toBe(200)
  const { body } = await org.ask<{ datasets: { id: string }[] }>('GET', '/datasets')
  logId = body.datasets[0]?.id ?? ''
})
afterAll(async () => {
  await network?.close()
  await app?.close()
})

test('many concurrent live tails and searches get 503 or 429 with the error body while the store hangs, and never 500', async () => {
  const keys = await Promise.all(Array.from({ length: KEYS }, () => org.newKey(['AdminApi'])))
  const query = { name: 'a', from_expr: '*', where: '', select: ['count(*)'] }
  const reads: [string, string, unknown?][] = [
    ['POST', '/search', { from_expr: '*', select: ['*'], time_range: 'Last 1 hour' }],
    ['POST', '/search', { from_expr: '*', select: ['count(*)'], where: "level = 'error'", time_range: 'Last 1 hour' }],
    ['POST', '/timeseries/search', { queries: [query], time_range: { natural: 'Last 1 hour' } }],
    ['POST', '/patterns', { search_details: { from: [logId] } }],
    ['GET', `/context?from=${logId}&timestamp=${Date.now()}`],
    ['GET', `/top-keys?log_id=${logId}`],
  ]
  network.mood = 'deaf'
  const tails = Array.from({ length: TAILS }, (_, at) =>
    org.ask<FailureBody>('POST', '/live-tail', { key: keys[at % KEYS] ?? '', body: { from: [logId] } }),
  )
  const searches = Array.from({ length: SEARCHES }, (_, at) => {
    const [method, path, body] = reads[at % reads.length] ?? ['GET', '/']
    return org.ask<FailureBody>(method, path, { key: keys[at % KEYS] ?? '', body })
  })
  const replies = await Promise.all([...tails, ...searches])
  for (const { status, headers, body } of replies) {
    expect([429, 503]).toContain(status)
    expect(body).toEqual({ code: status, type: expect.any(String), correlation_id: expect.any(String), details: expect.any(String) })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
  }
  expect(new Set(replies.slice(0, TAILS).map(({ status }) => status))).toEqual(new Set([503]))
})
