import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { FailureBody, Source } from '@dendro/api'
import { buildApp } from 'fauxqs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { whileTimePasses } from '../../../../test/support/passing-time.ts'
import { storedEvents } from '../../../../test/support/stored-events.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../test/support/world.ts'
import { sql } from '../../meta/sql.ts'
import { parseAllowList } from '../../outgoing/addresses.ts'
import { openOutgoing } from '../../outgoing/outgoing.ts'
import { selectOrganization } from '../../resources/access/organizations/rows.ts'
import { openSourceBucket, wasChecked } from '../../resources/data/sources/sources.ts'
import { linesOfRecords } from './records.ts'

const s3 = buildApp({ logger: false })
let endpoint = ''
let app: TestApp

beforeAll(async () => {
  endpoint = await s3.listen({ port: 0, host: '127.0.0.1' })
  app = await openTestApp({ DENDRO_WEBHOOK_ALLOW: '127.0.0.1' }, () => [], undefined, { readsSources: true })
})
afterAll(async () => {
  await app?.close()
  await s3.close()
})

type Stand = { org: TestOrganization; logId: string; id: string; bucket: string; body: object }

const put = async (bucket: string, key: string, body: string | Buffer): Promise<void> => {
  expect((await fetch(`${endpoint}/${bucket}/${key}`, { method: 'PUT', body })).status).toBe(200)
}

let buckets = 0
async function makeBucket(): Promise<string> {
  buckets += 1
  const bucket = `bucket-${buckets}`
  expect((await fetch(`${endpoint}/${bucket}`, { method: 'PUT' })).status).toBe(200)
  return bucket
}

const originOf = (bucket: string, more: object = {}) => ({
  kind: 'S3',
  bucket,
  endpoint,
  access_key_id: 'ada',
  secret_access_key: 'a secret of ours',
  ...more,
})

async function openSource(bucket: string, more: object = {}, paused = false): Promise<Stand> {
  const org = await app.newOrganization()
  const made = await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'objects', dataset: 'app' } })
  const body = { name: 'bucket', log_id: made.body.id, paused, origin: originOf(bucket, more) }
  const source = await org.ask<Source>('POST', '/sources', { body })
  expect(source.status, JSON.stringify(source.body)).toBe(201)
  return { org, logId: made.body.id, id: source.body.id, bucket, body }
}

const sourceOf = async ({ org, id }: Stand): Promise<Source> => (await org.ask<Source>('GET', `/sources/${id}`)).body

async function eventsIn({ org, logId }: Stand) {
  const { world } = app.app
  const number = (await selectOrganization(world.meta, org.orgId))?.number ?? 0
  return storedEvents(world, { orgId: org.orgId, orgNumber: number }, logId)
}

const until = <T>(check: () => Promise<T>): Promise<T> => whileTimePasses(app.clock, check)

async function received(stand: Stand, count: number): Promise<string[]> {
  await until(async () => {
    const { state } = await sourceOf(stand)
    expect(state.received_events, JSON.stringify(state)).toBe(count)
  })
  const lines = (await eventsIn(stand)).map(({ line }) => line)
  expect(lines).toHaveLength(count)
  return lines
}

test('objects below the prefix are stored once, compressed or not, with their key, and later ones too', async () => {
  const bucket = await makeBucket()
  await put(bucket, 'logs/b.log', '{"n":1}\n{"n":2}\n')
  await put(bucket, 'logs/a.log.gz', gzipSync('three\nfour'))
  await put(bucket, 'logs/zstd', zstdCompressSync('five\n'))
  await put(bucket, 'logs/empty', '')
  await put(bucket, 'other/c.log', 'not wanted\n')
  const stand = await openSource(bucket, { prefix: 'logs/' })
  expect((await received(stand, 5)).toSorted()).toEqual(['five', 'four', 'three', '{"n":1}', '{"n":2}'])
  expect((await eventsIn(stand)).find(({ line }) => line === 'five')?.keys).toMatchObject({ '$s3.bucket': bucket, '$s3.key': 'logs/zstd' })
  // An earlier key, and new content under a known one.
  await put(bucket, 'logs/A.log', 'six\n')
  await put(bucket, 'logs/b.log', 'seven\n')
  expect((await received(stand, 7)).toSorted()).toEqual(['five', 'four', 'seven', 'six', 'three', '{"n":1}', '{"n":2}'])
  await until(async () => expect((await sourceOf(stand)).state).toMatchObject({ status: 'RUNNING', waiting_bytes: 0, refused_events: 0 }))
})

test('records in a JSON document are events; a broken object is named, and does not stop the others', async () => {
  const bucket = await makeBucket()
  const record = (n: number) => ({ eventVersion: '1.08', n, nested: { list: [{ a: '}]"\\' }] } })
  await put(bucket, '1.json.gz', gzipSync(JSON.stringify({ about: [1, 2], Records: [record(1), record(2)] }, null, 2)))
  await put(bucket, '2.json', JSON.stringify([record(3)]))
  await put(bucket, '3.json.gz', gzipSync(JSON.stringify({ Records: [record(4)] })).subarray(0, 40))
  await put(bucket, '4.json', 'no JSON')
  await put(bucket, '5.json', JSON.stringify({ Records: [record(5)] }))
  const stand = await openSource(bucket, { format: 'RECORDS' })
  const lines = await received(stand, 4)
  expect(lines.map((line) => JSON.parse(line)).toSorted((a, b) => a.n - b.n)).toEqual([1, 2, 3, 5].map(record))
  await until(async () => expect((await sourceOf(stand)).state).toMatchObject({ refused_events: 2 }))
  // It is still named after the next listing, which has found the next object. While that is read the source counts as running.
  await put(bucket, '6.json', JSON.stringify({ Records: [record(6)] }))
  await vi.waitFor(
    async () => {
      const { state } = await sourceOf(stand)
      expect(state).toMatchObject({ received_events: 5, status: 'DELAYED', last_error: expect.stringMatching(/3\.json\.gz|4\.json/) })
    },
    { timeout: 240_000, interval: 200 },
  )
})

test('END leaves out the objects that are there, BEGINNING reads them too', async () => {
  const bucket = await makeBucket()
  for (let n = 0; n < 30; n += 1) await put(bucket, `o/${n}`, `${n}\n`)
  const late = await openSource(bucket, { start: 'END' })
  await until(async () => expect(await wasChecked(app.app.world.meta, late.id)).toBe(true))
  await put(bucket, 'new', 'new\n')
  expect(await received(late, 1)).toEqual(['new'])
  const stand = await openSource(bucket)
  expect(new Set(await received(stand, 31)).size).toBe(31)
})

test('END reads the objects that are written between the start of the source and its first listing', async () => {
  const bucket = await makeBucket()
  await put(bucket, 'old', 'old\n')
  const stand = await openSource(bucket, { start: 'END' }, true)
  const second = () => Math.floor(Date.now() / 1_000)
  const oldAt = second()
  await vi.waitFor(() => expect(second()).toBeGreaterThan(oldAt), { timeout: 5_000 })
  // The clock of the test is ahead of the bucket's.
  const { meta } = app.app.world
  const startedMs = Date.now()
  await put(bucket, 'new', 'new\n')
  await meta.write(stand.org.orgId, (tx) =>
    tx.run(sql`update sources set paused = false, modified_at = ${startedMs} where id = ${stand.id}`),
  )
  expect(await received(stand, 1)).toEqual(['new'])
  await put(bucket, 'newer', 'newer\n')
  expect((await received(stand, 2)).toSorted()).toEqual(['new', 'newer'])
})

test('all pages of a bucket are listed', async () => {
  const bucket = await makeBucket()
  for (let n = 0; n < 1_050; n += 50) await Promise.all(Array.from({ length: 50 }, (_, index) => put(bucket, `o/${n + index}`, 'x')))
  const outgoing = openOutgoing({ allowed: parseAllowList('127.0.0.1'), ownPorts: () => [] })
  const origin = { ...originOf(bucket), kind: 'S3', prefix: '', format: 'LINES', start: 'BEGINNING' } as const
  const opened = await openSourceBucket(outgoing, origin, { secret_access_key: 'a secret of ours' })
  const keys = new Set<string>()
  let pages = 0
  for await (const page of opened.list()) {
    pages += 1
    for (const { key } of page) keys.add(key)
  }
  opened.close()
  expect([keys.size, pages]).toEqual([1_050, 2])
})

test('a bucket that cannot be read is named, and reached once it can', async () => {
  const stand = await openSource('absent-bucket')
  await until(async () =>
    expect((await sourceOf(stand)).state).toMatchObject({ status: 'DELAYED', last_error: expect.stringContaining('404') }),
  )
  expect((await fetch(`${endpoint}/absent-bucket`, { method: 'PUT' })).status).toBe(200)
  await put('absent-bucket', 'a', 'here\n')
  expect(await received(stand, 1)).toEqual(['here'])
  const trial = (origin: object) => stand.org.ask<FailureBody & { failure_reason?: string }>('POST', '/sources/test', { body: { origin } })
  expect((await trial(originOf('absent-bucket'))).body).toEqual({ result: true })
  expect((await trial(originOf('nowhere'))).body).toMatchObject({ result: false })
  expect((await trial(originOf('x1', { endpoint: 'http://10.1.2.3:9000' }))).status).toBe(400)
  expect(JSON.stringify([await sourceOf(stand), (await stand.org.ask('GET', '/audit')).body])).not.toContain('a secret of ours')
})

test('records are the same lines wherever the text is cut', async () => {
  const text = Buffer.from(' {"Records" : [ {"a":"x\\"}]\\\\",\n "b":[1,{"c":{}}]} , {} ], "more": {"x":[{"no":1}]}, "list":[{"d":1}]}\n')
  const read = async (size: number): Promise<string> => {
    const parts = async function* () {
      for (let at = 0; at < text.length; at += size) yield text.subarray(at, at + size)
    }
    const lines: Buffer[] = []
    for await (const part of linesOfRecords(parts())) lines.push(Buffer.from(part))
    return Buffer.concat(lines).toString()
  }
  const whole = await read(text.length)
  expect(
    whole
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  ).toEqual([{ a: 'x"}]\\', b: [1, { c: {} }] }, {}, { d: 1 }])
  for (let size = 1; size < 20; size += 1) expect(await read(size)).toBe(whole)
})
