import { gzipSync } from 'node:zlib'
import { snappyOf } from '../../server/src/ingest/receivers/posts.fixture.ts'
import { hex, numbers, sentence, timeMs } from './otlp-data.ts'

/** A post of the same events as each protocol writes them. */
export type SenderPost = {
  receiver: string
  path: string
  contentType: string
  headers?: Record<string, string>
  body: Buffer
  /** How the protocol itself compresses: each event, or all of them. HTTP decompresses other bodies before a worker has them. */
  gzip?: 'each' | 'all'
}

const text = (n: number): string => `${sentence(n)} id=${n}`
const fields = (n: number) => ({ path: `/api/carts/${n}/items`, status: 200, took_ms: (n % 1_000) / 8, trace_id: hex(n, 32) })
const host = (n: number): string => `web-${n % 5}`
const seconds = (n: number): number => timeMs(n) / 1_000
const jsonOf = (make: (n: number) => unknown, [start, between, end]: readonly [string, string, string]): Buffer =>
  Buffer.from(start + numbers.map((n) => JSON.stringify(make(n))).join(between) + end)

const length = (value: number): number[] => (value > 0x7f ? [(value & 0x7f) | 0x80, ...length(Math.floor(value / 128))] : [value])
const field = (number: number, bytes: Buffer): Buffer => Buffer.concat([Buffer.from([number * 8 + 2, ...length(bytes.length)]), bytes])
const stamp = (n: number): Buffer => Buffer.from([8, ...length(Math.floor(seconds(n))), 16, ...length((timeMs(n) % 1_000) * 1e6)])
const pair = ([name, value]: [string, unknown]): Buffer =>
  field(3, Buffer.concat([field(1, Buffer.from(name)), field(2, Buffer.from(String(value)))]))
const entry = (n: number): Buffer =>
  field(2, Buffer.concat([field(1, stamp(n)), field(2, Buffer.from(text(n))), ...Object.entries(fields(n)).map(pair)]))
const labels = '{app="shop", host="web-1", level="info"}'

/** What an agent reads from a file and sends as one object per line. */
export const nativePost: SenderPost = {
  receiver: 'native',
  path: '/ingest',
  contentType: 'application/x-ndjson',
  body: jsonOf(
    (n) => ({
      timestamp: new Date(timeMs(n)).toISOString(),
      level: 'info',
      message: text(n),
      host: host(n),
      service: 'shop',
      ...fields(n),
    }),
    ['', '\n', '\n'],
  ),
}

export const senderPosts: Readonly<Record<string, SenderPost>> = {
  'Loki protobuf': {
    receiver: 'loki',
    path: '/loki/api/v1/push',
    contentType: 'application/x-protobuf',
    body: snappyOf(field(1, Buffer.concat([field(1, Buffer.from(labels)), ...numbers.map(entry)]))),
  },
  'Loki JSON': {
    receiver: 'loki',
    path: '/loki/api/v1/push',
    contentType: 'application/json',
    body: jsonOf(
      (n) => [`${timeMs(n)}000000`, text(n), Object.fromEntries(Object.entries(fields(n)).map(([name, value]) => [name, String(value)]))],
      ['{"streams":[{"stream":{"app":"shop","host":"web-1","level":"info"},"values":[', ',', ']}]}'],
    ),
  },
  'HEC events': {
    receiver: 'hec',
    path: '/services/collector/event',
    contentType: '',
    body: jsonOf(
      (n) => ({
        time: seconds(n),
        host: host(n),
        source: 'shop',
        sourcetype: 'shop',
        index: 'main',
        event: { message: text(n), level: 'info', ...fields(n) },
      }),
      ['', '', ''],
    ),
  },
  'HEC texts': {
    receiver: 'hec',
    path: '/services/collector/event',
    contentType: '',
    body: jsonOf((n) => ({ event: text(n), fields: fields(n), host: host(n), sourcetype: 'shop', time: seconds(n) }), ['', '', '']),
  },
  Datadog: {
    receiver: 'datadog',
    path: '/api/v2/logs',
    contentType: 'application/json',
    body: jsonOf(
      (n) => ({
        message: text(n),
        timestamp: timeMs(n),
        hostname: host(n),
        service: 'shop',
        ddtags: 'env:prod,team:a',
        ...fields(n),
        status: 'info',
      }),
      ['[', ',', ']'],
    ),
  },
  'New Relic': {
    receiver: 'newrelic',
    path: '/log/v1',
    contentType: 'application/json',
    body: jsonOf(
      (n) => ({ timestamp: timeMs(n), message: text(n), attributes: { level: 'info', hostname: host(n), ...fields(n) } }),
      ['[{"common":{"attributes":{"service.name":"shop"}},"logs":[', ',', ']}]'],
    ),
  },
  LogDNA: {
    receiver: 'logdna',
    path: '/logs/ingest',
    contentType: 'application/json',
    body: jsonOf(
      (n) => ({ timestamp: timeMs(n), line: text(n), app: 'shop', level: 'info', host: host(n), meta: fields(n) }),
      ['{"lines":[', ',', ']}'],
    ),
  },
  GELF: {
    receiver: 'gelf-http',
    path: '/gelf',
    contentType: 'application/json',
    body: jsonOf(
      (n) => ({
        version: '1.1',
        host: host(n),
        short_message: text(n),
        timestamp: seconds(n),
        level: 6,
        _service: 'shop',
        ...Object.fromEntries(Object.entries(fields(n)).map(([name, value]) => [`_${name}`, value])),
      }),
      ['[', ',', ']'],
    ),
  },
  Firehose: {
    gzip: 'all',
    receiver: 'firehose',
    path: '/firehose',
    contentType: 'application/json',
    body: Buffer.from(
      JSON.stringify({
        requestId: 'r-1',
        records: [
          {
            data: gzipSync(
              jsonOf(
                (n) => ({
                  id: String(n),
                  timestamp: timeMs(n),
                  message: JSON.stringify({ message: text(n), level: 'info', ...fields(n) }),
                }),
                ['{"messageType":"DATA_MESSAGE","owner":"1","logGroup":"shop","logStream":"s","logEvents":[', ',', ']}'],
              ),
            ).toString('base64'),
          },
        ],
      }),
    ),
  },
  Logpush: {
    receiver: 'cloudflare',
    path: '/cloudflare/shop',
    contentType: '',
    body: jsonOf(
      (n) => ({ ClientRequestHost: host(n), message: text(n), ...fields(n), EdgeStartTimestamp: `${timeMs(n)}000000` }),
      ['', '\n', '\n'],
    ),
  },
  Vercel: {
    receiver: 'vercel',
    path: '/vercel',
    contentType: 'application/json',
    body: jsonOf(
      (n) => ({
        id: hex(n, 20),
        timestamp: timeMs(n),
        message: text(n),
        level: 'info',
        source: 'lambda',
        projectName: 'shop',
        host: host(n),
        ...fields(n),
      }),
      ['[', ',', ']'],
    ),
  },
  'Elasticsearch bulk': {
    receiver: 'elasticsearch',
    path: '/_bulk',
    contentType: 'application/x-ndjson',
    body: Buffer.from(
      numbers
        .map((n) => {
          const document = {
            '@timestamp': new Date(timeMs(n)).toISOString(),
            message: text(n),
            log: { level: 'info' },
            host: { name: host(n) },
            service: { name: 'shop' },
            ...fields(n),
          }
          return `{"create":{"_index":"web-2025.01.01"}}\n${JSON.stringify(document)}\n`
        })
        .join(''),
    ),
  },
  Heroku: {
    receiver: 'heroku',
    path: '/heroku',
    contentType: 'application/logplex-1',
    body: Buffer.concat(
      numbers.map((n) => {
        const pairs = Object.entries(fields(n)).map(([name, value]) => `${name}=${value}`)
        const message = `<190>1 ${new Date(timeMs(n)).toISOString()} ${host(n)} app web.1 - ${text(n)} ${pairs.join(' ')}`
        return Buffer.from(`${Buffer.byteLength(message)} ${message}`)
      }),
    ),
  },
  journal: {
    receiver: 'journald',
    path: '/upload',
    contentType: 'application/vnd.fdo.journal',
    body: Buffer.concat(
      numbers.map((n) => {
        const written = {
          PRIORITY: 6,
          SYSLOG_IDENTIFIER: 'shop',
          _HOSTNAME: host(n),
          _SYSTEMD_UNIT: 'shop.service',
          _PID: 7,
          ...fields(n),
          MESSAGE: text(n),
        }
        const lines = Object.entries(written).map(([name, value]) => `${name}=${value}\n`)
        return Buffer.from(`__REALTIME_TIMESTAMP=${timeMs(n)}000\n${lines.join('')}\n`)
      }),
    ),
  },
}
