import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { contract, Export, ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { isNightly } from '../support/nightly.ts'
import { complaintsOf, copyMadeStores, killServices, type Service, startService, untilUp } from '../support/service.ts'

const KEY = 'dk_kestrel-4-lanterns-and-a-wheel-of-cheese'
const EVENTS = 200_000
const POST_EVENTS = 20_000
/** On a busy machine a stop may take as long as the service permits itself; then its status is not 0. The nightly run measures it. */
const STOP_MS_MAX = isNightly ? 10_000 : Number.POSITIVE_INFINITY
/** Far more than the buffers of a connection hold. */
const PADDING = 'x'.repeat(200)

const dir = await mkdtemp(join(tmpdir(), 'dendro-stop-in-use-'))
beforeAll(() => copyMadeStores(dir))
afterAll(async () => {
  await killServices()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const headers = { 'x-service-api-key': KEY, 'content-type': 'application/json' }

async function ask<T>({ url }: Service, method: string, path: string, body?: string): Promise<T> {
  const answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

const sockets: Socket[] = []

/** A connection that is left as it is, whatever becomes of it. */
async function hold(port: number, bytes: string | Uint8Array = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (bytes.length > 0) socket.write(bytes)
  return socket
}

const request = (line: string, lines: readonly string[], body = ''): string =>
  `${[line, 'host: x', `x-service-api-key: ${KEY}`, ...lines].join('\r\n')}\r\n\r\n${body}`

/** Everything that a service may hold open for somebody. */
const uses: Readonly<Record<string, (service: Service, ports: Ports) => Promise<unknown>>> = {
  'a live tail': async (service) => {
    const { job_id } = await ask<{ job_id: string }>(service, 'POST', '/live-tail', '{"from_expr":"*"}')
    return (await fetch(`${service.url}/live-tail/stream?job_id=${job_id}`, { headers })).body?.getReader().read()
  },
  'a tail that nobody reads': async (service, { http }) => {
    const { job_id } = await ask<{ job_id: string }>(service, 'POST', '/live-tail', '{"from_expr":"*"}')
    return (await hold(http, request(`GET /live-tail/stream?job_id=${job_id} HTTP/1.1`, []))).pause()
  },
  'a tail of the Loki protocol': async (service) => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/loki/api/v1/tail?query=${encodeURIComponent('{dataset=~".+"}')}`, {
      headers: { 'x-service-api-key': KEY },
    } as unknown as string[])
    await once(socket as unknown as NodeJS.EventEmitter, 'open').catch(() => undefined)
  },
  'a stalled upload': (_, { http }) => hold(http, request('POST /ingest HTTP/1.1', ['content-length: 1000'], '{"message":')),
  'a refused upload that goes on': async (_, { http }) => {
    const socket = await hold(http, 'POST /ingest HTTP/1.1\r\nhost: x\r\nx-service-api-key: dk_no\r\ntransfer-encoding: chunked\r\n\r\n')
    const sending = setInterval(() => socket.write('1\r\na\r\n'), 100)
    socket.once('close', () => clearInterval(sending))
  },
  'a stalled message of an agent': (_, { http }) =>
    hold(http, request('POST /mcp HTTP/1.1', ['content-type: application/json', 'content-length: 1000'], '{"jsonrpc":')),
  'a tool call of an agent': (_, { http }) => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'count', arguments: { from: '*', where: SLOW } } }
    const body = JSON.stringify(call)
    const lines = ['content-type: application/json', 'accept: application/json, text/event-stream', `content-length: ${body.length}`]
    return hold(http, request('POST /mcp HTTP/1.1', lines, body))
  },
  'a search': (_, { http }) => {
    const body = JSON.stringify({ from_expr: '*', where: SLOW, time_range: 'Last 1 day' })
    return hold(http, request('POST /search HTTP/1.1', ['content-type: application/json', `content-length: ${body.length}`], body))
  },
  'an idle connection': (_, { http }) => hold(http),
  'an idle connection after a request': (_, { http }) => hold(http, request('GET /health HTTP/1.1', [])),
  'a download that nobody reads': async (service, { http }) => {
    const { location } = await exported(service, 'none')
    const { pathname, search } = new URL(location, service.url)
    const socket = await hold(http, request(`GET ${pathname}${search} HTTP/1.1`, []))
    await once(socket, 'readable')
    socket.read(1)
  },
  'three running exports': async (service) => {
    for (let n = 0; n < 3; n += 1) await order(service, 'gzip')
  },
  'a session of OTLP over gRPC': async (_, { grpc }) => {
    const session = connectHttp2(`http://127.0.0.1:${grpc}`).on('error', () => undefined)
    await once(session, 'remoteSettings')
  },
  'a stalled call of OTLP over gRPC': async (_, { grpc }) => {
    const session = connectHttp2(`http://127.0.0.1:${grpc}`).on('error', () => undefined)
    const stream = session.request({
      ':method': 'POST',
      ':path': '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
      'content-type': 'application/grpc',
      te: 'trailers',
      'x-service-api-key': KEY,
    })
    stream.on('error', () => undefined)
    stream.write(Buffer.from([0, 0, 0, 4, 0, 1]))
    await once(session, 'remoteSettings')
  },
  'connections of syslog': async (_, { syslog }) => {
    await hold(syslog)
    await hold(syslog, '<13>Nov 27 13:00:00 host app: a whole line\n<13>Nov 27 13:00:00 host app: half a li')
  },
  'connections of RELP': async (_, { relp }) => {
    await hold(relp)
    await hold(relp, '1 open 90 relp_version=0')
  },
  'connections of GELF': async (_, { gelf }) => {
    await hold(gelf)
    await hold(gelf, '{"version":"1.1","host":"a","short_message":"b"}\0{"version":')
  },
  'connections of Forward': async (_, { forward }) => {
    await hold(forward)
    // An array of three, of which two have arrived.
    await hold(forward, Buffer.from([0x93, 0xa3, 0x61, 0x2e, 0x62]))
  },
}
type Ports = Record<'http' | 'grpc' | 'syslog' | 'relp' | 'gelf' | 'forward', number>
const SLOW = 'message LIKE "%x%x%x%x%x%x%y%"'

const order = (service: Service, compression: string): Promise<Export> =>
  ask<Export>(service, 'POST', '/exports', JSON.stringify({ search_details: { from_expr: '*', time_range: 'Last 1 day' }, compression }))

async function exported(service: Service, compression: string): Promise<Export> {
  let shown = await order(service, compression)
  while (shown.status !== 'COMPLETE') {
    await sleep(100)
    shown = await ask<Export>(service, 'GET', `/exports/${shown.export_id}`)
  }
  return shown
}

async function start(): Promise<{ service: Service; ports: Ports }> {
  const [grpc, syslog, relp, gelf, forward] = [await freePort(), await freePort(), await freePort(), await freePort(), await freePort()]
  const at = (protocol: string, port: number): string => `${protocol}://127.0.0.1:${port}?key=${KEY}`
  const listeners = [
    at('otlp-grpc+tcp', grpc),
    at('syslog+tcp', syslog),
    at('relp+tcp', relp),
    at('gelf+tcp', gelf),
    at('forward+tcp', forward),
  ]
  const service = await untilUp(startService(dir, { DENDRO_BOOTSTRAP_API_KEY: KEY, DENDRO_LISTENERS: listeners.join(' ') }))
  return { service, ports: { http: Number(new URL(service.url).port), grpc, syslog, relp, gelf, forward } }
}

async function stopped({ child }: Service): Promise<{ status: number; isLate: boolean }> {
  const startedMs = performance.now()
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const [status] = await exit
  return { status: Number(status), isLate: performance.now() - startedMs > STOP_MS_MAX }
}

test('a service stops within ten seconds with status 0, and writes all counts, whatever it is used for', async () => {
  let { service, ports } = await start()
  for (let at = 0; at < EVENTS; at += POST_EVENTS) {
    const lines = Array.from({ length: POST_EVENTS }, (_, n) => JSON.stringify({ message: `event ${at + n} ${PADDING}` }))
    await ask(service, 'POST', '/ingest', lines.join('\n'))
  }
  for (const use of Object.values(uses)) await use(service, ports)
  const result = await stopped(service)
  expect(result).toMatchObject({ status: 0, isLate: false })
  // Uploads that the stop cuts off count as refused.
  expect(complaintsOf(service).filter((line) => !line.includes('posts are refused') && !line.includes('event engine log'))).toEqual([])
  for (const socket of sockets) socket.destroy()

  ;({ service, ports } = await start())
  // The recount at a start would find events that the stop had left out of the ledger.
  const ledger = () => ask<ReplyOf<typeof contract.ledger.get>>(service, 'GET', '/ledger')
  await expect.poll(ledger).toMatchObject({ is_recount_pending: false, totals: { balances: true, recounted: 0 } })
  await stopped(service)
})
