import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Monitor, SearchResponse } from '@dendro/api'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { ask as askStore, type Engines, makeEngines } from '../../server/src/events/store/engine.fixture.ts'
import { makeTestDatabase, type TestDatabase } from '../../server/src/meta/database.fixture.ts'
import { type PreviousRelease, takePreviousRelease } from '../support/previous-release.ts'
import { killServices, type Service, startProgram, startService, stop, untilUp } from '../support/service.ts'

/** The code of the last release and that of now take turns on one deployment. */
const taken = await takePreviousRelease()
const previous: PreviousRelease | undefined = typeof taken === 'string' ? undefined : taken
if (typeof taken === 'string') process.stderr.write(`UPGRADES WERE NOT TESTED: ${taken}\n`)

const secret = randomBytes(32).toString('hex')
const KEY = `dk_${secret}`
const headers = { 'x-service-api-key': KEY, 'content-type': 'application/json' }
const common = { DENDRO_BOOTSTRAP_API_KEY: KEY, DENDRO_RATE_LIMIT: 'off', DENDRO_MEMORY: '1G' }

let root: string
let engines: Engines
let database: TestDatabase | undefined
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dendro-upgrades-'))
  engines = makeEngines()
})
afterAll(async () => {
  await killServices()
  await database?.drop()
  await engines?.cleanUp()
  await previous?.remove()
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const startOld = (dir: string, env: Record<string, string>): Promise<Service> =>
  untilUp(startProgram(dir, env, [process.execPath, previous?.main ?? '', 'start']))
const startNew = (dir: string, env: Record<string, string>): Promise<Service> => untilUp(startService(dir, env))

async function ask<T>({ url }: Service, method: string, path: string, body?: object, more: Record<string, string> = {}): Promise<T> {
  const answer = await fetch(url + path, { method, headers: { ...headers, ...more }, ...(body ? { body: JSON.stringify(body) } : {}) })
  const text = await answer.text()
  expect([method, path, answer.status, answer.ok ? '' : text]).toEqual([method, path, answer.ok ? answer.status : 200, ''])
  return JSON.parse(text) as T
}

/** Sends an event with an idempotency key, twice, as a sender does that lost the first answer. */
async function send(service: Service, name: string, again = service): Promise<void> {
  const body = { message: `event ${name}`, name, level: 'error' }
  for (const to of [service, again]) await ask(to, 'POST', '/ingest', body, { 'idempotency-key': name, 'x-service-dataset': 'web' })
}

async function namesIn(service: Service): Promise<unknown[]> {
  const body = { from_expr: '*', where: "level = error and name LIKE '%'", select: ['name', '@raw'], time_range: 'Last 1 hour', limit: 100 }
  const { events } = await ask<SearchResponse>(service, 'POST', '/search', body)
  return events.map(({ message_kvs }) => message_kvs.name).sort()
}

const monitor = {
  name: 'Errors',
  comparison_operator: 'ABOVE',
  threshold: 1e9,
  window: 'Last 5 minutes',
  actions: [{ email: 'oncall@example.org' }],
  queries: [{ name: 'errors', select: ['count(*)'], from_expr: '*', where: 'level = error' }],
}

test.skipIf(previous === undefined)('one installation goes to this version, back to the last release, and here again', async () => {
  const dir = join(root, 'data')
  await mkdir(dir)
  const sent: string[] = []
  let monitors: string[] = []
  for (const [n, start] of [startOld, startNew, startOld, startNew].entries()) {
    const service = await start(dir, common)
    expect(await namesIn(service).catch((cause) => (n === 0 ? [] : Promise.reject(cause)))).toEqual(sent)
    const found = (await ask<{ monitors: Monitor[] }>(service, 'GET', '/monitors')).monitors.map(({ id }) => id)
    expect(found.toSorted()).toEqual(monitors)
    sent.push(`start ${n}`)
    await send(service, `start ${n}`)
    expect(await namesIn(service)).toEqual(sent)
    monitors = [...monitors, (await ask<Monitor>(service, 'POST', '/monitors', monitor)).id].sort()
    expect(await stop(service.child, 'SIGTERM')).toBe(0)
  }
})

test.skipIf(previous === undefined)(
  'processes of both versions share the stores, and an old one starts again beside a new one',
  async () => {
    const store = await engines.open(await engines.madeDir())
    database = await makeTestDatabase(inject('stores').meta)
    // The old version makes the tables.
    const tables = await askStore<{ name: string }>(store.writer, 'select name from system.tables where database = currentDatabase()')
    for (const { name } of tables) await store.writer.command({ query: `drop table ${name} sync` })
    const env = {
      ...common,
      DENDRO_CLICKHOUSE_URL: store.url,
      DENDRO_POSTGRES_URL: database.url,
      DENDRO_MASTER_KEY: secret,
      DENDRO_JWT_SECRET: secret,
      DENDRO_EXPORT_URL: `file://${join(root, 'exports')}`,
    }
    let old = await startOld(join(root, 'old'), env)
    await send(old, 'first')
    const fresh = await startNew(join(root, 'new'), env)
    await send(old, 'second', fresh)
    await send(fresh, 'third', old)
    for (const service of [old, fresh]) expect(await namesIn(service)).toEqual(['first', 'second', 'third'])
    expect(await stop(old.child, 'SIGTERM')).toBe(0)
    old = await startOld(join(root, 'old'), env)
    await send(fresh, 'fourth', old)
    await send(old, 'fifth', fresh)
    for (const service of [old, fresh]) expect(await namesIn(service)).toEqual(['fifth', 'first', 'fourth', 'second', 'third'])
  },
)
