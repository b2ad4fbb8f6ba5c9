import { createHmac } from 'node:crypto'
import type { LedgerCounts, LedgerEntry } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../test/support/senders.ts'
import type { Reply } from '../../../test/support/world.ts'
import { SLICE_BYTES } from './intake/slices.ts'
import { postsOf } from './receivers/posts.fixture.ts'

const SECRET = 'a-secret-of-a-drain'
let senders: Senders
beforeAll(async () => {
  senders = await openSenders({
    DENDRO_HEC_ACKNOWLEDGEMENTS: 'on',
    DENDRO_ELASTICSEARCH_VERSION: '9.1.0',
    DENDRO_VERCEL_SECRETS: `an-older-secret,${SECRET}`,
    DENDRO_VERCEL_VERIFY: 'text-of-the-account',
  })
})
afterAll(() => senders?.close())

type Sent = { method?: string; body?: string; headers?: Record<string, string> }
/** Sends a request without any credential but those in its headers or address. */
const bare = (path: string, { method = 'POST', body, headers = {} }: Sent = {}): Promise<Reply<unknown>> =>
  senders.app.ask(method, path, { headers, ...(body !== undefined && { raw: body }) })
const send = (path: string, body: string, headers: Record<string, string> = {}): Promise<Reply<unknown>> =>
  bare(path, { body, headers: { 'x-service-api-key': senders.org.key, ...headers } })
const answerOf = ({ status, body }: Reply<unknown>): [number, unknown] => [status, body]

test.each(['Elastic-filebeat/8.15.2', 'elasticsearch-py/8'])('a setting fixes the version that %s sees', async (agent) => {
  const headers = { ...basic(senders.org.key), 'user-agent': agent }
  expect((await bare('/', { method: 'GET', headers })).body).toMatchObject({ version: { number: '9.1.0' } })
})

const sign = (body: string | Buffer, secret: string) => ({ 'x-vercel-signature': createHmac('sha1', secret).update(body).digest('hex') })
const splunk = (key: string) => ({ authorization: `Splunk ${key}` })
const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`user:${key}`).toString('base64')}` })

describe('each protocol takes a key where its senders put it, and refuses others in its own words', () => {
  const event = '{"event":"one"}'

  test('the HTTP event collector', async () => {
    const { key } = senders.org
    expect(answerOf(await bare('/services/collector', { body: event, headers: splunk(key) }))).toEqual([200, { text: 'Success', code: 0 }])
    expect((await bare('/services/collector', { body: event, headers: basic(key) })).status).toBe(200)
    for (const [headers, status, code] of [
      [{}, 401, 2],
      [{ authorization: 'Token abc' }, 401, 3],
      [splunk('dk_unknown'), 403, 4],
      [splunk(await senders.org.newKey(['SearchApi'])), 403, 4],
    ] as const) {
      expect(await bare('/services/collector', { body: event, headers })).toMatchObject({ status, body: { code } })
    }
    expect(answerOf(await send('/services/collector', ''))).toEqual([400, { text: 'No data', code: 5 }])
  })

  test('Datadog: in a header, in the query, and at the end of the path, which no record shows', async () => {
    const { key } = senders.org
    expect(answerOf(await bare('/api/v2/logs', { body: '[]', headers: { 'dd-api-key': key } }))).toEqual([202, {}])
    expect(answerOf(await bare(`/v1/input?dd-api-key=${key}`, { body: '{}' }))).toEqual([200, {}])
    expect(answerOf(await bare(`/v1/input/${key}`, { body: '{"message":"by path","service":"by-path"}' }))).toEqual([200, {}])
    expect((await senders.eventsIn('by-path')).map(({ line }) => line)).toEqual(['by path'])
    expect(answerOf(await bare('/api/v1/validate', { method: 'GET', headers: { 'dd-api-key': key } }))).toEqual([200, { valid: true }])
    for (const wrong of [{}, { 'dd-api-key': 'dk_unknown' }] as Record<string, string>[]) {
      expect(answerOf(await bare('/api/v1/validate', { method: 'GET', headers: wrong }))).toEqual([403, { errors: ['Forbidden'] }])
    }
    const searcher = await senders.org.newKey(['SearchApi'])
    expect((await bare(`/v1/input/${searcher}`, { body: '{}' })).status).toBe(403)
    const { body } = await senders.org.ask<{ audit: { action: string; outcome: string }[] }>('GET', '/audit')
    expect(body.audit.filter(({ outcome }) => outcome === 'refused')).toContainEqual(
      expect.objectContaining({ action: 'ingestion.datadog', entity_id: '/v1/input/…' }),
    )
    expect(JSON.stringify(body)).not.toContain(searcher)
  })

  test('in the address, for keys that allow it and for events only', async () => {
    const allowed = await senders.org.ask<{ id: string; key: string; allowed_in_address: boolean }>('POST', '/api-keys', {
      body: { name: 'in an address', roles: ['IngestionApi', 'SearchApi'], allowed_in_address: true },
    })
    const { id, key } = allowed.body
    expect([allowed.status, allowed.body.allowed_in_address]).toEqual([201, true])
    for (const [path, body, status] of [
      ['/ingest?dataset=by-address&token=KEY', 'native', 200],
      ['/services/collector?token=KEY', event, 200],
      ['/heroku?api_key=KEY', '5 hello', 204],
      ['/log/v1?Api-Key=KEY', '{"message":"one"}', 202],
      ['/logs/ingest?hostname=h&apikey=KEY', '{"lines":[]}', 200],
    ] as const) {
      expect([path, (await bare(path.replace('KEY', key), { body })).status]).toEqual([path, status])
      const refused = await bare(path.replace('KEY', senders.org.key), { body })
      expect([path, refused.status]).toEqual([path, 403])
      expect(JSON.stringify(refused.body)).not.toContain(senders.org.key)
      const unknown = await bare(path.replace('KEY', 'dk_unknown'), { body })
      expect([path, unknown.status === 401 || unknown.status === 403]).toEqual([path, true])
    }
    const [stored] = await senders.eventsIn('by-address')
    expect(stored?.line).toBe('native')
    expect(JSON.stringify(stored?.keys)).not.toContain(key)
    expect((await bare(`/datasets?token=${key}`, { method: 'GET' })).status).toBe(401)
    expect((await bare(`/loki/api/v1/labels?token=${key}`, { method: 'GET' })).status).toBe(401)
    await senders.org.ask('PATCH', `/api-keys/${id}`, { body: { allowed_in_address: false } })
    expect((await bare(`/ingest?token=${key}`, { body: 'native' })).status).toBe(403)
  })

  test('with defaults, which names of the event do not override, and those of the request do', async () => {
    const event_defaults = { collection: 'keyed', dataset: 'edge', tags: { env: 'prod', team: 'web' } }
    const made = await senders.org.ask<{ id: string; key: string; event_defaults: object }>('POST', '/api-keys', {
      body: { name: 'edge', roles: ['IngestionApi'], event_defaults },
    })
    expect([made.status, made.body.event_defaults]).toEqual([201, event_defaults])
    const headers = { authorization: `Splunk ${made.body.key}` }
    const body = '{"event":"to the key","sourcetype":"said","index":"said"}'
    expect((await bare('/services/collector', { headers, body })).status).toBe(200)
    const own = { ...headers, 'x-service-dataset': 'named', 'x-service-tags': 'env=test' }
    expect((await bare('/services/collector', { headers: own, body })).status).toBe(200)
    const [defaulted] = await senders.eventsIn('edge', 'keyed')
    expect([defaulted?.line, defaulted?.keys]).toEqual(['to the key', expect.objectContaining({ $env: 'prod', $team: 'web' })])
    expect((await senders.found('keyed', 'edge'))?.tags).toEqual(event_defaults.tags)
    const [named] = await senders.eventsIn('named', 'keyed')
    expect(named?.keys).toMatchObject({ $env: 'test', $team: 'web' })
    const change = (more: object | null) => senders.org.ask('PATCH', `/api-keys/${made.body.id}`, { body: { event_defaults: more } })
    expect((await change({ dataset: 'moved' })).body).toMatchObject({ event_defaults: { dataset: 'moved' } })
    expect((await bare('/services/collector', { headers, body })).status).toBe(200)
    expect((await senders.eventsIn('moved', 'said')).map(({ line }) => line)).toEqual(['to the key'])
    expect((await change(null)).body).not.toHaveProperty('event_defaults')
  })

  test('New Relic and LogDNA', async () => {
    const { key } = senders.org
    for (const headers of [{ 'x-license-key': key }, { 'api-key': key }, basic(key)]) {
      expect((await bare('/log/v1', { body: '[]', headers: headers as Record<string, string> })).status).toBe(202)
    }
    for (const headers of [{}, { 'api-key': 'dk_unknown' }] as Record<string, string>[]) {
      expect(await bare('/log/v1', { body: '[]', headers })).toMatchObject({ status: 403, body: { errors: [expect.any(String)] } })
    }
    const user = { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }
    const lines = '/logs/ingest?hostname=h'
    for (const headers of [user, { apikey: key }]) {
      const sent = await bare(lines, { body: '{"lines":[]}', headers: headers as Record<string, string> })
      expect(sent).toMatchObject({ status: 200, body: { status: 'ok', batchID: expect.any(String) } })
    }
    expect(await bare(lines, { body: '{"lines":[]}' })).toMatchObject({ status: 401, body: { status: 'error', code: 401 } })
    const prefixed = await bare('/logs/ingest', { body: 'a native post with a prefix', headers: { 'x-service-api-key': key } })
    expect(answerOf(prefixed)).toEqual([200, { accepted: 1, rejected: 0 }])
  })

  test('Loki, Heroku and Firehose', async () => {
    const { key } = senders.org
    const loki = { 'content-type': 'application/json' }
    expect((await bare('/loki/api/v1/push', { body: '{"streams":[]}', headers: { ...loki, ...basic(key) } })).status).toBe(204)
    expect((await bare('/loki/api/v1/push', { body: '{"streams":[]}', headers: loki })).status).toBe(401)
    const heroku = { 'content-type': 'application/logplex-1' }
    expect((await bare('/ingest', { body: '5 hello', headers: { ...heroku, ...basic(key) } })).status).toBe(204)
    const firehose = { 'x-amz-firehose-request-id': 'r-1', 'x-amz-firehose-access-key': key }
    expect(await bare('/', { body: '{"records":[]}', headers: firehose })).toMatchObject({ status: 200, body: { requestId: 'r-1' } })
    expect(await bare('/', { body: '{}', headers: { ...firehose, 'x-amz-firehose-access-key': 'x' } })).toMatchObject({
      status: 401,
      body: { requestId: 'r-1', errorMessage: expect.any(String) },
    })
  })

  test('probes that senders make before they have a credential need none', async () => {
    for (const [method, path] of [
      ['GET', '/services/collector/health'],
      ['GET', '/services/collector/health/1.0'],
      ['OPTIONS', '/services/collector/event/1.0'],
      ['GET', '/ready'],
      ['HEAD', '/vercel'],
    ] as const) {
      expect([path, (await bare(path, { method })).status]).toEqual([path, 200])
    }
    expect((await bare('/loki/api/v1/labels', { method: 'GET' })).status).toBe(401)
  })
})

describe('acknowledgements of the HTTP event collector', () => {
  const channel = { 'x-splunk-request-channel': '0aeeac95-ac74-4aa9-b30d-6c4c0ac581ba' }
  const event = '{"event":"one"}'

  test('count up per channel, and only issued ones are acknowledged', async () => {
    for (const ackId of [0, 1]) {
      expect(answerOf(await send('/services/collector', event, channel))).toEqual([200, { text: 'Success', code: 0, ackId }])
    }
    const other = '?channel=11111111-ac74-4aa9-b30d-6c4c0ac581ba'
    expect(answerOf(await send(`/services/collector/raw${other}`, 'a line'))).toMatchObject([200, { ackId: 0 }])
    expect(answerOf(await send('/services/collector/ack', '{"acks":[0,1,2]}', channel))).toEqual([
      200,
      { acks: { 0: true, 1: true, 2: false } },
    ])
    const stranger = { ...channel, 'x-service-api-key': await senders.org.newKey(['IngestionApi']) }
    expect(answerOf(await send('/services/collector/ack', '{"acks":[0]}', stranger))).toEqual([200, { acks: { 0: false } }])
  })

  test('need a valid channel for raw lines and for questions', async () => {
    expect(answerOf(await send('/services/collector/raw', 'x'))).toEqual([400, { text: 'Data channel is missing', code: 10 }])
    expect(answerOf(await send('/services/collector/ack', '{"acks":[0]}'))).toMatchObject([400, { code: 10 }])
    expect(answerOf(await send('/services/collector/ack?channel=x', '{"acks":[0]}'))).toMatchObject([400, { code: 11 }])
    for (const body of ['{"acks":["0"]}', '{"acks":7}', '{', 'null']) {
      expect(answerOf(await send('/services/collector/ack', body, channel))).toMatchObject([400, { code: 6 }])
    }
  })
})

describe('drains', () => {
  const entries = '[{"id":"1","timestamp":1714521600123,"message":"one","projectName":"signed"}]'

  test('of Vercel must be signed, are stored once, and are verified by a header', async () => {
    for (const headers of [sign(entries, SECRET), sign(entries, 'an-older-secret'), sign(entries, SECRET)]) {
      const reply = await send('/vercel', entries, headers)
      expect([reply.status, reply.headers.get('x-vercel-verify')]).toEqual([200, 'text-of-the-account'])
    }
    expect((await senders.eventsIn('signed', 'vercel')).map(({ line }) => line)).toEqual(['one'])
    for (const headers of [{}, sign(entries, 'another'), { 'x-vercel-signature': 'x' }]) {
      expect((await send('/vercel', entries, headers)).status).toBe(403)
    }
    expect((await send('/ingest', entries, sign(entries, 'another'))).status).toBe(403)
  })

  test('of Heroku and deliveries of Firehose are stored once under their ids', async () => {
    const frame = { 'content-type': 'application/logplex-1', 'logplex-frame-id': 'f-1' }
    const delivery = { 'x-amz-firehose-request-id': 'r-9', 'x-amz-firehose-source-arn': 'arn:aws:firehose:eu:1:deliverystream/once' }
    const records = JSON.stringify({ requestId: 'r-9', records: [{ data: Buffer.from('one').toString('base64') }] })
    for (let time = 0; time < 2; time += 1) {
      expect((await send('/heroku?dataset=once', '5 hello', frame)).status).toBe(204)
      expect((await send('/firehose', records, delivery)).status).toBe(200)
    }
    expect(await senders.eventsIn('once', 'heroku')).toHaveLength(1)
    expect(await senders.eventsIn('once')).toHaveLength(1)
  })
})

test('a journal of any length is stored slice by slice, and once when it is sent again', async () => {
  const entries = 9_000
  const entry = (n: number) => `__CURSOR=i=${n}\n__REALTIME_TIMESTAMP=${1_714_521_600_000_000 + n}\nMESSAGE=${n} ${'x'.repeat(1_200)}\n\n`
  const body = Array.from({ length: entries }, (_, n) => entry(n)).join('')
  expect(body.length).toBeGreaterThan(2 * SLICE_BYTES)
  const headers = { 'content-type': 'application/vnd.fdo.journal', 'x-service-dataset': 'long-journal' }
  for (let time = 0; time < 2; time += 1) expect(answerOf(await send('/upload', body, headers))).toEqual([202, 'OK.\n'])
  expect(await senders.eventsIn('long-journal')).toHaveLength(entries)
  expect((await send('/upload', `${entry(entries)}MESSAGE`, headers)).status).toBe(400)
})

const BASE64 = (text: string): string => Buffer.from(text).toString('base64')
/** The year 2100 in the notation of each protocol. */
const FAR_S = 4_102_444_800
test.each<[string, string, string, Record<string, string>]>([
  ['loki', '/loki/api/v1/push', `{"streams":[{"stream":{},"values":[["${FAR_S}000000000","x"]]}]}`, { 'content-type': 'application/json' }],
  ['hec', '/services/collector', `{"event":"x","time":${FAR_S}}`, { 'x-splunk-request-channel': '0aeeac95-ac74-4aa9-b30d-6c4c0ac581ba' }],
  ['datadog', '/api/v2/logs', `{"message":"x","timestamp":${FAR_S}000}`, {}],
  ['newrelic', '/log/v1', `{"message":"x","timestamp":${FAR_S}}`, {}],
  ['logdna', '/logs/ingest?hostname=h', `{"lines":[{"line":"x","timestamp":${FAR_S}}]}`, {}],
  ['gelf', '/gelf', `{"short_message":"x","timestamp":${FAR_S}.25}`, {}],
  [
    'firehose',
    '/firehose',
    `{"requestId":"far","records":[{"data":"${BASE64(`{"messageType":"DATA_MESSAGE","logEvents":[{"timestamp":${FAR_S}000,"message":"x"}]}`)}"}]}`,
    { 'x-amz-firehose-request-id': 'far' },
  ],
  ['cloudflare', '/cloudflare', `{"EdgeStartTimestamp":${FAR_S}000000000,"x":1}`, {}],
  ['heroku', '/heroku', '51 <190>1 2100-01-01T00:00:00+00:00 host app web.1 - x', {}],
  ['journald', '/upload', `__REALTIME_TIMESTAMP=${FAR_S}000000\nMESSAGE=x\n\n`, { 'content-type': 'application/vnd.fdo.journal' }],
  ['elasticsearch', '/_bulk', `{"create":{}}\n{"message":"x","@timestamp":"2100-01-01T00:00:00Z"}\n`, {}],
])('a time far ahead in %s gives an event now, which keeps the time as a text', async (name, path, body, headers) => {
  const reply = await send(path, body, { ...headers, 'x-service-collection': 'far', 'x-service-dataset': name })
  expect(reply.status).toBeLessThan(300)
  const [event] = await senders.eventsIn(name, 'far')
  expect(event?.timeNs).toBeLessThan(BigInt(FAR_S) * 1_000_000_000n)
  expect(event?.keys['$ingest.original_time']).toMatch(/^(?:4102444800|2100-01-01)/)
})

test('the ledger accounts for the events of every protocol', async () => {
  const owner = await senders.app.newOrganization()
  const names = new Map<string, number>()
  for (const [name, postOf] of Object.entries(postsOf)) {
    const { path, headers, body } = postOf([Buffer.from('one'), Buffer.from('two')])
    const signature: Record<string, string> = name === 'vercel' ? sign(body, SECRET) : {}
    const channel = { 'x-splunk-request-channel': '0aeeac95-ac74-4aa9-b30d-6c4c0ac581ba' }
    const reply = await senders.post(body, { path, owner, headers: { ...headers, ...signature, ...channel, 'x-service-dataset': 'all' } })
    expect([name, reply.status < 300]).toEqual([name, true])
    const protocol = name === 'gelf' ? 'gelf-http' : (name.split(' ')[0] ?? '')
    names.set(protocol, (names.get(protocol) ?? 0) + 2)
  }
  const { body } = await owner.ask<{ totals: LedgerCounts; entries: LedgerEntry[] }>('GET', '/ledger')
  expect(body.totals).toMatchObject({ received: 26, stored: 26, rejected: 0, balances: true })
  const stored = new Map<string, number>()
  for (const entry of body.entries) stored.set(entry.protocol, (stored.get(entry.protocol) ?? 0) + Number(entry.stored))
  expect(stored).toEqual(names)
})
