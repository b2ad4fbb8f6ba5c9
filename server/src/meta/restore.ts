import { chown, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { clientConfig } from './driver.ts'
import { copyStatement, type DumpManifest, listDumps, readManifest, syncPath } from './dump.ts'
import { startEmbedded } from './embedded.ts'
import { lockDataDir } from './lock.ts'
import { migrate, neededFor } from './migrate.ts'

type Deps = { clock: Clock; log: Logger }

export type RestoreResult = { dump: string; rows: number; broken: string | undefined }

const CONNECTIONS = 10

/**
 * Rebuilds the embedded metadata store from a dump, by default the latest. The new store is complete before it replaces the old one, which
 * is kept next to it. The service must not be running.
 */
export async function restoreMetadata(dataDir: string, dumpName: string | undefined, deps: Deps): Promise<RestoreResult> {
  const metaDir = join(resolve(dataDir), 'meta')
  const dumps = await listDumps(join(metaDir, 'dumps'))
  const name = dumpName ?? dumps.at(-1)
  if (name === undefined || !dumps.includes(name)) {
    throw new Error(`there is no dump ${name ?? ''} in ${join(metaDir, 'dumps')}; it has: ${dumps.join(', ') || 'none'}`)
  }
  // A running service holds both locks. Tests and other programs may hold only the one of the metadata store.
  const dataLock = await lockDataDir(dataDir)
  try {
    const metaLock = await lockDataDir(metaDir)
    try {
      const rows = await buildFrom(join(metaDir, 'dumps', name), metaDir, deps)
      const broken = await putInPlace(metaDir, deps.clock.nowMs())
      return { dump: name, rows, broken }
    } finally {
      await rm(join(metaDir, 'restoring'), { recursive: true, force: true })
      await metaLock.release()
    }
  } finally {
    await dataLock.release()
  }
}

async function buildFrom(dumpDir: string, metaDir: string, deps: Deps): Promise<number> {
  const manifest = await readManifest(dumpDir)
  const tempDir = join(metaDir, 'restoring')
  await rm(tempDir, { recursive: true, force: true })
  await mkdir(tempDir, { mode: 0o700 })
  const { uid, gid } = await stat(metaDir)
  await chown(tempDir, uid, gid)
  const embedded = await startEmbedded(tempDir, CONNECTIONS, deps)
  const client = new pg.Client(clientConfig({ connectionString: embedded.url }))
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { tables, ...options } = neededFor(manifest)
    await migrate(client, deps, options)
    return await copyIn(client, dumpDir, { ...manifest, tables })
  } finally {
    await client.end()
    await embedded.close()
  }
}

async function copyIn(client: pg.Client, dumpDir: string, manifest: DumpManifest): Promise<number> {
  let total = 0
  await client.query('begin')
  // Skip triggers and foreign keys, as a replica does: the rows were checked when they were first written, and the tables of a dump are not
  // ordered by their references.
  await client.query('set local session_replication_role = replica')
  for (const table of manifest.tables) await client.query(`delete from ${client.escapeIdentifier(table.name)}`)
  for (const table of manifest.tables) {
    const { rowCount } = await client.query(copyStatement(client, table, 'from', join(dumpDir, table.name)))
    if (rowCount !== table.rows) throw new Error(`the dump is damaged: ${table.name} has ${rowCount} rows instead of ${table.rows}`)
    total += table.rows
  }
  for (const { name, last_value } of manifest.sequences)
    await client.query('select setval($1, $2)', [client.escapeIdentifier(name), last_value])
  await client.query('commit')
  return total
}

async function putInPlace(metaDir: string, nowMs: number): Promise<string | undefined> {
  const pgDir = join(metaDir, 'pg')
  const hasOld = (await stat(pgDir).catch(() => undefined)) !== undefined
  const broken = hasOld ? join(metaDir, `pg.replaced-${nowMs}`) : undefined
  if (broken) await rename(pgDir, broken)
  await rename(join(metaDir, 'restoring', 'meta', 'pg'), pgDir)
  await syncPath(metaDir)
  return broken
}
