import { randomInt, randomUUID } from 'node:crypto'
import pg from 'pg'
import { systemClock } from '../kernel/clock.ts'
import { systemIds } from '../kernel/ids.ts'
import { type Logger, openLogger } from '../kernel/log.ts'
import { clientConfig } from './driver.ts'
import { type Meta, type MetaDeps, openMeta } from './meta.ts'

/** An empty database for one test file, on the shared server or on the one that DENDRO_TEST_POSTGRES_URL names. */
export type TestDatabase = { url: string; open(): Promise<Meta>; drop(): Promise<void> }

export const silent: Logger = openLogger('silent')
export const testDeps: MetaDeps = { clock: systemClock, ids: systemIds, log: silent }

export async function makeTestDatabase(serverUrl: string): Promise<TestDatabase> {
  const name = `dendro_test_${randomUUID().replaceAll('-', '')}`
  await administer(serverUrl, `create database ${name}`)
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
    drop: async () => {
      for (const meta of opened) await meta.close()
      await administer(serverUrl, `drop database ${name} with (force)`)
    },
  }
}

/**
 * Creates a database for a whole service on the shared event store. Events there belong to organization numbers, so the numbers of this
 * database begin where no other database has any.
 */
export async function makeServiceDatabase(serverUrl: string): Promise<TestDatabase> {
  const database = await makeTestDatabase(serverUrl)
  await database.open()
  await administer(database.url, `alter table organisations alter column number restart with ${randomInt(1_000_000, 2_000_000_000)}`)
  return database
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new pg.Client(clientConfig({ connectionString: url }))
  await client.connect()
  await client.query(statement)
  await client.end()
}
