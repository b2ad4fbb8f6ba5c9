import { appendFile, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { CreateQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { Source } from '@dendro/api'
import { buildApp } from 'fauxqs'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { whileTimePasses } from '../../../../test/support/passing-time.ts'
import { storedEvents } from '../../../../test/support/stored-events.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../test/support/world.ts'
import { selectOrganization } from '../../resources/access/organizations/rows.ts'
import { wasChecked } from '../../resources/data/sources/sources.ts'
import { changedBytes, numberedParquet, parquetBomb } from '../parquet/parquet.fixture.ts'

const server = buildApp({ logger: false })
let endpoint = ''
let app: TestApp
let root = ''

beforeAll(async () => {
  endpoint = await server.listen({ port: 0, host: '127.0.0.1' })
  root = await mkdtemp(join(tmpdir(), 'dendro-parquet-sources-'))
  const settings = { DENDRO_WEBHOOK_ALLOW: '127.0.0.1', DENDRO_SOURCE_DIRECTORIES: `${root}/{organization}` }
  app = await openTestApp(settings, () => [], undefined, { readsSources: true })
})
afterAll(async () => {
  await app?.close()
  await server.close()
  await rm(root, { recursive: true, force: true })
})

type Stand = { org: TestOrganization; logId: string; id: string; dir: string; bucket: string }

let stands = 0
const opened: Stand[] = []
// Sources share the places of the process, so that those of earlier tests would keep the next one waiting.
afterEach(async () => {
  for (const { org, id } of opened.splice(0)) expect((await org.ask('DELETE', `/sources/${id}`)).status).toBe(204)
})

/** A source of a bucket, or of a directory with the files that `prepare` writes. */
async function openSource(kind: 'S3' | 'DIRECTORY', more: object = {}, prepare?: (place: Stand) => Promise<unknown>): Promise<Stand> {
  stands += 1
  const org = await app.newOrganization()
  const [dir, bucket] = [join(root, org.orgId), `parquet-${stands}`]
  await mkdir(dir)
  expect((await fetch(`${endpoint}/${bucket}`, { method: 'PUT' })).status).toBe(200)
  const made = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'lake', dataset: 'app' } })
  await prepare?.({ org, logId: made.body.id, id: '', dir, bucket })
  const access = { bucket, endpoint, access_key_id: 'ada', secret_access_key: 'a secret of ours' }
  const origin = { kind, ...(kind === 'S3' ? access : { directory: dir }), ...more }
  const source = await org.ask<Source>('POST', '/sources', { body: { name: 'lake', log_id: made.body.id, origin } })
  expect(source.status, JSON.stringify(source.body)).toBe(201)
  const stand = { org, logId: made.body.id, id: source.body.id, dir, bucket }
  opened.push(stand)
  return stand
}

async function put({ bucket }: Pick<Stand, 'bucket'>, key: string, body: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const answer = await fetch(`${endpoint}/${bucket}/${key}`, { method: 'PUT', body })
  expect(answer.status).toBe(200)
  return (answer.headers.get('etag') ?? '').replaceAll('"', '')
}

const stateOf = async ({ org, id }: Stand) => (await org.ask<Source>('GET', `/sources/${id}`)).body.state

async function eventsIn({ org, logId }: Stand) {
  const { world } = app.app
  const number = (await selectOrganization(world.meta, org.orgId))?.number ?? 0
  return storedEvents(world, { orgId: org.orgId, orgNumber: number }, logId)
}

const until = <T>(check: () => Promise<T>, stepMs?: number): Promise<T> => whileTimePasses(app.clock, check, stepMs)

/** Waits until a source has received a number of events, and returns the numbers in them. */
async function received(stand: Stand, count: number, stepMs?: number): Promise<number[]> {
  await until(async () => {
    const state = await stateOf(stand)
    expect(state.received_events, JSON.stringify(state)).toBe(count)
  }, stepMs)
  const numbers = (await eventsIn(stand)).map(({ line }) => (JSON.parse(line) as { n: number }).n)
  expect(numbers).toHaveLength(count)
  return numbers.toSorted((a, b) => a - b)
}

/** Each decodes files in processes of their own, one after the other, on whatever machine this is. */
const TEST_MS = 600_000

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, n) => from + n)
const linesOf = (numbers: readonly number[]): string => numbers.map((n) => `{"n":${n}}\n`).join('')

test(
  'Parquet objects of a bucket are read beside others, small ones too, with their key; later ones as a queue tells them',
  async () => {
    const sqs = new SQSClient({ region: 'us-east-1', endpoint, credentials: { accessKeyId: 'ada', secretAccessKey: 'secret' } })
    await sqs.send(new CreateQueueCommand({ QueueName: 'lake' }))
    const queue_url = `${endpoint}/000000000000/lake`
    const stand = await openSource('S3', { queue_url, format: 'RECORDS' }, async (place) => {
      await put(place, 'small', numberedParquet(range(0, 10), 'small'))
      // More than one batch, and more than one row group.
      await put(place, 'large.parquet', numberedParquet(range(10, 9_000), 'a text of some length '.repeat(40), 2_000))
      await put(place, 'list.json.gz', new Uint8Array(gzipSync(JSON.stringify(range(9_010, 5).map((n) => ({ n }))))))
    })
    expect(await received(stand, 9_015)).toEqual(range(0, 9_015))
    const small = (await eventsIn(stand)).find(({ line }) => line === '{"n":3,"text":"small"}')
    expect(small?.keys).toMatchObject({ '$s3.bucket': stand.bucket, '$s3.key': 'small' })
    const eTag = await put(stand, 'later', numberedParquet(range(9_015, 7), 'later'))
    // A wrong size does not make it a broken file.
    const object = { key: 'later', size: 77, eTag }
    const record = { eventName: 'ObjectCreated:Put', eventTime: new Date().toISOString(), s3: { bucket: { name: stand.bucket }, object } }
    for (let copy = 0; copy < 2; copy += 1) {
      await sqs.send(new SendMessageCommand({ QueueUrl: queue_url, MessageBody: JSON.stringify({ Records: [record] }) }))
    }
    expect(await received(stand, 9_022)).toEqual(range(0, 9_022))
    sqs.destroy()
    await until(async () => expect(await stateOf(stand)).toMatchObject({ status: 'RUNNING', waiting_bytes: 0, refused_events: 0 }))
    const ledger = await stand.org.ask<{ totals: object }>('GET', `/ledger?identity_id=${stand.id}`)
    expect(ledger.body.totals).toMatchObject({ received: 9_022, stored: 9_022, rejected: 0, duplicate: 0 })
  },
  TEST_MS,
)

/** The row groups have 100 rows each; the pages of the third one are not what they were. */
function tornInside(): Uint8Array<ArrayBuffer> {
  const file = numberedParquet(range(0, 500), 'inside', 100)
  const third = Buffer.from(file).indexOf(Buffer.from(Int32Array.from([200, 201, 202, 203]).buffer))
  expect(third).toBeGreaterThan(0)
  // The header of the page lies before its values.
  return changedBytes(
    file,
    third - 20,
    Array.from({ length: 20 }, () => 0xff),
  )
}

const whole = numberedParquet(range(0, 100), 'whole')
const poison: readonly { name: string; content: Uint8Array<ArrayBuffer> | string; reason: string; read: readonly number[] }[] = [
  { name: 'torn', content: whole.slice(0, -30), reason: 'it ends early', read: [] },
  { name: 'bomb', content: parquetBomb(), reason: 'to read', read: [] },
  { name: 'inside', content: tornInside(), reason: 'it cannot be read as Parquet', read: range(0, 200) },
  { name: 'encrypted', content: changedBytes(changedBytes(whole, 3, [0x45]), -1, [0x45]), reason: 'it is encrypted', read: [] },
  { name: 'footer', content: changedBytes(whole, -8, [0xff, 0xff, 0xff, 0x7f]), reason: 'its footer has more than 32 MiB', read: [] },
  { name: 'text.parquet', content: linesOf([1, 2]), reason: 'it does not begin as Parquet does', read: [] },
]

/** A list and a structure beside the number. */
const nested = (numbers: readonly number[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    parquetWriteBuffer({
      schema: [
        { name: 'root', num_children: 3 },
        { name: 'n', type: 'INT32', repetition_type: 'REQUIRED' },
        { name: 'list', converted_type: 'LIST', repetition_type: 'OPTIONAL', num_children: 1 },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        { name: 'element', type: 'INT32', repetition_type: 'OPTIONAL' },
        { name: 'struct', repetition_type: 'OPTIONAL', num_children: 1 },
        { name: 'a', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
      ],
      columnData: [
        { name: 'n', data: [...numbers] },
        { name: 'list', data: numbers.map((n) => [n, null]) },
        { name: 'struct', data: numbers.map((n) => ({ a: `s${n}` })) },
      ],
    }),
  )

test.each(poison)(
  'a bad Parquet object ($name) is named and counted, and the others are stored',
  async ({ name, content, reason, read }) => {
    const stand = await openSource('S3', {}, async (place) => {
      await put(place, name, content)
      await put(place, 'lines', linesOf(range(1_000, 5)))
      await put(place, 'nested', nested(range(1_005, 5)))
    })
    const expected = [...read, ...range(1_000, 10)]
    expect(await received(stand, expected.length)).toEqual(expected)
    expect((await eventsIn(stand)).map(({ line }) => line)).toContain('{"n":1007,"list":[1007,null],"struct":{"a":"s1007"}}')
    await until(async () => expect(await stateOf(stand)).toMatchObject({ refused_events: 1, waiting_bytes: 0 }))
    // It is done: nothing of it is read or counted again.
    await put(stand, 'later', linesOf([1_010]))
    expect(await received(stand, expected.length + 1)).toEqual([...expected, 1_010])
    expect(await stateOf(stand)).toMatchObject({ refused_events: 1 })
    await put(stand, `again-${name}`, content)
    await until(async () =>
      expect(await stateOf(stand)).toMatchObject({ status: 'DELAYED', refused_events: 2, last_error: expect.stringContaining(reason) }),
    )
  },
  TEST_MS,
)

test.each(poison)(
  'a bad Parquet file ($name) is named, and counted when it has not changed for long',
  async ({ name, content, reason, read }) => {
    const stand = await openSource('DIRECTORY')
    await writeFile(join(stand.dir, name), content)
    await writeFile(join(stand.dir, 'lines'), linesOf(range(1_000, 5)))
    await writeFile(join(stand.dir, 'nested'), nested(range(1_005, 5)))
    const expected = [...read, ...range(1_000, 10)]
    expect(await received(stand, expected.length)).toEqual(expected)
    await until(
      async () =>
        expect(await stateOf(stand)).toMatchObject({ status: 'DELAYED', refused_events: 1, last_error: expect.stringContaining(reason) }),
      20_000,
    )
    expect((await stateOf(stand)).last_error).toContain(name)
    // Another process, or another reader, counts it no more, and the file may still become whole.
    for (const step of ['pause', 'resume']) expect((await stand.org.ask('POST', `/sources/${stand.id}/${step}`)).status).toBe(200)
    await appendFile(join(stand.dir, 'lines'), linesOf([1_010]))
    expect(await received(stand, expected.length + 1)).toEqual([...expected, 1_010])
    await until(async () => expect(await stateOf(stand)).toMatchObject({ refused_events: 1, last_error: expect.stringContaining(reason) }))
    await writeFile(join(stand.dir, name), numberedParquet(range(2_000, 10), 'mended'))
    expect(await received(stand, expected.length + 11)).toEqual([...expected, 1_010, ...range(2_000, 10)])
    await until(async () => expect(await stateOf(stand)).toMatchObject({ status: 'RUNNING', refused_events: 1, waiting_bytes: 0 }))
  },
  TEST_MS,
)

test(
  'a Parquet file that is written part by part is read when it has its end, once, and not again when it is renamed or copied',
  async () => {
    const stand = await openSource('DIRECTORY')
    const path = (name: string) => join(stand.dir, name)
    const file = numberedParquet(range(0, 9_000), 'a text of some length '.repeat(40), 2_000)
    const half = file.length / 2
    let n = 20_000
    /** Waits until the source has looked twice at all files, so that it would have read what it should not. */
    async function untilSeenTwice(): Promise<void> {
      for (let time = 0; time < 2; time += 1) {
        const before = (await stateOf(stand)).received_events
        await appendFile(path('lines'), linesOf([n++]))
        await until(async () => expect((await stateOf(stand)).received_events).toBeGreaterThan(before))
      }
    }
    await writeFile(path('part.tmp'), file.subarray(0, 4))
    await untilSeenTwice()
    // It may be written for long, with pauses.
    await appendFile(path('part.tmp'), file.subarray(4, half))
    app.clock.advance(60_000)
    await untilSeenTwice()
    expect(await stateOf(stand)).toMatchObject({ status: 'RUNNING', received_events: 4, refused_events: 0 })
    await appendFile(path('part.tmp'), file.subarray(half))
    await rename(path('part.tmp'), path('part.parquet'))
    const expected = [...range(0, 9_000), ...range(20_000, 4)]
    expect(await received(stand, 9_004)).toEqual(expected)
    await copyFile(path('part.parquet'), path('part-copy.parquet'))
    await rm(path('part.parquet'))
    await untilSeenTwice()
    expect(await received(stand, 9_006)).toEqual([...expected, 20_004, 20_005])
    // Other content in the same place is another file, also with an equal beginning.
    await writeFile(path('part-copy.parquet'), numberedParquet(range(0, 9_001), 'a text of some length '.repeat(40), 2_000))
    await until(async () => expect((await stateOf(stand)).received_events).toBe(9_006 + 9_001))
    await until(async () => expect(await stateOf(stand)).toMatchObject({ status: 'RUNNING', refused_events: 0, waiting_bytes: 0 }))
  },
  TEST_MS,
)

test(
  'END leaves out the Parquet files that are there, and a text that begins with the same letters stays a text',
  async () => {
    const stand = await openSource('DIRECTORY', { start: 'END' }, ({ dir }) => writeFile(join(dir, 'old.parquet'), whole))
    await until(async () => expect(await wasChecked(app.app.world.meta, stand.id)).toBe(true))
    await writeFile(join(stand.dir, 'new.parquet'), numberedParquet(range(500, 10), 'new'))
    expect(await received(stand, 10)).toEqual(range(500, 10))
    await writeFile(join(stand.dir, 'letters.log'), 'PAR1 is a paragraph\n')
    await until(async () => expect((await eventsIn(stand)).map(({ line }) => line)).toContain('PAR1 is a paragraph'))
  },
  TEST_MS,
)
