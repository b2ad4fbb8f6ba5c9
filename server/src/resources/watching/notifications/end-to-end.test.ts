import { createServer, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import type { Monitor } from '@dendro/api'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import { type Engines, makeEngines } from '../../../events/store/engine.fixture.ts'
import { createEvaluationRound, type EvaluationRound } from '../evaluations/evaluations.ts'
import { notificationDelivery } from './delivery.ts'

const PATIENT = { timeout: 240_000, interval: 50 }
const MINUTE_MS = 60_000

let engines: Engines
let app: TestApp
let round: EvaluationRound
let receiver: Server
let relay: SMTPServer
const calls: { title: string; alert: string; [name: string]: unknown }[] = []
const mails: Email[] = []

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    calls.push(JSON.parse(Buffer.concat(await request.toArray()).toString()))
    response.writeHead(204).end()
  })
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
  relay = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: async (stream, _session, done) => {
      const pieces: Buffer[] = []
      for await (const piece of stream) pieces.push(piece as Buffer)
      mails.push(await PostalMime.parse(Buffer.concat(pieces)))
      done()
    },
  })
  await new Promise<void>((listening) => relay.listen(0, '127.0.0.1', listening))
  engines = makeEngines()
  const store = await engines.open(await engines.madeDir())
  const env = {
    DENDRO_CLICKHOUSE_URL: store.url,
    DENDRO_WEBHOOK_ALLOW: '127.0.0.1',
    DENDRO_SMTP_URL: `smtp://127.0.0.1:${((relay.server as NetServer).address() as AddressInfo).port}`,
    DENDRO_PUBLIC_URL: 'https://logs.example.org',
  }
  app = await openTestApp(env, (world) => [notificationDelivery(world)])
  round = createEvaluationRound(app.app.world)
})
afterAll(async () => {
  await app?.close()
  await engines?.cleanUp()
  receiver?.closeAllConnections()
  receiver?.close()
  await new Promise<void>((closed) => relay.close(closed))
})

test('an event that was posted reaches a webhook and a mailbox by a monitor, with all that people want to know, and its end does too', async () => {
  const org = await app.newOrganization()
  const payload = JSON.stringify({
    title: '$title',
    alert: '$alert_id',
    status: '$status',
    value: '$current_value',
    threshold: '$threshold',
    group: '$group',
    link: '$monitor_link',
    samples: '$samples',
  })
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in`
  const hook = await org.ask<{ id: string }>('POST', '/integrations/webhooks', { body: { name: 'hook', url, payload } })
  const made = await org.ask<Monitor>('POST', '/monitors', {
    body: {
      name: 'Payments fail',
      comparison_operator: 'ABOVE',
      threshold: 2,
      window: 'Last 5 minutes',
      no_data_status: 'OK',
      actions: [{ email: 'oncall@example.org' }, { integration_id: hook.body.id }],
      queries: [{ name: 'errors', select: ['count(*)'], from_expr: '*', where: 'level = error', groups: ['region'] }],
    },
  })
  expect([hook.status, made.status]).toEqual([201, 201])
  const forEver = new AbortController().signal
  await round(forEver)

  const lines = ['eu', 'eu', 'eu', 'us'].map((region, index) =>
    JSON.stringify({ level: 'error', region, message: `card ${index} declined` }),
  )
  const posted = await org.ask('POST', '/', { raw: lines.join('\n'), headers: { 'content-type': 'application/x-ndjson' } })
  expect(posted.status).toBe(200)
  app.clock.advance(MINUTE_MS)
  await round(forEver)
  await expect.poll(() => [calls.length, mails.length], PATIENT).toEqual([1, 1])
  const link = `https://logs.example.org/app/monitors?id=${made.body.id}`
  expect(calls[0]).toMatchObject({
    title: 'ALERT: Payments fail (region:eu)',
    status: 'alert',
    value: '3',
    threshold: '2',
    group: 'region:eu',
    link,
  })
  // The latest three of the group, as they were sent.
  expect(String(calls[0]?.samples).split('\n').sort()).toEqual(lines.slice(0, 3))
  const [alert] = mails
  expect(alert?.subject).toBe('ALERT: Payments fail (region:eu)')
  for (const part of ['Threshold: above 2', 'Group: region:eu', 'Value: 3', link, ...lines.slice(0, 3)]) expect(alert?.text).toContain(part)
  expect(alert?.html).toContain(`<a href="${link}">`)
  // The hour before, of this group alone: zeros, and then the reported value.
  expect(alert?.html).toMatch(/<img src="cid:chart"[^>]*>.*between 0 and 3; the dashed line is at 2\./)
  const [chart] = alert?.attachments ?? []
  expect(chart).toMatchObject({ mimeType: 'image/png', disposition: 'inline', contentId: '<chart>' })
  expect(Buffer.from(chart?.content as ArrayBuffer).toString('latin1', 1, 4)).toBe('PNG')

  app.clock.advance(7 * MINUTE_MS)
  await round(forEver)
  await expect.poll(() => [calls.length, mails.length], PATIENT).toEqual([2, 2])
  expect(calls[1]).toMatchObject({ title: 'OK: Payments fail (region:eu)', status: 'ok', alert: calls[0]?.alert })
  expect(mails[1]).toMatchObject({ subject: 'OK: Payments fail (region:eu)', attachments: [] })

  // A notification is marked as sent after the receiver has it.
  const deliveries = async () => {
    const { body } = await org.ask<{ monitor_notifications: { status: string; type: string }[] }>(
      'GET',
      `/monitors/${made.body.id}/notifications`,
    )
    return body.monitor_notifications.map(({ status, type }) => `${type} ${status}`).sort()
  }
  await expect.poll(deliveries, PATIENT).toEqual(['EMAIL SENT', 'EMAIL SENT', 'WEBHOOK SENT', 'WEBHOOK SENT'])
})

test('a message and a suggested name show the text of a pattern, however old its last event is, and an unknown id remains', async () => {
  const org = await app.newOrganization()
  const old = { timestamp: new Date(app.clock.nowMs() - 12 * 86_400_000).toISOString(), message: 'rate table 7 expired', zone: 'a' }
  const fresh = (order: number) => ({ message: `card of order ${order} declined`, zone: 'b' })
  const send = async (events: readonly object[]) => {
    const raw = events.map((event) => JSON.stringify(event)).join('\n')
    expect((await org.ask('POST', '/', { raw, headers: { 'content-type': 'application/x-ndjson' } })).status).toBe(200)
  }
  await send([old, fresh(1), fresh(2)])
  const found = await org.ask<{ patterns: { id: string; template: string }[] }>('POST', '/patterns', {
    body: { search_details: { from_expr: '*', time_range: 'Last 30 days' } },
  })
  const idOf = (text: RegExp) => found.body.patterns.find(({ template }) => text.test(template))?.id ?? ''
  const unknown = '0123456789abcdef'
  const where = `@pattern IN ('${idOf(/declined/)}', '${idOf(/expired/)}', '${unknown}')`
  const queries = [{ name: 'a', select: ['count(*)'], from_expr: '*', where, groups: ['@pattern'] }]
  const shown = `@pattern IN (“card of order <*> declined”, “rate table <*> expired”, '${unknown}')`
  const suggested = await org.ask<{ suggestions: { name: string }[] }>('POST', '/monitors/suggestions', {
    body: { number_of_suggestions: 1, monitor_context: { threshold: 1, queries } },
  })
  expect(suggested.body.suggestions).toMatchObject([{ name: `Events where ${shown} above 1` }])

  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in`
  const payload = JSON.stringify({ title: '$title', alert: '$alert_id', group: '$group', query: '$query' })
  const hook = await org.ask<{ id: string }>('POST', '/integrations/webhooks', { body: { name: 'hook', url, payload } })
  const rule = { comparison_operator: 'ABOVE', threshold: 1, window: 'Last 5 minutes', no_data_status: 'OK' }
  const made = await org.ask<Monitor>('POST', '/monitors', {
    body: { ...rule, name: 'Declined', actions: [{ integration_id: hook.body.id }], queries },
  })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const [before, forEver] = [calls.length, new AbortController().signal]
  await round(forEver)
  await expect.poll(() => calls.length, PATIENT).toBe(before + 1)
  const said = { group: '“card of order <*> declined”', query: `count(*) where ${shown} by @pattern` }
  expect(calls[before]).toMatchObject({ ...said, title: 'ALERT: Declined (“card of order <*> declined”)' })
  app.clock.advance(7 * MINUTE_MS)
  await round(forEver)
  await expect.poll(() => calls.length, PATIENT).toBe(before + 2)
  expect(calls[before + 1]).toMatchObject({ ...said, title: 'OK: Declined (“card of order <*> declined”)' })
})
