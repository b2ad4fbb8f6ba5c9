import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { guardClock } from '../../../kernel/guarded-clock.ts'
import { sql } from '../../../meta/sql.ts'
import { openHealth } from './health.ts'
import { openStoreProbe } from './probe.ts'

let app: TestApp
beforeAll(async () => {
  app = await openTestApp({}, () => [])
})
afterAll(() => app?.close())

type Body = { status: string; problems: string[] }

/** A monotonic clock that a test moves. */
function movable() {
  let ms = 0
  const pass = (byMs: number): void => {
    ms += byMs
  }
  return { monotonicMs: () => ms, pass }
}

test('any number of callers share one ping, and an answer counts for a second', async () => {
  const clock = movable()
  const pings: PromiseWithResolvers<void>[] = []
  const answers = openStoreProbe(() => {
    const one = Promise.withResolvers<void>()
    pings.push(one)
    return one.promise
  }, clock)
  const many = Array.from({ length: 1_000 }, answers)
  pings[0]?.resolve()
  expect(new Set(await Promise.all(many))).toEqual(new Set([true]))
  expect(await answers()).toBe(true)
  expect(pings).toHaveLength(1)
  clock.pass(1_001)
  const again = answers()
  pings[1]?.reject(new Error('refused'))
  expect(await again).toBe(false)
})

test('a store that takes the question and never answers is reported, and one that answers again is well at once', async () => {
  let isHung = true
  const answers = openStoreProbe(() => (isHung ? new Promise(() => undefined) : Promise.resolve()), movable())
  expect(await answers()).toBe(false)
  isHung = false
  expect(await answers()).toBe(true)
})

test('a store that hangs while its process runs is a failure', async () => {
  const { world } = app.app
  const hung = { ...world.events, health: () => ({ status: 'ok' as const }), ping: () => new Promise<void>(() => undefined) }
  expect(await openHealth({ ...world, events: hung }).failures()).toEqual(['the events store is down: it does not answer'])
})

test('evaluations that are overdue make it degraded, not down', async () => {
  const before = await app.ask<Body>('GET', '/health')
  expect([before.status, before.body.status, before.body.problems]).toEqual([200, 'ok', []])
  const org = await app.newOrganization()
  const query = { name: 'all', select: ['count(*)'], from_expr: '*', where: 'level = error' }
  const body = {
    name: 'Late',
    comparison_operator: 'ABOVE',
    threshold: 1,
    window: 'Last 5 minutes',
    queries: [query],
    actions: [{ email: 'a@example.org' }],
  }
  expect(await org.ask('POST', '/monitors', { body })).toMatchObject({ status: 201 })
  await app.app.world.meta.run(sql`update monitor_states set due_at = ${app.clock.nowMs() - 200_000}`)
  app.clock.advance(6_000)
  const after = await app.ask<Body>('GET', '/health')
  expect([after.status, after.body.status]).toEqual([200, 'degraded'])
  expect(after.body.problems).toEqual([expect.stringMatching(/^1 monitors are overdue, by up to 20\d s$/)])
})

test('a system clock that was set is a problem', async () => {
  let byMs = 0
  const clock = guardClock({ ...systemClock, nowMs: () => systemClock.nowMs() + byMs }, { log: app.app.world.log })
  const health = openHealth({ ...app.app.world, clock })
  byMs = 7_200_000
  expect(await health.problems()).toContainEqual(expect.stringContaining('the system clock is 7200 s ahead'))
})
