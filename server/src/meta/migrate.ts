import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'

/** VERSION_MIN is the oldest PostgreSQL whose SQL the migrations and rows speak. */
export const VERSION_MIN = 140_000
const MIGRATIONS_DIR = join(import.meta.dirname, 'migrations')
const MIGRATION_FILE = /^(\d{4}-[a-z0-9-]+)\.sql$/
/** MIGRATION_LOCK is the advisory lock that lets one process migrate while others wait; the number is ours alone and must never change. */
const MIGRATION_LOCK = 6_071_990_041
const LOCK_WAIT_MS = 600_000

type Migration = { name: string; text: string }

export type MigrateOptions = {
  /** dir is another folder of numbered files; tests bring their own. */
  dir?: string
  /** upTo is the only set of migrations to run; a restore goes no further than its dump. */
  upTo?: readonly string[]
}

/**
 * migrate brings the tables up to this program; each numbered file that has not run yet is one transaction, so that a crash leaves a whole
 * number of them and the next start goes on. Of two processes one works and the other waits. Data of a newer program is refused.
 */
export async function migrate(client: pg.ClientBase, deps: { clock: Clock; log: Log }, options: MigrateOptions = {}): Promise<void> {
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

/** migrationStatus compares the store with this program without changing anything. */
export async function migrationStatus(client: pg.ClientBase, dir = MIGRATIONS_DIR): Promise<{ pending: string[]; unknown: string[] }> {
  const known = (await readMigrations(dir)).map((migration) => migration.name)
  const table = await client.query(`select to_regclass('migrations') is not null as is_there`)
  const applied = table.rows[0].is_there ? await appliedMigrations(client) : []
  return {
    pending: known.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !known.includes(name)),
  }
}

export async function appliedMigrations(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  return rows.map((row) => row.name)
}

async function applyMigration(client: pg.ClientBase, migration: Migration, nowMs: number): Promise<void> {
  await client.query('begin')
  try {
    // Without parameters the driver sends the text as it is, so that a file may hold many statements.
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
    `the metadata was written by a newer version of Dendro (it has ${unknown.join(', ')}, which this version does not know); start that version or a later one, data cannot go back`,
  )
}

async function readMigrations(dir: string): Promise<Migration[]> {
  const names = (await readdir(dir)).map((file) => MIGRATION_FILE.exec(file)?.[1]).filter((name) => name !== undefined)
  return Promise.all(names.sort().map(async (name) => ({ name, text: await readFile(join(dir, `${name}.sql`), 'utf8') })))
}
