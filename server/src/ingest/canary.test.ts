import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp } from '../../../test/support/world.ts'
import { sql } from '../meta/sql.ts'
import { openForwardedEvents } from '../resources/queries/forward-configs/events.ts'
import { canaryProblem } from '../resources/service/canary/canary.ts'
import { canary } from './canary.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp({ DENDRO_CANARY: 'on' }, (world) => [canary(world)])
})
afterAll(() => app?.close())

type Health = { status: string; problems: string[]; canary?: { found_after_ms: number; age_s: number } }
const health = async (): Promise<Health> => (await app.ask<Health>('GET', '/health')).body
const metrics = async (): Promise<string> => (await app.ask<string>('GET', '/metrics', { key: app.managementKey })).body

const until = <T>(check: () => Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 240_000, interval: 200 })

test('an event is written and found each minute, in a dataset of the system that is kept for a day', async () => {
  expect(await health()).toMatchObject({ status: 'ok', problems: [] })
  app.clock.advance(61_000)
  await until(async () => {
    app.clock.advance(6_000)
    expect((await health()).canary).toMatchObject({ found_after_ms: expect.any(Number) })
  })
  expect(await metrics()).toMatch(/^dendro_canary_found_seconds [\d.]+$/m)
  const ask = <T>(path: string) => app.ask<T>('GET', path, { key: app.managementKey })
  type Known = { id: string; collection: string; is_system_generated: boolean }
  const { datasets } = (await ask<{ datasets: Known[] }>('/datasets')).body
  const own = datasets.find(({ collection }) => collection === '.canary')
  expect(own?.is_system_generated).toBe(true)
  const body = { scope: { entity: 'LOG_SET', name: '.canary' }, retention: 'DAYS_365' }
  expect((await app.ask('POST', '/retention-rules', { key: app.managementKey, body })).status).toBe(400)
  const count = async (): Promise<number> => {
    const search = { from: [own?.id], select: ['count(*)'], from_ts: 0, to_ts: 10 ** 13 }
    return (await app.ask<{ totals: { count: number } }>('POST', '/search', { key: app.managementKey, body: search })).body.totals.count
  }
  const before = await count()
  expect(before).toBeGreaterThan(0)
  await until(async () => {
    app.clock.advance(6_000)
    expect(await count()).toBeGreaterThan(before)
  })
})

test('its events are not forwarded with those of all datasets', async () => {
  const { world } = app.app
  const [{ id: org_id = '', number = 0 } = {}] = await world.meta.all<{ id: string; number: number }>(
    sql`select id, number from organisations order by number limit 1`,
  )
  const config = { org_id, author: { type: 'API_KEY_ID' as const, id: randomUUID() }, author_roles: ['Administrator'], log_ids: [] }
  const source = await openForwardedEvents(world, { ...config, all_logs: true }, number, new AbortController().signal)
  const all = [...source.datasets.values()]
  expect(all.map(({ collection }) => collection)).not.toContain('.canary')
  const { datasets } = (await app.ask<{ datasets: { id: string; collection: string }[] }>('GET', '/datasets', { key: app.managementKey }))
    .body
  const log_ids = datasets.filter(({ collection }) => collection === '.canary').map(({ id }) => id)
  const named = await openForwardedEvents(world, { ...config, all_logs: false, log_ids }, number, new AbortController().signal)
  expect([...named.datasets.keys()]).toEqual(log_ids)
})

test('an event that is not found makes the service degraded until the next one is', async () => {
  const { meta } = app.app.world
  await meta.run(sql`update canary set failure = 'was not found by a search within 30 s', failing_since = 1`)
  app.clock.advance(6_000)
  expect(await health()).toMatchObject({
    status: 'degraded',
    problems: ['the event of the last minute was not found by a search within 30 s'],
  })
  await until(async () => {
    app.clock.advance(6_000)
    expect((await health()).problems).toEqual([])
  })
})

test('a search that fails is a failure of the canary, not of its job', async () => {
  const { world } = app.app
  const ticket = () => {
    throw new Error('the store is away')
  }
  const run = canary({ ...world, admission: { ...world.admission, ticket } })
  const job = {
    id: randomUUID(),
    orgId: undefined,
    payload: {},
    attempt: 1,
    fence: 1,
    signal: new AbortController().signal,
    hold: async () => undefined,
  }
  expect(await run.run(job)).toBeUndefined()
  const row = await world.meta.one<{ failure: string; failing_since: number }>(sql`select failure, failing_since from canary`)
  expect(row).toMatchObject({ failure: expect.stringContaining('could not be searched'), failing_since: expect.any(Number) })
})

test('a canary that is off writes nothing and says nothing', async () => {
  const { world } = app.app
  const off = canary({ ...world, deployment: { ...world.deployment, isCanaryOn: false } })
  const before = await world.meta.one(sql`select * from canary`)
  await off.run({
    id: randomUUID(),
    orgId: undefined,
    payload: {},
    attempt: 1,
    fence: 1,
    signal: new AbortController().signal,
    hold: async () => undefined,
  })
  expect(await world.meta.one(sql`select sent_at from canary`)).toEqual({ sent_at: (before as { sent_at: number }).sent_at })
})

test('a deployment in which nobody writes events is degraded after five minutes, and not right after a start', () => {
  const row = { sent_at: 0, found_ms: 5, found_at: 0, failure: null, failing_since: null }
  expect(canaryProblem(row, { nowMs: 299_000, runningMs: 10 ** 6 })).toBeUndefined()
  expect(canaryProblem(row, { nowMs: 400_000, runningMs: 10 ** 6 })).toContain('for 400 s')
  expect(canaryProblem(row, { nowMs: 10 ** 9, runningMs: 10_000 })).toBeUndefined()
})
