import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { ask as askStore, type Engines, makeEngines } from '../../server/src/events/store/engine.fixture.ts'
import type { EventStore } from '../../server/src/events/store/events.ts'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { eventsTables } from '../../server/src/lines/layout/table.ts'
import { makeServiceDatabase, type TestDatabase } from '../../server/src/meta/database.fixture.ts'
import { type InsistentClient, openInsistentClient, sendEvents } from '../support/insistent-client.ts'
import { openRoundRobin, type RoundRobin } from '../support/round-robin.ts'
import { killServices, type Service, startService, stop, untilUp } from '../support/service.ts'

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
  client = openInsistentClient(proxy.url, KEY)
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

let client: InsistentClient
const acknowledged = new Set<string>()
const seen: string[] = []
let isOver = false

const send = (sender: number) => sendEvents(client, { sender, postEvents: POST_EVENTS, pauseMs: PAUSE_MS }, acknowledged, () => isOver)

async function search(): Promise<void> {
  while (!isOver) {
    const body = JSON.stringify({ from_expr: '*', select: ['count(*)'], time_range: 'Last 1 hour' })
    await client.insist('POST', '/search', body)
    await sleep(PAUSE_MS)
  }
}

test(`${ROUNDS} rolling restarts of ${PROCESSES} processes behind a proxy lose, double and refuse nothing`, async () => {
  const { id } = (await client.insist('POST', '/datasets', '{"collection":"default","dataset":"web"}')) as { id: string }
  const { job_id } = (await client.insist('POST', '/live-tail', '{"from_expr":"*"}')) as { job_id: string }
  let isAllSent = false
  const isSeen = (): boolean => isAllSent && new Set(seen).isSupersetOf(acknowledged)
  let isGivenUp = false
  const tailing = client.follow(
    job_id,
    (event) => seen.push(event.message_kvs.message),
    () => isSeen() || isGivenUp,
  )
  const load = [...Array.from({ length: SENDERS }, (_, n) => send(n)), ...Array.from({ length: SEARCHERS }, search)]
  const stopsMs: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [n, service] of services.entries()) {
      await sleep(RESTART_PAUSE_MS)
      const startedMs = performance.now()
      const status = await stop(service.child, 'SIGTERM')
      stopsMs.push(Math.round(performance.now() - startedMs))
      if (status !== 0) client.faults.push(`a process ended with status ${status}: ${service.complained()}`)
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
  expect(client.faults).toEqual([])
  expect(stored).toEqual([{ events: acknowledged.size, numbers: acknowledged.size }])
  expect([...missed]).toEqual([])
  expect(seen).toHaveLength(acknowledged.size)
  // On a busy machine a process takes longer to stop, and a connection may still arrive just as it ends. The nightly run shows both.
  if (!IS_STRICT) return
  expect(Math.max(...stopsMs)).toBeLessThan(STOP_MS_MAX)
  expect([...client.broken, ...proxy.broken]).toEqual([])
})
