import { randomBytes } from 'node:crypto'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import type { FailureBody, Rehydration } from '@dendro/api'
import { buildApp } from 'fauxqs'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { linesIn, makeStand, numbered, orderOf, receiptsOf, rehydrate, text, untilEnded } from '../../../../test/support/rehydrations.ts'
import { openTestApp, type TestApp } from '../../../../test/support/world.ts'
import { sql } from '../../meta/sql.ts'

const s3 = buildApp({ logger: false })
/** The objects that were requested, each as often as it was. */
const requested: string[] = []
s3.addHook('onRequest', async ({ method, url }) => {
  if (method === 'GET') requested.push(url.split('?')[0] ?? '')
})
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

const put = async (bucket: string, key: string, body: string | Buffer): Promise<void> => {
  expect((await fetch(`${endpoint}/${bucket}/${key}`, { method: 'PUT', body })).status).toBe(200)
}

let buckets = 0
async function makeBucket(): Promise<string> {
  buckets += 1
  const bucket = `archive-${buckets}`
  expect((await fetch(`${endpoint}/${bucket}`, { method: 'PUT' })).status).toBe(200)
  return bucket
}

const SECRET = 'a secret of ours'
const originOf = (bucket: string, more: object = {}) => ({
  kind: 'S3',
  bucket,
  endpoint,
  access_key_id: 'ada',
  secret_access_key: SECRET,
  ...more,
})

test('objects below a prefix are stored once, compressed or not; new content under a known key is read, and the secret goes at the end', async () => {
  const bucket = await makeBucket()
  await put(bucket, 'logs/a.log', text(numbered(0, 10)))
  await put(bucket, 'logs/b.log.gz', gzipSync(text(numbered(10, 10))))
  await put(bucket, 'logs/c.log.zst', zstdCompressSync(text(numbered(20, 10))))
  await put(bucket, 'other/d.log', 'not wanted\n')
  const stand = await makeStand(app, () => originOf(bucket, { prefix: 'logs/' }))
  const first = await rehydrate(stand, { from_ts: Date.parse('2026-11-20T08:00:05.000Z') })
  expect(first).toMatchObject({ status: 'COMPLETE', files: 3, read_events: 30, stored_events: 25, unselected_events: 5 })
  expect((await receiptsOf(stand, first)).map(({ name }) => name)).toEqual(['logs/a.log', 'logs/b.log.gz', 'logs/c.log.zst'])
  expect(await rehydrate(stand)).toMatchObject({ status: 'COMPLETE', stored_events: 5, earlier_events: 25 })
  await put(bucket, 'logs/a.log', text(numbered(40, 3)))
  expect(await rehydrate(stand)).toMatchObject({ status: 'COMPLETE', stored_events: 3, earlier_events: 20 })
  expect(await linesIn(stand)).toEqual([...numbered(0, 30), ...numbered(40, 3)].toSorted())
  const shown = [await stand.org.ask('GET', '/rehydrations'), await stand.org.ask('GET', '/audit')]
  expect(JSON.stringify(shown)).not.toContain(SECRET)
  expect(first.origin).toMatchObject({ kind: 'S3', secret_access_key: '***' })
  const kept = await app.app.world.meta.all(sql`select id from rehydrations where org_id = ${stand.org.orgId} and secrets is not null`)
  expect(kept).toEqual([])
})

test('records in JSON documents are events, and a document without an end is refused with the reason', async () => {
  const bucket = await makeBucket()
  await put(bucket, '1.json.gz', gzipSync(JSON.stringify({ Records: [{ n: 1 }, { n: 2 }] }, null, 1)))
  await put(bucket, '2.json', '{"Records": [{"n": 3}, ')
  const stand = await makeStand(app, () => originOf(bucket, { format: 'RECORDS' }))
  const ended = await rehydrate(stand)
  expect(ended).toMatchObject({ status: 'COMPLETE', files: 2, refused_files: 1, stored_events: 3 })
  expect((await receiptsOf(stand, ended))[1]?.failure_detail).toBe('its JSON ends early')
})

test('a rehydration waits for a bucket that cannot be read, says why, and can be cancelled meanwhile', async () => {
  const stand = await makeStand(app, () => originOf('late-bucket'))
  const { org } = stand
  const waiting = async (id: string) => {
    const { body } = await org.ask<Rehydration>('GET', `/rehydrations/${id}`)
    expect(body).toMatchObject({ status: 'IN_PROGRESS', failure_detail: expect.stringContaining('404') })
  }
  const first = await org.ask<Rehydration>('POST', '/rehydrations', { body: orderOf(stand) })
  await vi.waitFor(() => waiting(first.body.id), { timeout: 240_000, interval: 200 })
  expect((await org.ask('POST', `/rehydrations/${first.body.id}/cancel`)).status).toBe(200)
  app.clock.advance(20_000)
  expect(await untilEnded(stand, first.body.id)).toMatchObject({ status: 'CANCELLED', files: 0 })
  const second = await org.ask<Rehydration>('POST', '/rehydrations', { body: orderOf(stand) })
  await vi.waitFor(() => waiting(second.body.id), { timeout: 240_000, interval: 200 })
  expect((await fetch(`${endpoint}/late-bucket`, { method: 'PUT' })).status).toBe(200)
  await put('late-bucket', 'a.log', text(numbered(0, 5)))
  app.clock.advance(20_000)
  const ended = await untilEnded(stand, second.body.id)
  expect(ended).toMatchObject({ status: 'COMPLETE', stored_events: 5 })
  expect(ended.failure_detail).toBeUndefined()
})

test('servers that the operator has not allowed, and a masked secret, are refused', async () => {
  const stand = await makeStand(app, () => originOf('x'))
  const refusal = async (more: object): Promise<string> => {
    const { status, body } = await stand.org.ask<FailureBody>('POST', '/rehydrations', {
      body: orderOf(stand, { origin: originOf('x', more) }),
    })
    expect(status).toBe(400)
    return JSON.stringify(body)
  }
  expect(await refusal({ endpoint: 'http://10.1.2.3:9000' })).toContain('origin.endpoint')
  expect(await refusal({ endpoint: `${endpoint}/path` })).toContain('origin.endpoint')
  expect(await refusal({ secret_access_key: '***' })).toContain('origin.secret_access_key')
  expect(await refusal({ kind: 'KAFKA' })).toContain('DIRECTORY, S3')
})

test('an archive is read once, however many steps it takes', async () => {
  const bucket = await makeBucket()
  // It compresses to about a sixth.
  const lines = Array.from({ length: 40_000 }, (_, n) => `{"n":${n},"text":"${randomBytes(150).toString('hex')}${'-'.repeat(700)}"}`)
  const packed = gzipSync(text(lines), { level: 1 })
  await put(bucket, 'a.gz', packed)
  const stand = await makeStand(app, () => originOf(bucket))
  const made = await stand.org.ask<Rehydration>('POST', '/rehydrations', { body: orderOf(stand) })
  const { meta } = app.app.world
  const id = made.body.id
  let [steps, position] = [0, 0]
  // Each batch takes 7 s, so that a step of 30 s has few of them. Its lease is renewed in between.
  const ended = await vi.waitFor(
    async () => {
      const job = await meta.one<{ fence: number }>(sql`select fence::int as fence from jobs where key = ${id}`)
      const file = await meta.one<{ position: number }>(sql`select position from rehydration_files where rehydration_id = ${id}`)
      steps = Math.max(steps, job?.fence ?? 0)
      if ((file?.position ?? 0) > position) app.clock.advance(7_000)
      position = file?.position ?? 0
      const { body } = await stand.org.ask<Rehydration>('GET', `/rehydrations/${id}`)
      expect(body.ended_at, JSON.stringify({ body, steps })).toBeDefined()
      return body
    },
    { timeout: 240_000, interval: 50 },
  )
  expect(ended).toMatchObject({ status: 'COMPLETE', stored_events: 40_000 })
  expect(steps).toBeGreaterThan(1)
  // One more recognizes the compression, and one finds the end.
  const reads = requested.filter((path) => path === `/${bucket}/a.gz`).length
  expect(reads).toBeLessThanOrEqual(Math.ceil(packed.length / (4 * 2 ** 20)) + 2)
})
