import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { startTestCluster, type TestCluster } from '../../../events/store/cluster.fixture.ts'
import { makeServiceDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'

let cluster: TestCluster
let database: TestDatabase
let app: TestApp
let organization: TestOrganization

/** The number of lists of keys that makes labels an open map. */
const EVENTS = 300
const eventOf = (nth: number) => ({ message: `m${nth}`, labels: { [`team-${nth % 100}`]: `v${nth}`, app: nth % 3 === 0 ? null : 'pay' } })

beforeAll(async () => {
  cluster = await startTestCluster()
  database = await makeServiceDatabase(inject('stores'))
  app = await openTestApp({ DENDRO_CLICKHOUSE_URL: cluster.url, DENDRO_POSTGRES_URL: database.url })
  organization = await app.newOrganization()
})
afterAll(async () => {
  await app?.close()
  await database?.drop()
  await cluster?.close()
})

test('names and values of open maps are found in tables of a cluster', async () => {
  for (const start of [0, EVENTS]) {
    const body = Array.from({ length: EVENTS }, (_, nth) => eventOf(start + nth))
    expect((await organization.ask('POST', '/ingest', { headers: { 'x-service-dataset': 'pods' }, body })).status).toBeLessThan(300)
  }
  const { body: listed } = await organization.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  const from = listed.datasets.filter(({ dataset }) => dataset === 'pods').map(({ id }) => id)
  const nowMs = app.clock.nowMs()
  const count = async (where: string) => {
    const body = { from, select: ['*', '@raw'], limit: 1_000, where, from_ts: nowMs - 3_600_000, to_ts: nowMs + 3_600_000 }
    const answer = await organization.ask<{ totals: { count: number }; events: unknown[] }>('POST', '/search', { body })
    expect(answer.status, JSON.stringify(answer.body).slice(0, 300)).toBe(200)
    expect(answer.body.events).toHaveLength(answer.body.totals.count)
    return answer.body.totals.count
  }
  const all = 2 * EVENTS
  expect(await count('"labels.team-7" IS NOT NULL')).toBe(all / 100)
  expect(await count('"labels.team-7" IS NULL')).toBe(all - all / 100)
  expect(await count('"labels.team-7" IS NOT NULL AND "labels.team-8" IS NULL AND labels.app IS NOT NULL')).toBe(4)
  expect(await count(`"labels.team-7" = 'v7'`)).toBe(1)
  // In names, in values, in both parts of a line, and nowhere.
  for (const [text, found] of [
    ['team-7"', all / 100],
    ['v107', 1],
    [`team-7":"v107`, 1],
    ['zork', 0],
  ] as const)
    for (let round = 0; round < 2; round += 1) expect(await count(`'${text}'`), text).toBe(found)
})
