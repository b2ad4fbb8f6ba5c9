import { gzipSync } from 'node:zlib'
import { MessageBody } from '../../server/src/ingest/receivers/messages.ts'
import { encodeProtobuf } from '../../server/src/ingest/receivers/otlp/encode.fixture.ts'
import { hex, logsOf, numbers, sentence, timeMs } from './otlp-data.ts'
import type { SenderPost } from './sender-posts.ts'

const text = (n: number): string => `${sentence(n)} id=${n}`
const fields = (n: number) => ({ path: `/api/carts/${n}/items`, status: 200, took_ms: (n % 1_000) / 8, trace_id: hex(n, 32) })
const host = (n: number): string => `web-${n % 5}`
const source = { address: '10.0.0.1', attributes: [] }

/** Messages as a listener collects them. */
function messages(all: readonly Uint8Array[]): Buffer {
  const body = new MessageBody()
  for (const message of all) body.add(message, source)
  return Buffer.from(body.bytes())
}
export const post = (receiver: string, all: readonly Uint8Array[]): SenderPost => ({
  receiver,
  path: '',
  contentType: 'application/octet-stream',
  body: messages(all),
})

const iso = (n: number): string => new Date(timeMs(n)).toISOString()
const structured = (n: number): string =>
  `[f@1 ${Object.entries(fields(n))
    .map(([name, value]) => `${name}="${value}"`)
    .join(' ')}]`
const bsdTime = (n: number): string => `Jan  1 ${iso(n).slice(11, 19)}`

const gelf = (n: number): Buffer =>
  Buffer.from(
    JSON.stringify({
      version: '1.1',
      host: host(n),
      short_message: text(n),
      timestamp: timeMs(n) / 1_000,
      level: 6,
      _service: 'shop',
      ...Object.fromEntries(Object.entries(fields(n)).map(([name, value]) => [`_${name}`, value])),
    }),
  )

/** Writes MessagePack as Fluent Bit does. */
function packed(value: unknown): Buffer {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value)
    return Buffer.concat([
      bytes.length < 32 ? Uint8Array.of(0xa0 | bytes.length) : Uint8Array.of(0xda, bytes.length >> 8, bytes.length),
      bytes,
    ])
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(Number.isInteger(value) ? 5 : 9, Number.isInteger(value) ? 0xce : 0xcb)
    if (Number.isInteger(value)) bytes.writeUInt32BE(value, 1)
    else bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (Array.isArray(value)) return Buffer.concat([Uint8Array.of(0x90 | value.length), ...value.map(packed)])
  const members = Object.entries(value as object)
  return Buffer.concat([Uint8Array.of(0xde, 0, members.length), ...members.flat().map(packed)])
}
function entry(n: number): Buffer {
  const time = Buffer.from([0xd7, 0, 0, 0, 0, 0, 0, 0, 0, 0])
  time.writeUInt32BE(Math.floor(timeMs(n) / 1_000), 2)
  time.writeUInt32BE((timeMs(n) % 1_000) * 1e6, 6)
  const record = packed({ log: text(n), level: 'info', host: host(n), service: 'shop', ...fields(n) })
  return Buffer.concat([Uint8Array.of(0x92, 0x92), time, Uint8Array.of(0x80), record])
}
const forwardMessage = (entries: Buffer): Buffer => {
  const head = Buffer.alloc(5, 0xc6)
  head.writeUInt32BE(entries.length, 1)
  return Buffer.concat([Uint8Array.of(0x92), packed('shop.web'), head, entries])
}
const entries = Buffer.concat(numbers.map(entry))

const value = (one: unknown) => (typeof one === 'string' ? { stringValue: one } : { doubleValue: one })
const otlpRecord = (n: number) => ({
  timeUnixNano: `${timeMs(n)}000000`,
  severityNumber: 9,
  severityText: 'info',
  body: { stringValue: text(n) },
  attributes: Object.entries({ host: host(n), ...fields(n) }).map(([key, one]) => ({ key, value: value(one) })),
})

/** The events of nativePost as protocols on sockets carry them. */
export const socketPosts: Readonly<Record<string, SenderPost>> = {
  'syslog 5424': post(
    'syslog',
    numbers.map((n) => Buffer.from(`<134>1 ${iso(n)} ${host(n)} shop 17 - ${structured(n)} ${text(n)}`)),
  ),
  'syslog 3164': post(
    'syslog',
    numbers.map((n) => Buffer.from(`<134>${bsdTime(n)} ${host(n)} shop[17]: ${text(n)}`)),
  ),
  'GELF on sockets': post('gelf', numbers.map(gelf)),
  'GELF on sockets, gzip': {
    ...post(
      'gelf',
      numbers.map((n) => gzipSync(gelf(n))),
    ),
    gzip: 'each',
  },
  Forward: post('forward', [forwardMessage(entries)]),
  'Forward, gzip': { ...post('forward', [forwardMessage(gzipSync(entries))]), gzip: 'all' },
  'OTLP protobuf, over HTTP and gRPC': {
    receiver: 'otlp',
    path: '/v1/logs',
    contentType: 'application/x-protobuf',
    body: encodeProtobuf('Logs', logsOf(otlpRecord)),
  },
  'OTLP JSON': {
    receiver: 'otlp',
    path: '/v1/logs',
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(logsOf(otlpRecord))),
  },
}
