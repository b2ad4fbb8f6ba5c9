import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom, to as copyTo } from 'pg-copy-streams'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { clientConfig, dbOn, sqlState } from './driver.ts'
import { type DumpManifest, listSequences, listTables } from './dump.ts'
import { appliedMigrations, migrate, neededFor } from './migrate.ts'
import type { Sql } from './sql.ts'

type Deps = { clock: Clock; log: Logger }

type Table = { name: string; columns: string[] }

/** A copy of the metadata, apart from its rows. */
type TableCopy<Stored> = Pick<DumpManifest, 'migrations' | 'sequences'> & { tables: (Table & { rows: number; stored: Stored })[] }

const NOT_ALLOWED = '42501'

/**
 * Copies all tables as they are at one moment. The rows pass through this process in pieces, so that the server may run anywhere; `store` is
 * called for one table after another.
 */
export async function copyTablesOut<Stored>(
  url: string,
  store: (table: string, rows: AsyncIterable<Buffer>) => Promise<Stored>,
): Promise<TableCopy<Stored>> {
  return withClient(url, async (client) => {
    await client.query('begin isolation level repeatable read, read only')
    const migrations = await appliedMigrations(client)
    const tables: TableCopy<Stored>['tables'] = []
    for (const table of await listTables(client)) {
      const stream = client.query(copyTo(`copy ${target(client, table)} to stdout (encoding 'UTF8')`))
      const stored = await store(table.name, stream)
      tables.push({ ...table, rows: stream.rowCount, stored })
    }
    const sequences = await listSequences(client)
    await client.query('commit')
    return { migrations, tables, sequences }
  })
}

/**
 * Fills an empty database with a copy: it makes the tables of the version that the copy comes from, and then the rows, all in one transaction, which
 * `last` ends. Returns the number of rows.
 */
export async function copyTablesIn<Stored>(
  url: string,
  copy: TableCopy<Stored>,
  read: (stored: Stored) => AsyncIterable<Uint8Array>,
  last: Sql,
  deps: Deps,
): Promise<number> {
  return withClient(url, async (client) => {
    const { tables: copied, ...options } = neededFor(copy)
    await migrate(client, deps, options)
    await client.query('begin')
    await skipChecks(client)
    const tables = await inOrderOfReferences(client, copied)
    for (const { name } of tables.toReversed()) await client.query(`delete from ${client.escapeIdentifier(name)}`)
    let total = 0
    for (const table of tables) {
      const stream = client.query(copyFrom(`copy ${target(client, table)} from stdin (encoding 'UTF8')`))
      await pipeline(Readable.from(read(table.stored), { objectMode: false }), stream)
      if (stream.rowCount !== table.rows) {
        throw new Error(`the copy of the metadata is damaged: ${table.name} has ${stream.rowCount} rows instead of ${table.rows}`)
      }
      total += table.rows
    }
    for (const { name, last_value } of copy.sequences)
      await client.query('select setval($1, $2)', [client.escapeIdentifier(name), last_value])
    await dbOn(client).run(last)
    await client.query('commit')
    return total
  })
}

/** True when the database has no table of anyone. */
export const isEmptyDatabase = (url: string): Promise<boolean> =>
  withClient(url, async (client) => {
    const { rowCount } = await client.query(
      `select 1 from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') limit 1`,
    )
    return rowCount === 0
  })

const target = (client: pg.Client, { name, columns }: Table): string =>
  `${client.escapeIdentifier(name)} (${columns.map((column) => client.escapeIdentifier(column)).join(', ')})`

/** The rows were checked when they were first written. Servers that do not allow to skip that check them again. */
async function skipChecks(client: pg.Client): Promise<void> {
  await client.query('savepoint checks')
  await client.query('set local session_replication_role = replica').catch(async (cause) => {
    if (sqlState(cause) !== NOT_ALLOWED) throw cause
    await client.query('rollback to savepoint checks')
  })
}

/** Sorts tables so that each comes after those that its rows refer to. */
async function inOrderOfReferences<T extends Table>(client: pg.Client, tables: readonly T[]): Promise<T[]> {
  const { rows } = await client.query<{ source: string; needed: string }>(`
    select distinct source.relname as source, needed.relname as needed
    from pg_constraint c join pg_class source on source.oid = c.conrelid join pg_class needed on needed.oid = c.confrelid
    where c.contype = 'f' and source.oid <> needed.oid and source.relnamespace = current_schema()::regnamespace`)
  const sorted: T[] = []
  const visited = new Set<string>()
  const visit = (table: T): void => {
    if (visited.has(table.name)) return
    visited.add(table.name)
    for (const { source, needed } of rows) {
      const first = source === table.name ? tables.find(({ name }) => name === needed) : undefined
      if (first) visit(first)
    }
    sorted.push(table)
  }
  for (const table of tables) visit(table)
  return sorted
}

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(clientConfig({ connectionString: url }))
  client.on('error', () => undefined)
  try {
    await client.connect()
    return await use(client)
  } finally {
    client.end().catch(() => undefined)
  }
}

/**
 * Reads rows of a copy without changing anything: the named tables are filled as temporary ones, whose names begin with `backup_`, and disappear after the
 * query.
 */
export async function readCopiedRows<Stored, Row>(
  url: string,
  { tables, names }: { tables: TableCopy<Stored>['tables']; names: readonly string[] },
  read: (stored: Stored) => AsyncIterable<Uint8Array>,
  query: Sql,
): Promise<Row[]> {
  return withClient(url, async (client) => {
    await client.query('begin')
    for (const name of names) {
      const table = tables.find((each) => each.name === name)
      const copied = client.escapeIdentifier(`backup_${name}`)
      await client.query(`create temporary table ${copied} (like ${client.escapeIdentifier(name)} including defaults) on commit drop`)
      if (!table) continue
      const stream = client.query(copyFrom(`copy ${target(client, { ...table, name: `backup_${name}` })} from stdin (encoding 'UTF8')`))
      await pipeline(Readable.from(read(table.stored), { objectMode: false }), stream)
    }
    const rows = await dbOn(client).all<Row>(query)
    await client.query('rollback')
    return rows
  })
}
