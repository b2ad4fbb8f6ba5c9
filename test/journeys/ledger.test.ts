import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Engines, makeEngines } from '../../server/src/events/store/engine.fixture.ts'
import { makeServiceDatabase, type TestDatabase } from '../../server/src/meta/database.fixture.ts'
import { clientConfig } from '../../server/src/meta/driver.ts'
import { killServices, type Service, startService, stop, untilUp } from '../support/service.ts'

/** The ledger of a deployment of two processes of which one is killed. */
const secret = randomBytes(32).toString('hex')
const KEY = `dk_${secret}`

let engines: Engines
let database: TestDatabase
let client: pg.Client
let env: Record<string, string>
const dirs: string[] = []

beforeAll(async () => {
  engines = makeEngines()
  const store = await engines.open(await engines.madeDir())
  database = await makeServiceDatabase(inject('stores'))
  client = new pg.Client(clientConfig({ connectionString: database.url }))
  await client.connect()
  env = {
    DENDRO_CLICKHOUSE_URL: store.url,
    DENDRO_POSTGRES_URL: database.url,
    DENDRO_MASTER_KEY: secret,
    DENDRO_JWT_SECRET: secret,
    DENDRO_BOOTSTRAP_API_KEY: KEY,
    DENDRO_MEMORY: '1G',
    DENDRO_EXPORT_URL: `file://${await newDir()}`,
  }
})
afterAll(async () => {
  await killServices()
  await client?.end()
  await database?.drop()
  await engines?.cleanUp()
  for (const dir of dirs) await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function newDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'dendro-ledger-'))
  dirs.push(dir)
  return dir
}

const headers = { 'x-service-api-key': KEY }
const ledgerOf = async ({ url }: Service) =>
  (await (await fetch(`${url}/ledger`, { headers })).json()) as {
    is_recount_pending: boolean
    totals: { stored: number; balances: boolean }
  }
const processes = async (): Promise<string[]> =>
  (await client.query<{ id: string }>('select id from ledger_processes')).rows.map(({ id }) => id)

test('a process reports an inexact ledger after another was killed, and not after one was stopped', async () => {
  const survivor = await untilUp(startService(await newDir(), env))
  const [own] = await processes()
  const killed = await untilUp(startService(await newDir(), env))
  const [other] = (await processes()).filter((id) => id !== own)
  await expect.poll(async () => (await ledgerOf(survivor)).is_recount_pending, { timeout: 240_000 }).toBe(false)
  const sent = await fetch(`${killed.url}/ingest`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-ndjson' },
    body: '{"n":1}',
  })
  expect(sent.status).toBe(200)
  await stop(killed.child, 'SIGKILL')
  expect((await processes()).toSorted()).toEqual([own, other].toSorted())
  // The lease runs out, as it does by itself after a while.
  await client.query('update ledger_processes set alive_until = 0 where id = $1', [other])
  expect(await ledgerOf(survivor)).toMatchObject({ is_recount_pending: true, totals: { balances: false } })
  await client.query('delete from ledger_processes where id = $1', [other])
  const stopped = await untilUp(startService(await newDir(), env))
  expect(await processes()).toHaveLength(2)
  await stop(stopped.child, 'SIGTERM')
  expect(await processes()).toEqual([own])
})
