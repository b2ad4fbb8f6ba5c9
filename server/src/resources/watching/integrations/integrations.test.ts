import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FailureBody, WebhookIntegration } from '@dendro/api'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sql } from '../../../meta/sql.ts'
import { isValidPayload, renderPayload, samplePlaceholders } from './payload.ts'

type Tested = { delivered: boolean; status?: number; failure_reason?: string }

let app: TestApp
let org: TestOrganization
let receiver: Server
let target: string
let received: { headers: IncomingHttpHeaders; body: string }[] = []
let answer = 200

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: Buffer.concat(await request.toArray()).toString() })
    response.writeHead(answer).end('the target talks')
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  target = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1' })
})
beforeEach(async () => {
  org = await app.newOrganization()
  received = []
  answer = 200
})
afterAll(async () => {
  await app.close()
  receiver.close()
})

const create = (body: object) =>
  org.ask<WebhookIntegration & FailureBody>('POST', '/integrations/webhooks', { body: { name: 'hook', url: target, ...body } })
const replace = (id: string, body: object) =>
  org.ask<WebhookIntegration & FailureBody>('PUT', `/integrations/webhooks/${id}`, { body: { name: 'hook', url: target, ...body } })
const tryOut = (id: string) => org.ask<Tested>('POST', `/integrations/webhooks/${id}/test`)

describe('the record', () => {
  test('a webhook is created, listed, replaced and deleted', async () => {
    const made = await create({ custom_headers: { 'X-Team': 'ops' }, payload: '{"text":"$title"}' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'hook',
      url: target,
      custom_headers: { 'X-Team': '***' },
      payload: '{"text":"$title"}',
      is_signed: false,
    })
    expect((await org.ask('GET', '/integrations/webhooks')).body).toEqual({ integrations: [made.body] })
    const replaced = await replace(made.body.id, { name: 'other' })
    expect(replaced.body).toMatchObject({ id: made.body.id, name: 'other', custom_headers: {} })
    expect(replaced.body.payload).toBeUndefined()
    expect((await org.ask('DELETE', `/integrations/webhooks/${made.body.id}`)).status).toBe(204)
    expect((await org.ask('GET', '/integrations/webhooks')).body).toEqual({ integrations: [] })
    expect((await replace(made.body.id, {})).status).toBe(404)
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ url: 'ftp://example.com/x' }, 'url'],
    [{ url: 'http://x' }, 'url'],
    [{ url: 'http://169.254.169.254/latest' }, 'url'],
    [{ url: 'http://user:pw@example.com/' }, 'url'],
    [{ payload: '{"text": $title}' }, 'payload'],
    [{ payload: 'hello' }, 'payload'],
    [{ payload: `"${'x'.repeat(2048)}"` }, 'payload'],
    [{ custom_headers: { Host: 'x' } }, 'custom_headers.Host'],
    [{ custom_headers: { 'x-a': '1', 'X-A': '2' } }, 'custom_headers.X-A'],
    [{ custom_headers: { 'x-a': '1\r\nx-b: 2' } }, 'custom_headers.x-a'],
    [{ custom_headers: { 'x-a': '***' } }, 'custom_headers.x-a'],
    [{ custom_headers: Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`x-${n}`, '1'])) }, 'custom_headers'],
    [{ signing_secret: 'short' }, 'signing_secret'],
    [{ signing_secret: '***' }, 'signing_secret'],
  ])('%j is refused and names %s', async (body, field) => {
    const { status, body: failure } = await create(body)
    expect(status).toBe(400)
    expect(failure.errors?.[0]?.field).toBe(field)
  })
})

describe('secrets', () => {
  test('are stored encrypted and are never returned', async () => {
    const made = await create({ custom_headers: { authorization: 'Bearer very-secret-token' }, signing_secret: 'a-very-secret-signature' })
    expect(JSON.stringify(made.body)).not.toContain('very-secret')
    const rows = await app.app.world.meta.all<{ text: string }>(sql`
      select encode(headers, 'escape') || encode(signing_secret, 'escape') || webhooks::text as text from webhooks where org_id = ${org.orgId}
      union all select coalesce(before::text, '') || coalesce(after::text, '') from audit where org_id = ${org.orgId}`)
    expect(rows.length).toBeGreaterThan(1)
    for (const { text } of rows) expect(text).not.toContain('very-secret')
  })

  test('sent back as they are shown, they stay; left out, they go', async () => {
    const made = await create({ custom_headers: { 'x-key': 'one', 'x-other': 'two' }, signing_secret: 'a-very-secret-signature' })
    await replace(made.body.id, { custom_headers: { 'x-key': '***' }, signing_secret: '***' })
    await tryOut(made.body.id)
    expect(received[0]?.headers).toMatchObject({ 'x-key': 'one' })
    expect(received[0]?.headers['x-other']).toBeUndefined()
    expect(received[0]?.headers['x-dendro-signature']).toBeDefined()
    await replace(made.body.id, {})
    await tryOut(made.body.id)
    expect(received[1]?.headers['x-key']).toBeUndefined()
    expect(received[1]?.headers['x-dendro-signature']).toBeUndefined()
  })

  test.each([
    ['scheme', 'https://hooks.example.com:8080/hook'],
    ['host', 'http://other.example.com:8080/hook'],
    ['port', 'http://hooks.example.com:8081/hook'],
  ])('are not kept for another %s: they must be given again', async (_what, url) => {
    const secrets = { custom_headers: { 'x-key': 'one' }, signing_secret: 'a-very-secret-signature' }
    const made = await create({ url: 'http://hooks.example.com:8080/hook', ...secrets })
    for (const [kept, field] of [
      [{ custom_headers: { 'x-key': '***' } }, 'custom_headers.x-key'],
      [{ signing_secret: '***' }, 'signing_secret'],
    ] as const) {
      const { status, body } = await replace(made.body.id, { url, ...kept })
      expect([status, body.errors?.[0]?.field]).toEqual([400, field])
    }
    expect((await org.ask('GET', '/integrations/webhooks')).body).toEqual({ integrations: [made.body] })
    expect((await replace(made.body.id, { url, ...secrets })).status).toBe(200)
    const bare = await replace(made.body.id, { url: 'http://third.example.com/hook' })
    expect(bare.body).toMatchObject({ custom_headers: {}, is_signed: false })
  })

  test('stay where only the path of the URL changes, or its origin is written another way', async () => {
    const made = await create({ custom_headers: { 'x-key': 'one' }, signing_secret: 'a-very-secret-signature' })
    const kept = { custom_headers: { 'x-key': '***' }, signing_secret: '***' }
    expect((await replace(made.body.id, { url: target.replace('http:', 'HTTP:').replace('/hook', '/other?a=1'), ...kept })).status).toBe(
      200,
    )
    await tryOut(made.body.id)
    expect(received[0]?.headers).toMatchObject({ 'x-key': 'one' })
    expect(received[0]?.headers['x-dendro-signature']).toBeDefined()
  })

  test('a header of one webhook does not open in another', async () => {
    const [first, second] = [await create({ custom_headers: { 'x-key': 'one' } }), await create({ custom_headers: { 'x-key': 'two' } })]
    await app.app.world.meta.write(org.orgId, (tx) =>
      tx.run(sql`update webhooks set headers = (select headers from webhooks where id = ${first.body.id}) where id = ${second.body.id}`),
    )
    expect((await tryOut(second.body.id)).status).toBe(500)
    expect(received).toEqual([])
  })
})

describe('a test notification', () => {
  test('carries the payload with its placeholders replaced, the headers, and a signature of the very bytes', async () => {
    const made = await create({
      custom_headers: { 'X-Team': 'ops' },
      payload: '{"text":"$title","value":$current_value}',
      signing_secret: 'a-very-secret-signature',
    })
    expect((await tryOut(made.body.id)).body).toEqual({ delivered: true, status: 200 })
    const [got] = received
    expect(JSON.parse(got?.body ?? '')).toEqual({ text: 'ALERT: A test notification', value: 12 })
    expect(got?.headers).toMatchObject({ 'x-team': 'ops', 'content-type': 'application/json' })
    expect(got?.headers['x-dendro-delivery']).toMatch(/^[0-9a-f-]{36}$/)
    const signature = createHmac('sha256', 'a-very-secret-signature')
      .update(got?.body ?? '')
      .digest('hex')
    expect(got?.headers['x-dendro-signature']).toBe(`sha256=${signature}`)
  })

  test('reports the status of the target, and nothing of its body', async () => {
    const made = await create({})
    answer = 418
    const tested = await tryOut(made.body.id)
    expect(tested.body).toEqual({ delivered: false, status: 418, failure_reason: 'the target answered with status 418' })
    expect(JSON.stringify(tested.body)).not.toContain('talks')
  })

  test('without a listener reports the reason', async () => {
    const made = await create({ url: 'https://hooks.invalid/in' })
    expect((await tryOut(made.body.id)).body).toMatchObject({
      delivered: false,
      failure_reason: 'the host name of the target cannot be resolved',
    })
  })

  test('to the service itself is refused although its address is open', async () => {
    const own = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1', DENDRO_PORT: new URL(target).port })
    try {
      const there = await own.newOrganization()
      const made = await there.ask<WebhookIntegration>('POST', '/integrations/webhooks', { body: { name: 'self', url: target } })
      const tested = await there.ask<Tested>('POST', `/integrations/webhooks/${made.body.id}/test`)
      expect(tested.body).toEqual({ delivered: false, failure_reason: 'the target is this service itself' })
      expect(received).toEqual([])
    } finally {
      await own.close()
    }
  })
})

test('an organization can test its webhooks ten times a minute, then gets 429 with Retry-After', async () => {
  const made = [await create({}), await create({})]
  const other = await app.newOrganization()
  const theirs = await other.ask<WebhookIntegration>('POST', '/integrations/webhooks', { body: { name: 'hook', url: target } })
  // All in one minute of the service's clock: the next one begins here.
  app.clock.advance(60_000 - (app.clock.nowMs() % 60_000))
  const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => tryOut(made[at % 2]?.body.id ?? '')))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
  expect(received).toHaveLength(10)
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(2)
  for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await other.ask('POST', `/integrations/webhooks/${theirs.body.id}/test`)).status).toBe(200)
  app.clock.advance(60_000)
  expect((await tryOut(made[0]?.body.id ?? '')).status).toBe(200)
})

test('a webhook never reaches the service itself at the port that it chose', async () => {
  const own = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1', DENDRO_PORT: '0' })
  try {
    const there = await own.newOrganization()
    const made = await there.ask<WebhookIntegration>('POST', '/integrations/webhooks', { body: { name: 'self', url: own.url } })
    const tested = await there.ask<Tested>('POST', `/integrations/webhooks/${made.body.id}/test`)
    expect(tested.body).toEqual({ delivered: false, failure_reason: 'the target is this service itself' })
  } finally {
    await own.close()
  }
})

describe('payloads', () => {
  test('a value never ends the string that contains it', () => {
    const values = { ...samplePlaceholders, title: 'a "quoted" \\ line\nand more', groups: 'g1, g2', group: 'g1' }
    expect(JSON.parse(renderPayload('{"t":"$title","all":"$groups","one":"$group","kept":"$unknown $"}', values))).toEqual({
      t: 'a "quoted" \\ line\nand more',
      all: 'g1, g2',
      one: 'g1',
      kept: '$unknown $',
    })
  })

  test('without one a plain object is sent', () => {
    expect(Object.keys(JSON.parse(renderPayload(undefined, samplePlaceholders)))).toEqual([
      'title',
      'description',
      'alert_id',
      'status',
      'monitor_id',
    ])
  })

  test.each([
    ['{"a":"$title"}', true],
    ['{"a":$current_value}', true],
    ['{"a":$title}', false],
    ['$title', false],
    ['"$title"', true],
    ['{', false],
  ])('%s: sound %s', (payload, sound) => {
    expect(isValidPayload(payload)).toBe(sound)
  })
})
