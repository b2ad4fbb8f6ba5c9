import { randomInt, randomUUID } from 'node:crypto'
import pg from 'pg'
import { systemClock } from '../kernel/clock.ts'
import { systemIds } from '../kernel/ids.ts'
import { type Logger, openLogger } from '../kernel/log.ts'
import { copyMadeStore } from '../kernel/made-store.fixture.ts'
import { clientConfig } from './driver.ts'
import { type Meta, type MetaDeps, openMeta } from './meta.ts'

/** An empty database for one test file, on the shared server or on the one that DENDRO_TEST_POSTGRES_URL names. */
export type TestDatabase = { url: string; open(): Promise<Meta>; administer(statement: string): Promise<void>; drop(): Promise<void> }

export const silent: Logger = openLogger('silent')
export const testDeps: MetaDeps = { clock: systemClock, ids: systemIds, log: silent }

export async function makeTestDatabase(serverUrl: string, template = 'template1'): Promise<TestDatabase> {
  const name = `dendro_test_${randomUUID().replaceAll('-', '')}`
  await administer(serverUrl, `create database ${name} template ${template}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const opened: Meta[] = []
  return {
    url: url.href,
    open: async () => {
      const meta = await openMeta({ url: url.href, dataDir: 'not used' }, testDeps)
      opened.push(meta)
      return meta
    },
    administer: (statement) => administer(serverUrl, statement),
    drop: async () => {
      for (const meta of opened) await meta.close()
      await administer(serverUrl, `drop database ${name} with (force)`)
    },
  }
}

/** TestServer is the shared server with the name of its template: a database with our tables, which nobody is connected to. */
type TestServer = { meta: string; template: string }

/** Makes the template of a server, for one test run. */
export async function makeTemplate(serverUrl: string): Promise<{ template: string; drop(): Promise<void> }> {
  const database = await makeTestDatabase(serverUrl)
  const meta = await openMeta({ url: database.url, dataDir: 'not used' }, testDeps)
  await meta.close()
  return { template: new URL(database.url).pathname.slice(1), drop: database.drop }
}

/**
 * Creates a database for a whole service on the shared event store. Events there belong to organization numbers, so the numbers of this
 * database begin where no other database has any.
 */
export async function makeServiceDatabase({ meta, template }: TestServer): Promise<TestDatabase> {
  const database = await makeTestDatabase(meta, template)
  await administer(database.url, `alter table organisations alter column number restart with ${randomInt(1_000_000, 2_000_000_000)}`)
  return database
}

/** Fills a data directory with an empty embedded metadata store, as its first start leaves it. */
export const copyMadeMeta = (dataDir: string): Promise<void> =>
  copyMadeStore('meta', dataDir, async (made) => (await openMeta({ dataDir: made }, testDeps)).close())

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(clientConfig({ connectionString: url }))
  await client.connect()
  await client.query(statement)
  await client.end()
}
