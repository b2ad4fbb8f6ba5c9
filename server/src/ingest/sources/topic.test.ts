import { randomUUID } from 'node:crypto'
import type { FailureBody, Source } from '@dendro/api'
import { Admin, Producer } from '@platformatic/kafka'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { storedEvents } from '../../../../test/support/stored-events.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../test/support/world.ts'
import { makeServiceDatabase, type TestDatabase } from '../../meta/database.fixture.ts'
import { selectOrganization } from '../../resources/access/organizations/rows.ts'
import { encodeProtobuf } from '../receivers/otlp/encode.fixture.ts'

/** A broker that the tests may use, as host:port. */
const broker = process.env.DENDRO_KAFKA ?? ''

let app: TestApp

let database: TestDatabase
const env = () => ({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1,127.0.0.2' })

beforeAll(async () => {
  database = await makeServiceDatabase(inject('stores'))
  app = await openTestApp({ ...env(), DENDRO_POSTGRES_URL: database.url }, () => [], undefined, { readsSources: true, ownsEvents: false })
})
afterAll(async () => {
  await app?.close()
  await database?.drop()
})

type Stand = { org: TestOrganization; logId: string; id: string; topic: string; body: object }

const originOf = (topic: string, more: object = {}) => ({ kind: 'KAFKA', brokers: [broker || '127.0.0.1:1'], topic, ...more })

async function openSource(topic: string, more: object = {}): Promise<Stand> {
  const org = await app.newOrganization()
  const made = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'topics', dataset: 'app' } })
  const body = { name: 'topic', log_id: made.body.id, origin: originOf(topic, more) }
  const source = await org.ask<Source>('POST', '/sources', { body })
  expect(source.status, JSON.stringify(source.body)).toBe(201)
  return { org, logId: made.body.id, id: source.body.id, topic, body }
}

const sourceOf = async ({ org, id }: Stand): Promise<Source> => (await org.ask<Source>('GET', `/sources/${id}`)).body

async function eventsIn({ org, logId }: Stand) {
  const { world } = app.app
  const number = (await selectOrganization(world.meta, org.orgId))?.number ?? 0
  return storedEvents(world, { orgId: org.orgId, orgNumber: number }, logId)
}

const until = <T>(check: () => Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 240_000, interval: 200 })

async function received(stand: Stand, count: number): Promise<string[]> {
  await until(async () => {
    const { state } = await sourceOf(stand)
    expect(state.received_events, JSON.stringify(state)).toBe(count)
  })
  const lines = (await eventsIn(stand)).map(({ line }) => line)
  expect(lines).toHaveLength(count)
  return lines
}

async function makeTopic(partitions = 3): Promise<string> {
  const topic = `dendro-${randomUUID()}`
  const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker] })
  await admin.createTopics({ topics: [topic], partitions, replicas: 1 })
  await admin.close()
  return topic
}

type Sent = { value?: string | Buffer; key?: string; partition?: number; headers?: Record<string, string> }

async function send(topic: string, messages: readonly Sent[]): Promise<void> {
  const producer = new Producer({ clientId: 'test', bootstrapBrokers: [broker], retries: 5 })
  const bytes = (text: string | Buffer | undefined) => (text === undefined ? undefined : Buffer.from(text))
  await producer.send({
    messages: messages.map(({ value, key, partition, headers = {} }) => ({
      topic,
      value: bytes(value),
      key: bytes(key),
      headers: new Map(Object.entries(headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)])),
      ...(partition === undefined ? {} : { partition }),
    })) as never,
  })
  await producer.close()
}

const LOGS = (stringValue: string) => ({
  resourceLogs: [{ scopeLogs: [{ logRecords: [{ timeUnixNano: '1795860000000000000', body: { stringValue } }] }] }],
})

const numbered = (from: number, count: number): string[] => Array.from({ length: count }, (_, n) => `{"n":${from + n},"message":"sold"}`)

describe.skipIf(broker === '')('topics of a broker (left out without DENDRO_KAFKA)', () => {
  test('messages of all partitions are stored once, with key, headers, partition and offset', async () => {
    const topic = await makeTopic()
    await send(
      topic,
      numbered(0, 30).map((value, n) => ({ value, key: `k${n}`, headers: { trace: 'abc' }, partition: n % 3 })),
    )
    const stand = await openSource(topic)
    expect((await received(stand, 30)).toSorted()).toEqual(numbered(0, 30).toSorted())
    const events = await eventsIn(stand)
    const one = events.find(({ line }) => line === '{"n":4,"message":"sold"}')
    expect(one?.keys).toMatchObject({
      '$kafka.topic': topic,
      '$kafka.partition': '1',
      '$kafka.offset': '1',
      '$kafka.key': 'k4',
      '$kafka.header.trace': 'abc',
    })
    await send(
      topic,
      numbered(30, 500).map((value) => ({ value })),
    )
    await received(stand, 530)
    await until(async () => expect((await sourceOf(stand)).state.status).toBe('RUNNING'))
  })

  test('messages without a value, that are no UTF-8 or too large are refused, and do not stop the others', async () => {
    const topic = await makeTopic(1)
    await send(topic, [
      { key: 'gone' },
      { value: Buffer.from([0xff, 0xfe, 0xfd]) },
      { value: 'fine' },
      { value: 'x'.repeat(2 ** 20 - 100) },
    ])
    const stand = await openSource(topic)
    const lines = await received(stand, 2)
    expect(lines.map((line) => line.length).toSorted((a, b) => a - b)).toEqual([4, 2 ** 20 - 100])
    expect((await sourceOf(stand)).state).toMatchObject({ refused_events: 2 })
    const only = await makeTopic(1)
    await send(only, [{ key: 'gone' }])
    const other = await openSource(only)
    await until(async () => expect((await sourceOf(other)).state).toMatchObject({ refused_events: 1, received_events: 0 }))
    await send(only, [{ value: 'later' }])
    expect(await received(other, 1)).toEqual(['later'])
    const ledger = await stand.org.ask<{ totals: object }>('GET', `/ledger?identity_id=${stand.id}`)
    expect(ledger.body.totals).toMatchObject({ received: 4, stored: 2, rejected: 2 })
  })

  test('values may be JSON with several objects, or exports of OpenTelemetry', async () => {
    const topic = await makeTopic(1)
    await send(topic, [{ value: '[{"a":1},{"a":2}]' }, { value: '{"a":3}\n{"a":4}' }, { value: 'no json' }])
    const stand = await openSource(topic, { format: 'JSON' })
    expect((await received(stand, 4)).toSorted()).toEqual(['{"a":1}', '{"a":2}', '{"a":3}', '{"a":4}'])
    expect((await sourceOf(stand)).state.refused_events).toBe(1)
    const otlpTopic = await makeTopic(1)
    await send(otlpTopic, [
      { value: JSON.stringify(LOGS('hello')) },
      { value: encodeProtobuf('Logs', LOGS('binary')) },
      { value: 'not one' },
    ])
    const other = await openSource(otlpTopic, { format: 'OTLP' })
    expect((await received(other, 2)).toSorted()).toEqual(['binary', 'hello'])
    expect((await sourceOf(other)).state.refused_events).toBe(1)
  })

  test('partitions are shared among processes, and each message is stored once when one of them goes', async () => {
    const topic = await makeTopic(6)
    const stand = await openSource(topic)
    const second = await openTestApp({ ...env(), DENDRO_POSTGRES_URL: database.url }, undefined, undefined, {
      readsSources: true,
      ownsEvents: false,
    })
    try {
      let sent = 0
      for (; sent < 1_200; sent += 60)
        await send(
          topic,
          numbered(sent, 60).map((value, n) => ({ value, partition: n % 6 })),
        )
      await until(async () => expect((await sourceOf(stand)).state.received_events).toBeGreaterThan(300))
    } finally {
      await second.close()
    }
    await send(
      topic,
      numbered(1_200, 60).map((value, n) => ({ value, partition: n % 6 })),
    )
    expect((await received(stand, 1_260)).toSorted()).toEqual(numbered(0, 1_260).toSorted())
  })

  test('a source that begins at the end leaves out what was there', async () => {
    const topic = await makeTopic(1)
    await send(topic, [{ value: 'before' }])
    const stand = await openSource(topic, { start: 'END' })
    await until(async () => expect((await sourceOf(stand)).state.status).toBe('RUNNING'))
    await until(async () => {
      await send(topic, [{ value: 'after' }])
      expect((await sourceOf(stand)).state.received_events).toBeGreaterThan(0)
    })
    expect(new Set((await eventsIn(stand)).map(({ line }) => line))).toEqual(new Set(['after']))
  })

  test('a topic that there is not is named by a test', async () => {
    const { org } = await openSource(await makeTopic(1))
    const ask = (topic: string) => org.ask('POST', '/sources/test', { body: { origin: originOf(topic) } })
    expect((await ask(await makeTopic(1))).body).toEqual({ result: true })
  })
})

test('brokers at addresses that the operator has not allowed are refused, and a password is never shown', async () => {
  const org = await app.newOrganization()
  const trial = (brokers: string[]) => org.ask<FailureBody>('POST', '/sources/test', { body: { origin: { ...originOf('t'), brokers } } })
  for (const target of ['10.1.2.3:9092', 'localhost:9092', '169.254.169.254:80']) {
    const { status, body } = await trial(['127.0.0.1:1', target])
    expect([status, body.errors?.[0]?.field, body.details], target).toEqual([
      400,
      'origin.brokers.1',
      expect.stringContaining('is not a public address'),
    ])
  }
  expect((await trial(['[::1]:9092'])).status).toBe(400)
  expect((await trial(['127.0.0.1:1'])).body).toMatchObject({ result: false, failure_reason: 'the brokers could not be reached' })
  const dataset = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'topics', dataset: 'secret' } })
  const origin = { ...originOf('t'), brokers: ['127.0.0.1:1'], username: 'ada', password: 'a secret of ours', tls: true }
  const body = { name: 'secret', log_id: dataset.body.id, paused: true, origin }
  const made = await org.ask<Source>('POST', '/sources', { body })
  expect(made.body.origin).toMatchObject({ username: 'ada', password: '***' })
  const update = (change: object) =>
    org.ask<FailureBody>('PUT', `/sources/${made.body.id}`, { body: { ...body, origin: { ...origin, password: '***', ...change } } })
  expect((await update({})).status).toBe(200)
  const moved = await update({ brokers: ['127.0.0.2:1'] })
  expect([moved.status, moved.body.errors?.[0]?.field]).toEqual([400, 'origin.password'])
  expect(JSON.stringify((await org.ask('GET', '/audit')).body)).not.toContain('a secret of ours')
  const lone = await org.ask<FailureBody>('POST', '/sources', { body: { ...body, origin: { ...origin, username: undefined } } })
  expect(lone.status).toBe(400)
})
