import { randomUUID } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import type { FailureBody, ForwardConfig } from '@dendro/api'
import { buildApp } from 'fauxqs'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { makeEngines } from '../../../events/store/engine.fixture.ts'
import { forwarding } from './forwarding.ts'

const s3 = buildApp({ logger: false })
const engines = makeEngines()
let app: TestApp
let target: Target
let s3Url = ''

beforeAll(async () => {
  s3Url = await s3.listen({ port: 0, host: '127.0.0.1' })
  expect((await fetch(`${s3Url}/archive`, { method: 'PUT' })).status).toBe(200)
  target = await openTarget()
  // Moving the clock moves the sequence numbers of everyone who shares a store.
  const store = await engines.open(await engines.madeDir())
  const env = {
    DENDRO_CLICKHOUSE_URL: store.url,
    DENDRO_WEBHOOK_ALLOW: '127.0.0.1',
    DENDRO_FORWARD_URL: `s3://key:secret@archive/all?endpoint=${s3Url}`,
  }
  app = await openTestApp(env, (world) => [forwarding(world)])
})
afterAll(async () => {
  await app?.close()
  target?.server.close()
  await s3.close()
  await engines.cleanUp()
})

type Received = { headers: IncomingHttpHeaders; lines: string[] }
type Target = { server: Server; url: string; received: Received[]; status: number }

/** A URL that takes payloads, and answers with `status`. */
async function openTarget(): Promise<Target> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const whole = Buffer.concat(parts)
    const text = request.headers['content-encoding'] === 'gzip' ? gunzipSync(whole).toString() : whole.toString()
    opened.received.push({ headers: request.headers, lines: linesOf(text) })
    response.writeHead(opened.status).end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const opened: Target = { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in`, received: [], status: 200 }
  return opened
}

const linesOf = (text: string): string[] => text.split('\n').slice(0, -1)

const input = (destination: object, rest: object = {}) => ({
  name: 'archive',
  all_logs: true,
  compression: 'GZIP',
  max_buffer_time_ms: 60_000,
  destination,
  ...rest,
})
const toBucket = (prefix: string, rest: object = {}) => ({ destination_type: 'S3', bucket: 'archive', prefix, ...rest })
const toUrl = (rest: object = {}) => ({ destination_type: 'HTTP', url: target.url, ...rest })

const make = async (org: TestOrganization, body: object): Promise<ForwardConfig> => {
  const made = await org.ask<ForwardConfig>('POST', '/forward-configs', { body })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  return made.body
}
const listOf = async (org: TestOrganization) =>
  (await org.ask<{ 'forward-configs': ForwardConfig[] }>('GET', '/forward-configs')).body['forward-configs']

async function post(org: TestOrganization, lines: readonly string[], dataset = 'web', collection = 'shop'): Promise<void> {
  const headers = { 'content-type': 'application/x-ndjson', 'x-service-collection': collection, 'x-service-dataset': dataset }
  const sent = await org.ask('POST', '/', { raw: lines.join('\n'), headers })
  expect(sent.status, JSON.stringify(sent.body)).toBeLessThan(300)
}

const events = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => `{"level":"${n % 2 ? 'info' : 'error'}","n":${from + n}}`)

/** Advances the clock until the condition holds. */
const eventually = <T>(check: () => Promise<T>): Promise<T> =>
  vi.waitFor(
    async () => {
      app.clock.advance(10_000)
      return check()
    },
    { timeout: 240_000, interval: 300 },
  )

const delivered = (org: TestOrganization, count: number) =>
  eventually(async () => {
    const [config] = await listOf(org)
    expect(config?.delivery, JSON.stringify(config)).toMatchObject({ status: 'OK', delivered_events: count })
    return config
  })

type StoredObject = { key: string; lines: string[] }

async function keysIn(prefix: string): Promise<string[]> {
  const listing = await (await fetch(`${s3Url}/archive?list-type=2&prefix=all/${prefix}`)).text()
  return [...listing.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key = '']) => key)
}

async function objectsIn(prefix: string): Promise<StoredObject[]> {
  return Promise.all(
    (await keysIn(prefix)).map(async (key) => {
      const bytes = Buffer.from(await (await fetch(`${s3Url}/archive/${key}`)).arrayBuffer())
      const text = key.endsWith('.gz') ? gunzipSync(bytes) : key.endsWith('.zst') ? zstdDecompressSync(bytes) : bytes
      return { key, lines: linesOf(text.toString()) }
    }),
  )
}

test('events that arrive after the configuration are in object storage once, one original event per line, an object for each dataset', async () => {
  const org = await app.newOrganization()
  await post(org, events(3, 1_000))
  const made = await make(org, input(toBucket('first')))
  expect(made).toMatchObject({
    name: 'archive',
    format: 'RAW',
    max_payload_size_bytes: 10_000_000,
    delivery: { status: 'OK', lost_events: 0 },
  })
  await post(org, events(20))
  await post(org, events(5, 100), 'api')
  await delivered(org, 25)
  const objects = await objectsIn('first')
  expect(objects.flatMap(({ lines }) => lines).toSorted()).toEqual([...events(20), ...events(5, 100)].toSorted())
  for (const { key } of objects) {
    expect(key).toMatch(new RegExp(`^all/first/\\d{4}/\\d\\d/\\d\\d/\\d\\d/(web|api)-\\d+-${made.id.slice(0, 8)}\\.log\\.gz$`))
  }
  await post(org, events(2, 500))
  await delivered(org, 27)
  expect((await objectsIn('first')).flatMap(({ lines }) => lines)).toHaveLength(27)
})

test('a filter and named datasets choose the events; objects lie in the folders of the template', async () => {
  const org = await app.newOrganization()
  await post(org, events(1))
  await post(org, events(1), 'api')
  const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
  const log_ids = datasets.filter(({ dataset }) => dataset === 'web').map(({ id }) => id)
  const place = toBucket('chosen', { path_template: '{collection}/{dataset}' })
  await make(org, input(place, { all_logs: false, log_ids, filter: 'level = error', format: 'NDJSON', compression: 'ZSTD' }))
  await post(org, events(6, 10))
  await post(org, events(6, 20), 'api')
  await delivered(org, 3)
  const [object, ...others] = await objectsIn('chosen')
  expect(others).toEqual([])
  expect(object?.key).toMatch(/^all\/chosen\/shop\/web\/web-\d+-[\da-f]{8}\.log\.zst$/)
  expect(object?.lines.map((line) => JSON.parse(line))).toMatchObject(
    [10, 12, 14].map((n) => ({ '@raw': `{"level":"error","n":${n}}`, dataset: 'web' })),
  )
})

/** The rows of the Parquet files below a prefix, by the key of the object. */
async function tablesIn(prefix: string): Promise<ReadonlyMap<string, readonly Record<string, unknown>[]>> {
  const compressors = { ZSTD: (input: Uint8Array) => zstdDecompressSync(input), GZIP: (input: Uint8Array) => gunzipSync(input) }
  const tables = new Map<string, readonly Record<string, unknown>[]>()
  for (const key of await keysIn(prefix)) {
    const file = await (await fetch(`${s3Url}/archive/${key}`)).arrayBuffer()
    tables.set(key, await parquetReadObjects({ file, compressors }))
  }
  return tables
}

test.each(['ZSTD', 'GZIP', 'NONE'])(
  'a bucket gets Parquet with the compression %s, with every event once in the columns of exports',
  async (compression) => {
    const org = await app.newOrganization()
    const prefix = `columns-${compression}`
    await make(org, input(toBucket(prefix), { format: 'PARQUET', compression, max_payload_size_events: 1_000 }))
    const sent = Array.from({ length: 1_500 }, (_, n) => ({ n, dataset: 'of the sender', ...(n % 100 ? {} : { [`rare.${n}`]: `é ${n}` }) }))
    await post(
      org,
      sent.map((one) => JSON.stringify(one)),
    )
    await post(org, events(5, 7_000), 'api')
    await delivered(org, 1_505)
    const tables = await tablesIn(prefix)
    for (const key of tables.keys()) expect(key).toMatch(/\/(web|api)-\d+-[\da-f]{8}\.parquet$/)
    const rows = [...tables.values()].flat()
    expect(new Set(rows.map((row) => row['@sequence'])).size).toBe(1_505)
    expect(rows).toHaveLength(1_505)
    const web = rows.filter(({ dataset }) => dataset === 'web').toSorted((one, other) => Number(one.n) - Number(other.n))
    for (const [at, event] of sent.entries()) {
      const { n, '@raw': raw, '@more': more, '@timestamp': time, ...row } = web[at] ?? {}
      expect(raw).toBe(JSON.stringify(event))
      expect(JSON.parse(String(more))).toEqual({ dataset: event.dataset })
      expect([n, time]).toEqual([String(at), expect.any(Date)])
      if (at % 100 === 0) expect(row).toMatchObject({ collection: 'shop', [`rare.${at}`]: `é ${at}` })
    }
    expect([...tables].filter(([key]) => key.includes('/web-')).length).toBeGreaterThan(1)
    expect(rows.filter(({ dataset }) => dataset === 'api').map(({ n }) => n)).toEqual(['7000', '7001', '7002', '7003', '7004'])
  },
)

test('an event with line breaks stays on one line', async () => {
  const org = await app.newOrganization()
  await make(org, input(toBucket('breaks'), { compression: 'NONE' }))
  await post(org, [JSON.stringify([{ message: 'a\nb' }])])
  const headers = { 'content-type': 'application/json', 'x-service-collection': 'shop', 'x-service-dataset': 'pretty' }
  await org.ask('POST', '/', { raw: '[{\n  "n": 1\n}]', headers })
  await delivered(org, 2)
  const lines = (await objectsIn('breaks')).flatMap((object) => object.lines)
  expect(lines.map((line) => JSON.parse(line))).toEqual(expect.arrayContaining([{ n: 1 }]))
  expect(lines).toHaveLength(2)
})

test('while a URL refuses, events wait and are counted; then it gets each at least once, repeats under the same id', async () => {
  const org = await app.newOrganization()
  const headers = { authorization: 'Bearer of-the-target' }
  const made = await make(org, input(toUrl({ headers })))
  expect(made.destination).toMatchObject({ headers: { authorization: '***' } })
  target.status = 503
  target.received = []
  await post(org, events(4))
  const [waiting] = await eventually(async () => {
    const configs = await listOf(org)
    expect(configs[0]?.delivery.status).toBe('DELAYED')
    expect(target.received.length).toBeGreaterThan(1)
    return configs
  })
  expect(waiting?.delivery).toMatchObject({
    waiting_events: 4,
    last_error: 'the target answered with status 503',
    delivered_events: 0,
    delayed_since: expect.any(Number),
    oldest_waiting_at: expect.any(Number),
  })
  target.status = 200
  await post(org, events(2, 50))
  const config = await delivered(org, 6)
  expect(config?.delivery).not.toHaveProperty('last_error')
  expect(config?.delivery.lost_events).toBe(0)
  const byId = Map.groupBy(target.received, (one) => one.headers['idempotency-key'])
  for (const repeats of byId.values()) for (const one of repeats) expect(one.lines).toEqual(repeats[0]?.lines)
  expect([...byId.values()].flatMap(([one]) => one?.lines ?? []).toSorted()).toEqual([...events(4), ...events(2, 50)].toSorted())
  expect(target.received[0]?.headers).toMatchObject({ authorization: 'Bearer of-the-target', 'content-encoding': 'gzip' })
})

test('another Dendro gets events as they were: their lines, times, attributes and datasets, and those of the system under other names', async () => {
  const [org, other] = [await app.newOrganization(), await app.newOrganization()]
  target.received = []
  target.status = 200
  await make(org, input(toUrl(), { format: 'NDJSON', compression: 'NONE' }))
  const raw = 'user=ann of web\n{"a": [1, "b"], "t": "\\u00e9"}'
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'x-service-tags': 'team=a' }
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
  await post(org, events(2), 'mail')
  await delivered(org, 4)
  const { headers: sent = {}, lines = [] } = target.received[0] ?? {}
  expect(sent['x-dendro-events']).toBe('ndjson')
  const own = lines[0]?.replace('"collection":"shop"', '"collection":".audit-trail"').replace('"dataset":"web"', '"dataset":"trail"')
  const again = { 'content-type': String(sent['content-type']), 'x-dendro-events': 'ndjson' }
  const body = [...lines, own, '{"not":"ours"}', ''].join('\n')
  const answer = await other.ask('POST', '/ingest', { raw: body, headers: again })
  expect([answer.status, answer.body]).toEqual([200, { accepted: 6, rejected: 0 }])
  const found = async (of: TestOrganization, from_expr: string) => {
    const search = { from_expr, select: ['*', '@raw'], from_ts: 0, to_ts: 10 ** 13 }
    type Found = { '@raw': string; '@time': string; message_kvs: object; attributes: object }
    const { events: all } = (await of.ask<{ events: Found[] }>('POST', '/search', { body: search })).body
    return all.map((one) => ({ line: one['@raw'], time: one['@time'], keys: one.message_kvs, attributes: one.attributes })).sort(byLine)
  }
  for (const dataset of ['web', 'mail']) {
    const place = `collection = 'shop' AND dataset = '${dataset}'`
    expect(await found(other, place)).toEqual(await found(org, place))
  }
  expect((await found(other, "dataset = 'web'"))[0]?.attributes).toEqual({ $team: 'a' })
  expect(await found(other, "collection = 'audit-trail' AND dataset = 'trail'")).toHaveLength(1)
  expect((await found(other, "dataset = 'default'")).map(({ line }) => line)).toEqual(['{"not":"ours"}'])
})

const byLine = (a: { line: string }, b: { line: string }) => (a.line < b.line ? -1 : 1)

test('events that are deleted while they wait are counted as lost, and the others are delivered', async () => {
  const org = await app.newOrganization()
  await make(org, input(toUrl()))
  target.status = 500
  await post(org, events(4), 'doomed')
  await post(org, events(2, 50), 'kept')
  await eventually(async () => expect((await listOf(org))[0]?.delivery).toMatchObject({ status: 'DELAYED', waiting_events: 6 }))
  const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
  const doomed = datasets.find(({ dataset }) => dataset === 'doomed')?.id
  expect((await org.ask('DELETE', `/datasets/${doomed}`)).status).toBe(204)
  target.received = []
  target.status = 200
  const config = await delivered(org, 2)
  expect(config?.delivery.lost_events).toBe(4)
  expect(target.received.flatMap(({ lines }) => lines)).toEqual(events(2, 50))
})

test('a new destination gets the events that wait; secrets are kept by their mask for the same server only', async () => {
  const org = await app.newOrganization()
  const broken = {
    destination_type: 'S3',
    bucket: 'nobody-made-this',
    endpoint: s3Url,
    access_key_id: 'id',
    secret_access_key: 'hidden-word',
  }
  const made = await make(org, input(broken))
  expect(JSON.stringify(made)).not.toContain('hidden-word')
  expect(made.destination).toMatchObject({ secret_access_key: '***' })
  await post(org, events(3))
  await eventually(async () => expect((await listOf(org))[0]?.delivery).toMatchObject({ status: 'DELAYED', waiting_events: 3 }))
  const put = (destination: object) =>
    org.ask<ForwardConfig & FailureBody>('PUT', `/forward-configs/${made.id}`, { body: input(destination) })
  const elsewhere = await put({ ...broken, endpoint: 'http://127.0.0.1:9', secret_access_key: '***' })
  expect(elsewhere).toMatchObject({ status: 400, body: { details: expect.stringContaining('secret_access_key must be given again') } })
  const moved = await put({ ...broken, bucket: 'archive', prefix: 'all/moved', secret_access_key: '***' })
  expect(moved.status, JSON.stringify(moved.body)).toBe(200)
  await delivered(org, 3)
  expect((await objectsIn('moved')).flatMap(({ lines }) => lines)).toEqual(events(3))
})

test('a deleted configuration is unknown at once and delivers what arrived before', async () => {
  const org = await app.newOrganization()
  const { id } = await make(org, input(toBucket('deleted'), { max_buffer_time_ms: 86_400_000 }))
  await post(org, events(7))
  expect((await org.ask('DELETE', `/forward-configs/${id}`)).status).toBe(204)
  await post(org, events(7, 100))
  expect(await listOf(org)).toEqual([])
  expect((await org.ask('DELETE', `/forward-configs/${id}`)).status).toBe(404)
  await eventually(async () => expect((await objectsIn('deleted')).flatMap(({ lines }) => lines)).toEqual(events(7)))
})

test('events of a dataset that a policy hides from the author are not forwarded', async () => {
  const org = await app.newOrganization()
  await post(org, events(1), 'seen', 'open')
  const { body } = await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'limited', roles: ['AdminApi'] } })
  const policy = {
    policy_type: 'LOG_PERMIT',
    resource: { resource_type: 'COLLECTION', resource_id: 'open' },
    actions: ['*'],
    principal: { principal_type: 'APIKEY', principal_id: body.id },
  }
  expect((await org.ask('POST', '/policies', { body: policy })).status).toBe(201)
  const made = await org.ask<ForwardConfig>('POST', '/forward-configs', { key: body.key, body: input(toBucket('limited')) })
  expect(made.status, JSON.stringify(made.body)).toBe(201)
  await post(org, events(4), 'seen', 'open')
  await post(org, events(4, 100), 'secret', 'sealed')
  await delivered(org, 4)
  expect((await objectsIn('limited')).flatMap(({ lines }) => lines)).toEqual(events(4))
})

test('test-destination says whether a destination accepts payloads, and leaves no object behind', async () => {
  const org = await app.newOrganization()
  const tried = async (body: object) => (await org.ask('POST', '/forward-configs/test-destination', { body })).body
  target.status = 200
  expect(await tried({ destination: toBucket('probe') })).toEqual({ result: true })
  expect(await tried(toUrl())).toEqual({ result: true })
  expect(await objectsIn('probe')).toEqual([])
  expect(await tried({ destination_type: 'S3', bucket: 'other' })).toMatchObject({
    result: false,
    failure_reason: expect.stringContaining('DENDRO_FORWARD_URL'),
  })
  expect(await tried({ destination_type: 'HTTP', url: 'http://127.0.0.1:9/' })).toMatchObject({ result: false })
  expect((await org.ask('POST', '/forward-configs/test', { body: toUrl() })).status).toBe(200)
})

test.each<[string, object, string]>([
  ['an unknown dataset', { all_logs: false, log_ids: [randomUUID()] }, 'log_ids'],
  ['no dataset', { all_logs: false }, 'log_ids'],
  ['datasets and all', { log_ids: [randomUUID()] }, 'log_ids'],
  ['a wrong filter', { filter: 'level = ' }, 'filter'],
  ['a short buffer time', { max_buffer_time_ms: 1_000 }, 'max_buffer_time_ms'],
  ['another destination', { destination: { destination_type: 'FTP' } }, 'destination.destination_type'],
  ['a private address', { destination: { destination_type: 'HTTP', url: 'http://10.0.0.1/' } }, 'destination.url'],
  ['a folder above', { destination: { destination_type: 'S3', bucket: 'b', prefix: '../a' } }, 'destination.prefix'],
  ['an unknown placeholder', { destination: { destination_type: 'S3', bucket: 'b', path_template: '{day}' } }, 'destination.path_template'],
  ...['{yyyy', '{{dataset}}', 'mm}', '{yyyy/{mm}', 'a\nb'].map((path_template): [string, object, string] => [
    `the template ${JSON.stringify(path_template)}`,
    { destination: { destination_type: 'S3', bucket: 'b', path_template } },
    'destination.path_template',
  ]),
  ...['{dataset', '{{dataset}}', 'dataset}'].map((topic): [string, object, string] => [
    `the topic ${topic}`,
    { destination: { destination_type: 'KAFKA', brokers: ['127.0.0.1:9092'], topic, tls: false } },
    'destination.topic',
  ]),
  ['Parquet to a URL', { format: 'PARQUET', destination: { destination_type: 'HTTP', url: 'http://127.0.0.1:9/' } }, 'format'],
  [
    'Parquet to Kafka',
    { format: 'PARQUET', destination: { destination_type: 'KAFKA', brokers: ['127.0.0.1:9'], topic: 'a', tls: false } },
    'format',
  ],
  [
    'a private broker',
    { destination: { destination_type: 'KAFKA', brokers: ['10.0.0.1:9092'], topic: 'a', tls: false } },
    'destination.brokers.0',
  ],
  ['half of a key', { destination: { destination_type: 'S3', bucket: 'b', access_key_id: 'a' } }, 'destination.secret_access_key'],
])('%s is refused, naming the field', async (_, change, field) => {
  const org = await app.newOrganization()
  const { status, body } = await org.ask<FailureBody>('POST', '/forward-configs', { body: { ...input(toBucket('x')), ...change } })
  expect(status, JSON.stringify(body)).toBe(400)
  expect(
    body.errors?.map((one) => one.field),
    JSON.stringify(body),
  ).toContain(field)
})
