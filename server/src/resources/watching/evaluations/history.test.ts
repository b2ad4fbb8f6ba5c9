import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import { sql } from '../../../meta/sql.ts'
import { createEvaluationRound, monitorSweep } from './evaluations.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MINUTE_MS = 60_000

let senders: Senders
beforeAll(async () => {
  senders = await openSendersAlone()
})
afterAll(() => senders?.close())

const world = () => senders.app.app.world

/** Runs the sweep once, with a clock that has gone steadily for hours or that nobody knows yet. */
async function sweep(isSteady: boolean): Promise<void> {
  const nowMs = world().clock.nowMs()
  const payload = isSteady ? { reading: { seenMs: nowMs, steadySinceMs: nowMs - 3 * HOUR_MS } } : {}
  const job = { id: world().ids.uuid(), orgId: undefined, payload, attempt: 1, fence: 1, signal: new AbortController().signal }
  await monitorSweep(world()).run({ ...job, hold: async () => undefined })
}

const kept = () =>
  world().meta.one(sql`
    select (select count(*) from monitor_evaluations where not is_change) as plain, (select count(*) from monitor_evaluations where is_change) as changes,
      (select count(*) from monitor_events) as events, (select count(*) from monitor_group_history) as groups,
      (select count(*) from monitor_notifications) as notifications`)

test('evaluations are kept for a day, those with a change for a month, the history for half a year; an untrusted clock deletes nothing', async () => {
  const org = await senders.app.newOrganization()
  const query = { name: 'errors', select: ['count(*)'], from_expr: '*', where: 'level = error', groups: ['region'] }
  const body = {
    name: 'Errors',
    comparison_operator: 'ABOVE',
    threshold: 2,
    window: 'Last 5 minutes',
    actions: [{ email: 'oncall@example.org' }],
    queries: [query],
  }
  expect((await org.ask('POST', '/monitors', { body })).status).toBe(201)
  const lines = Array.from({ length: 3 }, () => '{"level":"error","region":"eu"}').join('\n')
  expect((await senders.post(lines, { owner: org })).status).toBe(200)
  const round = createEvaluationRound(world())
  for (let minute = 0; minute < 2; minute += 1) {
    senders.app.clock.advance(MINUTE_MS)
    await round(new AbortController().signal)
  }
  await world().meta.run(sql`update monitor_notifications set state = 'SENT'`)
  const all = { plain: 1, changes: 1, events: 1, groups: 1, notifications: 1 }
  expect(await kept()).toEqual(all)

  senders.app.clock.advance(2 * DAY_MS)
  await sweep(false)
  expect(await kept()).toEqual(all)
  await sweep(true)
  expect(await kept()).toEqual({ ...all, plain: 0 })
  senders.app.clock.advance(31 * DAY_MS)
  await sweep(true)
  expect(await kept()).toEqual({ ...all, plain: 0, changes: 0 })
  senders.app.clock.advance(150 * DAY_MS)
  await sweep(true)
  expect(await kept()).toEqual({ plain: 0, changes: 0, events: 0, groups: 0, notifications: 0 })
})
