import { randomUUID } from 'node:crypto'
import type { FailureBody, ForwardConfig } from '@dendro/api'
import { Admin, Consumer } from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { makeEngines } from '../../../events/store/engine.fixture.ts'
import { forwarding } from './forwarding.ts'
import { topicOf } from './topics.ts'

/** A broker that the tests may use, as host:port. */
const broker = process.env.DENDRO_KAFKA ?? ''

const engines = makeEngines()
let app: TestApp
let org: TestOrganization

beforeAll(async () => {
  // Moving the clock moves the sequence numbers of everyone who shares a store.
  const store = await engines.open(await engines.madeDir())
  app = await openTestApp({ DENDRO_CLICKHOUSE_URL: store.url, DENDRO_WEBHOOK_ALLOW: '127.0.0.1' }, (world) => [forwarding(world)])
})
afterAll(async () => {
  await app?.close()
  await engines.cleanUp()
})

const to = (topic: string, rest: object = {}) => ({ destination_type: 'KAFKA', brokers: [broker || '127.0.0.1:1'], topic, ...rest })
const input = (destination: object, rest: object = {}) => ({
  name: 'to a topic',
  all_logs: true,
  compression: 'ZSTD',
  max_buffer_time_ms: 60_000,
  destination,
  ...rest,
})

async function post(lines: readonly string[], dataset = 'web'): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson', 'x-service-collection': 'shop', 'x-service-dataset': dataset }
  expect((await org.ask('POST', '/', { raw: lines.join('\n'), headers })).status).toBeLessThan(300)
}

/** Advances the clock until the delivery is as expected. */
const eventually = (delivery: object) =>
  vi.waitFor(
    async () => {
      app.clock.advance(10_000)
      const [config] = (await org.ask<{ 'forward-configs': ForwardConfig[] }>('GET', '/forward-configs')).body['forward-configs']
      expect(config?.delivery, JSON.stringify(config)).toMatchObject(delivery)
    },
    { timeout: 240_000, interval: 300 },
  )

const events = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `{"n":${from + n}}`)

test.each([
  ['events', 'events'],
  ['dendro.{collection}.{dataset}', 'dendro.shop.web_logs'],
  ['{dataset}{dataset}', 'web_logsweb_logs'],
])('the topic %s is %s', (template, topic) => {
  expect(topicOf(template, { collection: 'shop', dataset: 'web/logs' })).toBe(topic)
})

test.each([
  ['an unknown placeholder', { topic: '{team}' }, 'destination.topic'],
  ['a name that no topic has', { topic: 'a b' }, 'destination.topic'],
  ['a password alone', { password: 'p' }, 'destination.password'],
  ['a mechanism alone', { mechanism: 'PLAIN' }, 'destination.mechanism'],
  ['an authority without TLS', { ca: 'x' }, 'destination.ca'],
  ['no broker', { brokers: [] }, 'destination.brokers'],
  ['a broker without a port', { brokers: ['kafka'] }, 'destination.brokers.0'],
])('%s is refused', async (_, rest, field) => {
  org = await app.newOrganization()
  const { status, body } = await org.ask<FailureBody>('POST', '/forward-configs', { body: input(to('t', rest)) })
  expect([status, body.errors?.[0]?.field]).toEqual([400, field])
})

test('a password is never returned, and is kept by *** for the same account only', async () => {
  org = await app.newOrganization()
  const login = { username: 'ann', password: 'secret-of-ann' }
  const made = await org.ask<ForwardConfig>('POST', '/forward-configs', { body: input(to('t', login)) })
  expect(made.body.destination).toMatchObject({ username: 'ann', password: '***' })
  const put = (rest: object) =>
    org.ask<FailureBody>('PUT', `/forward-configs/${made.body.id}`, { body: input(to('t', { ...login, password: '***', ...rest })) })
  expect((await put({})).status).toBe(200)
  const { status, body } = await put({ username: 'bob' })
  expect([status, body.errors?.[0]?.field]).toEqual([400, 'destination.password'])
})

test('brokers that cannot be reached delay events, and say no more than that', async () => {
  org = await app.newOrganization()
  const away = to('t', { brokers: ['127.0.0.1:1'] })
  const test = await org.ask<{ result: boolean; failure_reason?: string }>('POST', '/forward-configs/test-destination', { body: away })
  expect(test.body).toEqual({ result: false, failure_reason: 'the brokers could not be reached' })
  expect((await org.ask('POST', '/forward-configs', { body: input(away) })).status).toBe(201)
  await post(events(5))
  await eventually({ status: 'DELAYED', last_error: 'the brokers could not be reached', waiting_events: 5, delivered_events: 0 })
})

describe.skipIf(broker === '')('topics of a broker (left out without DENDRO_KAFKA)', () => {
  const admin = () => new Admin({ clientId: 'test', bootstrapBrokers: [broker] })

  async function makeTopic(name = `dendro-${randomUUID()}`): Promise<string> {
    const one = admin()
    await one.createTopics({ topics: [name], partitions: 3, replicas: 1 })
    await one.close()
    return name
  }

  async function messagesIn(topic: string, count: number) {
    const consumer = new Consumer({ clientId: 'test', groupId: randomUUID(), bootstrapBrokers: [broker] })
    const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false })
    const found: { partition: number; key: string; value: string; id: string }[] = []
    for await (const { partition, key, value, headers } of stream) {
      const id = [...headers].find(([name]) => String(name) === 'dendro-event-id')?.[1]
      found.push({ partition, key: String(key), value: String(value), id: String(id) })
      if (found.length === count) break
    }
    await stream.close()
    await consumer.close(true)
    return found
  }

  test('each event is a message, in the order of its dataset, with an id of its own', async () => {
    org = await app.newOrganization()
    const topic = await makeTopic()
    expect((await org.ask('POST', '/forward-configs', { body: input(to(topic)) })).status).toBe(201)
    await post(events(3_000))
    await post(events(10, 9_000), 'mail')
    await eventually({ status: 'OK', delivered_events: 3_010 })
    const found = await messagesIn(topic, 3_010)
    const ofWeb = found.filter(({ key }) => key === 'shop.web')
    expect(ofWeb.map(({ value }) => value)).toEqual(events(3_000))
    expect(new Set(ofWeb.map(({ partition }) => partition)).size).toBe(1)
    expect(found.filter(({ key }) => key === 'shop.mail').map(({ value }) => value)).toEqual(events(10, 9_000))
    expect(new Set(found.map(({ id }) => id)).size).toBe(3_010)
  })

  test('events wait for a topic that is missing, and for one that is tested', async () => {
    org = await app.newOrganization()
    const prefix = randomUUID()
    const missing = await org.ask<object>('POST', '/forward-configs/test-destination', { body: to(`${prefix}.shop.web`) })
    expect(missing.body).toEqual({ result: false, failure_reason: `the cluster has no topic ${prefix}.shop.web` })
    expect((await org.ask('POST', '/forward-configs', { body: input(to(`${prefix}.{collection}.{dataset}`)) })).status).toBe(201)
    await post(events(20))
    await eventually({ status: 'DELAYED', waiting_events: 20, last_error: `the cluster has no topic ${prefix}.shop.web` })
    const topic = await makeTopic(`${prefix}.shop.web`)
    await eventually({ status: 'OK', delivered_events: 20 })
    expect((await messagesIn(topic, 20)).map(({ value }) => value)).toEqual(events(20))
    expect((await org.ask<object>('POST', '/forward-configs/test-destination', { body: to(topic) })).body).toEqual({ result: true })
  })
})
