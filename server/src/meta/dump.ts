import { chmod, mkdir, open, readdir, readFile, rename, rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { clientConfig } from './driver.ts'
import { appliedMigrations, MIGRATION_TABLES } from './migrate.ts'

/** Written last into a dump: its contents, and the migrations that must have run before it can be restored. */
export type DumpManifest = {
  made_at_ms: number
  migrations: string[]
  tables: { name: string; columns: string[]; rows: number }[]
  sequences: { name: string; last_value: number }[]
}

type Deps = { clock: Clock; log: Logger }
/** Where dumps are written. `own` gives a directory to the user of PostgreSQL, which writes the files itself. */
export type DumpTarget = { url: string; dumpsDir: string; own(dir: string): Promise<void> }

export const DUMPS_KEPT = 7
export const MANIFEST = 'manifest.json'
const DUMP_EVERY_MS = 24 * 3_600_000
const FIRST_CHECK_MS = 60_000
const CHECK_EVERY_MS = 3_600_000
/** Stays free in addition to the dump, so that a dump never fills the disk. */
const SPARE_BYTES = 512 * 2 ** 20
const UNFINISHED = '.unfinished'
const DUMP_NAME = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/

/** Creates a dump whenever the latest is a day old, until the signal aborts. A failed dump is logged and retried an hour later. */
export async function dumpDaily(dumper: DumpTarget, deps: Deps, signal: AbortSignal): Promise<void> {
  for (let waitMs = FIRST_CHECK_MS; ; waitMs = CHECK_EVERY_MS) {
    await deps.clock.sleep(waitMs, signal).catch(() => undefined)
    if (signal.aborted) return
    try {
      const latest = (await listDumps(dumper.dumpsDir)).at(-1)
      if (latest !== undefined && deps.clock.nowMs() - madeAtMs(latest) < DUMP_EVERY_MS) continue
      const name = await dump(dumper, deps)
      deps.log.info({ dump: name }, 'metadata dumped')
    } catch (cause) {
      if (signal.aborted) return
      deps.log.warn({ err: cause }, 'metadata could not be dumped')
    }
  }
}

/**
 * Writes a consistent snapshot of all tables into a directory named by the time, complete and synced or not at all, and deletes all but the
 * latest 7. PostgreSQL writes the files itself (COPY), so that no row passes through this process.
 */
export async function dump({ url, dumpsDir, own }: DumpTarget, { clock }: Pick<Deps, 'clock'>): Promise<string> {
  await mkdir(dumpsDir, { recursive: true, mode: 0o700 })
  const unfinished = join(dumpsDir, UNFINISHED)
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { mode: 0o700 })
  await own(dumpsDir)
  await own(unfinished)
  const client = new pg.Client(clientConfig({ connectionString: url }))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await refuseWithoutSpace(client, dumpsDir)
    const nowMs = clock.nowMs()
    const manifest = await copyOut(client, unfinished, nowMs)
    await writeFile(join(unfinished, MANIFEST), JSON.stringify(manifest, null, 2))
    for (const file of await readdir(unfinished)) await makePrivate(join(unfinished, file))
    await syncPath(unfinished)
    const name = nameAt(nowMs)
    await rm(join(dumpsDir, name), { recursive: true, force: true })
    await rename(unfinished, join(dumpsDir, name))
    await syncPath(dumpsDir)
    for (const old of (await listDumps(dumpsDir)).slice(0, -DUMPS_KEPT)) await rm(join(dumpsDir, old), { recursive: true, force: true })
    return name
  } catch (cause) {
    await rm(unfinished, { recursive: true, force: true })
    throw cause
  } finally {
    client.end().catch(() => undefined)
  }
}

/** Returns the names of the complete dumps, oldest first. */
export async function listDumps(dumpsDir: string): Promise<string[]> {
  return (await readdir(dumpsDir).catch(() => [])).filter((name) => DUMP_NAME.test(name)).sort()
}

export async function readManifest(dumpDir: string): Promise<DumpManifest> {
  return JSON.parse(await readFile(join(dumpDir, MANIFEST), 'utf8'))
}

async function copyOut(client: pg.Client, dir: string, nowMs: number): Promise<DumpManifest> {
  await client.query('begin isolation level repeatable read, read only')
  const migrations = await appliedMigrations(client)
  const tables: DumpManifest['tables'] = []
  for (const { name, columns } of await listTables(client)) {
    const { rowCount } = await client.query(copyStatement(client, { name, columns }, 'to', join(dir, name)))
    tables.push({ name, columns, rows: rowCount ?? 0 })
  }
  const sequences = await listSequences(client)
  await client.query('commit')
  return { made_at_ms: nowMs, migrations, tables, sequences }
}

/** Returns every table except the lists of migrations, with its columns except generated ones. */
export async function listTables(client: pg.Client): Promise<{ name: string; columns: string[] }[]> {
  const { rows } = await client.query(
    `
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> all ($1)
    group by c.relname order by c.relname`,
    [MIGRATION_TABLES],
  )
  return rows
}

/** Returns the sequences that have given out a number. */
export async function listSequences(client: pg.Client): Promise<DumpManifest['sequences']> {
  const { rows } = await client.query<{ name: string; last_value: number }>(
    'select sequencename as name, last_value from pg_sequences where schemaname = current_schema() and last_value is not null order by 1',
  )
  return rows
}

/** COPY takes no parameters. The names come from the catalog and the path from our own directory. */
export function copyStatement(client: pg.Client, table: { name: string; columns: string[] }, way: 'to' | 'from', path: string): string {
  const columns = table.columns.map((column) => client.escapeIdentifier(column)).join(', ')
  return `copy ${client.escapeIdentifier(table.name)} (${columns}) ${way} ${client.escapeLiteral(path)} (encoding 'UTF8')`
}

async function refuseWithoutSpace(client: pg.Client, dir: string): Promise<void> {
  const { rows } = await client.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes')
  const { bavail, bsize } = await statfs(dir)
  const neededBytes = (rows[0]?.bytes ?? 0) + SPARE_BYTES
  if (bavail * bsize < neededBytes) throw new Error(`no dump: ${dir} has ${bavail * bsize} bytes free, ${neededBytes} are needed`)
}

/** Makes a file private to its owner and syncs it to disk. */
async function makePrivate(path: string): Promise<void> {
  await chmod(path, 0o600)
  await syncPath(path)
}

/** Syncs a file, or the entries of a directory, to disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

const nameAt = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replaceAll(':', '-')}Z`
const madeAtMs = (name: string): number => Date.parse(name.replace(/T(\d\d)-(\d\d)-(\d\d)Z$/, 'T$1:$2:$3Z'))
