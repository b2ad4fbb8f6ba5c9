import { Readable } from 'node:stream'
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs'
import type { FailureBody, S3Origin, Source } from '@dendro/api'
import { buildApp } from 'fauxqs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { whileTimePasses } from '../../../../test/support/passing-time.ts'
import { storedEvents } from '../../../../test/support/stored-events.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../test/support/world.ts'
import { Failure } from '../../kernel/errors.ts'
import { selectOrganization } from '../../resources/access/organizations/rows.ts'
import { ObjectChanged, selectPositions, wasChecked } from '../../resources/data/sources/sources.ts'
import { ReaderPlaces } from '../parquet/reader-places.ts'
import { readNotification } from './notifications.ts'
import { storeGroup } from './object-groups.ts'
import { ObjectPositions } from './object-positions.ts'

const server = buildApp({ logger: false })
let endpoint = ''
let sqs: SQSClient
let app: TestApp

beforeAll(async () => {
  endpoint = await server.listen({ port: 0, host: '127.0.0.1' })
  sqs = new SQSClient({ region: 'eu-west-1', endpoint, credentials: { accessKeyId: 'ada', secretAccessKey: 'secret' } })
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1' }, () => [], undefined, { readsSources: true })
})
afterAll(async () => {
  await app?.close()
  sqs?.destroy()
  await server.close()
})

async function* emptyPages(): AsyncGenerator<never[]> {
  yield []
}

type Stand = { org: TestOrganization; logId: string; id: string; bucket: string; queueUrl: string; origin: object }

let stands = 0
async function openStand(more: object = {}): Promise<Stand> {
  stands += 1
  const [bucket, QueueName] = [`noted-${stands}`, `queue-${stands}`]
  expect((await fetch(`${endpoint}/${bucket}`, { method: 'PUT' })).status).toBe(200)
  await sqs.send(new CreateQueueCommand({ QueueName }))
  const queueUrl = `${endpoint}/000000000000/${QueueName}`
  const org = await app.newOrganization()
  const made = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'objects', dataset: 'app' } })
  const access = { region: 'eu-west-1', access_key_id: 'ada', secret_access_key: 'a secret of ours' }
  const origin = { kind: 'S3', bucket, endpoint, queue_url: queueUrl, ...access, ...more }
  const source = await org.ask<Source>('POST', '/sources', { body: { name: 'bucket', log_id: made.body.id, origin } })
  expect(source.status, JSON.stringify(source.body)).toBe(201)
  return { org, logId: made.body.id, id: source.body.id, bucket, queueUrl, origin }
}

const sourceOf = async ({ org, id }: Stand): Promise<Source> => (await org.ask<Source>('GET', `/sources/${id}`)).body

async function linesOf({ org, logId }: Stand): Promise<string[]> {
  const { world } = app.app
  const number = (await selectOrganization(world.meta, org.orgId))?.number ?? 0
  return (await storedEvents(world, { orgId: org.orgId, orgNumber: number }, logId)).map(({ line }) => line).toSorted()
}

/** Stores an object, and returns the record of its notification. */
async function put({ bucket }: Stand, key: string, body: string): Promise<{ s3: { object: { key: string; size: number; eTag: string } } }> {
  const path = key.split('/').map(encodeURIComponent).join('/')
  const answer = await fetch(`${endpoint}/${bucket}/${path}`, { method: 'PUT', body })
  expect(answer.status).toBe(200)
  const eTag = (answer.headers.get('etag') ?? '').replaceAll('"', '')
  const object = { key: encodeURIComponent(key).replaceAll('%20', '+'), size: body.length, eTag }
  const about = { eventName: 'ObjectCreated:Put', eventTime: new Date().toISOString() }
  return { ...about, s3: { bucket: { name: bucket }, object } } as { s3: { object: typeof object } }
}

const send = ({ queueUrl }: Stand, message: unknown) =>
  sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: typeof message === 'string' ? message : JSON.stringify(message) }))

async function messagesIn({ queueUrl }: Stand): Promise<{ waiting: number; hidden: number }> {
  const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl, AttributeNames: ['All'] }))
  return {
    waiting: Number(Attributes?.ApproximateNumberOfMessages),
    hidden: Number(Attributes?.ApproximateNumberOfMessagesNotVisible),
  }
}

const until = <T>(check: () => Promise<T>): Promise<T> => whileTimePasses(app.clock, check)

const hasReceived = (stand: Stand, count: number) =>
  until(async () => {
    const { state } = await sourceOf(stand)
    expect(state.received_events, JSON.stringify(state)).toBe(count)
  })

const isEmpty = (stand: Stand) => until(async () => expect(await messagesIn(stand)).toEqual({ waiting: 0, hidden: 0 }))

test('objects are read as a queue tells them, in each form of notifications, and those of which none came at the next listing', async () => {
  const stand = await openStand({ prefix: 'in/' })
  const { bucket } = stand
  await put(stand, 'in/0 first', 'listed\n')
  await hasReceived(stand, 1)
  await send(stand, { Service: 'Amazon S3', Event: 's3:TestEvent', Time: '2026-11-28T00:00:00.000Z', Bucket: bucket })
  await put(stand, 'in/missed', 'missed\n')
  const [plain, wrapped, bus, bare] = [
    await put(stand, 'in/a+b c/ü', 'plain\n'),
    await put(stand, 'in/wrapped', 'wrapped\n'),
    await put(stand, 'in/bus +', 'bus\n'),
    await put(stand, 'in/bare', 'bare\n'),
  ]
  await send(stand, { Records: [plain, await put(stand, 'out/side', 'not below the prefix\n')] })
  await send(stand, { Type: 'Notification', Message: JSON.stringify({ Records: [wrapped] }) })
  const detail = { bucket: { name: bucket }, object: { key: 'in/bus +', size: 4, etag: bus.s3.object.eTag } }
  await send(stand, { 'detail-type': 'Object Created', source: 'aws.s3', time: new Date().toISOString(), detail })
  // A server that leaves out the tag is asked for it.
  const { eTag: _, ...untagged } = bare.s3.object
  await send(stand, { Records: [{ ...bare, s3: { bucket: { name: bucket }, object: untagged } }] })
  await send(stand, { Records: [{ eventName: 'ObjectRemoved:Delete', eventTime: new Date().toISOString() }] })
  const gone = { ...plain, s3: { bucket: { name: bucket }, object: { key: 'in/gone', size: 3, eTag: 'ab' } } }
  await send(stand, { Records: [gone] })
  await hasReceived(stand, 5)
  // Again, and an object that the listing has found.
  await send(stand, { Records: [plain] })
  await send(stand, { Records: [await put(stand, 'in/0 first', 'listed\n')] })
  await isEmpty(stand)
  expect(await linesOf(stand)).toEqual(['bare', 'bus', 'listed', 'plain', 'wrapped'])
  await until(async () => expect((await sourceOf(stand)).state).toMatchObject({ refused_events: 0, waiting_bytes: 0 }))
  app.clock.advance(3_600_000)
  await hasReceived(stand, 6)
  expect(await linesOf(stand)).toContain('missed')
})

test('a message that cannot be read is counted and reported, and removed after five tries, if the dead letters of the queue have not taken it', async () => {
  const stand = await openStand()
  await send(stand, 'no notification')
  await send(stand, { Records: [{ eventName: 'ObjectCreated:Put', s3: {} }] })
  await until(async () => expect((await sourceOf(stand)).state).toMatchObject({ refused_events: 2, status: 'DELAYED' }))
  expect((await sourceOf(stand)).state.last_error).toContain('no notification of objects')
  // Hidden, not removed.
  expect(await messagesIn(stand)).toEqual({ waiting: 0, hidden: 2 })
  const other = await openStand()
  await other.org.ask('POST', `/sources/${other.id}/pause`)
  await send(other, 'received four times')
  const again = new ReceiveMessageCommand({ QueueUrl: other.queueUrl, VisibilityTimeout: 0, WaitTimeSeconds: 0 })
  for (let tries = 0; tries < 4; tries += 1) expect((await sqs.send(again)).Messages).toHaveLength(1)
  await other.org.ask('POST', `/sources/${other.id}/resume`)
  await isEmpty(other)
  // Neither keeps objects waiting.
  await send(stand, { Records: [await put(stand, 'good', 'good\n')] })
  await hasReceived(stand, 1)
})

test('messages by the hundred are read, and a message with many objects is removed when all of them are stored', async () => {
  const stand = await openStand({ start: 'END' })
  await until(async () => expect(await wasChecked(app.app.world.meta, stand.id)).toBe(true))
  const records = await Promise.all(Array.from({ length: 130 }, (_, n) => put(stand, `many/${n}`, `line ${n}\n`)))
  await send(stand, { Records: records.slice(0, 30) })
  for (let at = 30; at < 130; at += 10) {
    const Entries = records.slice(at, at + 10).map((one, n) => ({ Id: String(n), MessageBody: JSON.stringify({ Records: [one] }) }))
    await sqs.send(new SendMessageBatchCommand({ QueueUrl: stand.queueUrl, Entries }))
  }
  await hasReceived(stand, 130)
  await isEmpty(stand)
  expect(new Set(await linesOf(stand)).size).toBe(130)
})

test('a queue that cannot be read is named, and the bucket is read by listing meanwhile', async () => {
  const stand = await openStand({ queue_url: `${endpoint}/000000000000/absent` })
  await put(stand, 'a', 'here\n')
  await hasReceived(stand, 1)
  await until(async () =>
    expect((await sourceOf(stand)).state).toMatchObject({ status: 'DELAYED', last_error: expect.stringContaining('the queue answered') }),
  )
  const trial = (more: object) =>
    stand.org.ask<FailureBody & { result?: boolean; failure_reason?: string }>('POST', '/sources/test', {
      body: { origin: { ...stand.origin, ...more } },
    })
  expect((await trial({})).body).toMatchObject({ result: false, failure_reason: expect.stringContaining('QueueDoesNotExist') })
  expect((await trial({ queue_url: `${endpoint}/000000000000/queue-1` })).body).toEqual({ result: true })
  expect((await trial({ queue_url: 'http://10.1.2.3/q/1' })).status).toBe(400)
  expect((await trial({ queue_url: `${endpoint}/` })).body.details).toContain('origin.queue_url')
  // The secret is not signed for a queue that somebody else may have named.
  const body = {
    name: 'bucket',
    log_id: stand.logId,
    origin: { ...stand.origin, queue_url: `${endpoint}/1/other`, secret_access_key: '***' },
  }
  expect((await stand.org.ask<FailureBody>('PUT', `/sources/${stand.id}`, { body })).status).toBe(400)
})

test('a group that is refused is forgotten, and each of its objects is read alone; one that is gone is settled', async () => {
  const stand = await openStand()
  await stand.org.ask('POST', `/sources/${stand.id}/pause`)
  const { world } = app.app
  const ids = { id: stand.id, org_id: stand.org.orgId, org_number: 1, log_id: stand.logId, name: 'bucket', paused: false }
  const times = { created_at: 0, modified_at: 0, created_by: null, modified_by: null, description: null, secrets: Buffer.alloc(0) }
  const source = {
    ...ids,
    ...times,
    origin: { ...stand.origin, prefix: '', format: 'LINES', start: 'BEGINNING' } as S3Origin & { kind: 'S3' },
  }
  const keys: unknown[] = []
  const storeMessages = async ({ request }: { request: { headers: Record<string, string> } }): Promise<never> => {
    keys.push(request.headers['idempotency-key'])
    throw new Failure(400, 'not these')
  }
  const parquetPlaces = new ReaderPlaces(world.clock)
  const queued = { bytes: 0, reopenedAt: new Map() }
  const sourceWorld = { ...world, intake: { storeMessages } as never, directories: [], queued, parquetPlaces }
  const positions = new ObjectPositions(sourceWorld, source, [])
  const read = async ({ key }: { key: string }) => {
    if (key === 'gone') throw new ObjectChanged(key)
    return Readable.from([Buffer.from(`${key}\n`)])
  }
  const bucket = {
    read,
    readRange: async () => new Uint8Array(),
    find: async () => undefined,
    list: () => emptyPages(),
    close: () => undefined,
  }
  const objects = ['a', 'b', 'gone'].map((key) => ({ key, tag: `tag-${key}`, size: 2, modifiedMs: 1 }))
  const end = await storeGroup({ world: sourceWorld, source, bucket, positions }, objects)
  expect([end.settled.map(({ key }) => key), end.alone.map(({ key }) => key).toSorted()]).toEqual([['gone'], ['a', 'b']])
  expect(keys).toHaveLength(1)
  expect(await selectPositions(world.meta, stand.id)).toEqual([])
})

test('a message that is no notification cannot be read, and names nothing', () => {
  for (const body of [
    '',
    '[]',
    '1',
    '{}',
    '{"Records":[1]}',
    '{"Message":"{\\"Message\\":\\"{\\\\\\"Message\\\\\\":\\\\\\"{}\\\\\\"}\\"}"}',
  ])
    expect(readNotification(body).kind, body).toBe('unreadable')
  const record = {
    eventName: 's3:ObjectCreated:Put',
    eventTime: '2026-11-28T00:00:00Z',
    s3: { bucket: { name: 'b' }, object: { key: 'a%2Fb+%C3%BC' } },
  }
  expect(readNotification(JSON.stringify({ Records: [record] }))).toEqual({
    kind: 'objects',
    objects: [{ bucket: 'b', key: 'a/b ü', tag: '', size: undefined, modifiedMs: Date.UTC(2026, 10, 28) }],
  })
  const broken = { ...record, s3: { bucket: { name: 'b' }, object: { key: '%' } } }
  expect(readNotification(JSON.stringify({ Records: [record, broken] })).kind).toBe('unreadable')
  expect(readNotification(JSON.stringify({ Records: Array(1_001).fill(record) })).kind).toBe('unreadable')
})
