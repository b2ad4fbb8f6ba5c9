import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { Export, FailureBody } from '@dendro/api'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import type { JobRun } from '../../../jobs/job.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { sql } from '../../../meta/sql.ts'
import { exportRemoval } from './removal.ts'
import { exporting } from './run.ts'

let app: TestApp
let org: TestOrganization
beforeAll(async () => {
  app = await openTestApp({}, (world) => [exporting(world)])
  org = await app.newOrganization()
})
afterAll(() => app?.close())

type Shop = { collection: string; web: string; api: string; lines: string[] }

/** Sends lines to two datasets of one collection and returns their ids. */
async function shop(owner: TestOrganization, count = 50): Promise<Shop> {
  const collection = `shop ${app.app.world.ids.uuid().slice(0, 8)}`
  const lines = Array.from(
    { length: count },
    (_, n) => `{"level": "${n % 5 ? 'info' : 'error'}",  "n": ${n}, "message": "line ${n} \\u00e9"}`,
  )
  for (const dataset of ['web', 'api']) {
    const headers = { 'content-type': 'application/x-ndjson', 'x-service-collection': collection, 'x-service-dataset': dataset }
    const sent = await owner.ask('POST', '/', { raw: lines.join('\n'), headers })
    expect(sent.status, JSON.stringify(sent.body)).toBeLessThan(300)
  }
  const { datasets } = (await owner.ask<{ datasets: { id: string; collection: string; dataset: string }[] }>('GET', '/datasets')).body
  const idOf = (dataset: string) => datasets.find((one) => one.collection === collection && one.dataset === dataset)?.id ?? ''
  return { collection, web: idOf('web'), api: idOf('api'), lines }
}

const order = (search_details: object, rest: object = {}, owner = org) =>
  owner.ask<Export & FailureBody>('POST', '/exports', { body: { search_details, ...rest } })

async function finished(id: string, owner = org): Promise<Export> {
  const seen: number[] = []
  const last = await vi.waitFor(
    async () => {
      const { body } = await owner.ask<Export>('GET', `/exports/${id}`)
      seen.push(body.progress)
      expect(['COMPLETE', 'FAILED']).toContain(body.status)
      return body
    },
    { timeout: 240_000, interval: 100 },
  )
  expect(seen, 'progress fell').toEqual(seen.toSorted((a, b) => a - b))
  return last
}

const fetched = async (location: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(location, { headers: { 'accept-encoding': 'identity', ...headers } })
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) }
}

const linesOf = (bytes: Buffer) =>
  bytes
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)

const isLine = (line: Record<string, unknown>) => String(line['@raw'])

test('an export is ordered, followed until it is complete, and downloaded without credentials: every event of its range, with its line as it came', async () => {
  const { web, api, lines } = await shop(org)
  const made = await order({ from: [web, api], time_range: 'Last 1 hour' })
  expect(made).toMatchObject({
    status: 201,
    body: { status: 'CREATED', progress: 0, location: '', bytes: 0, events: 0, org_id: org.orgId },
  })
  expect(made.body.search_details).toMatchObject({ from: `${web}:${api}`, time_range: 'Last 1 hour' })
  expect(made.body.search_details.from_ts).toBe((made.body.search_details.to_ts ?? 0) - 3_600_000)
  const done = await finished(made.body.export_id)
  expect(done).toMatchObject({ status: 'COMPLETE', progress: 100, events: 100 })
  const { status, headers, bytes } = await fetched(done.location)
  expect([status, headers.get('content-type')?.split(';')[0], headers.get('content-encoding')]).toEqual([200, 'application/x-ndjson', null])
  expect(bytes.length).toBe(done.bytes)
  const found = linesOf(bytes)
  expect(found.map(isLine).sort()).toEqual([...lines, ...lines].sort())
  expect(found[0]).toMatchObject({
    dataset: 'web',
    log_id: web,
    '@status': expect.any(String),
    message: expect.any(String),
    n: expect.any(String),
  })
  expect((await org.ask<{ exports: Export[] }>('GET', '/exports')).body.exports.map(({ export_id }) => export_id)).toContain(done.export_id)
})

test('a where narrows the export, and what arrives after the order is not in it', async () => {
  const { collection, web, lines } = await shop(org)
  const toMs = app.clock.nowMs() + 3_600_000
  const made = await order({ from: web, from_ts: toMs - 7_200_000, to_ts: toMs, where: "level = 'error'" })
  await org.ask('POST', '/', {
    raw: '{"level": "error", "late": true}',
    headers: { 'content-type': 'application/x-ndjson', 'x-service-collection': collection, 'x-service-dataset': 'web' },
  })
  const done = await finished(made.body.export_id)
  const found = linesOf((await fetched(done.location)).bytes)
  expect(found.map(isLine).sort()).toEqual(lines.filter((line) => line.includes('error')).sort())
})

test.each([
  ['gzip', 'application/gzip', (bytes: Buffer) => gunzipSync(bytes)],
  ['zstd', 'application/zstd', (bytes: Buffer) => zstdDecompressSync(bytes)],
])('an export in %s is served as a compressed file, never as an encoding', async (compression, media, unpack) => {
  const { web, lines } = await shop(org)
  const made = await order({ from: web, time_range: 'Last 1 hour' }, { compression })
  const done = await finished(made.body.export_id)
  const { headers, bytes } = await fetched(done.location)
  expect([headers.get('content-type'), headers.get('content-encoding'), bytes.length]).toEqual([media, null, done.bytes])
  expect(linesOf(unpack(bytes)).map(isLine).sort()).toEqual([...lines].sort())
})

test('a range of the file can be requested, so that an interrupted download can continue', async () => {
  const { web } = await shop(org)
  const done = await finished((await order({ from: web, time_range: 'Last 1 hour' }, { compression: 'gzip' })).body.export_id)
  const whole = (await fetched(done.location)).bytes
  const piece = async (range: string) => {
    const { status, headers, bytes } = await fetched(done.location, { range })
    return { status, range: headers.get('content-range'), bytes }
  }
  const n = whole.length
  expect(await piece('bytes=10-19')).toEqual({ status: 206, range: `bytes 10-19/${n}`, bytes: whole.subarray(10, 20) })
  expect(await piece('bytes=5-')).toEqual({ status: 206, range: `bytes 5-${n - 1}/${n}`, bytes: whole.subarray(5) })
  expect(await piece('bytes=-7')).toEqual({ status: 206, range: `bytes ${n - 7}-${n - 1}/${n}`, bytes: whole.subarray(-7) })
  expect(await piece('bytes=0-99999999')).toEqual({ status: 206, range: `bytes 0-${n - 1}/${n}`, bytes: whole })
  expect(await piece(`bytes=${n}-`)).toMatchObject({ status: 416, range: `bytes */${n}` })
  for (const odd of ['bytes=9-3', 'bytes=1-2,5-6', 'lines=1-2', 'bytes=-'])
    expect(await piece(odd)).toMatchObject({ status: 200, bytes: whole })
})

test('a link is valid for an hour and for one export, and a changed link is refused', async () => {
  const { web, api } = await shop(org)
  const [one, other] = [await order({ from: web, time_range: 'Last 1 hour' }), await order({ from: api, time_range: 'Last 1 hour' })]
  const [{ location }] = [await finished(one.body.export_id), await finished(other.body.export_id)]
  const link = new URL(location)
  const changed = (change: (url: URL) => void): string => {
    const url = new URL(link)
    change(url)
    return url.href
  }
  const odd = [
    changed((url) => url.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 1))),
    changed((url) => url.searchParams.set('by', `user-${web}`)),
    changed((url) => url.searchParams.delete('signature')),
    changed((url) => url.searchParams.set('signature', 'x')),
    changed((url) => {
      url.pathname = url.pathname.replace(one.body.export_id, other.body.export_id)
    }),
  ]
  for (const location of odd) expect((await fetched(location)).status, location).toBe(403)
  expect((await fetched(location)).status).toBe(200)
  app.clock.advance(3_600_001)
  expect((await fetched(location)).status).toBe(403)
  const fresh = (await org.ask<Export>('GET', `/exports/${one.body.export_id}`)).body.location
  expect((await fetched(fresh)).status).toBe(200)
  const { audit } = (await org.ask<{ audit: { action: string; entity_id: string }[] }>('GET', '/audit?limit=50')).body
  expect(audit.filter(({ action, entity_id }) => action === 'exports.download' && entity_id === one.body.export_id)).toHaveLength(2)
})

test('a deleted export is gone at once, with its file', async () => {
  const { web } = await shop(org)
  const { export_id, location } = await finished((await order({ from: web, time_range: 'Last 1 hour' })).body.export_id)
  expect((await org.ask('DELETE', `/exports/${export_id}`)).status).toBe(204)
  expect((await org.ask('GET', `/exports/${export_id}`)).status).toBe(404)
  expect((await fetched(location)).status).toBe(404)
  expect(await app.app.world.blobStore.keysUntouchedSince(Number.MAX_SAFE_INTEGER)).not.toContain(export_id)
})

test.each<[string, object, object, string]>([
  ['no datasets', { time_range: 'Last 1 hour' }, {}, 'search_details.from'],
  ['a blank list of datasets', { from: ' ', time_range: 'Last 1 hour' }, {}, 'search_details.from'],
  ['no range', { from_expr: '*' }, {}, 'search_details.time_range'],
  ['half a range', { from_expr: '*', from_ts: 1 }, {}, 'search_details.from_ts'],
  ['two ranges', { from_expr: '*', from_ts: 1, to_ts: 2, time_range: 'today' }, {}, 'search_details.time_range'],
  ['a range that is none', { from_expr: '*', time_range: 'soon' }, {}, 'search_details.time_range'],
  ['a selector that is none', { from_expr: 'dataset ==', time_range: 'today' }, {}, 'search_details.from_expr'],
  ['a filter that is none', { from_expr: '*', time_range: 'today', where: 'a =' }, {}, 'search_details.where'],
  ['ids that are none', { from: 'web:api', time_range: 'today' }, {}, 'search_details.from.0'],
  ['an unknown format', { from_expr: '*', time_range: 'today' }, { format: 'xlsx' }, 'format'],
  ['an unknown compression', { from_expr: '*', time_range: 'today' }, { compression: 'rar' }, 'compression'],
])('%s is refused', async (_, search_details, rest, field) => {
  const { status, body } = await order(search_details, rest)
  expect([status, body.errors?.[0]?.field]).toEqual([400, field])
})

test('datasets of other organizations are not found, and roles limit who creates and deletes exports', async () => {
  const { web } = await shop(org)
  const other = await app.newOrganization()
  expect((await order({ from: web, time_range: 'today' }, {}, other)).status).toBe(404)
  expect((await order({ from_expr: "dataset = 'nobody'", time_range: 'today' })).status).toBe(404)
  expect((await order({ from: '', from_expr: '*', time_range: 'today' })).status).toBe(201)
  const { export_id } = (await order({ from: web, time_range: 'today' })).body
  const [reader, standard] = [await org.newUser(['ReadOnly']), await org.newUser(['Standard'])]
  const search = await org.newKey(['SearchApi'])
  const body = { search_details: { from: web, time_range: 'today' } }
  expect((await org.ask('POST', '/exports', { token: reader.token, body })).status).toBe(403)
  expect((await org.ask('GET', `/exports/${export_id}`, { token: reader.token })).status).toBe(200)
  expect((await org.ask('POST', '/exports', { key: search, body })).status).toBe(201)
  expect((await org.ask('DELETE', `/exports/${export_id}`, { key: search })).status).toBe(403)
  expect((await org.ask('DELETE', `/exports/${export_id}`, { token: standard.token })).status).toBe(204)
  for (const id of ['no-such-export', app.app.world.ids.uuid()]) expect((await org.ask('GET', `/exports/${id}`)).status).toBe(404)
})

test('CSV has a column for every key, cells that no spreadsheet computes, and the unchanged lines', async () => {
  const collection = `odd ${app.app.world.ids.uuid().slice(0, 8)}`
  const lines = ['{"cmd": "=1+1", "n": "-5", "text": "a, \\"b\\"\\nc"}', '{"cmd": "@SUM(A1)", "n": "+x"}']
  const headers = { 'content-type': 'application/x-ndjson', 'x-service-collection': collection, 'x-service-dataset': 'd' }
  await org.ask('POST', '/', { raw: lines.join('\n'), headers })
  const made = await order({ from_expr: `collection = '${collection}'`, time_range: 'Last 1 hour' }, { format: 'csv' })
  const done = await finished(made.body.export_id)
  const { headers: got, bytes } = await fetched(done.location)
  expect([got.get('content-type'), done.events, bytes.length]).toEqual(['text/csv; charset=utf-8', 2, done.bytes])
  const [head = [], ...rows] = cellsOf(bytes.toString())
  expect(head).toEqual([
    '@time',
    '@timestamp',
    '@sequence',
    '@status',
    'collection',
    'dataset',
    'log_id',
    '@raw',
    'cmd',
    'n',
    'text',
    '@more',
  ])
  expect(rows.map((row) => row.slice(7))).toEqual([
    [lines[0], "'=1+1", '-5', 'a, "b"\nc', ''],
    [lines[1], "'@SUM(A1)", "'+x", '', ''],
  ])
})

test('Parquet has the same columns with their types, is compressed within, and is a file of its own kind', async () => {
  const { collection, lines } = await shop(org)
  const made = await order(
    { from_expr: `collection = '${collection}'`, time_range: 'Last 1 hour' },
    { format: 'parquet', compression: 'zstd' },
  )
  const done = await finished(made.body.export_id)
  const { headers, bytes } = await fetched(done.location)
  expect([headers.get('content-type'), done.events, bytes.length]).toEqual(['application/vnd.apache.parquet', 100, done.bytes])
  expect(headers.get('content-disposition')).toContain(`${done.export_id}.parquet"`)
  const file = new Uint8Array(bytes).buffer
  const rows = await parquetReadObjects({ file, compressors: { ZSTD: (input: Uint8Array) => zstdDecompressSync(input) } })
  expect(rows.map((row) => row['@raw']).sort()).toEqual([...lines, ...lines].sort())
  expect(rows[0]).toMatchObject({ '@timestamp': expect.any(Date), '@sequence': expect.any(BigInt), collection, n: expect.any(String) })
  expect(Object.keys(rows[0] ?? {})).toEqual([
    '@timestamp',
    '@sequence',
    '@status',
    'collection',
    'dataset',
    'log_id',
    '@raw',
    'level',
    'message',
    'n',
    '@more',
  ])
})

/** Parses CSV as in RFC 4180. */
const cellsOf = (text: string): string[][] =>
  text
    .split(/\r\n(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    .filter((row) => row !== '')
    .map((row) =>
      [...row.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ''),
    )

test('a dataset that is deleted ends its export, which says so', async () => {
  const { web } = await shop(org)
  const { world } = app.app
  const gone = { ...(await order({ from: web, time_range: 'Last 1 hour' })).body }
  await org.ask('DELETE', `/datasets/${web}`)
  const done = await finished(gone.export_id)
  // The export may have been quicker than the deletion.
  if (done.status === 'FAILED') expect(done.failure_detail).toContain(web)
  expect(await world.blobStore.keysUntouchedSince(Number.MAX_SAFE_INTEGER)).toEqual(
    done.status === 'FAILED' ? expect.not.arrayContaining([gone.export_id]) : expect.anything(),
  )
})

test('exported bytes are counted as usage, exactly', async () => {
  const own = await app.newOrganization()
  const { web, api } = await shop(own)
  const done = await finished((await order({ from: [web, api], time_range: 'Last 1 hour' }, {}, own)).body.export_id, own)
  await app.app.world.usage.flush()
  const { body } = await own.ask<{ total_value: number; total_count: number }>('GET', '/usage?usage_type=export&time_range=Last%201%20day')
  expect(body).toMatchObject({ total_value: done.bytes, total_count: 2 })
})

test('nothing found makes an empty file, also a compressed one', async () => {
  const { web } = await shop(org)
  for (const compression of ['none', 'gzip']) {
    const made = await order({ from: web, time_range: 'Last 1 hour', where: "level = 'fatal'" }, { compression })
    const done = await finished(made.body.export_id)
    const { bytes } = await fetched(done.location)
    expect([done.status, done.events, bytes.length]).toEqual(['COMPLETE', 0, done.bytes])
    expect(compression === 'gzip' ? gunzipSync(bytes).toString() : bytes.toString()).toBe('')
  }
})

test('an export is kept for a week after its end, then it is removed with its file; so is a file that belongs to no export', async () => {
  const { web } = await shop(org)
  const { world } = app.app
  const { export_id } = await finished((await order({ from: web, time_range: 'Last 1 hour' })).body.export_id)
  const kept = await finished((await order({ from: web, time_range: 'Last 1 hour' })).body.export_id)
  const orphan = world.ids.uuid()
  const draft = await world.blobStore.begin(orphan)
  await world.blobStore.put(draft, [], { epoch: 1, bytes: Buffer.from('nobody knows me') })
  const [old, place] = [new Date(Date.now() - 2 * 86_400_000), join(inject('stores').dataDir, 'exports', orphan)]
  await utimes(place, old, old)
  await world.meta.run(sql`update exports set ended_at = ${world.clock.nowMs() - 8 * 86_400_000} where id = ${export_id}`)
  const run = async (payload: JobRun['payload']) => {
    const job: Pick<JobRun, 'payload' | 'signal'> = { payload, signal: AbortSignal.timeout(60_000) }
    return (await exportRemoval({ ...world, clock: systemClock }).run(job as JobRun))?.payload ?? {}
  }
  // A clock that was not observed is not trusted.
  await run({})
  expect((await org.ask('GET', `/exports/${export_id}`)).status).toBe(200)
  await run({ reading: { seenMs: Date.now(), steadySinceMs: Date.now() - 3 * 3_600_000 } })
  expect((await org.ask('GET', `/exports/${export_id}`)).status).toBe(404)
  expect((await org.ask('GET', `/exports/${kept.export_id}`)).status).toBe(200)
  const there = await world.blobStore.keysUntouchedSince(Number.MAX_SAFE_INTEGER)
  expect([export_id, orphan, kept.export_id].map((key) => there.includes(key))).toEqual([false, false, true])
})
