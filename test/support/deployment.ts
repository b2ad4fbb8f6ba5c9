import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { inject } from 'vitest'
import { MEMORY_BYTES, makeEngines, testDeps } from '../../server/src/events/store/engine.fixture.ts'
import { type EventStore, openEventStore } from '../../server/src/events/store/events.ts'
import { freePort } from '../../server/src/kernel/free-port.fixture.ts'
import { makeServiceDatabase } from '../../server/src/meta/database.fixture.ts'
import { clientConfig } from '../../server/src/meta/driver.ts'
import { type BadNetwork, startBadNetwork } from '../journeys/writer-bad-network.ts'
import { openRoundRobin } from './round-robin.ts'
import { killServices, type Service, startService, stop, untilUp } from './service.ts'

/** One process of the service; `network` lies between it and the event store. */
export type DeployedProcess = { roles: string; service: Service; readonly network: BadNetwork; readonly start: () => Promise<void> }

/** Processes of the service on one event store and one PostgreSQL database, behind a proxy that takes the next process for each request. */
export type Deployment = {
  url: string
  key: string
  store: EventStore
  database: pg.Client
  exportDir: string
  processes: readonly DeployedProcess[]
  close(): Promise<void>
}

/** EVENT_STORE is the address of a server or a cluster that the processes use instead of an engine of the test. */
const EVENT_STORE = process.env.DENDRO_TEST_EVENT_STORE

export async function openDeployment(rolesOf: readonly string[], more: Record<string, string> = {}): Promise<Deployment> {
  const secret = randomBytes(32).toString('hex')
  const key = `dk_${secret}`
  const root = await mkdtemp(join(tmpdir(), 'dendro-deployment-'))
  const engines = makeEngines()
  const store =
    EVENT_STORE === undefined
      ? await engines.open(await engines.madeDir())
      : await openEventStore({ url: EVENT_STORE, dataDir: '', memoryBytes: MEMORY_BYTES }, testDeps)
  const database = await makeServiceDatabase(inject('stores'))
  const client = new pg.Client(clientConfig({ connectionString: database.url }))
  await client.connect()
  const exportDir = join(root, 'exports')
  const processes: DeployedProcess[] = []
  const ports: number[] = []
  for (const [n, roles] of rolesOf.entries()) {
    const [network, port] = [await startBadNetwork(Number(new URL(store.url).port)), await freePort()]
    const env = {
      DENDRO_CLICKHOUSE_URL: network.url(store.url),
      DENDRO_POSTGRES_URL: database.url,
      DENDRO_MASTER_KEY: secret,
      DENDRO_JWT_SECRET: secret,
      DENDRO_BOOTSTRAP_API_KEY: key,
      DENDRO_RATE_LIMIT: 'off',
      DENDRO_MEMORY: '1G',
      DENDRO_EXPORT_URL: `file://${exportDir}`,
      DENDRO_PORT: String(port),
      ...more,
    }
    const run = (): Promise<Service> => untilUp(startService(join(root, `process ${n}`), { ...env, DENDRO_ROLES: own.roles }))
    const own: DeployedProcess = {
      roles,
      network,
      service: undefined as unknown as Service,
      start: async () => {
        own.service = await run()
      },
    }
    await own.start()
    processes.push(own)
    ports.push(port)
  }
  const proxy = await openRoundRobin(ports)
  return {
    url: proxy.url,
    key,
    store,
    database: client,
    exportDir,
    processes,
    close: async () => {
      await proxy.close()
      await killServices()
      for (const { network } of processes) await network.close()
      await client.end()
      await database.drop()
      if (EVENT_STORE !== undefined) await store.close()
      await engines.cleanUp()
      await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    },
  }
}

/** Asks a process to stop and starts it again. Returns why it did not stop well. */
export async function restart({ service, start }: DeployedProcess): Promise<string | undefined> {
  const status = await stop(service.child, 'SIGTERM')
  await start()
  return status === 0 ? undefined : `a process ended with status ${status}: ${service.complained()}`
}
