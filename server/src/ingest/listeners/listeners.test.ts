import { createHash } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../../test/support/senders.ts'
import { encodeProtobuf } from '../receivers/otlp/encode.fixture.ts'
import type { ListenerCounters } from './counters.ts'
import { asListeners } from './setting.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())

type Listening = { port: number; counters: ListenerCounters }

async function listen(address: string, query: string): Promise<Listening> {
  const { listeners } = senders.app.app
  const [bound] = await listeners.open(asListeners(`${address}://127.0.0.1:0?${query}`), undefined)
  const counters = listeners.counters().at(-1)
  if (!bound || !counters) throw new Error('the listener is not open')
  return { port: bound.port, counters }
}

const open = (port: number): Promise<Socket> =>
  new Promise((done, failed) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true }, () => done(socket))
    socket.on('error', failed)
  })
/** Resolves with what the service sent, when it has closed. */
const closed = (socket: Socket): Promise<Buffer> =>
  new Promise((done) => {
    const parts: Buffer[] = []
    socket.on('data', (part) => parts.push(part))
    socket.on('error', () => undefined)
    socket.on('end', () => socket.end())
    socket.on('close', () => done(Buffer.concat(parts)))
  })

/** Sends bytes and ends; everything is stored when the service closes its side. */
async function send(port: number, bytes: string | Uint8Array): Promise<Buffer> {
  const socket = await open(port)
  const end = closed(socket)
  socket.end(bytes)
  return end
}

const linesIn = async (dataset: string, collection = 'default') => (await senders.eventsIn(dataset, collection)).map(({ line }) => line)

function datagram(port: number, ...messages: readonly Uint8Array[]): Promise<void> {
  const socket = createSocket('udp4')
  return messages
    .reduce(
      (before, message) =>
        before.then(
          () => new Promise<void>((done, failed) => socket.send(message, port, '127.0.0.1', (cause) => (cause ? failed(cause) : done()))),
        ),
      Promise.resolve(),
    )
    .finally(() => socket.close())
}

/** A Forward message with the id of a chunk. */
const message = (id: string) =>
  Buffer.from([
    0x93,
    0xa3,
    ...Buffer.from('a.b'),
    0x91,
    0x92,
    0xce,
    0x6a,
    0x90,
    0,
    0,
    0x81,
    0xa3,
    ...Buffer.from('log'),
    0xa2,
    ...Buffer.from('hi'),
    0x81,
    0xa5,
    ...Buffer.from('chunk'),
    0xa0 | id.length,
    ...Buffer.from(id),
  ])

describe('credentials', () => {
  test('a message without a key is refused on a listener without one, and the key of a message is not stored', async () => {
    const { port, counters } = await listen('syslog+tcp', 'dataset=in-band')
    const { key } = senders.org
    await send(
      port,
      [
        '<13>Nov 22 12:00:00 web app: no key',
        `<13>Nov 22 12:00:00 web app: key=${key} in the text`,
        `<13>1 2026-11-22T12:00:00Z web app - - [dendro@32473 key="${key}"] alone`,
        `<13>1 2026-11-22T12:00:00Z web app - - [meta a="1"][dendro@32473 key="${key}"] behind another`,
        `<13>Nov 22 12:00:00 web app: key=dk_${'0'.repeat(40)} unknown`,
      ].join('\n'),
    )
    expect((await linesIn('in-band')).sort()).toEqual([
      '<13>1 2026-11-22T12:00:00Z web app - - - alone',
      '<13>1 2026-11-22T12:00:00Z web app - - [meta a="1"] behind another',
      '<13>Nov 22 12:00:00 web app: in the text',
    ])
    expect(counters.dropped.get('refused')).toBe(2)
  })

  test('the token of a drain of Heroku stands for its key', async () => {
    const [one, two] = [await senders.org.newKey(['IngestionApi']), await senders.org.newKey(['IngestionApi'])]
    const { port, counters } = await listen('syslog+tcp', `drains=d.one-1:${one},d.two-2:${two}&collection=drained`)
    const messages = ['d.one-1', 'd.two-2', 'd.three-3'].map(
      (token) => `<40>1 2026-11-22T12:00:00.5+00:00 ${token} App web.1 - State changed from starting to up`,
    )
    await send(port, messages.map((text) => `${text.length} ${text}`).join(''))
    const events = await senders.eventsIn('app', 'drained')
    expect(events.map(({ keys }) => [keys.hostname, keys.procid, keys.message, keys.severity]).sort()).toEqual([
      ['d.one-1', 'web.1', 'State changed from starting to up', 'emerg'],
      ['d.two-2', 'web.1', 'State changed from starting to up', 'emerg'],
    ])
    expect(counters.dropped.get('refused')).toBe(1)
    for (const [query, problem] of [
      [`drains=d.one:short`, 'must have pairs of a token and an API key'],
      [`drains=${one}`, 'must have pairs of a token and an API key'],
      [`drains=d.one:${one},d.one:${two}`, 'must have each token once'],
    ]) {
      expect(() => asListeners(`syslog+tcp://127.0.0.1:0?${query}`)).toThrow(problem)
    }
    expect(() => asListeners(`gelf+tcp://127.0.0.1:0?key=${one}&drains=d.one:${one}`)).toThrow('must have drains for syslog only')
  })

  test('a listener with a key takes private networks only, unless others are named', () => {
    const [closedOne, open] = asListeners(
      `syslog+udp://0.0.0.0:514?key=${'k'.repeat(40)} syslog+udp://0.0.0.0:515?key=${'k'.repeat(40)}&networks=any`,
    )
    expect(closedOne?.networks).toContain('10.0.0.0/8')
    expect(open?.networks).toBeUndefined()
  })

  test('a time zone is for syslog only, and must exist; heartbeats need no key', () => {
    const key = 'k'.repeat(43)
    for (const [address, problem] of [
      [`syslog+tcp://127.0.0.1:0?key=${key}&zone=Nowhere/Else`, 'must have a time zone'],
      [`forward+udp://127.0.0.1:0?key=${key}`, 'must have networks only'],
      [`gelf+tcp://127.0.0.1:0?key=${key}&zone=UTC`, 'must have zone for syslog and relp only'],
    ] as const) {
      expect(() => asListeners(address)).toThrow(problem)
    }
  })

  test('an address outside the networks is disconnected', async () => {
    const { port, counters } = await listen('syslog+tcp', `key=${senders.org.key}&networks=192.0.2.0/24`)
    await closed(await open(port))
    expect(counters.closed.get('network')).toBe(1)
  })

  test('a key without the permission ends the connection', async () => {
    const { port, counters } = await listen('syslog+tcp', `key=${await senders.org.newKey(['SearchApi'])}`)
    const socket = await open(port)
    socket.write('<13>refused\n')
    await closed(socket)
    expect([counters.dropped.get('refused'), counters.closed.get('unauthenticated')]).toEqual([1, 1])
  })

  test('a sender without a user knows the shared key or gets a reason', async () => {
    const { port } = await listen('forward+tcp', `key=${senders.org.key}&shared_key=secret&dataset=shared`)
    for (const [secret, answer] of [
      ['wrong', 'shared_key mismatch'],
      ['secret', 'PONG'],
    ] as const) {
      const socket = await open(port)
      const end = closed(socket)
      const [hello] = (await once(socket, 'data')) as [Buffer]
      const digest = createHash('sha512').update('s').update('h').update(hello.subarray(15, 31)).update(secret).digest()
      const hex = Buffer.concat([Uint8Array.of(0xd9, 128), Buffer.from(digest.toString('hex'))])
      const ping = Buffer.concat([
        Uint8Array.of(0x96),
        ...['PING', 'h', 's'].map((part) => Buffer.from([0xa0 | part.length, ...Buffer.from(part)])),
        hex,
      ])
      socket.end(Buffer.concat([ping, Uint8Array.of(0xc0, 0xc0), message('s1')]))
      expect((await end).toString('latin1')).toContain(answer)
    }
    expect(await linesIn('shared')).toEqual(['hi'])
  })
})

describe('bad senders do not disturb others', () => {
  test('broken frames of RELP, Forward and GELF end their own connection or message only', async () => {
    const { key } = senders.org
    const relp = await listen('relp+tcp', `key=${key}&dataset=relp`)
    const forward = await listen('forward+tcp', `key=${key}&dataset=forward`)
    const gelf = await listen('gelf+tcp', `key=${key}&dataset=gelf`)
    const ends: Promise<Buffer>[] = []
    for (const bytes of ['1 syslog 999999999 x', 'GET / HTTP/1.1\r\n\r\n', '1 syslog 3 abcd\n']) ends.push(send(relp.port, bytes))
    for (const bytes of [
      [0xc1],
      [0xdd, 0xff, 0xff, 0xff, 0xff, 0xdb, 0xff, 0xff, 0xff, 0xff],
      new Array(200).fill(0x91),
      [0x93, 0xa1, 0x61],
    ]) {
      ends.push(send(forward.port, Uint8Array.from(bytes)))
    }
    await Promise.all(ends)
    await send(gelf.port, '{"short_message":"one"}\0not JSON\0{"short_message":\0{"short_message":"two"}\0')
    expect((await linesIn('gelf')).sort()).toEqual(['not JSON', 'one', 'two', '{"short_message":'])
    expect([relp.counters.closed.get('malformed'), forward.counters.closed.get('malformed')]).toEqual([3, 3])
    expect((await send(relp.port, '1 open 0\n2 syslog 9 <13>works\n3 close 0\n')).toString()).toContain('2 rsp 6 200 OK')
    expect(await linesIn('relp')).toEqual(['<13>works'])
  })

  test('1,000 connections with half a message each leave room for one more', async () => {
    const { port, counters } = await listen('syslog+tcp', `key=${senders.org.key}&dataset=crowd`)
    const crowd = await Promise.all(Array.from({ length: 1_000 }, () => open(port)))
    for (const socket of crowd) socket.write('<13>half a mess')
    await expect.poll(() => counters.connections).toBe(1_000)
    await send(port, '<13>whole\n')
    expect(await linesIn('crowd')).toEqual(['<13>whole'])
    for (const socket of crowd) socket.destroy()
    await expect.poll(() => counters.connections).toBe(0)
    // What a sender has begun is a message too, once the sender has left.
    await expect.poll(() => counters.messages).toBe(1_001)
  })

  test('a gzip bomb and a flood of chunks cost their messages only', async () => {
    const { port, counters } = await listen('gelf+udp', `key=${senders.org.key}&dataset=bombs`)
    const bomb = gzipSync(Buffer.alloc(50 * 2 ** 20, 'x'))
    const chunk = (id: number, number: number, count: number, data: Uint8Array) => {
      const head = Buffer.from([0x1e, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, number, count])
      head.writeUInt32BE(id, 2)
      return Buffer.concat([head, data])
    }
    await datagram(port, bomb.subarray(0, 60_000), Buffer.from('{"short_message":"fine"}'))
    await datagram(port, ...Array.from({ length: 300 }, (_, id) => chunk(id, 0, 2, Buffer.alloc(100))), chunk(1, 5, 2, Buffer.alloc(1)))
    await expect.poll(async () => (await linesIn('bombs')).length).toBe(1)
    await expect.poll(() => (counters.dropped.get('malformed') ?? 0) >= 2 && (counters.dropped.get('full') ?? 0) >= 1).toBe(true)
  })

  test('a message that is too long is cut and marked', async () => {
    const { port } = await listen('syslog+tcp', `key=${senders.org.key}&dataset=long`)
    const text = `<13>1 2026-11-22T12:00:00Z web app - - - ${'x'.repeat(2 ** 21)}`
    await send(port, `${text.length} ${text}<13>next\n`)
    const events = await senders.eventsIn('long')
    expect(events.map(({ raw }) => raw.length).sort((a, b) => a - b)).toEqual([8, 2 ** 20])
    expect(events.map(({ keys }) => keys['$ingest.truncated'])).toContain('true')
  })
})

test('the crossed limit of a team drops messages of its datasets and keeps no others waiting', async () => {
  const { org } = senders
  const { port, counters } = await listen('syslog+tcp', `key=${org.key}`)
  await send(port, '<13>1 - h team-red 1 - - first\n')
  const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
  const entity = { id: datasets.find(({ dataset }) => dataset === 'team-red')?.id, type: 'log' }
  expect((await org.ask('POST', '/tags', { body: { name: 'team', value: 'red', entity } })).status).toBe(201)
  const scope = { organisation: { id: org.orgId }, tag: { team: 'red' } }
  const limit = { category: 'INGESTION_LIMITS', value: 1, unit: 'BYTES', target: 'TEAM', scope, time_window: 'PER_MONTH' }
  expect((await org.ask('POST', '/limits', { body: limit })).status).toBe(201)
  await send(port, '<13>1 - h team-red 1 - - over\n<13>1 - h team-blue 1 - - kept\n')
  expect(await linesIn('team-blue')).toEqual(['<13>1 - h team-blue 1 - - kept'])
  expect(await linesIn('team-red')).toEqual(['<13>1 - h team-red 1 - - first'])
  expect(counters.dropped.get('refused')).toBe(1)
})

test('syslog headers without a zone are in the time zone of their listener', async () => {
  const query = `key=${senders.org.key}&zone=Europe/Berlin&dataset=zoned`
  const [tcp, udp] = [await listen('syslog+tcp', query), await listen('syslog+udp', query)]
  await send(tcp.port, '<13>Nov 20 2024 10:20:30 host app: tcp\n<13>1 2024-11-20T10:20:30Z host app - - - named\n')
  await datagram(udp.port, Buffer.from('<13>Nov 20 2024 10:20:30 host app: udp'))
  const hours = async () => (await senders.eventsIn('zoned')).map(({ timeNs }) => new Date(Number(timeNs / 1_000_000n)).getUTCHours())
  await expect.poll(async () => (await hours()).sort()).toEqual([10, 9, 9])
})

describe('answers', () => {
  test('a heartbeat of an old Forward sender is answered by one byte', async () => {
    const { port } = await listen('forward+udp', '')
    const socket = createSocket('udp4')
    const answer = once(socket, 'message')
    socket.send(Buffer.from([0]), port, '127.0.0.1')
    expect((await answer)[0]).toEqual(Buffer.from([0]))
    socket.close()
  })

  test('a chunk that is sent again is answered again and stored once', async () => {
    const { port } = await listen('forward+tcp', `key=${senders.org.key}&collection=acks`)
    const answer = Buffer.from([0x81, 0xa3, ...Buffer.from('ack'), 0xa2, ...Buffer.from('c1')])
    for (let time = 0; time < 2; time += 1) expect(await send(port, message('c1'))).toEqual(answer)
    expect(await linesIn('a.b', 'acks')).toEqual(['hi'])
  })

  test('the parts of a long line of Docker are one event, and parts that await an answer are stored as they come', async () => {
    const { port } = await listen('forward+tcp', `key=${senders.org.key}&collection=parts`)
    const text = (value: string) => [0xa0 | value.length, ...Buffer.from(value)]
    const part = (log: string, ordinal: number, options: readonly number[] = []) => [
      ...[0x93 + (options.length > 0 ? 1 : 0), ...text('docker'), 0xce, 0x6a, 0x90, 0, 0, 0x85],
      ...[...text('partial_message'), ...text('true'), ...text('partial_id'), ...text('l1')],
      ...[...text('partial_ordinal'), ...text(String(ordinal)), ...text('partial_last'), ...text(String(ordinal === 2))],
      ...[...text('log'), ...text(log), ...options],
    ]
    await send(port, Uint8Array.from([...part('one ', 1), ...part('two', 2)]))
    expect(await linesIn('docker', 'parts')).toEqual(['one two'])
    await send(port, Uint8Array.from(part('alone', 1)))
    const chunk = [0x81, ...text('chunk'), ...text('c9')]
    expect(await send(port, Uint8Array.from(part('answered', 1, chunk)))).toEqual(Buffer.from([0x81, ...text('ack'), ...text('c9')]))
    expect(await linesIn('docker', 'parts')).toEqual(['one two', 'alone', 'answered'])
  })

  test('calls over gRPC get the status of their failure', async () => {
    const { port } = await listen('otlp-grpc+tcp', '')
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    const logs = '/opentelemetry.proto.collector.logs.v1.LogsService/Export'
    const call = (path: string, body: Uint8Array, headers: Record<string, string>) =>
      new Promise<unknown>((done, failed) => {
        const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...headers })
        stream.on('error', failed)
        stream.on('response', (head) => head['grpc-status'] && done(Number(head['grpc-status'])))
        stream.on('trailers', (trailers) => done(Number(trailers['grpc-status'])))
        stream.resume()
        stream.end(body)
      })
    const key = { 'x-service-api-key': senders.org.key }
    const framed = (message: Uint8Array, flag = 0) => Buffer.concat([Buffer.from([flag, 0, 0, 0, message.length]), message])
    expect(await call(logs, framed(Buffer.alloc(0)), {})).toBe(16)
    expect(await call(logs, framed(Buffer.alloc(0)), { authorization: 'Bearer dk_unknown' })).toBe(16)
    expect(await call(logs, framed(Buffer.alloc(0)), { 'x-service-api-key': await senders.org.newKey(['SearchApi']) })).toBe(7)
    expect(await call('/other/Method', framed(Buffer.alloc(0)), key)).toBe(12)
    expect(await call(logs, framed(Buffer.from([0xff])), key)).toBe(3)
    expect(await call(logs, framed(Buffer.from([1, 2]), 1), { ...key, 'grpc-encoding': 'br' })).toBe(12)
    expect(await call(logs, Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1]), key)).toBe(3)
    expect(await call(logs, framed(Buffer.alloc(0)), key)).toBe(0)
    session.close()
  })

  test('spans and logs of one sender go to their datasets, and a record that is refused is named', async () => {
    const { port } = await listen('otlp-grpc+tcp', `key=${senders.org.key}`)
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    const exportTo = (service: string, body: Uint8Array) =>
      new Promise<Buffer>((done, failed) => {
        const path = `/opentelemetry.proto.collector.${service}/Export`
        const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc+proto', te: 'trailers' })
        const parts: Buffer[] = []
        stream.on('data', (part: Buffer) => parts.push(part))
        stream.on('error', failed)
        stream.on('end', () => done(Buffer.concat(parts)))
        const head = Buffer.alloc(5)
        head.writeUInt32BE(body.length, 1)
        stream.end(Buffer.concat([head, body]))
      })
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'pay' } }] }
    const span = {
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: 'eee19b7ec3c1b174',
      name: 'charge',
      startTimeUnixNano: '1795000000000000000',
    }
    const spans = encodeProtobuf('Traces', { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] })
    expect(await exportTo('trace.v1.TraceService', spans)).toEqual(Buffer.alloc(5))
    expect(await linesIn('pay', '.traces')).toEqual(['charge'])
    const records = [{ body: { stringValue: 'paid' } }]
    const good = encodeProtobuf('Logs', { resourceLogs: [{ resource, scopeLogs: [{ logRecords: records }] }] })
    // The time of the second record has the wrong wire type.
    const bad = Buffer.from([0x0a, 0x06, 0x12, 0x04, 0x12, 0x02, 0x08, 0x01])
    const answer = await exportTo('logs.v1.LogsService', Buffer.concat([good, bad]))
    expect(answer.toString('latin1')).toContain('1 of 2 records were rejected')
    expect(await linesIn('pay')).toEqual(['paid'])
    expect(await exportTo('metrics.v1.MetricsService', Buffer.alloc(0))).toEqual(Buffer.alloc(5))
    // A resource, a scope and a metric whose gauge has two data points.
    const points = Buffer.from([0x0a, 0x0a, 0x12, 0x08, 0x12, 0x06, 0x2a, 0x04, 0x0a, 0x00, 0x0a, 0x00])
    const counted = await exportTo('metrics.v1.MetricsService', points)
    expect(counted.toString('latin1')).toContain('metrics are not stored: 2 data points were rejected')
    session.close()
  })
})

test('the ledger, the metrics and the health show what listeners did', async () => {
  const { body } = await senders.org.ask<{ entries: { protocol: string; stored: number }[]; totals: { balances: boolean } }>(
    'GET',
    '/ledger',
  )
  expect(body.totals.balances).toBe(true)
  expect(new Set(body.entries.map(({ protocol }) => protocol))).toEqual(new Set(['syslog', 'gelf', 'forward', 'otlp']))
  const metrics = await senders.app.ask<string>('GET', '/metrics', { key: senders.app.managementKey })
  expect(metrics.body).toContain('dendro_listener_dropped{listener="gelf+udp://127.0.0.1:0",reason="malformed"}')
  const health = await senders.app.ask('GET', '/health')
  expect(JSON.stringify(health.body)).toContain('the listener gelf+udp://127.0.0.1:0 has lost messages')
})

test('a port that is taken stops the start with a sentence', async () => {
  const { port } = await listen('syslog+tcp', `key=${senders.org.key}`)
  const taken = senders.app.app.listeners.open(asListeners(`syslog+tcp://127.0.0.1:${port}?key=${senders.org.key}`), undefined)
  await expect(taken).rejects.toThrow(`DENDRO_LISTENERS names syslog+tcp://127.0.0.1:${port}, but another program`)
})
