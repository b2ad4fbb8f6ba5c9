import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'

/** The oldest supported PostgreSQL version. */
export const VERSION_MIN = 140_000
const MIGRATIONS_DIR = join(import.meta.dirname, 'migrations')
const MIGRATION_FILE = /^(\d{4}-[a-z0-9-]+)\.sql$/
/** The advisory lock that lets one process migrate while others wait. The number must never change. */
const MIGRATION_LOCK = 6_071_990_041
const LOCK_WAIT_MS = 600_000

/**
 * The version before runs on the tables after every later migration, unless the file says with its first line that it does not. So a new version can be
 * stopped and the one before started again. Their names are in a table of their own: a program refuses names in `migrations` that it does not know.
 */
const FIRST_COMPATIBLE = '0920'
const INCOMPATIBLE = /^-- The version before cannot use these tables/
const COMPATIBLE_TABLE = 'compatible_migrations'
/** The tables that say which migrations have run; they are no part of a dump. */
export const MIGRATION_TABLES = ['migrations', COMPATIBLE_TABLE] as const

type Migration = { name: string; text: string }
type Applied = { needed: string[]; compatible: string[] }

const isCompatible = ({ name, text }: Migration): boolean => name >= FIRST_COMPATIBLE && !INCOMPATIBLE.test(text)

export type MigrateOptions = {
  /** Another folder of numbered files, for tests. */
  dir?: string
  /** Runs these migrations only. A restore runs those of its dump. */
  upTo?: readonly string[]
}

/**
 * Migrates the tables to the version of this program. Each numbered file runs in one transaction, so that the next start continues after a
 * crash. Concurrent processes wait for the one that migrates. Refuses data of a newer program that this one cannot use.
 */
export async function migrate(client: pg.ClientBase, deps: { clock: Clock; log: Logger }, options: MigrateOptions = {}): Promise<void> {
  const known = await readMigrations(options.dir ?? MIGRATIONS_DIR)
  await client.query(`set lock_timeout = ${LOCK_WAIT_MS}; set statement_timeout = 0`)
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
  try {
    for (const table of MIGRATION_TABLES)
      await client.query(`create table if not exists ${table} (name text primary key, applied_at bigint not null)`)
    const { needed, compatible } = await readApplied(client)
    const applied = [...needed, ...compatible]
    refuseNewer(
      known.map((migration) => migration.name),
      [...needed, ...(options.upTo ?? [])],
    )
    const pending = known.filter(({ name }) => !applied.includes(name) && (options.upTo?.includes(name) ?? true))
    for (const migration of pending) {
      await applyMigration(client, migration, deps.clock.nowMs())
      deps.log.debug({ migration: migration.name }, 'migration done')
    }
    if (pending.length > 0) deps.log.info({ migrations: pending.length, latest: pending.at(-1)?.name }, 'metadata migrated')
  } finally {
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => undefined)
  }
}

/**
 * What a copy of the tables is restored with. The version before, which ran on these tables after this one, copied the list of compatible migrations as
 * any table, and the tables that they made: all migrations of this program have to run then.
 */
export function neededFor<Table extends { name: string }>(copy: { migrations: readonly string[]; tables: readonly Table[] }) {
  const tables = copy.tables.filter(({ name }) => name !== COMPATIBLE_TABLE)
  return tables.length === copy.tables.length ? { tables, upTo: copy.migrations } : { tables }
}

/** Compares the store with this program without changing anything. */
export async function migrationStatus(client: pg.ClientBase, dir = MIGRATIONS_DIR): Promise<{ pending: string[]; unknown: string[] }> {
  const known = (await readMigrations(dir)).map((migration) => migration.name)
  const { needed, compatible } = await readApplied(client)
  return {
    pending: known.filter((name) => !needed.includes(name) && !compatible.includes(name)),
    unknown: needed.filter((name) => !known.includes(name)),
  }
}

/** The names of those migrations that this program does not know. */
export async function unknownMigrations(names: readonly string[], dir = MIGRATIONS_DIR): Promise<string[]> {
  const known = await readMigrations(dir)
  return names.filter((name) => !known.some((migration) => migration.name === name))
}

export async function appliedMigrations(client: pg.ClientBase): Promise<string[]> {
  const { needed, compatible } = await readApplied(client)
  return [...needed, ...compatible].sort()
}

async function readApplied(client: pg.ClientBase): Promise<Applied> {
  return { needed: await namesIn(client, 'migrations'), compatible: await namesIn(client, COMPATIBLE_TABLE) }
}

/** A version before this one made only the first table. */
async function namesIn(client: pg.ClientBase, table: (typeof MIGRATION_TABLES)[number]): Promise<string[]> {
  const { rows: found } = await client.query<{ is_there: boolean }>('select to_regclass($1) is not null as is_there', [table])
  if (!found[0]?.is_there) return []
  const { rows } = await client.query<{ name: string }>(`select name from ${table} order by name`)
  return rows.map((row) => row.name)
}

async function applyMigration(client: pg.ClientBase, migration: Migration, nowMs: number): Promise<void> {
  await client.query('begin')
  try {
    // Without parameters the driver uses the simple protocol, so that a file may contain many statements.
    await client.query(migration.text)
    const table = isCompatible(migration) ? COMPATIBLE_TABLE : 'migrations'
    await client.query(`insert into ${table} (name, applied_at) values ($1, $2)`, [migration.name, nowMs])
    await client.query('commit')
  } catch (cause) {
    await client.query('rollback').catch(() => undefined)
    throw new Error(`metadata migration ${migration.name} failed: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

function refuseNewer(known: readonly string[], needed: readonly string[]): void {
  const unknown = needed.filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new Error(
    `the metadata was written by a newer version of Dendro (it has ${unknown.join(', ')}, which this version does not know); start that version or a later one`,
  )
}

async function readMigrations(dir: string): Promise<Migration[]> {
  const names = (await readdir(dir)).map((file) => MIGRATION_FILE.exec(file)?.[1]).filter((name) => name !== undefined)
  return Promise.all(names.sort().map(async (name) => ({ name, text: await readFile(join(dir, `${name}.sql`), 'utf8') })))
}
