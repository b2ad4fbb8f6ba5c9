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

type Migration = { name: string; text: string }

export type MigrateOptions = {
  /** Another folder of numbered files, for tests. */
  dir?: string
  /** Runs these migrations only. A restore runs those of its dump. */
  upTo?: readonly string[]
}

/**
 * Migrates the tables to the version of this program. Each numbered file runs in one transaction, so that the next start continues after a
 * crash. Concurrent processes wait for the one that migrates. Refuses data of a newer program.
 */
export async function migrate(client: pg.ClientBase, deps: { clock: Clock; log: Logger }, options: MigrateOptions = {}): Promise<void> {
  const known = await readMigrations(options.dir ?? MIGRATIONS_DIR)
  await client.query(`set lock_timeout = ${LOCK_WAIT_MS}; set statement_timeout = 0`)
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
  try {
    await client.query('create table if not exists migrations (name text primary key, applied_at bigint not null)')
    const applied = await appliedMigrations(client)
    refuseNewer(
      known.map((migration) => migration.name),
      [...applied, ...(options.upTo ?? [])],
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

/** Compares the store with this program without changing anything. */
export async function migrationStatus(client: pg.ClientBase, dir = MIGRATIONS_DIR): Promise<{ pending: string[]; unknown: string[] }> {
  const known = (await readMigrations(dir)).map((migration) => migration.name)
  const table = await client.query(`select to_regclass('migrations') is not null as is_there`)
  const applied = table.rows[0].is_there ? await appliedMigrations(client) : []
  return {
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  }
}

/** The names of those migrations that this program does not know. */
export async function unknownMigrations(names: readonly string[], dir = MIGRATIONS_DIR): Promise<string[]> {
  const known = await readMigrations(dir)
  return names.filter((name) => !known.some((migration) => migration.name === name))
}

export async function appliedMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  return rows.map((row) => row.name)
}

async function applyMigration(client: pg.ClientBase, migration: Migration, nowMs: number): Promise<void> {
  await client.query('begin')
  try {
    // Without parameters the driver uses the simple protocol, so that a file may contain many statements.
    await client.query(migration.text)
    await client.query('insert into migrations (name, applied_at) values ($1, $2)', [migration.name, nowMs])
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
    `the metadata was written by a newer version of Dendro (it has ${unknown.join(', ')}, which this version does not know); start that version or a later one, downgrades are not supported`,
  )
}

async function readMigrations(dir: string): Promise<Migration[]> {
  const names = (await readdir(dir)).map((file) => MIGRATION_FILE.exec(file)?.[1]).filter((name) => name !== undefined)
  return Promise.all(names.sort().map(async (name) => ({ name, text: await readFile(join(dir, `${name}.sql`), 'utf8') })))
}
