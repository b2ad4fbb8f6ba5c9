import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { LOCAL_CERTIFICATE as cert, LOCAL_PRIVATE_KEY as key } from '../../server/src/kernel/certificates.fixture.ts'
import { makeServiceDatabase, type TestDatabase } from '../../server/src/meta/database.fixture.ts'
import { ended, killServices, startService, untilUp } from '../support/service.ts'

const KEY = 'dk_otter-7-bridges-and-a-basket-of-figs'
/** The first bytes of a client of PostgreSQL that wants TLS: a length of eight, and the number of the request. */
const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

const run = promisify(execFile)
let dir = ''
let database: TestDatabase
/** What speaks TLS in front of the stores of the tests, which do not. */
const fronts: Server[] = []

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dendro-tls-journey-'))
  await writeFile(join(dir, 'tls.crt'), cert)
  await writeFile(join(dir, 'tls.key'), key)
  database = await makeServiceDatabase(inject('stores'))
})
afterEach(killServices)
afterAll(async () => {
  for (const front of fronts) front.close()
  await database.drop()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const relay = (outer: Socket, target: NetConnectOpts): void => {
  const inner = connect(target)
  pipeline(outer, inner, outer, () => undefined)
}

async function listening(front: Server): Promise<number> {
  fronts.push(front)
  await once(front.listen(0, '127.0.0.1'), 'listening')
  const address = front.address()
  return typeof address === 'object' && address ? address.port : 0
}

/** The event store by HTTPS. */
function eventsByTls(): Promise<number> {
  const { hostname, port } = new URL(inject('stores').events)
  return listening(createTlsServer({ cert, key }, (socket) => relay(socket, { host: hostname, port: Number(port) })))
}

/** The metadata store, where a client first asks for TLS in the clear. */
function metadataByTls(): Promise<number> {
  const url = new URL(database.url)
  const path = url.searchParams.get('host')
  const target = path ? { path: join(path, `.s.PGSQL.${url.port || 5432}`) } : { host: url.hostname, port: Number(url.port || 5432) }
  const front = createServer(async (socket) => {
    socket.on('error', () => undefined)
    const [first] = (await once(socket, 'data')) as [Buffer]
    if (!first.equals(TLS_REQUEST)) return socket.destroy()
    socket.pause()
    socket.write('S')
    return relay(new TLSSocket(socket, { isServer: true, cert, key }), target)
  })
  return listening(front)
}

async function settings(): Promise<Record<string, string>> {
  const { events, masterKey } = inject('stores')
  const [store, meta] = [new URL(events), new URL(database.url)]
  store.protocol = 'https:'
  const login = store.username ? `${store.username}:${store.password}@` : ''
  return {
    DENDRO_CLICKHOUSE_URL: `https://${login}127.0.0.1:${await eventsByTls()}${store.pathname}${store.search}`,
    DENDRO_POSTGRES_URL: `postgres://${meta.username || 'postgres'}@127.0.0.1:${await metadataByTls()}${meta.pathname}?sslmode=verify-full`,
    DENDRO_MASTER_KEY: masterKey,
    DENDRO_JWT_SECRET: masterKey,
    DENDRO_BOOTSTRAP_API_KEY: KEY,
    DENDRO_TLS_CERT: join(dir, 'tls.crt'),
    DENDRO_TLS_KEY: join(dir, 'tls.key'),
  }
}

test('both stores and the port speak TLS, with an authority of its own', async () => {
  const env = { ...(await settings()), NODE_EXTRA_CA_CERTS: join(dir, 'tls.crt') }
  const service = await untilUp(startService(dir, env))
  expect(service.url).toMatch(/^https:/)
  const asClient = { ...process.env, NODE_EXTRA_CA_CERTS: join(dir, 'tls.crt'), KEY, URL: service.url }
  const client = `
    const ask = async (path, init) => (await fetch(process.env.URL + path, { ...init, headers: { 'x-service-api-key': process.env.KEY, ...init?.headers } })).text()
    await ask('/ingest', { method: 'POST', body: '{"message":"by tls"}', headers: { 'content-type': 'application/json' } })
    console.log(await ask('/search?from_expr=*'))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', client], { env: asClient })
  expect(stdout).toContain('by tls')
})

test('a store whose certificate nobody vouches for is not used', async () => {
  const { status, complained } = await ended(startService(dir, await settings()))
  expect([status, complained]).toEqual([1, expect.stringMatching(/certificate/)])
})
