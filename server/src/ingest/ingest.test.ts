import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../test/support/senders.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())

let datasetsMade = 0
/** Sends a body to a new dataset and returns the reply and the stored events. */
async function inNew(raw: string | Uint8Array, headers: Record<string, string> = {}) {
  datasetsMade += 1
  const dataset = `made-${datasetsMade}`
  const reply = await senders.post(raw, { headers: { 'x-service-dataset': dataset, ...headers } })
  return { dataset, reply, events: await senders.eventsIn(dataset) }
}

const ms = (text: string): bigint => BigInt(Date.parse(text)) * 1_000_000n

test('one JSON line is stored durably, and found again byte for byte', async () => {
  const line = '{"message":"hello","level":"warn","n":1.50,"timestamp":"2026-11-20T10:00:00.123456789Z"}'
  const reply = await senders.post(line)
  expect(reply.body).toEqual({ accepted: 1, rejected: 0 })
  expect(reply.status).toBe(200)
  const [event, ...others] = await senders.eventsIn('default')
  expect(others).toEqual([])
  expect(event?.line).toBe(line)
  expect(event?.timeNs).toBe(ms('2026-11-20T10:00:00Z') + 123_456_789n)
  expect(event?.severity).toBe('warn')
  expect(event?.keys).toMatchObject({ message: 'hello', level: 'warn', n: '1.50' })
  expect(event?.origin).toBe('127.0.0.1')
})

test('lines keep their order, notation and line ends', async () => {
  const lines = [
    '{"a":1,"b":{"c":"x"}}',
    'plain text',
    '{"a": 1.0e5 , "big":12345678901234567890123}',
    '  indented {not json}',
    '{"broken":',
    '{"a":"\\u00e9\\/"}',
    '{"a":1,"a":2}',
    '{"":0,"nu\\u0000l":"x\\u0000y"}',
    'Bäume \u{1f332}',
    '{"list":[1,{"x":2}],"no":null,"yes":true}',
  ]
  const { reply, events } = await inNew(`${lines.join('\n')}\r\n\n`)
  expect(reply.body).toEqual({ accepted: lines.length, rejected: 0 })
  expect(events.map(({ line }) => line)).toEqual(lines)
  expect(events[0]?.keys).toMatchObject({ a: '1', 'b.c': 'x' })
  expect(events[2]?.keys).toMatchObject({ a: '1.0e5', big: '12345678901234567890123' })
  expect(events[6]?.keys).toMatchObject({ a: '2' })
  expect(events[9]?.keys).toMatchObject({ list: '[1,{"x":2}]', yes: 'true' })
  expect(events[9]?.keys.no).toBeUndefined()
  expect(new Set(events.map(({ seq }) => seq)).size).toBe(lines.length)
})

describe('bodies of every layout and type are accepted', () => {
  test.each([
    ['an array', '[{"n":1},{"n":2},\n {"n":3}]', 'application/json', ['{"n":1}', '{"n":2}', '{"n":3}']],
    ['objects in a row', '{"n":1}{"n":2}', 'application/json; charset=utf-8', ['{"n":1}', '{"n":2}']],
    ['a pretty object', '{\n  "n": 1\n}', 'application/json', ['{\n  "n": 1\n}']],
    ['no type', '{"n":1}\n', '', ['{"n":1}']],
    ['text', 'a\nb\n', 'text/plain; charset=utf-8', ['a', 'b']],
    ['JSON within text', '{"n":1}\nb', 'text/plain', ['{"n":1}', 'b']],
    ['a form, as curl sends it', '{"n":1}', 'application/x-www-form-urlencoded', ['{"n":1}']],
    ['anything else', 'x,y\n1,2', 'text/csv', ['x,y', '1,2']],
  ])('%s', async (_, body, type, lines) => {
    const { reply, events } = await inNew(body, { 'content-type': type })
    expect(reply.status).toBe(200)
    expect(events.map(({ line }) => line)).toEqual(lines)
    if (lines[0]?.startsWith('{')) expect(events[0]?.keys).toMatchObject({ n: '1' })
  })
})

test('no body, an empty one and a blank one are a success without events', async () => {
  for (const body of ['', '\n \r\n', '[]']) expect((await senders.post(body)).body).toEqual({ accepted: 0, rejected: 0 })
  const reply = await senders.app.ask('POST', '/', { key: senders.org.key })
  expect([reply.status, reply.body]).toEqual([200, { accepted: 0, rejected: 0 }])
  const packed = await senders.post(gzipSync(''), { headers: { 'content-encoding': 'gzip' } })
  expect(packed.body).toEqual({ accepted: 0, rejected: 0 })
})

test('compressed bodies are accepted, also without the header', async () => {
  const line = '{"message":"packed"}'
  const ways: [string, Uint8Array][] = [
    ['gzip', gzipSync(line)],
    ['deflate', deflateSync(line)],
    ['zstd', zstdCompressSync(line)],
    ['', gzipSync(line)],
    ['identity', Buffer.from(line)],
  ]
  for (const [encoding, bytes] of ways) {
    const { reply, events } = await inNew(bytes, encoding === '' ? {} : { 'content-encoding': encoding })
    expect([encoding, reply.status]).toEqual([encoding, 200])
    expect(events.map((event) => event.line)).toEqual([line])
  }
})

test('invalid, too large and unsupported bodies are refused, and nothing of them is stored', async () => {
  const large = Buffer.alloc(10 * 2 ** 20 + 1, 'x')
  const refusals: [number, Uint8Array | string, Record<string, string>][] = [
    [400, 'not gzip', { 'content-encoding': 'gzip' }],
    [400, gzipSync('{"a":1}\n'.repeat(1_000)).subarray(0, 30), { 'content-encoding': 'gzip' }],
    [400, '[{"a":1},{"a":2}', {}],
    [413, large, {}],
    [413, gzipSync(large), { 'content-encoding': 'gzip' }],
    [415, '{"a":1}', { 'content-encoding': 'br' }],
    [415, '{"a":1}', { 'content-encoding': 'gzip, gzip' }],
    [400, new Uint8Array([0x81]), { 'content-type': 'application/msgpack' }],
    [400, '{"a":1}', { 'x-service-collection': '.usage' }],
  ]
  for (const [status, body, headers] of refusals) {
    const { reply, dataset } = await inNew(body, headers)
    expect([reply.status, reply.body.code]).toEqual([status, status])
    expect(reply.headers.get('x-correlation-id')).toMatch(/^[\da-f]{32}$/)
    expect(await senders.found('default', dataset)).toBeUndefined()
  }
})

test('exactly 10 MiB are accepted', async () => {
  const line = `{"message":"${'x'.repeat(2 ** 20 - 15)}"}\n`
  expect(line.length).toBe(2 ** 20)
  const { reply, events } = await inNew(line.repeat(10))
  expect(reply.body).toEqual({ accepted: 10, rejected: 0 })
  expect(events.every((event) => event.line === line.trimEnd())).toBe(true)
})

test('the time of an event comes from its line unless that is impossible', async () => {
  const nowMs = senders.app.clock.nowMs()
  const soon = new Date(nowMs + 3_600_000).toISOString()
  const late = new Date(nowMs + 25 * 3_600_000).toISOString()
  const lines: [string, bigint | undefined, string | undefined][] = [
    ['{"timestamp":1700000000}', 1_700_000_000_000_000_000n, undefined],
    ['{"@timestamp":"1700000000.5"}', 1_700_000_000_500_000_000n, undefined],
    ['{"time":1700000000123}', 1_700_000_000_123_000_000n, undefined],
    ['{"ts":1700000000123456}', 1_700_000_000_123_456_000n, undefined],
    ['{"date":1700000000123456789}', 1_700_000_000_123_456_789n, undefined],
    ['{"datetime":"2024-05-01 10:00:00,25"}', ms('2024-05-01T10:00:00.250Z'), undefined],
    [`{"timestamp":"${soon}"}`, ms(soon), undefined],
    [`{"timestamp":"${late}"}`, undefined, late],
    ['{"timestamp":"1999-12-31T23:59:59Z"}', undefined, '1999-12-31T23:59:59Z'],
    ['{"timestamp":"1900-01-01T00:00:00Z"}', undefined, '1900-01-01T00:00:00Z'],
    ['{"timestamp":"3000-01-01T00:00:00Z"}', undefined, '3000-01-01T00:00:00Z'],
    ['{"timestamp":"yesterday"}', undefined, 'yesterday'],
    ['{"message":"nothing said"}', undefined, undefined],
  ]
  const { events } = await inNew(lines.map(([line]) => line).join('\n'))
  // Events of another day are stored separately. Before midnight one of these is tomorrow's and comes last.
  expect(events.map(({ line }) => line).sort()).toEqual(lines.map(([line]) => line).sort())
  for (const [line, timeNs, original] of lines) {
    const event = events.find((one) => one.line === line)
    expect(event?.keys['$ingest.original_time'], line).toBe(original)
    if (timeNs === undefined) expect(Math.abs(Number(event?.timeNs) / 1e6 - nowMs), line).toBeLessThan(60_000)
    else expect(event?.timeNs, line).toBe(timeNs)
  }
})

test('events of many days in one post are all stored', async () => {
  const lines = Array.from(
    { length: 400 },
    (_, day) => `{"timestamp":"${new Date(Date.UTC(2025, 0, 1 + day)).toISOString()}","day":${day}}`,
  )
  const { reply, events } = await inNew(lines.join('\n'))
  expect(reply.body).toEqual({ accepted: 400, rejected: 0 })
  expect(events.map(({ line }) => line).sort()).toEqual(lines.toSorted())
})

test('the severity comes from the event, in any notation', async () => {
  const lines: [string, string][] = [
    ['{"level":"ERROR"}', 'error'],
    ['{"severity":"Warning"}', 'warn'],
    ['{"level":50,"time":1700000000123,"msg":"pino"}', 'error'],
    ['{"status":503}', 'error'],
    ['{"status":404}', 'warn'],
    ['{"status":200}', 'info'],
    ['{"exception":"java.lang.Error"}', 'error'],
    ['{"message":"nothing said"}', 'none'],
    ['level=fatal msg="x y"', 'fatal'],
    ['2026-11-20 10:00:00 WARN disk', 'warn'],
    ['10.0.0.1 - - [20/Nov/2026:13:55:36 +0000] "GET / HTTP/1.1" 500 12', 'error'],
    ['java.lang.IllegalStateException: no', 'error'],
    ['nothing said', 'none'],
  ]
  const { events } = await inNew(lines.map(([line]) => line).join('\n'))
  expect(Object.fromEntries(events.map(({ line, severity }) => [line, severity]))).toEqual(Object.fromEntries(lines))
})

test('detected values of a text line become keys, and the line stays unchanged', async () => {
  const lines = [
    '<34>1 2026-11-20T10:00:00.5Z web1 nginx 12 - - upstream timed out user=42 ms=3000',
    'level=info msg="user logged in" dur=1.50',
    '{"log":"{\\"level\\":\\"error\\",\\"msg\\":\\"boom\\",\\"stream\\":\\"inner\\"}\\n","stream":"stderr","time":"2026-11-20T10:00:00.25Z"}',
    '{"log":"level=warn msg=\\"slow query\\"\\n","stream":"stdout","time":"2026-11-20T10:00:01Z"}',
    '{"message":"{\\"order\\":{\\"id\\":7}}","level":"info"}',
  ]
  const stored = (await inNew(lines.join('\n'))).events
  const events = lines.map((line) => stored.find((event) => event.line === line))
  expect(events[0]).toMatchObject({ severity: 'fatal', timeNs: ms('2026-11-20T10:00:00.500Z') })
  expect(events[0]?.keys).toMatchObject({ hostname: 'web1', appname: 'nginx', user: '42', message: 'upstream timed out user=42 ms=3000' })
  expect(events[1]?.keys).toMatchObject({ level: 'info', msg: 'user logged in', dur: '1.50' })
  expect(events[2]).toMatchObject({ severity: 'error', timeNs: ms('2026-11-20T10:00:00.250Z') })
  expect(events[2]?.keys).toMatchObject({ level: 'error', msg: 'boom', stream: 'stderr' })
  expect(events[3]).toMatchObject({ severity: 'warn' })
  expect(events[3]?.keys).toMatchObject({ msg: 'slow query', stream: 'stdout' })
  expect(events[4]?.keys).toMatchObject({ 'order.id': '7', level: 'info' })
})

test('a line longer than 1 MiB is truncated between characters and marked', async () => {
  const text = `x${'\u{1f332}'.repeat(300_000)}`
  const { reply, events } = await inNew(`${text}\n{"ok":1}\n`, { 'content-type': 'text/plain' })
  expect(reply.body).toEqual({ accepted: 2, rejected: 0 })
  expect(events[0]?.raw.length).toBe(2 ** 20 - 3)
  expect(text.startsWith(events[0]?.line ?? '?')).toBe(true)
  expect(events[0]?.keys).toEqual({ '$ingest.truncated': 'true' })
  expect(events[1]?.keys).toEqual({ ok: '1' })
})

test('keys get columns before their first event is stored, and a growing dataset gets more', async () => {
  datasetsMade += 1
  const headers = { 'x-service-dataset': `made-${datasetsMade}` }
  const wide = (keys: number, from = 0) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, key) => [`k${from + key}`, `v${key}`])))
  const bodies = [wide(3), wide(40), wide(130), wide(5, 200), wide(3)]
  for (const body of bodies) expect((await senders.post(body, { headers })).status).toBe(200)
  const events = await senders.eventsIn(headers['x-service-dataset'])
  expect(events.map(({ line }) => line)).toEqual(bodies)
  for (const event of events) expect(event.keys).toEqual(JSON.parse(event.line))
})

describe('a post with an idempotency key is stored once', () => {
  const key = () => ({ 'idempotency-key': `try-${Math.random()}` })

  test('the same body again is accepted, with the number of events that were stored before', async () => {
    const headers = key()
    const { reply, dataset } = await inNew('{"n":1}\n{"n":2}', headers)
    const again = await senders.post('{"n":1}\n{"n":2}', { headers: { ...headers, 'x-service-dataset': dataset } })
    expect(reply.body).toEqual({ accepted: 2, rejected: 0 })
    expect(again.body).toEqual({ accepted: 2, rejected: 0, duplicates: 2 })
    expect(await senders.eventsIn(dataset)).toHaveLength(2)
  })

  test('another body under it is 422 and not stored', async () => {
    const headers = key()
    const { dataset } = await inNew('{"n":1}', headers)
    const other = await senders.post('{"n":2}', { headers: { ...headers, 'x-service-dataset': dataset } })
    expect([other.status, other.body.code]).toEqual([422, 422])
    expect(await senders.eventsIn(dataset)).toHaveLength(1)
  })

  test('two at once are one', async () => {
    const headers = { ...key(), 'x-service-dataset': 'twins' }
    const replies = await Promise.all([senders.post('{"n":1}', { headers }), senders.post('{"n":1}', { headers })])
    const answers = replies.map(({ body }) => body).toSorted((a, b) => Object.keys(a).length - Object.keys(b).length)
    expect(answers).toEqual([
      { accepted: 1, rejected: 0 },
      { accepted: 1, rejected: 0, duplicates: 1 },
    ])
    expect(await senders.eventsIn('twins')).toHaveLength(1)
  })

  test('the same key of another credential is a different key', async () => {
    const headers = { ...key(), 'x-service-dataset': 'two-keys' }
    const other = await senders.org.newKey(['IngestionApi'])
    await senders.post('{"n":1}', { headers })
    await senders.post('{"n":1}', { headers, key: other })
    expect(await senders.eventsIn('two-keys')).toHaveLength(2)
  })

  test('without it, two equal posts are two', async () => {
    const { dataset } = await inNew('heartbeat')
    await senders.post('heartbeat', { headers: { 'x-service-dataset': dataset } })
    expect(await senders.eventsIn(dataset)).toHaveLength(2)
  })
})

test('no organization sees the events of another', async () => {
  const stranger = await senders.app.newOrganization()
  await senders.post('{"secret":"ours"}', { headers: { 'x-service-dataset': 'walled' } })
  await senders.post('{"secret":"theirs"}', { headers: { 'x-service-dataset': 'walled' }, owner: stranger })
  expect((await senders.eventsIn('walled')).map(({ line }) => line)).toEqual(['{"secret":"ours"}'])
  expect((await senders.eventsIn('walled', 'default', stranger)).map(({ line }) => line)).toEqual(['{"secret":"theirs"}'])
})

test('many senders at once lose nothing', async () => {
  const headers = { 'x-service-dataset': 'crowd' }
  const posts = Array.from({ length: 60 }, (_, sender) =>
    senders.post(Array.from({ length: 50 }, (__, n) => JSON.stringify({ sender, n, [`own${sender % 7}`]: n })).join('\n'), { headers }),
  )
  for (const reply of await Promise.all(posts)) expect(reply.body).toEqual({ accepted: 50, rejected: 0 })
  const lines = (await senders.eventsIn('crowd')).map(({ line }) => line)
  expect(lines).toHaveLength(3_000)
  expect(new Set(lines).size).toBe(3_000)
})
