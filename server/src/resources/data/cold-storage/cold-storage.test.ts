import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isNightly } from '../../../../../test/support/nightly.ts'
import { until } from '../../../../../test/support/service.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { copyMadeEvents } from '../../../events/store/engine.fixture.ts'
import { startTestBucket, type TestBucket } from '../../../files/bucket.fixture.ts'
import { backupTasks } from '../../service/backups/backups.ts'
import { eventRemoval } from '../retention/retention.ts'
import { coldMoves } from './cold-storage.ts'

const DAY_MS = 86_400_000
/** A query that needs cold events ends in 10 s while the bucket is away. The nightly run measures it; a busy machine may take six times as long. */
const ENDED_MS = isNightly ? 10_000 : 60_000
const SLOW_MS = 300_000

type Tier = { parts: number; bytes: number }
type Health = { status: string; problems: string[]; cold_storage?: { status: string; hot: Tier; cold: Tier } }

const root = await mkdtemp(join(tmpdir(), 'dendro-cold-'))
let bucket: TestBucket
let app: TestApp
let org: TestOrganization
let logId = ''

beforeAll(async () => {
  bucket = await startTestBucket()
  const dataDir = await mkdtemp(join(root, 'data-'))
  await copyMadeEvents(dataDir)
  const env = {
    DENDRO_CLICKHOUSE_URL: '',
    DENDRO_DATA_DIR: dataDir,
    DENDRO_COLD_STORAGE: bucket.url,
    // No dataset has this id.
    DENDRO_COLD_AFTER: '30d,0b7c3a52-2f60-4ab7-9c6e-0a4f1c2d3e4f=90d',
    DENDRO_BACKUP_URL: `file://${join(root, 'backups')}`,
  }
  app = await openTestApp(env, (world) => [coldMoves(world), backupTasks(world), eventRemoval(world)])
  org = await app.newOrganization()
})
afterAll(async () => {
  await app?.close()
  await bucket?.close()
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function post(ageDays: number, count: number): Promise<number> {
  const timestamp = new Date(app.clock.nowMs() - ageDays * DAY_MS).toISOString()
  const raw = Array.from({ length: count }, (_, n) => JSON.stringify({ timestamp, n, message: `sold ${n}` })).join('\n')
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  return (await org.ask('POST', '/', { raw, headers })).status
}

const health = async (): Promise<Health> => (await app.ask<Health>('GET', '/health')).body

const search = (days: number, where = '') =>
  org.ask<{ details?: string; events?: unknown[] }>('POST', '/search', {
    body: { from_expr: "dataset = 'web'", select: ['*'], time_range: `Last ${days} days`, limit: 100, where },
  })

test('old events move, and searches, health, metrics and the proof of retention have both tiers', async () => {
  expect(await post(40, 20)).toBeLessThan(300)
  expect(await post(1, 10)).toBeLessThan(300)
  await until(async () => {
    app.clock.advance(61_000)
    return ((await health()).cold_storage?.cold.parts ?? 0) > 0
  })
  expect((await health()).cold_storage).toMatchObject({ status: 'ok', hot: { parts: expect.any(Number) } })
  expect((await search(60)).body.events).toHaveLength(30)
  expect((await search(3)).body.events).toHaveLength(10)
  const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
  logId = datasets.find(({ dataset }) => dataset === 'web')?.id ?? ''
  expect((await org.ask('GET', `/retention/${logId}`)).body).toMatchObject({ tiers: { hot: 10, cold: 20 } })
  const metrics = (await app.ask<string>('GET', '/metrics', { key: app.managementKey })).body
  expect(metrics).toMatch(/^dendro_events_tier_bytes\{tier="cold"\} [1-9]/m)
  expect(metrics).toMatch(/^dendro_cold_storage_up 1$/m)
})

test(
  'a backup has the events of both tiers, and its verification needs no bucket',
  async () => {
    type Task = { id: string; status: string; backup?: string; failure_detail?: string }
    const ask = <T>(method: string, path: string) => app.ask<T>(method, path, { key: app.managementKey })
    const done = async (task: Task): Promise<Task> => {
      let last = task
      await until(async () => {
        app.clock.advance(1_000)
        last = (await ask<Task>('GET', `/backups/tasks/${task.id}`)).body
        return last.status === 'COMPLETE' || last.status === 'FAILED'
      })
      expect(last).toMatchObject({ status: 'COMPLETE' })
      return last
    }
    const { backup } = await done((await ask<Task>('POST', '/backups')).body)
    await bucket.set('refuses')
    await done((await ask<Task>('POST', `/backups/${backup}/verifications`)).body)
    await bucket.set('works')
  },
  SLOW_MS,
)

test.each(['hangs', 'refuses'] as const)(
  'while the bucket %s, cold reads are 503 with the reason in time, and the rest goes on until it is back',
  async (state) => {
    await until(async () => (await search(60)).status === 200)
    await bucket.set(state)
    const startedMs = performance.now()
    // Results are kept, so this is a question that nobody has asked.
    const answer = await search(59, `message = 'sold ${state}'`)
    expect(performance.now() - startedMs).toBeLessThan(ENDED_MS)
    expect([answer.status, answer.body.details]).toEqual([
      503,
      expect.stringMatching(/^events before \d{4}-.* lie in cold storage.*; newer ones can$/),
    ])
    const early = await org.ask<{ details: string }>('GET', `/retention/${logId}`)
    expect([early.status, early.body.details]).toEqual([503, expect.stringContaining('cold storage')])
    expect((await search(3)).status).toBe(200)
    expect(await post(0, 5)).toBeLessThan(300)
    expect(await post(40, 5)).toBeLessThan(300)
    await until(async () => (await health()).cold_storage?.status === 'down')
    expect(await health()).toMatchObject({
      status: 'degraded',
      problems: [expect.stringMatching(/^the bucket of cold storage does not answer/)],
    })
    const proof = await org.ask<{ details: string }>('GET', `/retention/${logId}`)
    expect([proof.status, proof.body.details]).toEqual([503, expect.stringMatching(/^the bucket of cold storage does not answer/)])
    await bucket.set('works')
    await until(async () => (await search(60)).status === 200)
  },
  SLOW_MS,
)

test(
  'events of a deleted dataset go from the bucket when it is back',
  async () => {
    await bucket.set('refuses')
    await until(async () => (await health()).cold_storage?.status === 'down')
    expect((await org.ask('DELETE', `/datasets/${logId}`)).status).toBeLessThan(300)
    app.clock.advance(61_000)
    expect((await health()).cold_storage?.cold.parts).toBeGreaterThan(0)
    await bucket.set('works')
    await until(async () => {
      app.clock.advance(61_000)
      return (await health()).cold_storage?.cold.parts === 0
    })
  },
  SLOW_MS,
)
