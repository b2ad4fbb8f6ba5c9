import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, beforeEach, expect, inject, test } from 'vitest'
import { makeTestDatabase, type TestDatabase, testDeps } from './database.fixture.ts'
import { clientConfig } from './driver.ts'
import { appliedMigrations, migrate, migrationStatus } from './migrate.ts'

let database: TestDatabase
let dir: string
const clients: pg.Client[] = []

beforeEach(async () => {
  database = await makeTestDatabase(inject('stores').meta)
  dir = await mkdtemp(join(tmpdir(), 'dendro-migrations-'))
})
afterEach(async () => {
  for (const client of clients.splice(0)) await client.end()
  await database.drop()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function connect(): Promise<pg.Client> {
  const client = new pg.Client(clientConfig({ connectionString: database.url }))
  await client.connect()
  clients.push(client)
  return client
}

const file = (name: string, text: string) => writeFile(join(dir, name), text)

test('migrations run once in the order of their names, and other files are ignored', async () => {
  await file('0002-second.sql', 'insert into log values (2); insert into log values (22);')
  await file('0001-first.sql', 'create table log (n int); insert into log values (1)')
  await file('README.md', 'not SQL')
  const client = await connect()
  expect(await migrationStatus(client, dir)).toEqual({ pending: ['0001-first', '0002-second'], unknown: [] })
  await migrate(client, testDeps, { dir })
  await migrate(client, testDeps, { dir })
  expect((await client.query('select n from log order by n')).rows).toEqual([{ n: 1 }, { n: 2 }, { n: 22 }])
  expect(await migrationStatus(client, dir)).toEqual({ pending: [], unknown: [] })
})

test('two processes at once: one works, the other waits and finds nothing to do', async () => {
  await file('0001-first.sql', 'create table log (n int); insert into log values (1); select pg_sleep(0.2)')
  await file('0002-second.sql', 'insert into log values (2)')
  const [one, two, three] = await Promise.all([connect(), connect(), connect()])
  await Promise.all([migrate(one, testDeps, { dir }), migrate(two, testDeps, { dir }), migrate(three, testDeps, { dir })])
  expect((await one.query('select count(*) as count from log')).rows).toEqual([{ count: 2 }])
})

test('a failed migration is rolled back, earlier ones stay, and the next start continues from there', async () => {
  await file('0001-first.sql', 'create table log (n int)')
  await file('0002-second.sql', 'insert into log values (2); select 1 / 0')
  const client = await connect()
  await expect(migrate(client, testDeps, { dir })).rejects.toThrow('metadata migration 0002-second failed: division by zero')
  expect((await client.query('select n from log')).rows).toEqual([])
  expect(await appliedMigrations(client)).toEqual(['0001-first'])
  await file('0002-second.sql', 'insert into log values (2)')
  await migrate(client, testDeps, { dir })
  expect(await appliedMigrations(client)).toEqual(['0001-first', '0002-second'])
})

test('data of a newer program is refused by name and left as it is', async () => {
  await file('0001-first.sql', 'select 1')
  await file('0009-of-the-future.sql', 'create table future (n int)')
  const client = await connect()
  await migrate(client, testDeps, { dir })
  await rm(join(dir, '0009-of-the-future.sql'))
  await file('0002-second.sql', 'drop table future')
  await expect(migrate(client, testDeps, { dir })).rejects.toThrow(/newer version of Dendro.*0009-of-the-future/)
  expect(await appliedMigrations(client)).toEqual(['0001-first', '0009-of-the-future'])
})

test('the version before runs on the tables of a later one, unless a file says that it does not', async () => {
  await file('0001-first.sql', 'select 1')
  const later = await mkdtemp(join(tmpdir(), 'dendro-migrations-'))
  await cp(dir, later, { recursive: true })
  await writeFile(join(later, '0920-adds.sql'), 'create table added (n int)')
  const client = await connect()
  await migrate(client, testDeps, { dir: later })
  await migrate(client, testDeps, { dir })
  await migrate(client, testDeps, { dir: later })
  // What a program asks that knows only this table.
  expect((await client.query('select name from migrations')).rows).toEqual([{ name: '0001-first' }])
  expect(await appliedMigrations(client)).toEqual(['0001-first', '0920-adds'])
  expect(await migrationStatus(client, dir)).toEqual({ pending: [], unknown: [] })
  await writeFile(join(later, '0921-replaces.sql'), '-- The version before cannot use these tables.\ndrop table added')
  await migrate(client, testDeps, { dir: later })
  await expect(migrate(client, testDeps, { dir })).rejects.toThrow(/newer version of Dendro \(it has 0921-replaces,/)
  await rm(later, { recursive: true })
})

test('the real migrations run on an empty server, several processes at once', async () => {
  const opened = await Promise.all([database.open(), database.open()])
  for (const meta of opened) await meta.ping()
})
