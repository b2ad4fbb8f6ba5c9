import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NO_PERIOD } from '../../lines/layout/periods.ts'
import { classedTables, columns, eventsTable, patternColumns, tableClassNames, tableSettings, tokensOf } from '../../lines/layout/table.ts'
import { parseAddress } from './address.ts'
import { type Clients, openClients } from './clients.ts'
import { ask, MEMORY_BYTES, makeEngines, testDeps } from './engine.fixture.ts'
import { openEngine } from './engine.ts'
import type { EventStore } from './events.ts'
import { migrate, migrationStatus } from './migrate.ts'
import { joinAlters, statements } from './migration-template.ts'
import { appliedMigrations, migrationsIn } from './rows.ts'

const engines = makeEngines()
let store: EventStore
let clients: Clients
const dirs: string[] = []

beforeAll(async () => {
  store = await engines.open(await engines.newDir())
  clients = openClients(parseAddress(store.url))
})
afterAll(async () => {
  await clients.close()
  for (const dir of dirs) await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  await engines.cleanUp()
})

const OURS = join(import.meta.dirname, 'migrations')

/** A directory with our migrations and additional ones. */
async function folderWith(files: Record<string, string>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'dendro-migrations-'))
  dirs.push(dir)
  for (const name of await readdir(OURS)) await writeFile(join(dir, name), await readFile(join(OURS, name)))
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  return dir
}

const applied = async () => (await appliedMigrations(store.writer)).map((migration) => migration.name)
const tables = async () =>
  (await ask<{ name: string }>(store.writer, 'select name from system.tables where database = currentDatabase() order by name')).map(
    (row) => row.name,
  )

test('a second run changes nothing', async () => {
  const before = [await applied(), await tables()]
  await migrate(clients, testDeps)
  expect([await applied(), await tables()]).toEqual(before)
  expect(before[0]?.slice(0, 2)).toEqual(['0001-migrations', '0002-events'])
})

test('a run that was interrupted between statements is completed by the next', async () => {
  const two = (
    second: string,
  ) => `create table if not exists halves {{on cluster}} (org_id UInt32) engine = {{engine sharded halves}} order by org_id settings {{settings}};
    ${second};`
  const broken = await folderWith({ '9001-halves.sql': two('create table if not exists other (org_id Nonsense) engine = Memory') })
  await expect(migrate(clients, testDeps, broken)).rejects.toThrow(/migration 9001-halves of the event store failed: .*Nonsense/)
  expect(await tables()).toContain('halves')
  expect(await applied()).not.toContain('9001-halves')
  const whole = await folderWith({ '9001-halves.sql': two('alter table halves add column if not exists more String') })
  expect(await migrationStatus(clients, whole)).toEqual({ pending: ['9001-halves'], unknown: [] })
  await migrate(clients, testDeps, whole)
  expect(await applied()).toContain('9001-halves')
  await forget(9001, 'drop table halves')
})

test('data of a newer version is refused with a sentence, and nothing is changed', async () => {
  const newer = await folderWith({
    '9002-future.sql': '-- The version before cannot use these tables.\ncreate table if not exists future (org_id UInt32) engine = Memory;',
  })
  await migrate(clients, testDeps, newer)
  const before = await tables()
  await expect(migrate(clients, testDeps)).rejects.toThrow(
    'the events were written by a newer version of Dendro (it has 9002-future, which this version does not know); start that version or a later one',
  )
  expect(await migrationStatus(clients)).toEqual({ pending: [], unknown: ['9002-future'] })
  expect(await tables()).toEqual(before)
  await forget(9002, 'drop table future')
})

test('the version before runs on the tables of a later one', async () => {
  const before = await migrationsIn(store.writer, 'migrations')
  const later = await folderWith({ '9003-adds.sql': 'create table if not exists added (org_id UInt32) engine = Memory;' })
  await migrate(clients, testDeps, later)
  await migrate(clients, testDeps)
  await migrate(clients, testDeps, later)
  // What a program asks that knows only this table.
  expect(await migrationsIn(store.writer, 'migrations')).toEqual(before)
  expect(await applied()).toContain('9003-adds')
  expect(await migrationStatus(clients)).toEqual({ pending: [], unknown: [] })
  await forget(9003, 'drop table added')
})

test('the joined statements of a first start make the tables that the files make one after another', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'dendro-migrations-'))
  dirs.push(dir)
  const engine = await openEngine({ dataDir: await engines.newDir(), memoryBytes: MEMORY_BYTES }, testDeps)
  try {
    for (const name of (await readdir(OURS)).sort()) {
      await writeFile(join(dir, name), await readFile(join(OURS, name)))
      await migrate(engine.clients(), testDeps, dir)
    }
    // The list of compatible migrations comes with the first of them.
    const made = `select name, create_table_query from system.tables
      where database = currentDatabase() and name != 'compatible_migrations' order by name`
    expect(await ask(store.writer, made)).toEqual(await ask(engine.clients().writer, made))
  } finally {
    await engine.close()
  }
})

test('the changes of each table are joined, up to a change of settings or a statement of another kind', () => {
  const create = (table: string) => `create table if not exists ${table} (a String)`
  expect(
    joinAlters([
      create('x'),
      'alter table x  add column if not exists b String',
      create('y'),
      'alter table y add index if not exists i b type minmax',
      'alter table x add column if not exists c String,\n  modify setting s = 1',
      'alter table x modify setting t = 2',
      'alter table x add column if not exists d String',
      'drop table y',
      'alter table x add column if not exists e String',
      'alter table x add column if not exists f String',
    ]),
  ).toEqual([
    create('x'),
    create('y'),
    'alter table x add column if not exists b String,\nadd column if not exists c String,\n  modify setting s = 1',
    'alter table x modify setting t = 2',
    'alter table y add index if not exists i b type minmax',
    'alter table x add column if not exists d String',
    'drop table y',
    'alter table x add column if not exists e String,\nadd column if not exists f String',
  ])
})

test('two runs at once end in the same tables', async () => {
  const dir = await folderWith({
    '9003-many.sql': Array.from({ length: 10 }, (_, n) => `create table if not exists many_${n} (org_id UInt32) engine = Memory;`).join(
      '\n',
    ),
  })
  await Promise.all([migrate(clients, testDeps, dir), migrate(clients, testDeps, dir), migrate(clients, testDeps, dir)])
  expect((await tables()).filter((name) => name.startsWith('many_')).length).toBe(10)
  expect(await migrationStatus(clients, dir)).toEqual({ pending: [], unknown: [] })
  for (let n = 0; n < 10; n += 1) await store.writer.command({ query: `drop table many_${n}` })
  await forget(9003)
})

test('two files with one number are refused', async () => {
  const dir = await folderWith({ '0002-again.sql': '' })
  await expect(migrate(clients, testDeps, dir)).rejects.toThrow('two migrations of the event store have the number 2')
})

test('every table has the settings that prevent data loss in a power cut', async () => {
  const rows = await ask<{ name: string; engine_full: string }>(
    store.writer,
    "select name, engine_full from system.tables where database = currentDatabase() and engine like '%MergeTree'",
  )
  expect(rows.length).toBeGreaterThanOrEqual(4)
  for (const { name, engine_full } of rows) {
    for (const [setting, value] of Object.entries(tableSettings))
      expect([name, engine_full]).toEqual([name, expect.stringMatching(`\\b${setting} = ${value}\\b`)])
  }
})

test.each(classedTables)('$table has the columns of table.ts', async ({ table, tableClass }) => {
  const rows = await ask(
    store.writer,
    `select name, type from system.columns where database = currentDatabase() and table = '${table}' order by position`,
  )
  const expected = table === eventsTable(tableClass, NO_PERIOD) ? columns(tableClass) : patternColumns(tableClass)
  expect(rows).toEqual(expected.map(({ name, type }) => ({ name, type: type.replace(/ materialized .*/, '') })))
})

test.each(classedTables)('a word is looked up in the index of $table', async ({ table, tableClass }) => {
  const row = { org_id: 1, ts: 1, c0: 'Word one', more: { key: 'two' } }
  const values = [table === eventsTable(tableClass, NO_PERIOD) ? row : { ...row, period_s: 60 }]
  await store.writer.insert({ table, values, format: 'JSONEachRow' })
  const plan = `explain indexes = 1 select c0 from ${table} where has(${tokensOf(tableClass)}, 'two')`
  expect(JSON.stringify(await ask(store.writer, plan))).toContain('Name: tok')
  const found = `select c0 from ${table} where has(${tokensOf(tableClass)}, {word:String})`
  for (const [word, rows] of [
    ['word', 1],
    ['two', 1],
    ['three', 0],
  ] as const) {
    const answer = await store.writer.query({ query: found, query_params: { word }, format: 'JSONEachRow' })
    expect([word, (await answer.json()).length]).toEqual([word, rows])
  }
})

test('an event keeps its nanoseconds, its severity and its keys without a slot', async () => {
  const event = {
    org_id: 7,
    log_id: '00000000-0000-0000-0000-000000000007',
    ts: '2026-11-21 10:00:00.123456789',
    seq: '9223372036854775807',
    sev: 'warn',
    skeleton: '18446744073709551615',
    more: { 'a.b': 'x', é: '' },
    s7: '\0',
  }
  await store.writer.insert({ table: 'events_s', values: [event], format: 'JSONEachRow' })
  const names = Object.keys(event).join(', ')
  expect(await ask(store.writer, `select ${names} from events_s where org_id = 7`)).toEqual([event])
})

test('in a cluster the same files make replicated tables and one that reads all shards', async () => {
  const target = { database: 'dendro', cluster: 'main' }
  const files = await Promise.all(['0001-migrations.sql', '0002-events.sql'].map((name) => readFile(join(OURS, name), 'utf8')))
  const made = files.flatMap((file) => statements(file, target))
  const formatted = await Promise.all(made.map(format))
  expect(formatted.map((text) => text.replace(/ \(.*\) ENGINE/, ' (…) ENGINE').replace(/ PARTITION BY .*| SETTINGS .*/, ''))).toEqual([
    "CREATE TABLE IF NOT EXISTS migrations ON CLUSTER main (…) ENGINE = ReplicatedMergeTree('/clickhouse/tables/everywhere/dendro/migrations', '{shard}-{replica}') ORDER BY number",
    ...tableClassNames.flatMap((name) => [
      `CREATE TABLE IF NOT EXISTS events_${name}_local ON CLUSTER main (…) ENGINE = ReplicatedMergeTree('/clickhouse/tables/{shard}/dendro/events_${name}', '{replica}')`,
      `CREATE TABLE IF NOT EXISTS events_${name} ON CLUSTER main AS events_${name}_local ENGINE = Distributed('main', 'dendro', 'events_${name}_local', cityHash64(log_id, intDiv(seq, 1000000)))`,
    ]),
  ])
  for (const text of formatted.filter((one) => one.includes('MergeTree('))) {
    for (const setting of [...Object.keys(tableSettings), 'replicated_deduplication_window', 'min_compressed_bytes_to_fsync_after_fetch']) {
      expect(text).toContain(`${setting} = `)
    }
  }
})

test('every migration is understood by the engine, also in its form for a cluster', async () => {
  for (const name of await readdir(OURS)) {
    for (const statement of statements(await readFile(join(OURS, name), 'utf8'), { database: 'dendro', cluster: 'main' })) {
      expect([name, await format(statement)]).toEqual([name, expect.stringContaining('ON CLUSTER main')])
    }
  }
})

test.each(['{{on clusters}}', '{{nonsense}}', '{{events x}}', '{{engine x}}'])('the placeholder %s is refused', (placeholder) => {
  expect(() => statements(`create table x ${placeholder};`, { database: 'd', cluster: undefined })).toThrow(
    /unknown (placeholder|table class)/,
  )
})

/** The statement as the engine formats it. */
async function format(statement: string): Promise<string> {
  const answer = await store.writer.query({
    query: 'select formatQuerySingleLine({statement:String}) as text',
    query_params: { statement },
    format: 'JSONEachRow',
  })
  return (await answer.json<{ text: string }>())[0]?.text ?? ''
}

async function forget(number: number, statement?: string): Promise<void> {
  if (statement !== undefined) await store.writer.command({ query: statement })
  for (const table of ['migrations', 'compatible_migrations'])
    await store.writer.command({ query: `alter table ${table} delete where number = ${number} settings mutations_sync = 1` })
}
