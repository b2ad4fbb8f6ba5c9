import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Export, ExportCompression, ExportFormat } from '@dendro/api'
import { buildApp } from 'fauxqs'
import { parquetWriteBuffer } from 'hyparquet-writer'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { eventsIn, linesIn, makeStand, type RehydrationStand, receiptsOf, rehydrate } from '../../../../test/support/rehydrations.ts'
import { openTestApp, type TestApp } from '../../../../test/support/world.ts'
import { sql } from '../../meta/sql.ts'
import { exporting } from '../../resources/queries/exports/run.ts'

const s3 = buildApp({ logger: false })
let endpoint = ''
let app: TestApp
let root = ''

beforeAll(async () => {
  endpoint = await s3.listen({ port: 0, host: '127.0.0.1' })
  root = await mkdtemp(join(tmpdir(), 'dendro-parquet-'))
  const settings = { DENDRO_WEBHOOK_ALLOW: '127.0.0.1', DENDRO_SOURCE_DIRECTORIES: `${root}/{organization}` }
  app = await openTestApp(settings, (world) => [exporting(world)], undefined, { readsSources: true })
})
afterAll(async () => {
  await app?.close()
  await s3.close()
  await rm(root, { recursive: true, force: true })
})

/** A dataset for the files of a directory of its own. */
async function openStand(): Promise<RehydrationStand & { readonly dir: string }> {
  let dir = ''
  const stand = await makeStand(app, async (orgId) => {
    dir = join(root, orgId)
    await mkdir(dir)
    return { kind: 'DIRECTORY', directory: dir }
  })
  return { ...stand, dir }
}

async function exportOf({ org }: RehydrationStand, from: string, format: ExportFormat, compression: ExportCompression): Promise<Buffer> {
  const toMs = app.clock.nowMs() + 3_600_000
  const search_details = { from, from_ts: toMs - 7 * 86_400_000, to_ts: toMs }
  const made = await org.ask<Export>('POST', '/exports', { body: { search_details, format, compression } })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  const { location } = await vi.waitFor(
    async () => {
      const { body } = await org.ask<Export>('GET', `/exports/${made.body.export_id}`)
      expect(body.status).toBe('COMPLETE')
      return body
    },
    { timeout: 240_000, interval: 100 },
  )
  return Buffer.from(await (await fetch(location, { headers: { 'accept-encoding': 'identity' } })).arrayBuffer())
}

const comparable = async (stand: RehydrationStand) =>
  (await eventsIn(stand)).map(({ line, timeNs, keys, severity }) => ({ line, ms: timeNs / 1_000_000n, keys, severity })).sort(byLine)
const byLine = (a: { line: string }, b: { line: string }) => (a.line < b.line ? -1 : 1)

test.each([
  ['ndjson', 'gzip'],
  ['parquet', 'none'],
  ['parquet', 'gzip'],
  ['parquet', 'zstd'],
] as const)('an export as %s with %s that is read back gives the same events at their times', async (format, compression) => {
  const stand = await openStand()
  const { org, dir } = stand
  const nowMs = app.clock.nowMs()
  const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const headers = { 'content-type': 'application/json', 'x-service-collection': 'live', 'x-service-dataset': 'web' }
  const logRecords = Array.from({ length: 20 }, (_, n) => ({
    timeUnixNano: String(BigInt(nowMs - 86_400_000 - n) * 1_000_000n),
    body: { stringValue: n % 2 ? `{"level":"warn","n":${n},"text":"é \\"${n}\\""}` : `2026-11-20T08:00:00Z error line ${n}` },
    ...(n % 3 === 0 ? { severityText: 'fatal', attributes: [attribute('user', `u ${n}`), attribute('n', '0')] } : {}),
  }))
  const resource = { attributes: [attribute('host.name', 'web-1')] }
  const sent = await org.ask('POST', '/v1/logs', { body: { resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }, headers })
  expect(sent.status, JSON.stringify(sent.body)).toBe(200)
  const { body } = await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  const from = body.datasets.find(({ dataset }) => dataset === 'web')?.id ?? ''
  await writeFile(join(dir, 'export'), await exportOf(stand, from, format, compression))
  const ended = await rehydrate(stand)
  expect(ended).toMatchObject({ status: 'COMPLETE', read_events: 20, stored_events: 20, refused_files: 0 })
  const original = await comparable({ ...stand, logId: from })
  expect(original[0]?.keys).toMatchObject({ '$host.name': 'web-1' })
  expect(original.some(({ keys }) => keys.user === 'u 3')).toBe(true)
  expect(await comparable(stand)).toEqual(original)
  expect(await rehydrate(stand)).toMatchObject({ status: 'COMPLETE', stored_events: 0, earlier_events: 20 })
})

test('a file that was read before fields were restored keeps its form, since positions in it count bytes', async () => {
  const { meta } = app.app.world
  const stand = await openStand()
  const headers = { 'content-type': 'application/json', 'x-service-collection': 'live', 'x-service-dataset': 'old' }
  expect((await stand.org.ask('POST', '/ingest', { body: { n: 1 }, headers })).status).toBe(200)
  const { body } = await stand.org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')
  const from = body.datasets.find(({ dataset }) => dataset === 'old')?.id ?? ''
  await writeFile(join(stand.dir, 'export'), await exportOf(stand, from, 'parquet', 'none'))
  const formOf = async (id: string) =>
    (await meta.one<{ form: number }>(sql`select form from rehydration_files where rehydration_id = ${id}`))?.form
  const first = await rehydrate(stand)
  expect(await formOf(first.id)).toBe(2)
  await meta.run(sql`update rehydration_files set form = 1 where rehydration_id = ${first.id}`)
  const second = await rehydrate(stand)
  expect([await formOf(second.id), second.earlier_events]).toEqual([1, 1])
})

test('files of others are read from a bucket, with a range by the column of the time; a broken one is refused and the others are stored', async () => {
  expect((await fetch(`${endpoint}/lake`, { method: 'PUT' })).status).toBe(200)
  const put = async (key: string, body: Uint8Array<ArrayBuffer>) =>
    expect((await fetch(`${endpoint}/lake/${key}`, { method: 'PUT', body })).status).toBe(200)
  const startMs = Date.parse('2026-11-20T08:00:00Z')
  const fileOf = (from: number) =>
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          { name: 'timestamp', data: Array.from({ length: 5_000 }, (_, n) => new Date(startMs + (from + n) * 1_000)), type: 'TIMESTAMP' },
          { name: 'n', data: Array.from({ length: 5_000 }, (_, n) => from + n), type: 'INT32' },
        ],
        rowGroupSize: 1_000,
      }),
    )
  const [first, second] = [fileOf(0), fileOf(5_000)]
  await put('1.parquet', first)
  await put('2.parquet', second)
  await put('3.parquet', first.slice(0, -30))
  const origin = { kind: 'S3', bucket: 'lake', endpoint, access_key_id: 'ada', secret_access_key: 'secret' }
  const stand = await makeStand(app, () => origin)
  const ended = await rehydrate(stand, { from_ts: startMs + 4_998_000, to_ts: startMs + 5_003_000 })
  expect(ended).toMatchObject({ status: 'COMPLETE', files: 3, refused_files: 1, read_events: 10_000, stored_events: 5 })
  expect((await receiptsOf(stand, ended))[2]).toMatchObject({ status: 'REFUSED', failure_detail: 'it ends early' })
  expect((await linesIn(stand))[0]).toBe('{"timestamp":"2026-11-20T09:23:18.000Z","n":4998}')
  expect((await eventsIn(stand)).map(({ timeNs }) => Number(timeNs / 1_000_000n) - startMs)).toEqual(
    [4_998, 4_999, 5_000, 5_001, 5_002].map((s) => s * 1_000),
  )
})
