import type { Monitor, MonitorEvaluation } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import type { TestOrganization } from '../../../../../test/support/world.ts'
import { CONFIRM_MS, type GuardedClock, guardClock } from '../../../kernel/guarded-clock.ts'
import { sql } from '../../../meta/sql.ts'
import { createEvaluationRound } from './evaluations.ts'
import { absenceBefore, gapsOf, reasonOfGap } from './time-gaps.ts'

const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000]
const forEver = new AbortController().signal

let senders: Senders
beforeAll(async () => {
  senders = await openSendersAlone()
})
afterAll(() => senders?.close())

const guarded = (): GuardedClock => guardClock(senders.app.clock, { log: senders.app.app.world.log })
const roundWith = (clock = senders.app.clock as GuardedClock | Senders['app']['clock']) =>
  createEvaluationRound({ ...senders.app.app.world, clock })

const plain = {
  name: 'Errors',
  comparison_operator: 'ABOVE',
  threshold: 20,
  window: 'Last 5 minutes',
  no_data_status: 'NO_DATA',
  actions: [{ email: 'oncall@example.org' }],
  queries: [{ name: 'errors', select: ['count(*)'], from_expr: '*', where: 'level = error' }],
}

async function watch(body: object = plain) {
  const org = await senders.app.newOrganization()
  const made = await org.ask<Monitor>('POST', '/monitors', { body })
  expect(made.status).toBe(201)
  const path = `/monitors/${made.body.id}`
  return {
    org,
    id: made.body.id,
    status: async () => (await org.ask<Monitor>('GET', path)).body.status,
    evaluations: async () => (await org.ask<{ evaluations: MonitorEvaluation[] }>('GET', `${path}/evaluations`)).body.evaluations,
    notes: () =>
      senders.app.app.world.meta.all<{ transition: string }>(
        sql`select transition from monitor_notifications where monitor_id = ${made.body.id}`,
      ),
  }
}

/** Sends events with timestamps from a sender whose clock is right. */
async function send(owner: TestOrganization, atMs: number): Promise<void> {
  const { status } = await senders.post(JSON.stringify({ level: 'error', timestamp: new Date(atMs).toISOString() }), { owner })
  expect(status).toBe(200)
}

test.each([
  ['2 h ahead', 2 * HOUR_MS],
  ['25 h ahead', 25 * HOUR_MS],
  ['15 min behind', -15 * MINUTE_MS],
])('a clock that was %s unguarded holds no evaluation up once it is right, also for the next process', async (_, byMs) => {
  const { evaluations } = await watch()
  const { clock } = senders.app
  const round = roundWith()
  await round(forEver)
  clock.set(byMs)
  clock.advance(MINUTE_MS)
  await round(forEver)
  clock.set(-byMs)
  const before = (await evaluations()).length
  clock.advance(MINUTE_MS)
  await round(forEver)
  const after = (await evaluations()).length
  expect(after).toBe(before + 1)
  clock.advance(MINUTE_MS)
  await roundWith()(forEver)
  expect((await evaluations()).length).toBe(after + 1)
})

test('a lease of the future, given while the clock of the store was wrong, holds no evaluation up', async () => {
  const { id, evaluations } = await watch()
  await senders.app.app.world.meta.run(
    sql`update monitor_states set holder = gen_random_uuid(), lease_until_ms = ${Date.now() + 25 * HOUR_MS}::bigint where monitor_id = ${id}`,
  )
  await roundWith()(forEver)
  expect(await evaluations()).toHaveLength(1)
})

test('a guarded clock that is ahead for a while and set right again makes no false NO_DATA and misses no evaluation', async () => {
  const { clock } = senders.app
  const steady = guarded()
  const round = roundWith(steady)
  const { org, evaluations, status, notes } = await watch()
  await send(org, steady.nowMs())
  clock.advance(6_000)
  await round(forEver)
  expect(await status()).toBe('OK')
  clock.set(2 * HOUR_MS)
  for (let minutes = 0; minutes < 2; minutes += 1) {
    clock.advance(MINUTE_MS)
    await send(org, steady.nowMs() - 6_000)
    await round(forEver)
  }
  clock.set(-2 * HOUR_MS)
  clock.advance(MINUTE_MS)
  await round(forEver)
  expect((await evaluations()).map((evaluation) => [evaluation.status, evaluation.failure])).toEqual(
    Array.from({ length: 4 }, () => ['OK', undefined]),
  )
  expect(await notes()).toEqual([])
})

test('a lasting new time is adopted; the monitor reports no result until the window no longer contains the step', async () => {
  const { clock } = senders.app
  const steady = guarded()
  const round = roundWith(steady)
  const { org, evaluations, status, notes } = await watch()
  await send(org, steady.nowMs())
  clock.advance(6_000)
  await round(forEver)
  clock.set(2 * HOUR_MS)
  steady.nowMs()
  clock.advance(CONFIRM_MS)
  expect(steady.nowMs()).toBeGreaterThan(Date.now())
  await round(forEver)
  expect((await evaluations())[0]).toMatchObject({ status: 'OK', failure: expect.stringContaining('the clock was set by 7200 s') })
  await send(org, steady.nowMs())
  clock.advance(5 * MINUTE_MS)
  await round(forEver)
  expect((await evaluations())[0]?.failure).toBeUndefined()
  expect([await status(), await notes()]).toEqual(['OK', []])
  clock.set(-2 * HOUR_MS)
})

test('a process whose clock is wrong from the start uses the time of the store and agrees with the others', async () => {
  const { clock, app } = senders.app
  const { org, evaluations, notes } = await watch()
  await send(org, clock.nowMs())
  clock.advance(6_000)
  await roundWith()(forEver)
  const ahead = { ...clock, nowMs: () => clock.nowMs() + 2 * HOUR_MS }
  const wrong = guardClock(ahead, { log: app.world.log })
  wrong.observe(clock.nowMs(), 2)
  clock.advance(MINUTE_MS)
  await roundWith(wrong)(forEver)
  await roundWith()(forEver)
  expect((await evaluations()).map(({ status }) => status)).toEqual(['OK', 'OK'])
  expect(await notes()).toEqual([])
})

test('a process that starts with a clock far ahead judges no window from before its start', async () => {
  const { clock } = senders.app
  const { org, evaluations, notes } = await watch()
  await send(org, clock.nowMs())
  clock.advance(6_000)
  await roundWith()(forEver)
  clock.set(25 * HOUR_MS)
  clock.advance(MINUTE_MS)
  await roundWith()(forEver)
  expect((await evaluations())[0]).toMatchObject({ status: 'OK', failure: expect.stringContaining('no process evaluated monitors') })
  expect(await notes()).toEqual([])
  clock.set(-25 * HOUR_MS)
})

test('a gap counts while it takes more than a tenth of the window, and for a quarter of an hour at most', () => {
  const gaps = gapsOf({ problem: undefined, lastStep: { atMs: 10 * HOUR_MS, byMs: -HOUR_MS } }, undefined)
  const at = (nowMs: number, windowMs: number) => reasonOfGap(gaps, { fromMs: nowMs - windowMs, toMs: nowMs, nowMs }) !== undefined
  const after = (minutes: number) => 10 * HOUR_MS + minutes * MINUTE_MS
  expect([at(after(0), 5 * MINUTE_MS), at(after(4), 5 * MINUTE_MS), at(after(5), 5 * MINUTE_MS)]).toEqual([true, true, false])
  expect([at(after(1), 24 * HOUR_MS), at(after(1), 2 * HOUR_MS), at(after(15), 2 * HOUR_MS)]).toEqual([false, true, false])
  expect([absenceBefore(undefined, 9), absenceBefore(0, 2 * MINUTE_MS), absenceBefore(0, HOUR_MS)?.toMs]).toEqual([
    undefined,
    undefined,
    HOUR_MS,
  ])
})

test('a monitor with a damaged state reports it in its evaluations and starts again; the others continue', async () => {
  const { clock, app } = senders.app
  const org = await senders.app.newOrganization()
  const make = async () => (await org.ask<Monitor>('POST', '/monitors', { body: plain })).body.id
  const ids = [await make(), await make(), await make(), await make()]
  const evaluations = async (id: string | undefined) =>
    (await org.ask<{ evaluations: MonitorEvaluation[] }>('GET', `/monitors/${id}/evaluations`)).body.evaluations
  const [, ...damaged] = ids
  const states = ['null', '{"status":"OK","groups":null}', '{"status":"OK","whole":{"told":"OK","held":false},"groups":{"":null}}']
  for (const [index, id] of damaged.entries())
    await app.world.meta.run(sql`update monitor_states set state = ${states[index]}::jsonb where monitor_id = ${id}`)
  expect((await org.ask<{ monitors: Monitor[] }>('GET', '/monitors')).body.monitors).toHaveLength(4)
  const round = roundWith()
  await round(forEver)
  const [sound] = ids
  expect((await evaluations(sound)).map(({ failure }) => failure)).toEqual([undefined])
  for (const id of damaged) expect((await evaluations(id))[0]?.failure).toBe('the stored state of the monitor was damaged and is replaced')
  clock.advance(MINUTE_MS)
  await round(forEver)
  for (const id of ids) expect((await evaluations(id))[0]?.failure).toBeUndefined()
})
