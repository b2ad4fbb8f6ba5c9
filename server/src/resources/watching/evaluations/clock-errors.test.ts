import type { Monitor, MonitorEvaluation } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import type { TestOrganization } from '../../../../../test/support/world.ts'
import { guardClock } from '../../../kernel/guarded-clock.ts'
import { sql } from '../../../meta/sql.ts'
import { createEvaluationRound } from './evaluations.ts'

/** Monitors while the system clock is wrong, and after. */
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const forEver = new AbortController().signal

let senders: Senders
beforeAll(async () => {
  senders = await openSendersAlone()
})
afterAll(() => senders?.close())

async function watch(owner: TestOrganization) {
  const body = {
    name: 'Errors',
    comparison_operator: 'ABOVE',
    threshold: 1_000,
    window: 'Last 1 hour',
    no_data_status: 'NO_DATA',
    actions: [{ email: 'oncall@example.org' }],
    queries: [{ name: 'errors', select: ['count(*)'], from_expr: '*', where: 'level = error' }],
  }
  const { id } = (await owner.ask<Monitor>('POST', '/monitors', { body })).body
  return {
    id,
    evaluations: async () =>
      (await owner.ask<{ evaluations: MonitorEvaluation[] }>('GET', `/monitors/${id}/evaluations`)).body.evaluations.toReversed(),
    notified: () => senders.app.app.world.meta.all(sql`select transition from monitor_notifications where monitor_id = ${id}`),
  }
}

const send = async (owner: TestOrganization): Promise<void> => expect((await senders.post('{"level":"error"}', { owner })).status).toBe(200)

test.each([
  ['2 hours ahead', 2 * HOUR_MS],
  ['25 hours ahead', 25 * HOUR_MS],
  ['15 minutes behind', -15 * MINUTE_MS],
])('a system clock that is %s for a minute and then right again stops no evaluation and makes nobody miss data', async (_, errorMs) => {
  const { clock: right } = senders.app
  const { world } = senders.app.app
  let byMs = 0
  const clock = guardClock({ ...right, nowMs: () => right.nowMs() + byMs }, { log: world.log })
  const round = createEvaluationRound({ ...world, clock })
  const owner = await senders.app.newOrganization()
  const { evaluations, notified } = await watch(owner)
  const nextMinute = async () => {
    await send(owner)
    right.advance(MINUTE_MS)
    await round(forEver)
  }
  await nextMinute()
  byMs = errorMs
  await nextMinute()
  byMs = 0
  for (let times = 0; times < 3; times += 1) await nextMinute()
  const all = await evaluations()
  expect(all.map(({ status, value }) => [status, value])).toEqual([1, 2, 3, 4, 5].map((value) => ['OK', value]))
  // The windows follow each other, none of them hours away.
  const ends = all.map(({ to_ts }) => to_ts)
  for (const [index, end] of ends.slice(1).entries()) {
    expect(end).toBeGreaterThan(ends[index] ?? 0)
    expect(end).toBeLessThan((ends[index] ?? 0) + 10 * MINUTE_MS)
  }
  expect(await notified()).toEqual([])
})

test('an evaluation that a wrong clock made due in a day is due when the clock is right again', async () => {
  const { clock, app } = senders.app
  const owner = await senders.app.newOrganization()
  const { id, evaluations } = await watch(owner)
  const round = createEvaluationRound(app.world)
  await send(owner)
  clock.advance(MINUTE_MS)
  await round(forEver)
  await app.world.meta.run(sql`update monitor_states set due_at = ${clock.nowMs() + 25 * HOUR_MS} where monitor_id = ${id}`)
  clock.advance(MINUTE_MS)
  await round(forEver)
  expect(await evaluations()).toHaveLength(2)
})
