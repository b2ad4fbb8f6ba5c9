import type { contract, Monitor, MonitorEvaluation, ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import type { TestOrganization } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'
import { createEvaluationRound, type EvaluationRound } from './evaluations.ts'
import { Evaluator } from './evaluator.ts'
import { claimDue } from './rows.ts'

let senders: Senders
let round: EvaluationRound
beforeAll(async () => {
  senders = await openSendersAlone()
  round = createEvaluationRound(senders.app.app.world)
})
afterAll(() => senders?.close())

const MINUTE_MS = 60_000
const forEver = new AbortController().signal
const evaluateDue = () => round(forEver)
const pass = (minutes: number) => senders.app.clock.advance(minutes * MINUTE_MS)
/** Moves the clock, so that recent events lie before the end of the next evaluation. */
const settle = async (minutes = 1) => {
  pass(minutes)
  await evaluateDue()
}

async function send(owner: TestOrganization, lines: readonly object[]): Promise<void> {
  const { status } = await senders.post(lines.map((line) => JSON.stringify(line)).join('\n'), { owner })
  expect(status).toBe(200)
}
const errors = (count: number, more: object = {}) => Array.from({ length: count }, () => ({ level: 'error', ...more }))

const query = { name: 'errors', select: ['count(*)'], from_expr: '*', where: 'level = error' }
const plain = {
  name: 'Errors',
  comparison_operator: 'ABOVE',
  threshold: 2,
  window: 'Last 5 minutes',
  actions: [{ email: 'oncall@example.org' }],
  queries: [query],
}
const grouped = { ...plain, queries: [{ ...query, groups: ['region'] }] }

type Watched = {
  id: string
  org: TestOrganization
  now(): Promise<Monitor>
  events(): Promise<ReplyOf<typeof contract.monitors.events>>
  evaluations(): Promise<MonitorEvaluation[]>
  notes(): Promise<
    { transition: string; group_id: string; alert_id: string; monitor_status: string; previous_status: string; value: number | null }[]
  >
}

async function watch(body: object, org?: TestOrganization): Promise<Watched> {
  const owner = org ?? (await senders.app.newOrganization())
  const made = await owner.ask<Monitor & { details?: string }>('POST', '/monitors', { body })
  expect(made.body.details).toBe(undefined)
  const { id } = made.body
  const path = `/monitors/${id}`
  return {
    id,
    org: owner,
    now: async () => (await owner.ask<Monitor>('GET', path)).body,
    events: async () => (await owner.ask<ReplyOf<typeof contract.monitors.events>>('GET', `${path}/events`)).body,
    evaluations: async () => (await owner.ask<{ evaluations: MonitorEvaluation[] }>('GET', `${path}/evaluations`)).body.evaluations,
    notes: () =>
      senders.app.app.world.meta.all(sql`
        select transition, group_id, alert_id, monitor_status, previous_status, value from monitor_notifications where monitor_id = ${id} order by time, id`),
  }
}

test.each([false, true])('an alert that was sent recovers under its id after notify_once (%s) was changed', async (notifyOnce) => {
  const body = { ...grouped, no_data_status: 'OK', notify_once: notifyOnce }
  const { id, org, notes } = await watch(body)
  await send(org, errors(3, { region: 'eu' }))
  await settle()
  const put = await org.ask('PUT', `/monitors/${id}`, { body: { ...body, notify_once: !notifyOnce } })
  expect(put.status).toBe(200)
  await evaluateDue()
  await settle(7)
  const notified = await notes()
  expect(notified.map(({ transition }) => transition)).toEqual(['ALERT', 'ALERT_RECOVERY'])
  expect(new Set(notified.map(({ alert_id }) => alert_id)).size).toBe(1)
})

test.each([
  [['"user name"', 'host'], 'user name:ada,host:a,b', { 'user name': 'ada', host: 'a,b' }],
  [['["user name", host]'], 'user name:ada,host:a,b', { 'user name': 'ada', host: 'a,b' }],
])('groups by %j have the values of their keys in the monitor and in its notifications', async (groups, group_id, values) => {
  const { org, id, now } = await watch({ ...plain, queries: [{ ...query, groups }] })
  await send(org, errors(3, { 'user name': 'ada', host: 'a,b' }))
  await settle()
  expect((await now()).monitored_groups).toEqual([{ group_id, groups: values, status: 'ALERT' }])
  const stored = await senders.app.app.world.meta.all(sql`select occasion from monitor_notifications where monitor_id = ${id}`)
  expect(stored).toMatchObject([{ occasion: { groups: values } }])
})

test('a monitor grouped by patterns has a group for events without a pattern', async () => {
  const { org, now } = await watch({ ...plain, queries: [{ ...query, where: 'EXISTS watched', groups: ['@pattern'] }] })
  const many = Array.from({ length: 100 }, (_, index) => ({ [`name${index}`]: 1 }))
  await send(org, many)
  await send(org, [...errors(3, { message: 'disk full', watched: 1 }), { watched: 1 }])
  await settle()
  const { status, monitored_groups } = await now()
  expect(status).toBe('ALERT')
  const pattern = expect.stringMatching(/^[0-9a-f]{16}$/)
  const both = [
    { group_id: pattern, groups: { '@pattern': pattern }, status: 'ALERT' },
    { group_id: 'null', groups: { '@pattern': 'null' }, status: 'OK' },
  ]
  expect(monitored_groups).toHaveLength(2)
  expect(monitored_groups).toEqual(expect.arrayContaining(both))
})

test('a monitor without events has no data; then it alerts, notifies each action once, and recovers under the same alert', async () => {
  const { org, now, events, evaluations, notes } = await watch({
    ...plain,
    no_data_status: 'OK',
    actions: [{ email: 'a@example.org' }, { email: 'b@example.org' }],
  })
  await evaluateDue()
  expect((await now()).status).toBe('OK')
  await send(org, errors(3))
  await settle()
  expect(await now()).toMatchObject({ status: 'ALERT', last_trigger_ts: expect.any(Number) })
  await settle()
  const notified = await notes()
  expect(notified.map(({ transition, value }) => [transition, value])).toEqual([
    ['ALERT', 3],
    ['ALERT', 3],
  ])
  await settle(6)
  expect((await now()).status).toBe('OK')
  const all = await notes()
  expect(all.map(({ transition }) => transition)).toEqual(['ALERT', 'ALERT', 'ALERT_RECOVERY', 'ALERT_RECOVERY'])
  expect(new Set(all.map(({ alert_id }) => alert_id)).size).toBe(1)
  const { monitor_events, groups_history } = await events()
  expect(monitor_events).toMatchObject([
    { monitor_status: 'OK', previous_status: 'ALERT', message: 'no events in the window' },
    { monitor_status: 'ALERT', previous_status: 'OK', message: '3 is above 2' },
  ])
  expect(groups_history).toMatchObject([{ group_id: '', history: [{ status: 'ALERT' }, { status: 'OK' }] }])
  const [latest, , alerting, first] = await evaluations()
  expect(first?.groups).toEqual([{ group_id: '', before: 'OK', after: 'OK' }])
  expect(alerting).toMatchObject({ value: 3, threshold: 2, status: 'ALERT', notifications: [{ transition: 'ALERT' }] })
  expect((alerting?.to_ts ?? 0) - (alerting?.from_ts ?? 0)).toBe(5 * MINUTE_MS)
  expect(latest).toMatchObject({ status: 'OK', missed: 5 })
  const shown = await org.ask<{ monitor_notifications: unknown[] }>('GET', `/monitors/${(await now()).id}/notifications`)
  expect(shown.body.monitor_notifications[0]).toMatchObject({ status: 'IN_PROGRESS', type: 'EMAIL', monitor_status: 'OK', test: false })
})

test('each group has its own status, and the monitor has the worst of them', async () => {
  const { org, id, now, notes } = await watch(grouped)
  await send(org, [...errors(3, { region: 'eu' }), ...errors(1, { region: 'us' })])
  await settle()
  const { status, monitored_groups } = await now()
  expect(status).toBe('ALERT')
  expect(monitored_groups).toEqual([
    { group_id: 'region:eu', groups: { region: 'eu' }, status: 'ALERT' },
    { group_id: 'region:us', groups: { region: 'us' }, status: 'OK' },
  ])
  expect((await notes()).map(({ group_id }) => group_id)).toEqual(['region:eu'])
  const body = { ...grouped, queries: [{ ...query, where: 'level = error and region = us', groups: ['region'] }] }
  await org.ask('PUT', `/monitors/${id}`, { body })
  await evaluateDue()
  expect(await now()).toMatchObject({ status: 'OK', monitored_groups: [{ group_id: 'region:us' }] })
})

test('monitors with equal queries share a read, and each gets its own result', async () => {
  const org = await senders.app.newOrganization()
  const asking = (select: string, more: object = {}) => watch({ ...plain, queries: [{ ...query, select: [select], ...more }] }, org)
  const watched = [await asking('count(*)'), await asking('sum(ms)'), await asking('max(ms)'), await asking('count(*)', { where: '' })]
  await send(org, [...errors(2, { ms: 4 }), { level: 'info', ms: 100 }])
  await settle()
  const seen = await Promise.all(watched.map(async ({ evaluations }) => (await evaluations())[0]?.value))
  expect(seen).toEqual([2, 8, 4, 3])
})

test('a group with any bytes in its value has an id, and does not stop other evaluations', async () => {
  const { org, now } = await watch({ ...grouped, threshold: 0 })
  await send(org, [...errors(1, { region: 'a\u0000b' }), ...errors(1, { region: 'x'.repeat(5_000) }), ...errors(1)])
  await settle()
  const ids = (await now()).monitored_groups.map(({ group_id }) => group_id)
  expect(ids).toEqual([expect.stringMatching(/^region:a.?b$/su), 'region:null', `region:${'x'.repeat(1_000)}`])
  expect(ids.join('')).not.toContain('\0')
})

test('a change is the difference to an earlier window, or its percentage', async () => {
  const change = { ...plain, monitor_type: 'CHANGE_DETECTION', compare_to: '10 minutes ago', queries: [{ ...query, where: '' }] }
  const org = await senders.app.newOrganization()
  const difference = await watch(change, org)
  const percentage = await watch({ ...change, change_type: 'PERCENTAGE', threshold: 100 }, org)
  await send(org, errors(2))
  await settle(10)
  await send(org, errors(6))
  await settle()
  expect((await difference.evaluations())[0]).toMatchObject({ value: 4, baseline: 2, status: 'ALERT' })
  expect((await percentage.evaluations())[0]).toMatchObject({ value: 200, baseline: 2, status: 'ALERT' })
  await settle(5)
  expect((await difference.evaluations())[0]?.value).toBe(undefined)
  await settle(5)
  expect((await difference.evaluations())[0]).toMatchObject({ value: -6, baseline: 6, status: 'OK' })
})

test('a formula is compared in place of its queries; what no event counts towards is 0', async () => {
  const all = { name: 'total', select: ['count(*)'], from_expr: '*', where: '', groups: ['region'] }
  const share = {
    ...grouped,
    queries: [{ ...query, groups: ['region'] }, all],
    formulas: [{ name: 'share', expression: 'errors / total * 100' }],
  }
  const { org, evaluations } = await watch({ ...share, threshold: 50 })
  await send(org, [...errors(3, { region: 'eu' }), { level: 'info', region: 'eu' }, { level: 'info', region: 'us' }])
  await settle()
  expect((await evaluations())[0]?.groups.map(({ group_id, value, after }) => [group_id, value, after])).toEqual([
    ['region:eu', 75, 'ALERT'],
    ['region:us', 0, 'OK'],
  ])
})

test('usage is the bytes that datasets took in', async () => {
  const usage = {
    ...plain,
    monitor_type: 'USAGE',
    threshold: 100,
    queries: [{ ...query, select: ['sum(bytes)'], where: '', groups: ['@dataset'] }],
  }
  const { org, now, evaluations } = await watch(usage)
  await send(org, [{ message: 'x'.repeat(200) }])
  await settle()
  expect(await now()).toMatchObject({ status: 'ALERT', monitored_groups: [{ group_id: '@dataset:default', status: 'ALERT' }] })
  expect((await evaluations())[0]?.groups[0]?.value).toBeGreaterThan(200)
})

test('an anomaly lies far from the median of earlier windows, measured by how far those lie from it', async () => {
  const anomaly = {
    ...plain,
    monitor_type: 'ANOMALY_DETECTION',
    evaluation_window: '50 minutes',
    comparison_operator: 'OUTSIDE',
    threshold: 3,
  }
  const org = await senders.app.newOrganization()
  for (let index = 0; index < 14; index += 1) {
    await send(org, errors(10 + (index % 3)))
    pass(5)
  }
  const { evaluations } = await watch(anomaly, org)
  await send(org, errors(11))
  await evaluateDue()
  expect((await evaluations())[0]).toMatchObject({ status: 'OK', baseline: 11 })
  await send(org, errors(50))
  await settle()
  expect((await evaluations())[0]).toMatchObject({ status: 'ALERT' })
})

test('patterns that come up, and patterns that stay away, are counted against the time before', async () => {
  const patterns = (want: string) => ({
    ...plain,
    threshold: 0,
    queries: [{ ...query, where: '' }],
    aux: { pattern_change: want, baseline: '1 hour' },
  })
  const org = await senders.app.newOrganization()
  const [fresh, lost] = [await watch(patterns('NEW'), org), await watch(patterns('VANISHED'), org)]
  const orderOf = (user: string) => ({ message: `order 1 placed by ${user}` })
  await send(org, [{ message: 'user 1 logged in' }, { message: 'job 7 ran' }, orderOf('grace'), orderOf('ada')])
  pass(10)
  // A new user makes no new pattern, a new message does.
  await send(org, [{ message: 'user 2 logged in' }, { message: 'disk sda1 fails' }, orderOf('barbara')])
  await settle()
  expect((await fresh.evaluations())[0]).toMatchObject({ value: 1, status: 'ALERT', patterns: [expect.stringMatching(/^[\da-f]{16}$/)] })
  expect((await lost.evaluations())[0]).toMatchObject({ value: 1, status: 'ALERT' })
  expect((await fresh.evaluations())[0]?.patterns).not.toEqual((await lost.evaluations())[0]?.patterns)
})

test('the parts of a window are reduced to one number by reduce_to', async () => {
  const { org, evaluations } = await watch({
    ...plain,
    queries: [{ ...query, select: ['ms'], aggregation: [{ time: 'max', reduce_to: 'sum' }] }],
  })
  await send(org, [...errors(1, { ms: 3 }), ...errors(1, { ms: 4 })])
  pass(2)
  await send(org, errors(1, { ms: 10 }))
  await settle()
  expect((await evaluations())[0]?.value).toBe(14)
})

describe('quiet', () => {
  test('a muted monitor changes its status and sends nothing', async () => {
    const { org, now, notes, evaluations } = await watch({ ...plain, mute_until: -1 })
    await send(org, errors(3))
    await settle()
    expect((await now()).status).toBe('ALERT')
    expect(await notes()).toEqual([])
    expect((await evaluations())[0]).toMatchObject({ muted: true, groups: [{ change: 'ALERT', verdict: 'muted' }] })
  })

  test.each(['the monitor', 'the log'])('a downtime over %s holds an alert back until it is deleted', async (what) => {
    const { org, id, notes, evaluations } = await watch(plain)
    await send(org, errors(3))
    const log = (await senders.datasets(org)).find(({ dataset }) => dataset === 'default')?.id
    const times = { from: 1, to: senders.app.clock.nowMs() + 3_600_000 }
    const body = { name: 'Release', description: 'x', from: [what === 'the log' ? log : id], static_time_range: times }
    const downtime = await org.ask<{ id: string }>('POST', '/monitors/downtimes', { body })
    await settle()
    expect(await notes()).toEqual([])
    expect((await evaluations())[0]).toMatchObject({ status: 'ALERT', downtime: 'DELAY', groups: [{ verdict: 'held by downtime' }] })
    await org.ask('DELETE', `/monitors/downtimes/${downtime.body.id}`)
    await evaluateDue()
    expect((await notes()).map(({ transition }) => transition)).toEqual(['ALERT'])
    expect((await evaluations())[0]?.notifications).toMatchObject([{ transition: 'ALERT', delayed: true }])
  })
})

test('a failed evaluation changes and sends nothing, records the reason, and is retried soon', async () => {
  const { org, now, evaluations, notes } = await watch({ ...plain, monitor_type: 'USAGE', queries: [{ ...query, where: '' }] })
  await evaluateDue()
  const { metric_id, status } = await now()
  expect((await org.ask('PUT', `/metrics/definitions/${metric_id}`, { body: { queries: [query] } })).status).toBe(200)
  await settle()
  expect((await evaluations())[0]).toMatchObject({ status, failure: expect.stringContaining('where'), groups: [], notifications: [] })
  expect(await notes()).toHaveLength(status === 'NO_DATA' ? 1 : 0)
  await org.ask('PUT', `/metrics/definitions/${metric_id}`, { body: { queries: [{ ...query, where: '' }] } })
  senders.app.clock.advance(15_000)
  await evaluateDue()
  expect(Object.keys((await evaluations())[0] ?? {})).not.toContain('failure')
})

describe('many processes', () => {
  const dueNow = (holder: string, leaseMs: number) =>
    claimDue(senders.app.app.world.meta, { holder, dueMs: senders.app.clock.nowMs(), leaseMs, rowsMax: 100 })

  test('share the monitors: each is evaluated once', async () => {
    const org = await senders.app.newOrganization()
    const watched: Watched[] = []
    for (let index = 0; index < 12; index += 1) watched.push(await watch(plain, org))
    const rounds = Array.from({ length: 3 }, () => createEvaluationRound(senders.app.app.world))
    await Promise.all(rounds.map((one) => one(forEver)))
    for (const { evaluations } of watched) expect(await evaluations()).toHaveLength(1)
  })

  test('a dead process keeps its monitors only for a lease, and its late writes are dropped', async () => {
    const { org, evaluations, notes, events } = await watch(plain)
    await evaluateDue()
    await send(org, errors(3))
    pass(2)
    const claimed = await dueNow('00000000-0000-4000-8000-00000000dead', 1)
    expect(claimed.length).toBeGreaterThan(0)
    await expect.poll(async () => (await evaluateDue()) > 0).toBe(true)
    await new Evaluator(senders.app.app.world).evaluateAll(claimed, forEver)
    expect((await evaluations()).filter(({ status }) => status === 'ALERT')).toHaveLength(1)
    expect((await notes()).filter(({ transition }) => transition === 'ALERT')).toHaveLength(1)
    expect((await events()).monitor_events.filter(({ monitor_status }) => monitor_status === 'ALERT')).toHaveLength(1)
  })

  test('an evaluation that started before a change of the definition is not stored', async () => {
    const { org, id, evaluations } = await watch(plain)
    const claimed = await dueNow('00000000-0000-4000-8000-00000000beef', 60_000)
    await org.ask('PUT', `/monitors/${id}`, { body: { ...plain, threshold: 7 } })
    await new Evaluator(senders.app.app.world).evaluateAll(claimed, forEver)
    expect(await evaluations()).toEqual([])
    await evaluateDue()
    expect((await evaluations()).map(({ threshold }) => threshold)).toEqual([7])
  })
})

describe('a backtest', () => {
  type Tested = ReplyOf<typeof contract.monitors.backtest> & { details?: string }
  const DAY_MS = 1_440 * MINUTE_MS
  /** Sends events of a number of minutes ago; all evaluations of a backtest end on full minutes. */
  const past = async (org: TestOrganization, ago: readonly number[], more: object = {}) => {
    const nowMs = senders.app.clock.nowMs()
    await send(
      org,
      ago.map((minutes) => ({ level: 'error', timestamp: new Date(nowMs - minutes * MINUTE_MS).toISOString(), ...more })),
    )
  }
  const tested = async (org: TestOrganization, body: object): Promise<Tested> => {
    const { body: found } = await org.ask<Tested>('POST', '/monitors/backtest', { body: { ...body, name: undefined, actions: undefined } })
    expect(found.details).toBe(undefined)
    return found
  }

  test('returns each change and each notification, and sends nothing', async () => {
    const org = await senders.app.newOrganization()
    await past(org, [600, 600, 600, 300, 100, 100, 100])
    const found = await tested(org, { ...plain, no_data_status: 'OK', days: 1 })
    expect([found.looks, found.step_ms, found.to_ts - found.from_ts]).toEqual([1_440, MINUTE_MS, DAY_MS])
    expect(found.notifications.map(({ transition }) => transition)).toEqual(['ALERT', 'ALERT_RECOVERY', 'ALERT', 'ALERT_RECOVERY'])
    expect(found.monitor_events).toHaveLength(4)
    expect(found.changes.map(({ value, after }) => [value, after])).toEqual([
      [3, 'ALERT'],
      [undefined, 'OK'],
      [3, 'ALERT'],
      [undefined, 'OK'],
    ])
    const [rise, fall] = found.monitor_events.map(({ time }) => time)
    expect((fall ?? 0) - (rise ?? 0)).toBe(5 * MINUTE_MS)
    expect(found.time_in_status).toEqual({ OK: DAY_MS - 10 * MINUTE_MS, ALERT: 10 * MINUTE_MS })
    expect([found.changes_total, found.notifications_total]).toEqual([4, 4])
    expect((await org.ask<{ monitors: unknown[] }>('GET', '/monitors')).body.monitors).toEqual([])
  })

  test.each<[string, object, (found: Tested) => unknown, unknown]>([
    [
      'by groups',
      { ...grouped, no_data_status: 'OK' },
      ({ notifications }) => notifications.map(({ group_id, transition }) => [group_id, transition]),
      [
        ['region:eu', 'ALERT'],
        ['region:eu', 'ALERT_RECOVERY'],
      ],
    ],
    [
      'changes',
      { ...plain, monitor_type: 'CHANGE_DETECTION', compare_to: '10 minutes ago', no_data_status: 'OK' },
      ({ changes }) => changes.map(({ value, baseline, after }) => [value, baseline, after]),
      [
        [3, 0, 'ALERT'],
        [undefined, undefined, 'OK'],
      ],
    ],
    [
      'parts made into one number',
      { ...plain, no_data_status: 'OK', queries: [{ ...query, select: ['ms'], aggregation: [{ time: 'max', reduce_to: 'sum' }] }] },
      ({ changes, step_ms }) => [step_ms, ...changes.map(({ value }) => value)],
      [MINUTE_MS / 2, 7, undefined],
    ],
    [
      'percentiles',
      { ...plain, no_data_status: 'OK', window: 'Last 1 hour', queries: [{ ...query, select: ['p50(ms)'] }] },
      ({ changes, step_ms }) => [step_ms, ...changes.map(({ value }) => value)],
      [5 * MINUTE_MS, 7, undefined],
    ],
    [
      'patterns',
      {
        ...plain,
        threshold: 0,
        no_data_status: 'OK',
        queries: [{ ...query, where: '' }],
        aux: { pattern_change: 'NEW', baseline: '2 days' },
      },
      ({ changes }) => changes.map(({ value }) => value),
      [1, undefined],
    ],
    [
      'anomalies',
      { ...plain, monitor_type: 'ANOMALY_DETECTION', evaluation_window: '1 hour', no_data_status: 'OK' },
      ({ changes }) => changes,
      [],
    ],
  ])('works with %s', async (_, definition, shown, wanted) => {
    const org = await senders.app.newOrganization()
    await past(org, [100, 100, 100], { region: 'eu', ms: 7, message: 'paid' })
    expect(shown(await tested(org, { ...definition, days: 1 }))).toEqual(wanted)
  })

  test('rejects what is invalid for a monitor, and more than 30 days', async () => {
    const org = await senders.app.newOrganization()
    const refused = (more: object) => org.ask('POST', '/monitors/backtest', { body: { ...plain, ...more } })
    expect((await refused({ window: 'Last 2 days' })).status).toBe(400)
    expect((await refused({ days: 31 })).status).toBe(400)
  })
})
