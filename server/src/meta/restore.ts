import { chown, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import pg from 'pg'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import { clientConfig } from './driver.ts'
import { copyStatement, listDumps, type Manifest, readManifest, syncPath } from './dump.ts'
import { startEmbedded } from './embedded.ts'
import { lockDataDir } from './lock.ts'
import { migrate } from './migrate.ts'

type Deps = { clock: Clock; log: Log }

export type Restored = { dump: string; rows: number; broken: string | undefined }

const CONNECTIONS = 10

/**
 * restoreMetadata makes the embedded metadata store anew from a dump, the latest unless another is named. The new store is complete before it
 * takes the place of the old one, which is kept beside it. The service must not be running.
 */
export async function restoreMetadata(dataDir: string, dumpName: string | undefined, deps: Deps): Promise<Restored> {
  const metaDir = join(resolve(dataDir), 'meta')
  const dumps = await listDumps(join(metaDir, 'dumps'))
  const name = dumpName ?? dumps.at(-1)
  if (name === undefined || !dumps.includes(name)) {
    throw new Error(`there is no dump ${name ?? ''} in ${join(metaDir, 'dumps')}; it has: ${dumps.join(', ') || 'none'}`)
  }
  // A service holds both; tests and other programs may have opened the metadata store alone.
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
  const workshop = join(metaDir, 'restoring')
  await rm(workshop, { recursive: true, force: true })
  await mkdir(workshop, { mode: 0o700 })
  const { uid, gid } = await stat(metaDir)
  await chown(workshop, uid, gid)
  const embedded = await startEmbedded(workshop, CONNECTIONS, deps)
  const client = new pg.Client(clientConfig({ connectionString: embedded.url }))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await migrate(client, deps, { upTo: manifest.migrations })
    return await copyIn(client, dumpDir, manifest)
  } finally {
    await client.end()
    await embedded.close()
  }
}

async function copyIn(client: pg.Client, dumpDir: string, manifest: Manifest): Promise<number> {
  let total = 0
  await client.query('begin')
  // As a replica does: the rows were checked when they were first written, in an order that the tables of a dump no longer have.
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
