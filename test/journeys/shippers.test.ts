import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@elastic/elasticsearch'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import { SeverityNumber } from '@opentelemetry/api-logs'
import { OTLPLogExporter as LogsAsJson } from '@opentelemetry/exporter-logs-otlp-http'
import { OTLPLogExporter as LogsAsProtobuf } from '@opentelemetry/exporter-logs-otlp-proto'
import { OTLPTraceExporter as SpansAsJson } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as SpansAsProtobuf } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import pino from 'pino'
import pinoElastic from 'pino-elasticsearch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { programOf, rsyslogWith } from '../clients/installed-programs.ts'
import { openSenders, type Senders } from '../support/senders.ts'
import { stop, until } from '../support/service.ts'

/** Third-party programs and libraries send events as usual, which verifies their expectations. */
let senders: Senders
let key = ''
beforeAll(async () => {
  senders = await openSenders()
  key = await senders.org.newKey(['IngestionApi'])
})
afterAll(() => senders?.close())

const RECORDS = 1_000
const numbers = Array.from({ length: RECORDS }, (_, number) => number)
const headersOf = () => ({ 'x-service-api-key': key })
const pathOf = (path: string) => `${senders.app.url}${path}`

/** The numbers under a key in the events of a dataset, in order. */
async function numbersIn(dataset: string, collection: string, name: string): Promise<number[]> {
  const events = await senders.eventsIn(dataset, collection)
  return events.map(({ keys }) => Number(keys[name])).sort((a, b) => a - b)
}

describe('a log SDK sends records', () => {
  const exporters = {
    'as JSON': () => new LogsAsJson({ url: pathOf('/v1/logs'), headers: headersOf() }),
    'as protobuf': () => new LogsAsProtobuf({ url: pathOf('/v1/logs'), headers: headersOf() }),
    'as compressed protobuf': () =>
      new LogsAsProtobuf({ url: pathOf('/otlp/v1/logs'), headers: { authorization: `Bearer ${key}` }, compression: 'gzip' as never }),
  }
  test.each(Object.entries(exporters))('%s', async (name, open) => {
    const service = `shop ${name}`
    const provider = new LoggerProvider({
      resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'sdk', 'host.cpus': 2 }),
      processors: [new BatchLogRecordProcessor({ exporter: open(), maxQueueSize: RECORDS })],
    })
    const logger = provider.getLogger('checkout', '1.2.3')
    const atMs = Date.now()
    for (const number of numbers) {
      const attributes = { number, ok: true, share: 0.5, list: [1, 2], bytes: new Uint8Array([1, 2]), deep: { a: { b: 'c' } } }
      logger.emit({
        timestamp: atMs + number,
        severityNumber: SeverityNumber.WARN,
        severityText: 'careful',
        body: `order ${number}`,
        attributes,
      })
    }
    await provider.forceFlush()
    await provider.shutdown()
    expect(await numbersIn(service, 'sdk', 'number')).toEqual(numbers)
    const [first] = await senders.eventsIn(service, 'sdk')
    expect(first?.line).toBe('order 0')
    expect(first?.timeNs).toBe(BigInt(atMs) * 1_000_000n)
    expect(first?.keys).toMatchObject({
      level: 'careful',
      ok: 'true',
      share: '0.5',
      list: '[1,2]',
      'deep.a.b': 'c',
      '$host.cpus': '2',
      '$otel.scope.name': 'checkout',
    })
  })
})

describe('a tracing SDK sends spans', () => {
  const exporters = {
    'as JSON': () => new SpansAsJson({ url: pathOf('/v1/traces'), headers: headersOf() }),
    'as protobuf': () => new SpansAsProtobuf({ url: pathOf('/v1/traces'), headers: headersOf() }),
  }
  test.each(Object.entries(exporters))('%s', async (name, open) => {
    const service = `traced ${name}`
    const provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': service }),
      spanProcessors: [new BatchSpanProcessor({ exporter: open(), maxQueueSize: RECORDS })],
    })
    const tracer = provider.getTracer('checkout')
    const ids: string[] = []
    for (const number of numbers.slice(0, 100)) {
      const span = tracer.startSpan('GET /cart', { kind: SpanKind.SERVER, attributes: { number } })
      span.addEvent('cache miss', { tier: 1 })
      span.recordException(new Error('the cart is gone'))
      span.setStatus({ code: SpanStatusCode.ERROR, message: 'gone' })
      span.end()
      ids.push(span.spanContext().spanId)
    }
    await provider.forceFlush()
    await provider.shutdown()
    const events = await senders.eventsIn(service, '.traces')
    expect(events.map(({ keys }) => keys['$span.span_id']).sort()).toEqual(ids.sort())
  })
})

describe('a bulk client', () => {
  const connect = () => new Client({ node: senders.app.url, auth: { apiKey: key }, maxRetries: 0 })

  test('accepts the service as its target, and stores its events once, however often sent', async () => {
    const client = connect()
    expect(await client.ping()).toBe(true)
    expect((await client.info()).tagline).toBe('You Know, for Search')
    const datasource = numbers.map((number) => ({ '@timestamp': new Date().toISOString(), number, message: `order ${number}` }))
    for (let times = 0; times < 2; times += 1) {
      const done = await client.helpers.bulk({
        datasource,
        onDocument: ({ number }) => ({ create: { _index: 'logs-orders-shop', _id: `order-${number}` } }),
        onDrop: ({ error }) => expect.unreachable(JSON.stringify(error)),
      })
      expect(done).toMatchObject({ total: RECORDS, failed: 0, successful: RECORDS })
    }
    expect(await numbersIn('orders', 'shop', 'number')).toEqual(numbers)
    await client.close()
  })

  test('learns which document was rejected, and the others are stored', async () => {
    const client = connect()
    const answer = await client.bulk({
      index: 'mixed-2025.01.01',
      operations: [{ index: {} }, { number: 1 }, { index: {} }, 'no JSON', { index: {} }, { number: 2 }],
    })
    expect(answer.errors).toBe(true)
    expect(answer.items.map(({ index }) => index?.status)).toEqual([201, 400, 201])
    expect(await numbersIn('mixed', 'default', 'number')).toEqual([1, 2])
    await client.close()
  })

  test('indexes a document at a time', async () => {
    const client = connect()
    const made = await client.index({ index: 'single', document: { number: 7 } })
    expect(made.result).toBe('created')
    expect(await numbersIn('single', 'default', 'number')).toEqual([7])
    await client.close()
  })

  test('learns that its key is wrong', async () => {
    const client = new Client({ node: senders.app.url, auth: { username: 'elastic', password: 'wrong' }, maxRetries: 0 })
    await expect(client.bulk({ index: 'x', operations: [{ index: {} }, { a: 1 }] })).rejects.toMatchObject({ statusCode: 401 })
    await client.close()
  })
})

test('a transport of a logger sends the logs of a program, with an older client', async () => {
  // The module exports the function itself, unlike its types say.
  const open = pinoElastic as unknown as typeof pinoElastic.default
  const stream = open({
    node: senders.app.url,
    auth: { username: 'elastic', password: key },
    index: 'pino-%{DATE}',
    flushBytes: 10_000,
  })
  const log = pino({ level: 'debug' }, stream)
  const inserted = once(stream, 'insert')
  for (const number of numbers) log.info({ number, err: new Error('no such cart') }, 'order')
  stream.end()
  expect((await inserted)[0]).toMatchObject({ successful: RECORDS, failed: 0 })
  expect(await numbersIn('pino', 'default', 'number')).toEqual(numbers)
})

/** The numbers in the texts of a dataset, in order. */
async function orderNumbersIn(dataset: string, collection = 'default'): Promise<number[]> {
  const events = await senders.eventsIn(dataset, collection)
  return events.map(({ line }) => Number(/order number=(\d+)/.exec(line)?.[1])).sort((a, b) => a - b)
}

describe('a daemon for system logs', () => {
  const rsyslogd = rsyslogWith('omelasticsearch')
  const syslogNg = programOf('syslog-ng')

  test.skipIf(rsyslogd === undefined)(
    'rsyslog posts in bulk what arrives at it (needs the program rsyslogd with omelasticsearch)',
    async () => {
      const port = await freePort()
      const { hostname, port: ours } = new URL(senders.app.url)
      const daemon = await startDaemon(rsyslogd, (dir) => ({
        file: 'rsyslog.conf',
        text: `
        global(workDirectory="${dir}" maxMessageSize="8k")
        module(load="imptcp")
        module(load="omelasticsearch")
        template(name="index" type="string" string="syslog-%programname%-%timereported:1:10:date-rfc3339%")
        template(name="document" type="list" option.jsonf="on") {
          property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
          property(outname="host.name" name="hostname" format="jsonf")
          property(outname="log.level" name="syslogseverity-text" format="jsonf")
          property(outname="program" name="programname" format="jsonf")
          property(outname="message" name="msg" format="jsonf")
        }
        input(type="imptcp" port="${port}" address="127.0.0.1")
        action(type="omelasticsearch" server="${hostname}" serverport="${ours}" uid="shipper" pwd="${key}" usehttps="off"
          template="document" searchIndex="index" dynSearchIndex="on" searchType="" bulkmode="on" maxbytes="1m"
          errorfile="${dir}/errors.json" action.resumeRetryCount="-1" action.resumeInterval="1" queue.type="linkedlist" queue.dequeueBatchSize="200")`,
        args: ['-n', '-f', `${dir}/rsyslog.conf`, '-i', `${dir}/rsyslog.pid`],
      }))
      try {
        await sendLines(
          daemon,
          port,
          numbers.map((number) => `<12>${new Date().toISOString()} web-1 cart[7]: order number=${number} "quoted" \\ done`),
        )
        await expect.poll(() => senders.eventsIn('syslog-cart'), POLLING).toHaveLength(RECORDS)
      } finally {
        await daemon.stop()
      }
      expect(await orderNumbersIn('syslog-cart')).toEqual(numbers)
      const [first] = await senders.eventsIn('syslog-cart')
      expect(first?.severity).toBe('warn')
      expect(first?.keys).toMatchObject({ '$host.name': 'web-1', program: 'cart' })
    },
  )

  test.skipIf(rsyslogd === undefined)(
    'rsyslog runs with the configuration that the assistant writes (needs the program rsyslogd with omelasticsearch)',
    async () => {
      const port = await freePort()
      const wish = {
        agent: 'rsyslog',
        collection: 'assistant',
        dataset: 'orders',
        sources: [{ kind: 'syslog', options: { port } }],
        options: { drop: ['(?i)NOISE'], redact: ['ip'], routes: [{ match: 'number=7[0-9][0-9] ', dataset: 'sevens' }] },
      }
      const { body } = await senders.org.ask<{ config: string }>('POST', '/config-assistant/configs', { body: wish })
      const daemon = await startDaemon(rsyslogd, (dir) => ({
        file: 'rsyslog.conf',
        text: body.config.replace('/var/spool/rsyslog', dir),
        args: ['-n', '-f', `${dir}/rsyslog.conf`, '-i', `${dir}/rsyslog.pid`],
        env: { DENDRO_API_KEY: key },
      }))
      const lineOf = (text: string) => `<12>${new Date().toISOString()} web-1 cart[7]: ${text} from 192.0.2.7`
      const isSeven = (number: number) => number >= 700 && number < 800
      try {
        await sendLines(daemon, port, [lineOf('only noise'), ...numbers.map((number) => lineOf(`order number=${number} done`))])
        await expect.poll(() => senders.eventsIn('orders', 'assistant'), POLLING).toHaveLength(RECORDS - 100)
        await expect.poll(() => senders.eventsIn('sevens', 'assistant'), POLLING).toHaveLength(100)
      } finally {
        await daemon.stop()
      }
      expect(await orderNumbersIn('orders', 'assistant')).toEqual(numbers.filter((number) => !isSeven(number)))
      expect(await orderNumbersIn('sevens', 'assistant')).toEqual(numbers.filter(isSeven))
      const lines = (await senders.eventsIn('orders', 'assistant')).map(({ line }) => line).join('\n')
      expect(lines).not.toMatch(/noise|192\.0\.2\.7/)
    },
  )

  test.skipIf(rsyslogd === undefined)(
    'rsyslog takes every configuration that the assistant writes for it (needs the program rsyslogd with omelasticsearch)',
    async () => {
      const dir = await mkdtemp(join(tmpdir(), 'dendro-configs-'))
      const sources = [{ kind: 'file', options: { paths: ['/srv/app/*.log'] } }, { kind: 'docker' }, { kind: 'syslog' }]
      const wishes = [
        { parse: 'json', sample_percent: 10 },
        { parse: 'logfmt', batch_size: 200, batch_seconds: 3 },
        { drop: ["(?i)\\bdebug\\b|it's"], redact: ['ip'], multiline: '^\\[' },
        { compression: 'gzip', retry_seconds: 300, tls: { verify: true }, routes: [{ match: 'fatal', dataset: 'errors' }] },
      ]
      try {
        for (const options of wishes) {
          const request = { agent: 'rsyslog', collection: 'assistant', dataset: 'all', sources, options }
          const { body, status } = await senders.org.ask<{ config: string }>('POST', '/config-assistant/configs', { body: request })
          expect(status, JSON.stringify(body)).toBe(201)
          const file = join(dir, 'rsyslog.conf')
          await writeFile(file, body.config.replace('/var/spool/rsyslog', dir))
          const { status: exit, stderr } = spawnSync(rsyslogd ?? '', ['-N1', '-f', file], { env: { DENDRO_API_KEY: key } })
          expect(exit, `${stderr}\n${body.config}`).toBe(0)
        }
      } finally {
        await rm(dir, { recursive: true, maxRetries: 5 })
      }
    },
  )

  test.skipIf(syslogNg === undefined)(
    'syslog-ng posts JSON and in bulk what arrives at it (needs the program syslog-ng with its module http)',
    async () => {
      const port = await freePort()
      const daemon = await startDaemon(syslogNg, (dir) => ({
        file: 'syslog-ng.conf',
        text: `@version: 3.38
        @include "scl.conf"
        source arrivals { network(ip("127.0.0.1") port(${port}) transport("tcp") flags(syslog-protocol)); };
        destination lines {
          http(url("${senders.app.url}/ingest/syslog-ng/lines") method("POST") headers("X-SERVICE-API-KEY: ${key}", "Content-Type: application/x-ndjson")
            body("$(format-json --scope rfc5424 --key ISODATE)") body-prefix("") delimiter("\\n") batch-lines(200) batch-timeout(200));
        };
        destination bulk {
          elasticsearch-http(url("${senders.app.url}/_bulk") index("syslog-ng-\${YEAR}.\${MONTH}.\${DAY}") type("") user("shipper") password("${key}")
            batch-lines(200) batch-timeout(200));
        };
        log { source(arrivals); destination(lines); destination(bulk); };`,
        args: ['-F', '-f', `${dir}/syslog-ng.conf`, '-R', `${dir}/persist`, '-p', `${dir}/pid`, '-c', `${dir}/control`],
      }))
      try {
        await sendLines(
          daemon,
          port,
          numbers.map((number) => `<12>1 ${new Date().toISOString()} web-1 cart 7 - - order number=${number} "quoted" \\ done`),
        )
        await expect.poll(() => senders.eventsIn('lines', 'syslog-ng'), POLLING).toHaveLength(RECORDS)
        await expect.poll(() => senders.eventsIn('syslog-ng'), POLLING).toHaveLength(RECORDS)
      } finally {
        await daemon.stop()
      }
      expect(await orderNumbersIn('lines', 'syslog-ng')).toEqual(numbers)
      expect(await orderNumbersIn('syslog-ng')).toEqual(numbers)
      const [line] = await senders.eventsIn('lines', 'syslog-ng')
      expect(line?.keys).toMatchObject({ PROGRAM: 'cart' })
    },
  )
})

/** POLLING waits as long as a slow machine may take. */
const POLLING = { timeout: 240_000, interval: 500 }

type Daemon = { child: ChildProcess; stop(): Promise<void> }
type DaemonSetup = { file: string; text: string; args: readonly string[]; env?: Record<string, string> }

/** Runs a system program with settings in a directory of its own, until it is stopped. */
async function startDaemon(program: string | undefined, setup: (dir: string) => DaemonSetup): Promise<Daemon> {
  const dir = await mkdtemp(join(tmpdir(), 'dendro-daemon-'))
  const { file, text, args, env } = setup(dir)
  await writeFile(join(dir, file), text.replaceAll(/^ +/gm, ''))
  const child = spawn(program ?? '', args, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, ...env } })
  return {
    child,
    stop: async () => {
      await stop(child, 'SIGTERM')
      await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

/** Waits for a listener and sends lines over one connection. */
async function sendLines({ child }: Daemon, port: number, lines: readonly string[]): Promise<void> {
  await until(async () => child.exitCode !== null || (await isOpen(port)))
  expect(child.exitCode).toBe(null)
  const socket = connect(port, '127.0.0.1')
  socket.end(lines.map((line) => `${line}\n`).join(''))
  await once(socket, 'close')
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const opened = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return opened
}
