import { randomUUID } from 'node:crypto'
import { appendFile, mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { Admin, Producer } from '@platformatic/kafka'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { numberedParquet } from '../../server/src/ingest/parquet/parquet.fixture.ts'
import { type OriginStand, openOriginStand } from '../support/origin-stand.ts'
import { killServices, stop, until } from '../support/service.ts'

const KEY = 'dk_kestrel-5-lanterns-and-a-wheel-of-cheese'
/** A broker that the test may use, as host:port. */
const broker = process.env.DENDRO_KAFKA ?? ''

let stand: OriginStand
beforeAll(async () => {
  stand = await openOriginStand(KEY)
})
afterEach(killServices)
afterAll(() => stand?.close())

const lines = (from: number, count: number): string =>
  Array.from({ length: count }, (_, n) => `{"n":${from + n},"message":"sold ${from + n}"}\n`).join('')

/** Two files with several batches and row groups. */
const parquetFiles = (from: number): Uint8Array<ArrayBuffer>[] =>
  [0, 1].map((half) =>
    numberedParquet(
      Array.from({ length: ROUND / 2 }, (_, n) => from + (half * ROUND) / 2 + n),
      'a text that makes the batches many '.repeat(100),
      500,
    ),
  )

const ROUND = 4_000
const ROUNDS = 5

type Kind = {
  name: string
  kind?: string
  origin: (orgId: string) => Promise<object>
  write: (orgId: string, from: number, round: number) => Promise<void>
  /** How many messages are left. */
  left?: () => Promise<number>
}

/** Writes objects of 200 events, and returns the records that a bucket notifies of. */
async function writeObjects(name: string, from: number, round: number): Promise<object[]> {
  const records: object[] = []
  for (let part = 0; part < 20; part += 1) {
    const [key, body] = [`${round}/${part}.gz`, gzipSync(lines(from + (part * ROUND) / 20, ROUND / 20))]
    const answer = await fetch(`${stand.endpoint}/${name}/${key}`, { method: 'PUT', body })
    const object = { key, size: body.length, eTag: answer.headers.get('etag')?.replaceAll('"', '') }
    const about = { eventName: 'ObjectCreated:Put', eventTime: new Date().toISOString() }
    records.push({ ...about, s3: { bucket: { name }, object } })
  }
  return records
}

const queueUrl = (): string => `${stand.endpoint}/000000000000/noted`
const withQueue = async <T>(use: (sqs: SQSClient) => Promise<T>): Promise<T> => {
  const sqs = new SQSClient({
    region: 'us-east-1',
    endpoint: stand.endpoint,
    credentials: { accessKeyId: 'ada', secretAccessKey: 'secret' },
  })
  return use(sqs).finally(() => sqs.destroy())
}

const topic = `dendro-${randomUUID()}`
const kinds: readonly (Kind & { isLeftOut?: boolean })[] = [
  {
    name: 'DIRECTORY',
    origin: async (orgId) => {
      await mkdir(join(stand.files, orgId), { recursive: true })
      return { directory: join(stand.files, orgId), files: 'app.log*' }
    },
    write: async (orgId, from, round) => {
      const path = join(stand.files, orgId, 'app.log')
      await appendFile(path, lines(from, ROUND / 2))
      if (round % 2 === 1) await rename(path, `${path}.${round}`)
      await appendFile(path, lines(from + ROUND / 2, ROUND / 2))
    },
  },
  {
    name: 'S3',
    origin: async () => {
      await fetch(`${stand.endpoint}/archive`, { method: 'PUT' })
      return { bucket: 'archive', endpoint: stand.endpoint, access_key_id: 'ada', secret_access_key: 'secret' }
    },
    write: async (_, from, round) => void (await writeObjects('archive', from, round)),
  },
  {
    name: 'Parquet in a DIRECTORY',
    kind: 'DIRECTORY',
    origin: async (orgId) => {
      await mkdir(join(stand.files, orgId), { recursive: true })
      return { directory: join(stand.files, orgId), files: '*.parquet*' }
    },
    write: async (orgId, from, round) => {
      for (const [half, file] of parquetFiles(from).entries()) {
        const path = join(stand.files, orgId, `${round}-${half}.parquet`)
        await writeFile(`${path}.part`, file.subarray(0, file.length / 2))
        await appendFile(`${path}.part`, file.subarray(file.length / 2))
        await rename(`${path}.part`, path)
      }
    },
  },
  {
    name: 'Parquet in S3',
    kind: 'S3',
    origin: async () => {
      await fetch(`${stand.endpoint}/lake`, { method: 'PUT' })
      return { bucket: 'lake', endpoint: stand.endpoint, access_key_id: 'ada', secret_access_key: 'secret' }
    },
    write: async (_, from, round) => {
      for (const [half, body] of parquetFiles(from).entries()) {
        await fetch(`${stand.endpoint}/lake/${round}-${half}`, { method: 'PUT', body })
      }
    },
  },
  {
    name: 'S3 with a queue',
    kind: 'S3',
    origin: async () => {
      await fetch(`${stand.endpoint}/noted`, { method: 'PUT' })
      await withQueue((sqs) => sqs.send(new CreateQueueCommand({ QueueName: 'noted' })))
      const access = { access_key_id: 'ada', secret_access_key: 'secret' }
      return { bucket: 'noted', endpoint: stand.endpoint, queue_url: queueUrl(), ...access }
    },
    write: async (_, from, round) => {
      const records = await writeObjects('noted', from, round)
      await withQueue(async (sqs) => {
        for (const record of records) {
          const MessageBody = JSON.stringify({ Records: [record] })
          // Queues may deliver a message twice.
          for (let copy = 0; copy < 2; copy += 1) await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl(), MessageBody }))
        }
      })
    },
    left: () =>
      withQueue(async (sqs) => {
        const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl(), AttributeNames: ['All'] }))
        return Number(Attributes.ApproximateNumberOfMessages) + Number(Attributes.ApproximateNumberOfMessagesNotVisible)
      }),
  },
  {
    name: 'KAFKA',
    isLeftOut: broker === '',
    origin: async () => {
      const admin = new Admin({ clientId: 'test', bootstrapBrokers: [broker] })
      await admin.createTopics({ topics: [topic], partitions: 3, replicas: 1 })
      await admin.close()
      return { brokers: [broker], topic }
    },
    write: async (_, from) => {
      const producer = new Producer({ clientId: 'test', bootstrapBrokers: [broker], retries: 5 })
      const values = lines(from, ROUND).trimEnd().split('\n')
      await producer.send({ messages: values.map((value) => ({ topic, value: Buffer.from(value) })) as never })
      await producer.close()
    },
  },
]

describe.each(kinds)('a source of the kind $name', ({ name, kind = name, origin, write, left, isLeftOut }) => {
  test.skipIf(isLeftOut)(
    'has each event once, however often its process is killed (KAFKA is left out without DENDRO_KAFKA)',
    async () => {
      let service = await stand.start()
      const { id: logId } = await stand.ask<{ id: string }>(service, 'POST', '/datasets', {
        collection: 'sources',
        dataset: name.replaceAll(' ', '-'),
      })
      const { organisations } = await stand.ask<{ organisations: { id: string }[] }>(service, 'GET', '/organizations')
      const orgId = organisations[0]?.id ?? ''
      const settings = { kind, ...(await origin(orgId)) }
      const { id } = await stand.ask<{ id: string }>(service, 'POST', '/sources', { name, log_id: logId, origin: settings })
      const state = async () => (await stand.ask<{ state: { received_events: number } }>(service, 'GET', `/sources/${id}`)).state
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = (await state()).received_events
        await write(orgId, round * ROUND, round)
        // Killed at another moment each time, from the first batch on.
        await until(async () => (await state()).received_events > before)
        await new Promise((done) => setTimeout(done, round * 40))
        await stop(service.child, round % 3 === 2 ? 'SIGTERM' : 'SIGKILL')
        service = await stand.start()
      }
      await until(async () => (await state()).received_events >= ROUNDS * ROUND)
      expect((await state()).received_events).toBe(ROUNDS * ROUND)
      const all = ROUNDS * ROUND
      expect(await stand.countIn(service, logId)).toEqual({ count: all, sum: (all * (all - 1)) / 2 })
      if (left) await until(async () => (await left()) === 0)
    },
    400_000,
  )
})
