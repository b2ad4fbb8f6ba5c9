import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { formatAddress, parseAddress } from '../server/src/events/store/address.ts'
import { openClients } from '../server/src/events/store/clients.ts'
import { checkCluster } from '../server/src/events/store/cluster-check.ts'
import { dropDatabase } from '../server/src/events/store/cluster-check-rows.ts'
import type { EventStoreFinding } from '../server/src/events/store/doctor.ts'
import { systemClock } from '../server/src/kernel/clock.ts'
import { systemIds } from '../server/src/kernel/ids.ts'
import { makeServiceDatabase, type TestDatabase } from '../server/src/meta/database.fixture.ts'
import { openTestApp, type TestApp } from './support/world.ts'

const EVENTS = 200
const POSTS = 10
const HOUR_MS = 3_600_000

/** The address of a cluster of ClickHouse servers; the test creates and removes databases of its own. */
const url = process.env.DENDRO_TEST_CLUSTER

describe.skipIf(url === undefined)('a live cluster', () => {
  const address = { ...parseAddress(url ?? 'http://127.0.0.1/'), database: `dendro_test_${randomUUID().slice(0, 8)}` }
  let database: TestDatabase
  let apps: TestApp[] = []
  beforeAll(async () => {
    database = await makeServiceDatabase(inject('stores'))
    const env = { DENDRO_CLICKHOUSE_URL: formatAddress(address), DENDRO_POSTGRES_URL: database.url }
    for (let nth = 0; nth < 2; nth += 1) apps = [...apps, await openTestApp(env, undefined, undefined, { ownsEvents: false })]
  })
  afterAll(async () => {
    for (const app of apps) await app.close()
    await database?.drop()
    const clients = openClients(address)
    await dropDatabase(clients.outside, address).finally(() => clients.close())
  })

  test('every check of the doctor passes', async () => {
    const findings: EventStoreFinding[] = []
    await checkCluster(url ?? '', { clock: systemClock, ids: systemIds }, (finding) => findings.push(finding))
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
  })

  test('two processes store events and each finds all of them', async () => {
    const [first, second] = apps
    if (!first || !second) throw new Error('two processes were started')
    const organization = await first.newOrganization()
    for (let post = 0; post < POSTS; post += 1) {
      const app = post % 2 === 0 ? first : second
      const body = Array.from({ length: EVENTS / POSTS }, (_, nth) => ({ message: `event ${post} ${nth}` }))
      const headers = { 'x-service-dataset': 'web', 'idempotency-key': `post ${post}` }
      const sent = await app.ask('POST', '/ingest', { key: organization.key, headers, body })
      expect(sent.status, JSON.stringify(sent.body)).toBeLessThan(300)
      expect((await second.ask('POST', '/ingest', { key: organization.key, headers, body })).status).toBeLessThan(300)
    }
    const { body: listed } = await organization.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
    const from = listed.datasets.filter(({ dataset }) => dataset === 'web').map(({ id }) => id)
    const nowMs = first.clock.nowMs()
    const body = { from, select: ['*'], limit: 1_000, from_ts: nowMs - HOUR_MS, to_ts: nowMs + HOUR_MS }
    for (const app of apps) {
      const count = async (): Promise<number> =>
        (await app.ask<{ totals: { count: number } }>('POST', '/search', { key: organization.key, body })).body.totals.count
      await expect.poll(count).toBe(EVENTS)
    }
  })
})
