import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Export, SearchResponse } from '@dendro/api'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Engines, makeEngines } from '../../server/src/events/store/engine.fixture.ts'
import { makeServiceDatabase, type TestDatabase } from '../../server/src/meta/database.fixture.ts'
import { killServices, type Service, startService, statusOf, stop, until, untilUp } from '../support/service.ts'

const secret = randomBytes(32).toString('hex')
const headers = { 'x-service-api-key': `dk_${secret}`, 'content-type': 'application/json' }

let engines: Engines
let database: TestDatabase
let root: string
let env: Record<string, string>
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'dendro-roles-'))
  engines = makeEngines()
  const store = await engines.open(await engines.madeDir())
  database = await makeServiceDatabase(inject('stores'))
  env = {
    DENDRO_CLICKHOUSE_URL: store.url,
    DENDRO_POSTGRES_URL: database.url,
    DENDRO_MASTER_KEY: secret,
    DENDRO_JWT_SECRET: secret,
    DENDRO_BOOTSTRAP_API_KEY: `dk_${secret}`,
    DENDRO_RATE_LIMIT: 'off',
    DENDRO_EXPORT_URL: `file://${join(root, 'exports')}`,
  }
})
afterAll(async () => {
  await killServices()
  await database?.drop()
  await engines?.cleanUp()
  await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const start = (roles: string, more: Record<string, string> = {}): Promise<Service> =>
  untilUp(startService(join(root, roles), { ...env, DENDRO_ROLES: roles, ...more }))

const ask = (service: Service, path: string, body?: object): Promise<Response> =>
  fetch(service.url + path, { method: body ? 'POST' : 'GET', headers, ...(body ? { body: JSON.stringify(body) } : {}) })

const read = async <T>(service: Service, path: string, body?: object): Promise<T> => (await ask(service, path, body)).json() as Promise<T>

test('three processes with one role each do together what one does, and refuse what is not theirs', async () => {
  const ingest = await start('ingest')
  const sent = await ask(ingest, '/ingest', { message: 'hello' })
  expect(sent.status).toBe(200)
  const refused = await ask(ingest, '/datasets')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.any(String)])
  expect(await refused.json()).toMatchObject({ details: expect.stringContaining('the role api') })

  const api = await start('api')
  expect((await ask(api, '/ingest', { message: 'elsewhere' })).status).toBe(503)
  expect((await ask(api, '/services/collector/event', { event: 'elsewhere' })).status).toBe(503)
  const searched = { from_expr: '*', time_range: 'Last 1 hour' }
  expect(await read<SearchResponse>(api, '/search', { ...searched, select: ['*'] })).toMatchObject({ events: [{}] })
  const { export_id } = await read<Export>(api, '/exports', { search_details: searched })
  const current = (): Promise<Export> => read(api, `/exports/${export_id}`)
  expect(await current()).toMatchObject({ status: 'CREATED' })

  const work = await start('work')
  expect((await ask(work, '/ingest', { message: 'elsewhere' })).status).toBe(503)
  expect((await ask(work, '/datasets')).status).toBe(503)
  await until(async () => (await current()).status === 'COMPLETE')
  expect(await current()).toMatchObject({ events: 1 })

  for (const service of [ingest, api, work]) {
    for (const path of ['/live', '/ready']) expect([path, await statusOf(service.url + path)]).toEqual([path, 200])
    for (const path of ['/health', '/metrics']) expect([path, await statusOf(service.url + path, headers)]).toEqual([path, 200])
    expect(await stop(service.child, 'SIGTERM')).toBe(0)
  }
})

test.each(['api,ingest', 'api,work', 'ingest,work'])('a process with the roles %s starts alone and is ready', async (roles) => {
  const service = await start(roles)
  for (const path of ['/live', '/ready']) expect([path, await statusOf(service.url + path)]).toEqual([path, 200])
  expect(await stop(service.child, 'SIGTERM')).toBe(0)
})

test('a process that is asked to stop is not ready, and serves requests until its time is over', async () => {
  const service = await start('api,ingest,work', { DENDRO_DRAIN_TIME: '6s' })
  expect(await statusOf(`${service.url}/ready`)).toBe(200)
  const stopped = stop(service.child, 'SIGTERM')
  await until(async () => (await statusOf(`${service.url}/ready`)) === 503)
  expect([await statusOf(`${service.url}/live`), (await ask(service, '/ingest', { message: 'late' })).status]).toEqual([200, 200])
  expect(await stopped).toBe(0)
  expect(await statusOf(`${service.url}/live`)).toBe(0)
})
