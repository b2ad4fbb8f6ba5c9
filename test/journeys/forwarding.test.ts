import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { buildApp } from 'fauxqs'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { copyMadeStores, killServices, type Service, startService, stop, until, untilUp } from '../support/service.ts'

const KEY = 'dk_kestrel-5-lanterns-and-a-wheel-of-cheese'
const EVENTS = 12_000
const POST_EVENTS = 1_500

const dir = await mkdtemp(join(tmpdir(), 'dendro-forwarding-'))
const bucket = buildApp({ logger: false })
let endpoint = ''
let proxy: Proxy

/** Stands before the bucket and waits for `gate`. `onStored` runs after an object is stored and before the service gets the answer. */
type Proxy = {
  server: Server
  url: string
  gate: Promise<void>
  stored: number
  onStored: () => Promise<void> | undefined
  isDown: boolean
}

async function openProxy(): Promise<Proxy> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    await self.gate
    if (self.isDown) return void response.destroy()
    const { method = 'GET', url = '/' } = request
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    for (const name of ['connection', 'content-length', 'host', 'expect']) delete headers[name]
    const answer = await fetch(endpoint + url, { method, headers, ...(method === 'PUT' ? { body: Buffer.concat(parts) } : {}) })
    const text = await answer.text()
    if (method === 'PUT' && answer.ok) {
      self.stored += 1
      await self.onStored()
    }
    response.writeHead(answer.status).end(text)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const self: Proxy = {
    server,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    gate: Promise.resolve(),
    stored: 0,
    onStored: () => undefined,
    isDown: false,
  }
  return self
}

beforeAll(async () => {
  endpoint = await bucket.listen({ port: 0, host: '127.0.0.1' })
  expect((await fetch(`${endpoint}/archive`, { method: 'PUT' })).status).toBe(200)
  proxy = await openProxy()
  await copyMadeStores(dir)
})
afterEach(killServices)
afterAll(async () => {
  proxy.server.close()
  await bucket.close()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const start = (): Promise<Service> =>
  untilUp(startService(dir, { DENDRO_BOOTSTRAP_API_KEY: KEY, DENDRO_FORWARD_URL: `s3://key:secret@archive/logs?endpoint=${proxy.url}` }))

async function ask<T>({ url }: Service, method: string, path: string, body?: string): Promise<T> {
  const headers = { 'x-service-api-key': KEY, 'content-type': path === '/' ? 'application/x-ndjson' : 'application/json' }
  const answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (answer.status === 204 ? undefined : await answer.json()) as T
}

/** The numbers of all events in the bucket. */
async function numbersInBucket(): Promise<number[]> {
  const numbers: number[] = []
  const listing = await (await fetch(`${endpoint}/archive?list-type=2`)).text()
  for (const [, key = ''] of listing.matchAll(/<Key>([^<]+)<\/Key>/g)) {
    const bytes = Buffer.from(await (await fetch(`${endpoint}/archive/${key}`)).arrayBuffer())
    for (const line of gunzipSync(bytes).toString().split('\n').slice(0, -1)) numbers.push(JSON.parse(line).n)
  }
  return numbers
}

const config = {
  name: 'archive',
  all_logs: false,
  compression: 'GZIP',
  max_payload_size_events: 1_000,
  max_buffer_time_ms: 86_400_000,
  destination: { destination_type: 'S3', bucket: 'archive' },
}

async function send(service: Service, first: number): Promise<void> {
  const lines = Array.from({ length: POST_EVENTS }, (_, index) => `{"n":${first + index},"message":"sold"}`)
  await ask(service, 'POST', '/', lines.join('\n'))
}

test('a service that is killed after it stored an object, stopped, and cut off from the bucket leaves each event there exactly once', async () => {
  let service = await start()
  const { datasets } = await ask<{ datasets: { id: string; dataset: string }[] }>(service, 'GET', '/datasets')
  const log_ids = datasets.filter(({ dataset }) => dataset === 'default').map((one) => one.id)
  const { id } = await ask<{ id: string }>(service, 'POST', '/forward-configs', JSON.stringify({ ...config, log_ids }))
  let sent = 0
  for (const signal of ['SIGKILL', 'SIGKILL', 'SIGTERM'] as const) {
    const { child } = service
    const [killed, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    proxy.gate = gate.promise
    for (const _ of [1, 2]) {
      await send(service, sent)
      sent += POST_EVENTS
    }
    const from = proxy.stored
    proxy.onStored = async () => {
      if (proxy.stored !== from + 2) return
      await stop(child, signal)
      killed.resolve()
    }
    gate.resolve()
    await killed.promise
    proxy.onStored = () => undefined
    service = await start()
  }
  proxy.isDown = true
  for (; sent < EVENTS; sent += POST_EVENTS) await send(service, sent)
  type Listed = { 'forward-configs': { delivery: { status: string; waiting_events?: number } }[] }
  await until(async () => (await ask<Listed>(service, 'GET', '/forward-configs'))['forward-configs'][0]?.delivery.status === 'DELAYED')
  proxy.isDown = false
  await ask(service, 'DELETE', `/forward-configs/${id}`)
  await until(async () => (await numbersInBucket()).length >= EVENTS)
  const numbers = await numbersInBucket()
  expect(numbers.toSorted((a, b) => a - b)).toEqual(Array.from({ length: EVENTS }, (_, n) => n))
}, 400_000)
