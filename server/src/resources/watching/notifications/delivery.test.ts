import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import type { FailureBody, SlackIntegration, SlackWorkspace } from '@dendro/api'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { makeServiceDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import { sql } from '../../../meta/sql.ts'
import type { Occasion } from '../alert-states/alert-states.ts'
import { type NotificationAction, targetsOf } from '../integrations/actions.ts'
import { notificationDelivery } from './delivery.ts'
import { queueNotifications } from './notifications.ts'
import { occasionOf } from './occasion.fixture.ts'
import type { TryRecord } from './rows.ts'

type Got = { path: string; headers: IncomingHttpHeaders; body: string }
type Kept = {
  state: string
  failure_reason: string | null
  attempts: number
  tries: TryRecord[]
  type: string
  destination: string
  test: boolean
}

const PATIENT = { timeout: 240_000, interval: 50 }
/** A clock of their own moves here, so the jobs run on a database of their own; nothing here reads or stores events. */
let database: TestDatabase
let app: TestApp
let org: TestOrganization
let relayUrl: string
let receiver: Server
let relay: SMTPServer
let base: string
let got: Got[] = []
let mails: { email: Email; recipients: string[] }[] = []
let answer: (response: ServerResponse, got: Got) => unknown = ok
let refusal: (Error & { responseCode?: number }) | undefined

function ok(response: ServerResponse): void {
  response.writeHead(200).end('ok')
}

const open = (env: Record<string, string> = {}) =>
  openTestApp(
    {
      DENDRO_POSTGRES_URL: database.url,
      DENDRO_WEBHOOK_ALLOW: '127.0.0.1',
      DENDRO_SMTP_URL: relayUrl,
      DENDRO_PUBLIC_URL: 'https://logs.example.org',
      ...env,
    },
    (world) => [notificationDelivery(world)],
  )

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const one = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(await request.toArray()).toString() }
    got.push(one)
    await answer(response, one)
  })
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
  base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  relay = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => done(refusal ?? null),
    onData: async (stream, session, done) => {
      const pieces: Buffer[] = []
      for await (const piece of stream) pieces.push(piece as Buffer)
      mails.push({
        email: await PostalMime.parse(Buffer.concat(pieces)),
        recipients: session.envelope.rcptTo.map(({ address }) => address),
      })
      done()
    },
  })
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening))
  relayUrl = `smtp://127.0.0.1:${((relay.server as NetServer).address() as AddressInfo).port}`
  database = await makeServiceDatabase(inject('stores'))
  app = await open()
})
beforeEach(async () => {
  await app.app.world.meta.run(sql`delete from monitor_notifications`)
  org = await app.newOrganization()
  got = []
  mails = []
  answer = ok
  refusal = undefined
})
afterAll(async () => {
  await app?.close()
  await database?.drop()
  receiver?.closeAllConnections()
  receiver?.close()
  await new Promise<void>((closed) => relay.close(closed))
})

const made = async (path: string, body: object): Promise<string> => {
  const reply = await org.ask<{ id: string }>('POST', path, { body })
  expect(reply.status, JSON.stringify(reply.body)).toBe(201)
  return reply.body.id
}
const hook = async (over: object = {}): Promise<NotificationAction> => ({
  type: 'INTEGRATION',
  integration_id: await made('/integrations/webhooks', { name: 'hook', url: `${base}/hook`, ...over }),
})

/** Queues an occasion for some actions of an existing monitor. */
async function tell(
  actions: readonly NotificationAction[],
  over: Parameters<typeof occasionOf>[0] = {},
  isTest = false,
): Promise<Occasion> {
  const { world } = app.app
  const occasion = occasionOf({ atMs: world.clock.nowMs(), ...over })
  const { id } = occasion.monitor
  await world.meta.write(org.orgId, async (tx) => {
    await tx.run(sql`
      insert into monitors (org_id, id, name, type, comparison_operator, threshold, time_window, actions, notify_once, ai_report_enabled,
        metric_id, tags, created_at, modified_at)
      values (${org.orgId}, ${id}, 'm', 'PATTERN', 'ABOVE', 1, 'Last 5 minutes', '[]', false, false, ${randomUUID()}, '{}', 0, 0)
      on conflict (id) do nothing`)
    const targets = await targetsOf(tx, org.orgId, actions)
    await queueNotifications(world, tx, { orgId: org.orgId, monitorId: id, eventId: undefined, occasion, targets, isTest })
  })
  return occasion
}

const kept = (): Promise<Kept[]> =>
  app.app.world.meta.all<Kept>(sql`select * from monitor_notifications where org_id = ${org.orgId} order by time, type, destination`)
const states = async (): Promise<string[]> => (await kept()).map(({ state }) => state)
const triesMade = async (): Promise<number> => (await kept())[0]?.tries.length ?? 0

describe('a webhook', () => {
  test('gets its payload with a delivery id, its headers and a signature of the very bytes', async () => {
    const payload = '{"text":"$title","value":$current_value,"at":"$monitor_link"}'
    const occasion = await tell([await hook({ payload, custom_headers: { 'X-Team': 'ops' }, signing_secret: 'a-very-secret-signature' })])
    await expect.poll(states, PATIENT).toEqual(['SENT'])
    const [first] = got
    expect(JSON.parse(first?.body ?? '')).toEqual({
      text: 'ALERT: Checkout errors',
      value: 12,
      at: `https://logs.example.org/app/monitors?id=${occasion.monitor.id}`,
    })
    const signature = createHmac('sha256', 'a-very-secret-signature')
      .update(first?.body ?? '')
      .digest('hex')
    expect(first?.headers).toMatchObject({ 'x-team': 'ops', 'x-dendro-attempt': '1', 'x-dendro-signature': `sha256=${signature}` })
    expect(await kept()).toMatchObject([
      { attempts: 1, failure_reason: null, tries: [{ status: 200 }], type: 'WEBHOOK', destination: 'hook' },
    ])
  })

  test('that fails is retried after 1, 10 and 60 s with the same id and body, and then abandoned', async () => {
    answer = (response) => void response.writeHead(503).end('we have trouble')
    await tell([await hook()])
    const waits = [1_000, 10_000, 60_000]
    type Waiting = { state: string; due: number | null; tries: TryRecord[] }
    /** The numbers of tries after which the next one was due at the right time; the time until then is skipped. */
    const awaited = new Set<number>()
    const state = async (): Promise<string | undefined> => {
      const [row] = await app.app.world.meta.all<Waiting>(
        sql`select state, next_try_at as due, tries from monitor_notifications where org_id = ${org.orgId}`,
      )
      const tried = row?.tries.length ?? 0
      const waitMs = waits[tried - 1] ?? 0
      if (waitMs > 0 && !awaited.has(tried) && row?.due === (row?.tries.at(-1)?.at ?? 0) + waitMs) {
        awaited.add(tried)
        app.clock.advance(waitMs)
      }
      return row?.state
    }
    await expect.poll(state, PATIENT).toBe('FAILED')
    // A slow look may miss the second before the second try.
    expect([...awaited]).toEqual(expect.arrayContaining([2, 3]))
    const at = (await kept())[0]?.tries.map((one) => one.at) ?? []
    expect(at.slice(1).map((ms, index) => ms - (at[index] ?? 0) >= (waits[index] ?? 0))).toEqual([true, true, true])
    expect(got.map(({ headers }) => headers['x-dendro-attempt'])).toEqual(['1', '2', '3', '4'])
    expect(new Set(got.map(({ headers }) => headers['x-dendro-delivery'])).size).toBe(1)
    expect(new Set(got.map(({ body }) => body)).size).toBe(1)
    const [row] = await kept()
    expect(row).toMatchObject({ attempts: 4, failure_reason: 'the target answered with status 503, after 4 tries' })
    expect(JSON.stringify(row)).not.toContain('we have trouble')
  })

  test('that recovers is notified once', async () => {
    answer = (response) => void response.writeHead(got.length === 1 ? 429 : 204, { 'retry-after': '5' }).end()
    await tell([await hook()])
    await expect.poll(triesMade, PATIENT).toBeGreaterThan(0)
    app.clock.advance(5_000)
    await expect.poll(states, PATIENT).toEqual(['SENT'])
    expect((await kept())[0]).toMatchObject({ attempts: 2, failure_reason: null, tries: [{ status: 429 }, { status: 204 }] })
  })

  test.each([
    [302, 'the target redirects (status 302), which is not followed'],
    [404, 'the target answered with status 404'],
  ])('that answers with %i fails at once and is followed nowhere', async (status, reason) => {
    answer = (response) => void response.writeHead(status, { location: `${base}/elsewhere` }).end()
    await tell([await hook()])
    await expect.poll(states, PATIENT).toEqual(['FAILED'])
    expect((await kept())[0]).toMatchObject({ failure_reason: reason, attempts: 1 })
    expect(got.map(({ path }) => path)).toEqual(['/hook'])
  })

  test('whose host has moved inside is refused at the delivery', async () => {
    const action = await hook()
    await app.app.world.meta.write(org.orgId, (tx) =>
      tx.run(sql`update webhooks set url = 'http://169.254.169.254/latest' where org_id = ${org.orgId}`),
    )
    await tell([action])
    await expect.poll(states, PATIENT).toEqual(['FAILED'])
    expect((await kept())[0]?.failure_reason).toContain('is not a public address')
  })

  test('that was deleted fails with a reason', async () => {
    await tell([{ type: 'INTEGRATION', integration_id: randomUUID() }])
    await expect.poll(states, PATIENT).toEqual(['FAILED'])
    expect((await kept())[0]?.failure_reason).toBe('the webhook is gone')
  })

  test('whose secret cannot be decrypted fails alone; the others are sent', async () => {
    const [bad, good] = [await hook({ name: 'bad' }), await hook({ name: 'good' })]
    await app.app.world.meta.write(org.orgId, (tx) =>
      tx.run(sql`update webhooks set headers = '\\x00' where org_id = ${org.orgId} and name = 'bad'`),
    )
    await tell([bad, good])
    await expect.poll(states, PATIENT).toEqual(['IN_PROGRESS', 'SENT'])
    // The two are independent: the failure may be recorded after the other was sent.
    await expect
      .poll(async () => (await kept())[0], PATIENT)
      .toMatchObject({ destination: 'bad', failure_reason: 'the service could not make the message' })
  })

  test('that hangs keeps no other waiting', async () => {
    answer = (response, { path }) => (path === '/slow' ? undefined : ok(response))
    const [slow, swift] = [await hook({ name: 'a slow one', url: `${base}/slow` }), await hook({ name: 'swift' })]
    await tell([slow, swift])
    await expect.poll(states, PATIENT).toEqual(['IN_PROGRESS', 'SENT'])
    await tell([swift], { atMs: app.clock.nowMs() + 1 })
    await expect.poll(states, PATIENT).toEqual(['IN_PROGRESS', 'SENT', 'SENT'])
    expect((await kept())[0]?.tries).toEqual([])
  })

  test('of another organization waits for none of seventy that hang', async () => {
    answer = (response, { path }) => (path === '/slow' ? undefined : ok(response))
    const hanging: NotificationAction[] = []
    for (let n = 0; n < 70; n += 1) hanging.push(await hook({ name: `slow ${n}`, url: `${base}/slow` }))
    await tell(hanging)
    await expect.poll(() => got.length, PATIENT).toBeGreaterThan(0)
    org = await app.newOrganization()
    await tell([await hook()])
    await expect.poll(states, PATIENT).toEqual(['SENT'])
    expect(got.findIndex(({ path }) => path === '/hook')).toBeLessThan(64)
    receiver.closeAllConnections()
  })

  test('hears of a recovery only after the alert', async () => {
    const recovered = Promise.withResolvers<void>()
    // What the test before has begun may still arrive.
    const own = () => got.filter(({ path }) => path === '/hook')
    answer = async (response, { path }) => {
      if (path !== '/hook') return void response.writeHead(200).end()
      const status = own().length === 1 ? 500 : 200
      // The second try is not answered before there is a recovery to report.
      if (status === 200) await recovered.promise
      response.writeHead(status).end()
    }
    const action = await hook()
    const alert = await tell([action])
    await expect.poll(triesMade, PATIENT).toBeGreaterThan(0)
    const { alertId, monitor } = alert
    await tell([action], { alertId, monitor, change: 'ALERT_RECOVERY', before: 'ALERT', after: 'OK', value: 1, atMs: alert.atMs + 1 })
    recovered.resolve()
    app.clock.advance(1_000)
    await expect.poll(states, PATIENT).toEqual(['SENT', 'SENT'])
    expect(own().map(({ body }) => JSON.parse(body).status)).toEqual(['alert', 'alert', 'ok'])
    expect(new Set(own().map(({ body }) => JSON.parse(body).alert_id)).size).toBe(1)
  })
})

describe('chat', () => {
  const channels = async (body: object): Promise<NotificationAction> => {
    const workspace = await org.ask<SlackWorkspace>('POST', '/integrations/slack/workspaces', { body: { name: 'ours', ...body } })
    const chat = { name: 'on call', channels: ['#one', '#two'], workspace_id: workspace.body.id }
    return { type: 'INTEGRATION', integration_id: (await org.ask<SlackIntegration>('POST', '/integrations/slack', { body: chat })).body.id }
  }

  test('gets one message for each channel through an incoming webhook', async () => {
    await tell([await channels({ webhook_url: `${base}/in/very-secret` })])
    await expect.poll(states, PATIENT).toEqual(['SENT', 'SENT'])
    expect(got.map(({ body }) => JSON.parse(body).channel).sort()).toEqual(['#one', '#two'])
    expect(JSON.parse(got[0]?.body ?? '')).toMatchObject({
      text: 'ALERT: Checkout errors',
      attachments: [{ title: 'ALERT: Checkout errors' }],
    })
    expect((await kept()).map(({ type, destination }) => [type, destination])).toEqual([
      ['SLACK', '#one'],
      ['SLACK', '#two'],
    ])
  })

  test('by token carries the token, and believes the verdict in the answer', async () => {
    answer = (response, { body }) => {
      const verdict = body.includes('#one') ? { ok: true } : { ok: false, error: 'channel_not_found' }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(verdict))
    }
    await tell([await channels({ token: 'a-very-secret-token', api_url: `${base}/api/` })])
    await expect.poll(states, PATIENT).toEqual(['SENT', 'FAILED'])
    expect(got[0]).toMatchObject({ path: '/api/chat.postMessage', headers: { authorization: 'Bearer a-very-secret-token' } })
    expect((await kept())[1]?.failure_reason).toBe('the chat service refused the message (channel_not_found)')
  })
})

describe('an e-mail', () => {
  const ada: NotificationAction = { type: 'EMAIL', email: 'ada@example.org' }

  test('arrives once, as text and HTML, with an id that stays the same', async () => {
    const occasion = await tell([ada], { group: 'host:<b>web1</b>', groups: { host: '<b>web1</b>' } })
    await expect.poll(states, PATIENT).toEqual(['SENT'])
    const [{ email, recipients } = { email: undefined, recipients: [] }] = mails
    expect(recipients).toEqual(['ada@example.org'])
    expect(email?.subject).toBe('ALERT: Checkout errors (host:<b>web1</b>)')
    expect(email?.text).toContain('The value 12 is above the threshold of 10')
    expect(email?.html).toContain('host:&lt;b&gt;web1')
    expect(email?.html).not.toContain('<b>web1')
    expect(email?.html).toContain(`href="https://logs.example.org/app/monitors?id=${occasion.monitor.id}"`)
    const [row] = await app.app.world.meta.all<{ id: string }>(sql`select id from monitor_notifications where org_id = ${org.orgId}`)
    expect(email?.messageId).toBe(`<${row?.id}@dendro>`)
  })

  test('from a template has its words', async () => {
    const templates = [
      await made('/integrations/email', { name: 'text', payload: 'Look: $title at $threshold & more' }),
      await made('/integrations/email', { name: 'html', payload: '<h1>$title</h1>' }),
    ]
    await tell(
      templates.map((integration_id, at): NotificationAction => ({ type: 'EMAIL', email: `${at}@example.org`, integration_id })),
      { monitor: { name: '<i>odd</i>' } },
    )
    await expect.poll(states, PATIENT).toEqual(['SENT', 'SENT'])
    const byName = mails.sort((one, other) => (one.recipients[0] ?? '').localeCompare(other.recipients[0] ?? ''))
    expect(byName[0]?.email.text?.trim()).toBe('Look: ALERT: <i>odd</i> at 10 & more')
    expect(byName[1]?.email.html?.trim()).toBe('<h1>ALERT: &lt;i&gt;odd&lt;/i&gt;</h1>')
  })

  test('is one for all when more than twenty are due to an address', async () => {
    const { world } = app.app
    const nowMs = world.clock.nowMs()
    const { monitor } = await tell([])
    await world.meta.write(org.orgId, async (tx) => {
      for (let n = 0; n < 25; n += 1) {
        const occasion = occasionOf({ atMs: nowMs - 25 + n, monitor, group: `host:<b>${n}</b>` })
        const targets = await targetsOf(tx, org.orgId, [ada])
        await queueNotifications(world, tx, {
          orgId: org.orgId,
          monitorId: monitor.id,
          eventId: undefined,
          occasion,
          targets,
          isTest: true,
        })
      }
    })
    await expect.poll(states, PATIENT).toEqual(Array(25).fill('SENT'))
    expect(mails.map(({ email }) => email.subject)).toEqual(['25 notifications of monitors'])
    expect(mails[0]?.email.text).toContain('ALERT: Checkout errors (host:<b>24</b>)')
    expect(mails[0]?.email.html).not.toContain('<b>')
  })

  test('that the relay rejects permanently fails, one rejected temporarily waits a minute', async () => {
    refusal = Object.assign(new Error('no such mailbox'), { responseCode: 550 })
    await tell([ada])
    await expect.poll(states, PATIENT).toEqual(['FAILED'])
    expect((await kept())[0]?.failure_reason).toBe('the mail relay refused the mail (status 550)')
    refusal = Object.assign(new Error('come back later'), { responseCode: 451 })
    await tell([ada], { atMs: app.clock.nowMs() + 1 })
    await expect.poll(async () => (await kept())[1]?.tries.length, PATIENT).toBe(1)
    refusal = undefined
    app.clock.advance(60_000)
    await expect.poll(states, PATIENT).toEqual(['FAILED', 'SENT'])
  })
})

describe('test notifications', () => {
  const draft = async (over: object = {}) => ({
    name: 'Checkout errors',
    comparison_operator: 'ABOVE',
    threshold: 10,
    warning_threshold: 5,
    window: 'Last 5 minutes',
    queries: [{ name: 'errors', select: ['count(*)'], from: [randomUUID()], where: 'level = error', groups: ['host'] }],
    actions: [await hook({ payload: '{"title":"$title","value":$current_value,"threshold":$threshold,"was":"$previous_status"}' })],
    state_transitions: ['ALERT', 'ALERT_TO_WARN', 'WARN_RECOVERY', 'NO_DATA'],
    group: 'host:web1,region:eu',
    ...over,
  })
  const send = async (over: object = {}) => org.ask<FailureBody>('POST', '/monitors/send-test-notifications', { body: await draft(over) })

  test('notify every transition in order, marked as tests, with plausible values', async () => {
    expect((await send()).status).toBe(204)
    await expect.poll(() => got.length, PATIENT).toBe(4)
    const about = '(host:web1,region:eu)'
    expect(got.map(({ body }) => JSON.parse(body))).toEqual([
      { title: `[TEST] ALERT: Checkout errors ${about}`, value: 11, threshold: 10, was: 'ok' },
      { title: `[TEST] WARN: Checkout errors ${about}`, value: 6, threshold: 5, was: 'alert' },
      { title: `[TEST] OK: Checkout errors ${about}`, value: 4, threshold: 5, was: 'warn' },
      { title: `[TEST] NO DATA: Checkout errors ${about}`, value: null, threshold: 10, was: 'ok' },
    ])
    await expect.poll(kept, PATIENT).toEqual([])
  })

  test('of a muted monitor are sent and kept as tests, with what became of each try', async () => {
    const { state_transitions: _, group: __, ...definition } = await draft()
    const monitor = await made('/monitors', { ...definition, mute_until: -1 })
    expect((await send({ monitor_id: monitor, state_transitions: ['ALERT'] })).status).toBe(204)
    const shown = async () =>
      (await org.ask<{ monitor_notifications: object[] }>('GET', `/monitors/${monitor}/notifications`)).body.monitor_notifications
    await expect.poll(shown, PATIENT).toMatchObject([
      {
        monitor_id: monitor,
        type: 'WEBHOOK',
        destination: 'hook',
        status: 'SENT',
        test: true,
        monitor_status: 'ALERT',
        tries: [{ status: 200 }],
      },
    ])
    expect((await org.ask('DELETE', `/monitors/${monitor}`)).status).toBe(204)
    expect(await kept()).toEqual([])
  })

  test.each([
    [{ state_transitions: [] }, 'state_transitions'],
    [{ state_transitions: ['ALERT', 'NEVER'] }, 'state_transitions.1'],
    [{ actions: [{ integration_id: randomUUID() }] }, 'actions.0.integration_id'],
    [{ monitor_id: randomUUID() }, 'monitor_id'],
    [{ window: 'Last 3 years' }, 'window'],
    [{ comparison_operator: 'AROUND' }, 'comparison_operator'],
  ])('with %j are refused and nothing is sent', async (over, field) => {
    const { status, body } = await send(over)
    expect([status, body.errors?.[0]?.field]).toEqual([400, field])
    expect(await kept()).toEqual([])
  })
})

test('an integration that a monitor uses cannot be deleted', async () => {
  const email = await made('/integrations/email', { name: 'mail', payload: '$title' })
  const { integration_id: webhook } = await hook()
  const monitor = await made('/monitors', {
    name: 'Checkout errors',
    comparison_operator: 'ABOVE',
    threshold: 10,
    window: 'Last 5 minutes',
    queries: [{ name: 'errors', select: ['count(*)'], from: [randomUUID()], where: '' }],
    actions: [{ integration_id: webhook }, { type: 'EMAIL', email: 'ada@example.org', integration_id: email }],
  })
  for (const path of [`/integrations/webhooks/${webhook}`, `/integrations/email/${email}`]) {
    const refused = await org.ask<FailureBody>('DELETE', path)
    expect([refused.status, refused.body.details]).toEqual([409, 'in use by the monitor "Checkout errors"'])
  }
  await org.ask('DELETE', `/monitors/${monitor}`)
  expect((await org.ask('DELETE', `/integrations/webhooks/${webhook}`)).status).toBe(204)
})

test('a test of an unsaved monitor leaves no record', async () => {
  const { world } = app.app
  const targets = await targetsOf(world.meta, org.orgId, [await hook()])
  const occasion = occasionOf({ atMs: world.clock.nowMs() })
  await world.meta.write(org.orgId, (tx) =>
    queueNotifications(world, tx, { orgId: org.orgId, monitorId: undefined, eventId: undefined, occasion, targets, isTest: true }),
  )
  await expect.poll(() => got.length, PATIENT).toBe(1)
  expect(JSON.parse(got[0]?.body ?? '').title).toBe('[TEST] ALERT: Checkout errors')
  await expect.poll(kept, PATIENT).toEqual([])
})

test('a delivery that was interrupted by a stop is repeated by the next process with the same id', async () => {
  answer = () => undefined
  await tell([await hook()])
  await expect.poll(() => got.length, PATIENT).toBe(1)
  const aheadMs = app.clock.nowMs() - Date.now()
  await app.close()
  receiver.closeAllConnections()
  answer = ok
  app = await open()
  app.clock.advance(aheadMs)
  await expect.poll(states, PATIENT).toEqual(['SENT'])
  expect(got.map(({ headers }) => headers['x-dendro-attempt'])).toEqual(['1', '2'])
  expect(new Set(got.map(({ headers, body }) => `${headers['x-dendro-delivery']} ${body}`)).size).toBe(1)
})

test('without a relay an e-mail fails with the reason', async () => {
  await app.close()
  app = await open({ DENDRO_SMTP_URL: '' })
  Object.assign(app.app.world, { mailer: { configured: false, send: async () => Promise.reject(new Error('nobody sends')) } })
  await tell([{ type: 'EMAIL', email: 'ada@example.org' }])
  await expect.poll(states, PATIENT).toEqual(['FAILED'])
  expect((await kept())[0]?.failure_reason).toBe('no mail relay is configured (DENDRO_SMTP_URL)')
})
