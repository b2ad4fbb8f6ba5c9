import type { contract, Monitor, MonitorEvaluation, ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import type { TestOrganization } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'
import type { Occasion } from '../alert-states/alert-states.ts'
import { happened } from '../notifications/message-text.ts'
import { createEvaluationRound, type EvaluationRound } from './evaluations.ts'

let senders: Senders
let round: EvaluationRound
let owner: TestOrganization
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** Five days with about ten kilobytes each, and a sixth that has begun, in the middle of a month. */
beforeAll(async () => {
  senders = await openSendersAlone()
  round = createEvaluationRound(senders.app.app.world)
  owner = await senders.app.newOrganization()
  const nowMs = senders.app.clock.nowMs()
  const date = new Date(nowMs)
  const startMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 10)
  senders.app.clock.advance(startMs + HOUR_MS - nowMs)
  for (let day = 0; day < 5; day += 1) {
    await send('web', 9_000)
    await send('mail', 1_000)
    senders.app.clock.advance(DAY_MS)
  }
  await send('web', 500)
})
afterAll(() => senders?.close())

async function send(dataset: string, bytes: number): Promise<void> {
  expect((await senders.post('x'.repeat(bytes), { owner, headers: { 'x-service-dataset': dataset } })).status).toBe(200)
}

const draft = (threshold: number, aux: object, from_expr = '*') => ({
  name: 'Spend',
  monitor_type: 'USAGE',
  comparison_operator: 'ABOVE',
  threshold,
  window: 'Last 1 day',
  aux,
  actions: [{ email: 'finance@example.org' }],
  queries: [{ name: 'bytes', select: ['sum(bytes)'], from_expr, where: '' }],
})

async function evaluated(body: object): Promise<{ id: string; monitor: Monitor; evaluation: MonitorEvaluation | undefined }> {
  const made = await owner.ask<Monitor>('POST', '/monitors', { body })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  senders.app.clock.advance(60_000)
  await round(new AbortController().signal)
  const { id } = made.body
  const monitor = (await owner.ask<Monitor>('GET', `/monitors/${id}`)).body
  const found = await owner.ask<ReplyOf<typeof contract.monitors.evaluations>>('GET', `/monitors/${id}/evaluations`)
  return { id, monitor, evaluation: found.body.evaluations[0] as MonitorEvaluation | undefined }
}

test('the forecast of the month is watched, and the message names the datasets behind it', async () => {
  const { id, monitor, evaluation } = await evaluated(draft(150_000, { spend: 'FORECAST' }))
  expect(monitor.status).toBe('ALERT')
  const month = (await owner.ask<ReplyOf<typeof contract.spend.budget>>('GET', '/spend/budget')).body
  expect(evaluation?.groups[0]?.value).toBeGreaterThan(150_000)
  expect(Math.abs(Number(evaluation?.groups[0]?.value) / (month.forecast?.bytes.expected ?? 0) - 1)).toBeLessThan(0.01)
  const { meta } = senders.app.app.world
  const [sent] = await meta.all<{ occasion: Occasion }>(sql`select occasion from monitor_notifications where monitor_id = ${id}`)
  const evidence =
    /This month has 0\.0000505 GB so far; \S+ GB are expected, between \S+ GB and \S+ GB\. Most of it: default\.web \(90 %\), default\.mail \(10 %\)\./
  expect(sent && happened(sent.occasion)).toMatch(evidence)
})

test('the month so far is watched in bytes, for chosen datasets', async () => {
  const { monitor, evaluation } = await evaluated(draft(6_000, { spend: 'MONTH' }, "dataset = 'mail'"))
  expect(monitor.status).toBe('OK')
  expect(evaluation?.groups[0]?.value).toBe(5_000)
})

test('in money it needs a price, and follows it', async () => {
  const money = { spend: 'MONTH', unit: 'MONEY' }
  expect((await evaluated(draft(1, money))).monitor.status).toBe('NO_DATA')
  expect((await owner.ask('PUT', '/spend/settings', { body: { price: { currency: 'EUR', per_gb: 1_000_000 } } })).status).toBe(200)
  const { monitor, evaluation } = await evaluated(draft(1, money))
  expect(monitor.status).toBe('ALERT')
  expect(evaluation?.groups[0]?.value).toBeCloseTo(50.5, 6)
})

test('a backtest finds when it would have alerted', async () => {
  const body = { ...draft(25_000, { spend: 'MONTH' }), days: 6 }
  const found = await owner.ask<ReplyOf<typeof contract.monitors.backtest>>('POST', '/monitors/backtest', { body })
  expect(found.status, JSON.stringify(found.body)).toBe(200)
  expect(found.body.step_ms).toBe(HOUR_MS)
  expect(JSON.stringify(found.body)).toContain('ALERT')
})
