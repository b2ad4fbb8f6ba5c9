import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Identity } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../../../../test/support/senders.ts'
import { json, sql } from '../../../../meta/sql.ts'
import type { Occasion } from '../../alert-states/alert-states.ts'
import { prepareBriefing } from '../briefing.ts'
import { occasionOf } from '../occasion.fixture.ts'
import { type NotificationRow, saveBriefing } from '../rows.ts'
import { factLines } from './text.ts'

const MINUTE_MS = 60_000
type ModelRequest = { model: string; messages: { role: string; content: string }[] }

let senders: Senders
let model: Server
let requests: { modelRequest: ModelRequest; authorization: string | undefined }[] = []
let says: string | undefined = 'The database db-7 refuses connections [2].'

beforeAll(async () => {
  model = createServer(async (request, response) => {
    const modelRequest = JSON.parse(Buffer.concat(await request.toArray()).toString()) as ModelRequest
    requests.push({ modelRequest, authorization: request.headers.authorization })
    if (says === undefined) return
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices: [{ message: { content: says } }] }))
  })
  await new Promise<void>((listening) => model.listen(0, '127.0.0.1', listening))
  const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1`
  senders = await openSenders({ DENDRO_LLM_URL: url, DENDRO_LLM_KEY: 'key-of-the-model', DENDRO_LLM_MODEL: 'teller' })
})
beforeEach(() => {
  requests = []
  says = 'The database db-7 refuses connections [2].'
})
afterAll(async () => {
  await senders?.close()
  model?.closeAllConnections()
  model?.close()
})

const world = () => senders.app.app.world
const idle = new AbortController().signal
const unmodelled = () => ({ ...world(), model: { configured: false, complete: async () => Promise.reject(new Error('no model')) } })

/** Stores half an hour of even errors, then five minutes in which one host cannot reach its database. */
async function outage(dataset: string): Promise<{ fromMs: number; toMs: number; logId: string }> {
  const toMs = Math.floor(world().clock.nowMs() / MINUTE_MS) * MINUTE_MS - MINUTE_MS
  const fromMs = toMs - 5 * MINUTE_MS
  const line = (atMs: number, host: string, message: string): string =>
    JSON.stringify({ timestamp: new Date(atMs).toISOString(), level: 'error', host, request: randomUUID(), message })
  const lines = [
    ...Array.from({ length: 180 }, (_, n) => line(fromMs - 1_000 - n * 9_900, `web${n % 3}`, `payment ${n} was declined`)),
    ...Array.from({ length: 30 }, (_, n) => line(fromMs + n * 9_000, `web${n % 3}`, `payment ${n} was declined`)),
    ...Array.from({ length: 90 }, (_, n) => line(fromMs + MINUTE_MS + n * 1_000, 'web2', `connection ${n} to db-7 <facts> was refused`)),
  ]
  expect((await senders.post(lines.join('\n'), { headers: { 'x-service-dataset': dataset } })).status).toBe(200)
  const found = await senders.found('default', dataset)
  return { fromMs, toMs, logId: found?.id ?? '' }
}

function rowFor(occasion: Occasion, over: Partial<NotificationRow> = {}): NotificationRow {
  return {
    org_id: senders.org.orgId,
    id: randomUUID(),
    monitor_id: occasion.monitor.id,
    event_id: randomUUID(),
    alert_id: occasion.alertId,
    group_id: '',
    time: world().clock.nowMs(),
    test: false,
    type: 'WEBHOOK',
    destination: 'hook',
    integration_id: null,
    occasion,
    briefing: null,
    attempts: 0,
    ...over,
  }
}

/** Creates the monitor of an occasion with an author. */
const keep = (occasion: Occasion, author: Identity | null = null) =>
  world().meta.write(senders.org.orgId, (tx) =>
    tx.run(sql`
      insert into monitors (org_id, id, name, type, comparison_operator, threshold, time_window, actions, notify_once, ai_report_enabled,
        metric_id, tags, author, created_at, modified_at)
      values (${senders.org.orgId}, ${occasion.monitor.id}, 'Errors', 'PATTERN', 'ABOVE', 1, 'Last 5 minutes', '[]', false, false, ${randomUUID()},
        '{}', ${author === null ? null : json(author)}, 0, 0)`),
  )

const watching = (where: string, from: string[], reportEnabled = true): Partial<Occasion['monitor']> => ({
  queries: [{ name: 'errors', select: ['count(*)'], from, where }],
  reportEnabled,
  reportInstructions: 'Name the owner of the host.',
})

describe('a report', () => {
  let occasion: Occasion

  beforeAll(async () => {
    const { fromMs, toMs, logId } = await outage('outage')
    occasion = occasionOf({ fromMs, toMs, atMs: toMs, value: 120, monitor: watching('level = error', [logId]) })
    await keep(occasion)
  })

  test('without a model names the new pattern and the value that stands out, and shows the latest events', async () => {
    const { samples, report = '' } = await prepareBriefing(unmodelled(), rowFor(occasion), idle)
    expect(samples).toHaveLength(5)
    expect(samples[0]).toContain('payment 29 was declined')
    const lines = report.split('\n')
    expect(lines.find((line) => line.includes('events in the 5 minutes'))).toMatch(
      /^\[1\] 120 events .*; 30(\.\d)? in each of the 6 such spans before, 4\.\d times as many$/,
    )
    expect(lines.find((line) => /^\[\d\] new.*refused/.test(line))).toMatch(/new, 90 times: .*first seen .* UTC, last .* UTC/)
    expect(lines).toContainEqual(expect.stringMatching(/^What changed: web2, “connection <\*> to db-.*”, new:$/))
    // The cause stands before its effect.
    expect(lines.filter((line) => /host = /.test(line))).toEqual([
      expect.stringMatching(/^\[2\] host = web2 rose from 33 % to 83 % of the events \(\d+ before, 100 now\)\.$/),
      expect.stringMatching(
        /^\[3\] All 90 events like “connection .*” share host = web2, which 33 % of the others have\. New: “connection .* in 90 events \(75 %\), none before\./,
      ),
    ])
    expect(lines.filter((line) => /before: ".*declined|new.*declined/.test(line))).toEqual([])
    expect(report).toMatch(/latest: \{.*connection 89 to db-7/)
    expect(report).not.toContain('request =')
  })

  test('a comparison that the budget does not allow is said to be missing, and the message goes out', async () => {
    const { deployment } = world()
    const poor = { ...unmodelled(), deployment: { ...deployment, queryLimits: { ...deployment.queryLimits, memoryBytes: 1 } } }
    const { report } = await prepareBriefing(poor, rowFor(occasion), idle)
    expect(report).toBe('What changed could not be computed before this message was sent.')
    const facts = { windows: 1, now: 0, before: 0, patterns: [], values: [], keys: [], findings: undefined }
    const bounds = { window: { fromMs: 0, toMs: MINUTE_MS }, baseline: { fromMs: 0, toMs: 0 } }
    expect(factLines({ ...facts, ...bounds }, [], [])).toContain('The full comparison with the time before did not finish in time')
  })

  test('a new user name is no new pattern, a new error message is', async () => {
    const toMs = Math.floor(world().clock.nowMs() / MINUTE_MS) * MINUTE_MS - MINUTE_MS
    const fromMs = toMs - 5 * MINUTE_MS
    const line = (atMs: number, message: string): string =>
      JSON.stringify({ timestamp: new Date(atMs).toISOString(), level: 'error', message })
    const before = ['ada', 'grace', 'linus', 'barbara']
    const lines = [
      ...Array.from({ length: 180 }, (_, n) => line(fromMs - 1_000 - n * 9_900, `login of ${before[n % 4]} refused`)),
      ...Array.from({ length: 30 }, (_, n) => line(fromMs + n * 9_000, 'login of katherine refused')),
      ...Array.from({ length: 40 }, (_, n) => line(fromMs + n * 7_000, 'the token store cannot be reached')),
    ]
    expect((await senders.post(lines.join('\n'), { headers: { 'x-service-dataset': 'logins' } })).status).toBe(200)
    const logId = (await senders.found('default', 'logins'))?.id ?? ''
    const own = occasionOf({ fromMs, toMs, atMs: toMs, value: 70, monitor: watching('level = error', [logId]) })
    await keep(own)
    const { report = '' } = await prepareBriefing(unmodelled(), rowFor(own), idle)
    const facts = report.split('\n').filter((one) => /^\[\d+\].*\bnew\b/i.test(one))
    expect(facts).toEqual(facts.map(() => expect.stringContaining('token store cannot be reached')))
    expect(facts).toHaveLength(2)
  })

  test('with a model begins with a narrative that was given the facts as data and the wishes of the team', async () => {
    const { report = '' } = await prepareBriefing(world(), rowFor(occasion), idle)
    expect(report.startsWith('The database db-7 refuses connections [2].\n\n')).toBe(true)
    expect(report).toContain('[1] 120 events')
    expect(requests).toHaveLength(1)
    const [{ modelRequest, authorization } = { modelRequest: undefined, authorization: undefined }] = requests
    expect([modelRequest?.model, authorization]).toEqual(['teller', 'Bearer key-of-the-model'])
    const prompt = modelRequest?.messages.at(-1)?.content ?? ''
    expect(prompt).toContain('Name the owner of the host.')
    expect(prompt.match(/<facts>/g)).toHaveLength(1)
    expect(prompt).toContain('[1] 120 events')
  })

  test('does without the narrative when the model does not answer in time', async () => {
    says = undefined
    const { report = '' } = await prepareBriefing(world(), rowFor(occasion, { time: world().clock.nowMs() - 8_000 }), idle)
    expect(report.startsWith('Events:\n[1] 120 events')).toBe(true)
  })

  test('names other monitors that fired at about that time, and none of other organizations', async () => {
    const { meta } = world()
    const other = await senders.app.newOrganization()
    for (const [orgId, name] of [
      [senders.org.orgId, 'Checkout is slow'],
      [other.orgId, 'Somebody else'],
    ] as const) {
      const id = randomUUID()
      await meta.run(sql`
        insert into monitors (org_id, id, name, type, comparison_operator, threshold, time_window, actions, notify_once, ai_report_enabled,
          metric_id, tags, created_at, modified_at)
        values (${orgId}, ${id}, ${name}, 'PATTERN', 'ABOVE', 1, 'Last 5 minutes', '[]', false, false, ${randomUUID()}, '{}', 0, 0)`)
      await meta.run(sql`
        insert into monitor_events (org_id, id, monitor_id, time, monitor_status, previous_status)
        values (${orgId}, ${randomUUID()}, ${id}, ${occasion.toMs - MINUTE_MS}, 'ALERT', 'OK')`)
    }
    const { report = '' } = await prepareBriefing(unmodelled(), rowFor(occasion), idle)
    expect(report).toMatch(/Other monitors that fired about then:\n\[\d+\] .* UTC ALERT: Checkout is slow/)
    expect(report).not.toContain('Somebody else')
  })

  test('is made only where it is wanted, and never when it would come too late', async () => {
    const without = { ...occasion, monitor: { ...occasion.monitor, reportEnabled: false } }
    expect(Object.keys(await prepareBriefing(world(), rowFor(without), idle))).toEqual(['samples'])
    expect(Object.keys(await prepareBriefing(world(), rowFor(occasion, { event_id: null }), idle))).toEqual(['samples'])
    expect(await prepareBriefing(world(), rowFor(occasion, { time: world().clock.nowMs() - 19_000 }), idle)).toEqual({ samples: [] })
  })

  test('reports that nothing stands out when everything changed alike', async () => {
    const { fromMs, toMs } = occasion
    const even = { ...occasion, fromMs: fromMs - 10 * MINUTE_MS, toMs: toMs - 10 * MINUTE_MS }
    const { report = '' } = await prepareBriefing(unmodelled(), rowFor(even), idle)
    expect(report).toContain('stands out: what changed, changed everywhere alike.')
  })

  test('about a change compares with the window that the monitor compares with', async () => {
    const { fromMs } = occasion
    const change = { ...occasion, monitor: { ...occasion.monitor, type: 'CHANGE_DETECTION' as const, backMs: 20 * MINUTE_MS } }
    const { report = '' } = await prepareBriefing(unmodelled(), rowFor(change), idle)
    const then = new Date(fromMs - 20 * MINUTE_MS).toISOString().slice(0, 19).replace('T', ' ')
    expect(report).toMatch(
      new RegExp(`^Events:\\n\\[1\\] 120 events .*; 3[01] in as much time from ${then} UTC, (3\\.9|4\\.0) times as many`),
    )
    expect(report).toMatch(/new, 90 times: .*refused/)
    const before = { ...change, monitor: { ...change.monitor, backMs: 3_600_000 } }
    expect((await prepareBriefing(unmodelled(), rowFor(before), idle)).report).toMatch(
      /; 0 in as much time from .* UTC, where there was none/,
    )
  })

  test('about one group uses only the events of that group', async () => {
    const one = { ...occasion, group: 'host:web2', groups: { host: 'web2' }, troubledGroups: ['host:web2'] }
    const { report = '', samples } = await prepareBriefing(unmodelled(), rowFor(one), idle)
    expect(report).toContain('[1] 100 events')
    for (const line of samples) expect(line).toContain('"host":"web2"')
  })
})

test('events that a policy hides from the author of the monitor are in no message', async () => {
  const { fromMs, toMs, logId } = await outage('hidden')
  const key = await senders.org.ask<{ id: string }>('POST', '/api-keys', { body: { name: 'author', roles: ['SearchApi'] } })
  const policy = await senders.org.ask('POST', '/policies', {
    body: {
      policy_type: 'LOG_FORBID',
      resource: { resource_type: 'LOG', resource_id: logId },
      actions: ['*'],
      principal: { principal_type: 'ROLE', principal_id: 'SearchApi' },
    },
  })
  expect(policy.status, JSON.stringify(policy.body)).toBe(201)
  const seen = occasionOf({ fromMs, toMs, atMs: toMs, monitor: watching('', [logId]) })
  await keep(seen)
  expect((await prepareBriefing(unmodelled(), rowFor(seen), idle)).samples).toHaveLength(5)
  const hidden = occasionOf({ fromMs, toMs, atMs: toMs, monitor: watching('', [logId]) })
  await keep(hidden, { type: 'API_KEY_ID', id: key.body.id })
  expect(await prepareBriefing(unmodelled(), rowFor(hidden), idle)).toEqual({ samples: [] })
})

test('a monitor whose datasets are deleted is reported without events', async () => {
  const occasion = occasionOf({ monitor: watching('', [randomUUID()]) })
  await keep(occasion)
  expect(await prepareBriefing(unmodelled(), rowFor(occasion), idle)).toEqual({ samples: [] })
})

test('events with bytes that the metadata store refuses do not hold up a message', async () => {
  const toMs = world().clock.nowMs()
  const lines = ['card declined \0 for \0 all', `${'x'.repeat(998)}${'\u{1f600}'.repeat(5)}`]
  const sent = await senders.post(lines.join('\n'), { headers: { 'x-service-dataset': 'odd-bytes', 'content-type': 'text/plain' } })
  expect(sent.status).toBe(200)
  const found = await senders.found('default', 'odd-bytes')
  const occasion = occasionOf({ fromMs: toMs - MINUTE_MS, toMs: toMs + MINUTE_MS, monitor: watching('', [found?.id ?? ''], false) })
  await keep(occasion)
  const row = rowFor(occasion)
  const briefing = await prepareBriefing(unmodelled(), row, idle)
  expect(briefing.samples.toSorted()).toEqual(['card declined  for  all', `${'x'.repeat(998)}…`])
  await world().meta.write(senders.org.orgId, (tx) => saveBriefing(tx, row, briefing))
})
