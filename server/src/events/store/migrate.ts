import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clients } from './clients.ts'
import type { ClusterTarget } from './cluster-statements.ts'
import type { EventDeps } from './engine.ts'
import { joinAlters, statements } from './migration-template.ts'
import { type AppliedMigration, createDatabase, databaseExists, migrationsIn, recordMigration } from './rows.ts'

const MIGRATIONS_DIR = join(import.meta.dirname, 'migrations')
const MIGRATION_FILE = /^(\d{4})-([a-z0-9-]+)\.sql$/

/** As in meta/migrate.ts: the version before runs on the tables after these migrations, unless the file says that it does not. */
const FIRST_COMPATIBLE = 210
const INCOMPATIBLE = /^-- The version before cannot use these tables/
const COMPATIBLE_TABLE = join(import.meta.dirname, 'compatible-migrations.sql')

type Migration = { number: number; name: string; path: string }
type Applied = { needed: readonly AppliedMigration[]; compatible: readonly AppliedMigration[] }

/**
 * Migrates the tables to the version of this program. Every statement is idempotent, and a file is recorded after its last statement, so
 * interrupted and concurrent runs end in the same tables. Data of a newer program that this one cannot use is refused.
 */
export async function migrate(clients: Clients, deps: Pick<EventDeps, 'clock' | 'log'>, dir = MIGRATIONS_DIR): Promise<void> {
  const { address, outside } = clients
  if (!(await databaseExists(outside, address.database))) await createDatabase(outside, address)
  const known = await knownMigrations(dir)
  const { needed, compatible } = await readApplied(clients)
  refuseNewer(known, needed)
  const applied = [...needed, ...compatible]
  const pending = known.filter(({ number }) => !applied.some((done) => done.number === number))
  const isFirst = applied.length === 0 && address.cluster === undefined
  for (const migrations of isFirst ? [pending] : pending.map((migration) => [migration])) {
    await run(migrations, clients)
    for (const migration of migrations) {
      await record(migration, clients, deps.clock.nowMs())
      deps.log.info({ migration: migration.name }, 'event store migrated')
    }
  }
}

async function record({ number, name, path }: Migration, { address, writer }: Clients, nowMs: number): Promise<void> {
  const isCompatible = number >= FIRST_COMPATIBLE && !INCOMPATIBLE.test(await readFile(path, 'utf8'))
  if (isCompatible) for (const query of statements(await readFile(COMPATIBLE_TABLE, 'utf8'), address)) await writer.command({ query })
  await recordMigration(writer, isCompatible ? 'compatible_migrations' : 'migrations', { number, name, nowMs })
}

/** Every statement of the migrations in their order, as a cluster gets them. */
export async function migrationStatements(target: ClusterTarget, dir = MIGRATIONS_DIR): Promise<string[]> {
  const paths = [COMPATIBLE_TABLE, ...(await knownMigrations(dir)).map(({ path }) => path)]
  const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
  return texts.flatMap((text) => statements(text, target))
}

/** Runs the statements of one migration, or of all at the first start of one server. There every table is altered once, which halves the time. */
async function run(migrations: readonly Migration[], { address, writer }: Clients): Promise<void> {
  const texts = await Promise.all(migrations.map(({ path }) => readFile(path, 'utf8')))
  const queries = texts.flatMap((text) => statements(text, address))
  for (const query of migrations.length > 1 ? joinAlters(queries) : queries) {
    await writer.command({ query }).catch((cause: unknown) => {
      const message = cause instanceof Error ? cause.message : String(cause)
      const names = migrations.length > 1 ? 'the first migration' : `migration ${migrations[0]?.name}`
      throw new Error(`${names} of the event store failed: ${message}`, { cause })
    })
  }
}

/** Compares the store with this program without changing anything. */
export async function migrationStatus(clients: Clients, dir = MIGRATIONS_DIR): Promise<{ pending: string[]; unknown: string[] }> {
  const known = await knownMigrations(dir)
  const isThere = await databaseExists(clients.outside, clients.address.database)
  const { needed, compatible }: Applied = isThere ? await readApplied(clients) : { needed: [], compatible: [] }
  const applied = [...needed, ...compatible]
  return {
    pending: known.filter(({ number }) => !applied.some((done) => done.number === number)).map(({ name }) => name),
    unknown: unknownOf(known, needed),
  }
}

/** The names of those migrations that this program does not know. */
export async function unknownMigrations(names: readonly string[], dir = MIGRATIONS_DIR): Promise<string[]> {
  const known = await knownMigrations(dir)
  return names.filter((name) => !known.some((migration) => migration.name === name))
}

const readApplied = async ({ writer }: Clients): Promise<Applied> => ({
  needed: await migrationsIn(writer, 'migrations'),
  compatible: await migrationsIn(writer, 'compatible_migrations'),
})

const unknownOf = (known: readonly Migration[], applied: readonly AppliedMigration[]): string[] =>
  applied.filter(({ number }) => !known.some((migration) => migration.number === number)).map(({ name }) => name)

function refuseNewer(known: readonly Migration[], applied: readonly AppliedMigration[]): void {
  const unknown = unknownOf(known, applied)
  if (unknown.length === 0) return
  throw new Error(
    `the events were written by a newer version of Dendro (it has ${unknown.join(', ')}, which this version does not know); start that version or a later one`,
  )
}

async function knownMigrations(dir: string): Promise<Migration[]> {
  const found = (await readdir(dir)).sort().flatMap((file) => {
    const match = MIGRATION_FILE.exec(file)
    return match ? [{ number: Number(match[1]), name: file.slice(0, -'.sql'.length), path: join(dir, file) }] : []
  })
  const twice = found.find(({ number }, index) => found[index - 1]?.number === number)
  if (twice) throw new Error(`two migrations of the event store have the number ${twice.number}`)
  return found
}
