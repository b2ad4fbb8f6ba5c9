import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { ask as askStore, type Engines, makeEngines } from '../../server/src/events/store/engine.fixture.ts'
import type { EventStore } from '../../server/src/events/store/events.ts'
import { eventsTables } from '../../server/src/lines/layout/table.ts'
import { makeServiceDatabase, type TestDatabase } from '../../server/src/meta/database.fixture.ts'
import { openRoundRobin, type RoundRobin } from '../support/round-robin.ts'
import { freePort, killServices, type Service, startService, stop, untilUp } from '../support/service.ts'

const ROUNDS = Number(process.env.DENDRO_TEST_RESTARTS ?? 1)
const IS_STRICT = process.env.DENDRO_TEST_RESTARTS !== undefined
const PROCESSES = 3
const SENDERS = 8
const SEARCHERS = 3
const POST_EVENTS = 5
const PAUSE_MS = 20
const RESTART_PAUSE_MS = 500
const STOP_MS_MAX = 10_000
/** An event that the tail does not show within this time counts as missed. */
const TAIL_MS_MAX = 60_000
const secret = randomBytes(32).toString('hex')
const KEY = `dk_${secret}`

let engines: Engines
let store: EventStore
let database: TestDatabase
let proxy: RoundRobin
let env: Record<string, string>
const dirs: string[] = []
const ports: number[] = []
const services: Service[] = []

beforeAll(async () => {
  engines = makeEngines()
  store = await engines.open(await engines.madeDir())
  database = await makeServiceDatabase(inject('stores'))
  env = {
    DENDRO_CLICKHOUSE_URL: store.url,
    DENDRO_POSTGRES_URL: database.url,
    DENDRO_MASTER_KEY: secret,
    DENDRO_JWT_SECRET: secret,
    DENDRO_BOOTSTRAP_API_KEY: KEY,
    DENDRO_RATE_LIMIT: 'off',
    DENDRO_MEMORY: '1G',
    DENDRO_EXPORT_URL: `file://${await newDir()}`,
  }
  for (let n = 0; n < PROCESSES; n += 1) {
    ports.push(await freePort())
    services.push(await start(n, await newDir()))
  }
  proxy = await openRoundRobin(ports)
})
afterAll(async () => {
  await proxy?.close()
  await killServices()
  await database?.drop()
  await engines?.cleanUp()
  for (const dir of dirs) await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function newDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'dendro-rolling-'))
  dirs.push(dir)
  return dir
}

const start = (n: number, dir: string): Promise<Service> => untilUp(startService(dir, { ...env, DENDRO_PORT: String(ports[n]) }))

const faults: string[] = []
const brokenConnections: string[] = []
const acknowledged = new Set<string>()
const seen: string[] = []
let isOver = false

/** Sends a request until it is answered; only a 503 that says when to come again may be repeated. */
async function ask(method: string, path: string, body: string, headers: Record<string, string> = {}): Promise<unknown> {
  for (;;) {
    const answer = await fetch(proxy.url + path, {
      method,
      body,
      headers: { 'x-service-api-key': KEY, 'content-type': 'application/json', ...headers },
    })
    const text = await answer.text()
    if (answer.ok) return JSON.parse(text)
    if (answer.status !== 503 || answer.headers.get('retry-after') === null) {
      faults.push(`${method} ${path}: ${answer.status} ${text}`)
      return undefined
    }
    await sleep(100)
  }
}

/** Repeats a request whose connection broke. */
async function insist(method: string, path: string, body: string, headers?: Record<string, string>): Promise<unknown> {
  for (;;) {
    try {
      return await ask(method, path, body, headers)
    } catch (cause) {
      brokenConnections.push(`${method} ${path}: ${String((cause as Error).cause ?? cause)}`)
      await sleep(100)
    }
  }
}

async function sendEvents(sender: number): Promise<void> {
  for (let post = 0; !isOver; post += 1) {
    const messages = Array.from({ length: POST_EVENTS }, (_, n) => `event ${sender}.${post}.${n}`)
    const body = messages.map((message) => JSON.stringify({ message })).join('\n')
    const answer = await insist('POST', '/ingest', body, { 'idempotency-key': randomUUID(), 'x-service-dataset': 'web' })
    if (answer !== undefined) for (const message of messages) acknowledged.add(message)
    await sleep(PAUSE_MS)
  }
}

async function search(): Promise<void> {
  while (!isOver) {
    const body = JSON.stringify({ from_expr: '*', select: ['count(*)'], time_range: 'Last 1 hour' })
    await insist('POST', '/search', body)
    await sleep(PAUSE_MS)
  }
}

/** Follows the tail as a browser does: it connects again after each end, with the id of the last event. */
async function tail(job: string, until: () => boolean): Promise<void> {
  let last: string | undefined
  while (!until()) {
    try {
      const headers = { 'x-service-api-key': KEY, ...(last === undefined ? {} : { 'last-event-id': last }) }
      const response = await fetch(`${proxy.url}/live-tail/stream?job_id=${job}`, { headers })
      if (response.status !== 200) {
        if (response.status !== 503) faults.push(`the stream: ${response.status} ${await response.text()}`)
        await sleep(100)
        continue
      }
      let text = ''
      for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
        text += chunk
        const messages = text.split('\n\n')
        text = messages.pop() ?? ''
        for (const message of messages) {
          const [, id, data] = /^id: (\S+)\ndata: (.*)$/s.exec(message) ?? []
          if (id === undefined || data === undefined) continue
          last = id
          seen.push(JSON.parse(data).message_kvs.message)
        }
        if (until()) break
      }
    } catch (cause) {
      brokenConnections.push(`the stream: ${String((cause as Error).cause ?? cause)}`)
      await sleep(100)
    }
  }
}

test(`${ROUNDS} rolling restarts of ${PROCESSES} processes behind a proxy lose, double and refuse nothing`, async () => {
  const { id } = (await insist('POST', '/datasets', '{"collection":"default","dataset":"web"}')) as { id: string }
  const { job_id } = (await insist('POST', '/live-tail', '{"from_expr":"*"}')) as { job_id: string }
  let isAllSent = false
  const isSeen = (): boolean => isAllSent && new Set(seen).isSupersetOf(acknowledged)
  let isGivenUp = false
  const tailing = tail(job_id, () => isSeen() || isGivenUp)
  const load = [...Array.from({ length: SENDERS }, (_, n) => sendEvents(n)), ...Array.from({ length: SEARCHERS }, search)]
  const stopsMs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [n, service] of services.entries()) {
      await sleep(RESTART_PAUSE_MS)
      const startedMs = performance.now()
      const status = await stop(service.child, 'SIGTERM')
      stopsMs.push(Math.round(performance.now() - startedMs))
      if (status !== 0) faults.push(`a process ended with status ${status}: ${service.complained()}`)
      services[n] = await start(n, dirs[n + 1] ?? '')
    }
  }
  await sleep(RESTART_PAUSE_MS)
  isOver = true
  await Promise.all(load)
  isAllSent = true
  const late = setTimeout(() => {
    isGivenUp = true
  }, TAIL_MS_MAX)
  await tailing
  clearTimeout(late)
  const stored = await askStore<{ events: number; numbers: number }>(
    store.writer,
    `select toUInt32(count()) as events, toUInt32(uniqExact(seq)) as numbers from (
       ${eventsTables.map((table) => `select seq, log_id from ${table}`).join(' union all ')}) where log_id = '${id}'`,
  )
  const missed = acknowledged.difference(new Set(seen))
  expect(faults).toEqual([])
  expect(stored).toEqual([{ events: acknowledged.size, numbers: acknowledged.size }])
  expect([...missed]).toEqual([])
  expect(seen).toHaveLength(acknowledged.size)
  expect(Math.max(...stopsMs)).toBeLessThan(STOP_MS_MAX)
  // On a busy machine a connection may still arrive just as its process ends. The nightly run shows it.
  if (IS_STRICT) expect([...brokenConnections, ...proxy.broken]).toEqual([])
})
