import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAddress } from '../events/store/address.ts'
import type { Clients } from '../events/store/clients.ts'
import { openClients } from '../events/store/clients.ts'
import { type EventDeps, eventsDir, openEngine } from '../events/store/engine.ts'
import { markInitialized } from '../events/store/first-engine-start.ts'
import { unknownMigrations as unknownEventMigrations } from '../events/store/migrate.ts'
import { createDatabase } from '../events/store/rows.ts'
import type { FileLocation } from '../files/location.ts'
import { syncPath } from '../meta/dump.ts'
import { startEmbedded } from '../meta/embedded.ts'
import { unknownMigrations as unknownMetaMigrations } from '../meta/migrate.ts'
import { type Sql, sql } from '../meta/sql.ts'
import { copyTablesIn, isEmptyDatabase } from '../meta/table-copy.ts'
import { type BackupManifest, chainOf, listBackups } from './manifest.ts'
import { readPieces } from './pieces.ts'
import type { BackupPlace } from './place.ts'
import { latestBackup } from './plan.ts'
import { startRestore, tablesOf } from './rows.ts'
import { hasUnfinishedRestore, writeUnfinishedMark } from './unfinished-restore.ts'
import { waitForStore } from './wait.ts'

/** The stores that a backup is restored to: embedded ones in the data directory where no address is given. */
type RestoreTarget = {
  place: BackupPlace
  location: FileLocation
  dataDir: string
  eventsUrl: string | undefined
  postgresUrl: string | undefined
  memoryBytes: number
  /** Identifies the master key that the restored service will use. */
  masterKey: string
}

/** Which backup: the one with the name, or the latest whose metadata is not newer than a time, or the latest. */
export type Choice = { name?: string | undefined; atMs?: number | undefined }

type Restored = { name: string; madeMs: number; rows: number }

const CONNECTIONS = 10

/** Restores a whole backup into empty stores. The caller holds the lock of the data directory. */
export async function restoreBackup(target: RestoreTarget, choice: Choice, deps: EventDeps): Promise<Restored> {
  const manifest = await chooseBackup(target, choice)
  await refuseUnsuitable(manifest, target.masterKey)
  const removeMark = await clearStores(target, manifest.name)
  await restoreEvents(target, manifest, deps)
  const rows = await restoreMetadata(target, manifest, deps)
  await removeMark()
  return { name: manifest.name, madeMs: manifest.made_at_ms, rows }
}

async function chooseBackup({ place, masterKey }: RestoreTarget, choice: Choice): Promise<BackupManifest> {
  const backups = await listBackups(place)
  const wanted = choice.name ?? latestBackup({ backups, masterKey }, choice.atMs)?.name
  if (wanted === undefined) {
    throw new Error(choice.atMs === undefined ? `there is no complete backup in ${place.title}` : `no backup in ${place.title} is that old`)
  }
  const manifest = chainOf(backups, wanted).at(-1)
  if (!manifest) throw new Error(`the backup ${wanted} does not exist`)
  return manifest
}

/** Refuses before anything is written. */
async function refuseUnsuitable({ name, version, events, metadata, master_key }: BackupManifest, masterKey: string): Promise<void> {
  const unknown = [...(await unknownEventMigrations(events.migrations)), ...(await unknownMetaMigrations(metadata.migrations))]
  if (unknown.length > 0) {
    throw new Error(
      `the backup ${name} was made by a newer version of Dendro, ${version} (with ${unknown.join(', ')}); restore it with that version`,
    )
  }
  if (master_key !== masterKey) {
    throw new Error(
      `the backup ${name} was made with another master key, without which none of its credentials are valid: copy master.key of that deployment into the data directory, or set DENDRO_MASTER_KEY`,
    )
  }
}

/** Nothing that exists is overwritten, except what an interrupted restore has left. Returns the function to call at the end. */
async function clearStores({ dataDir, eventsUrl, postgresUrl }: RestoreTarget, name: string): Promise<() => Promise<void>> {
  const own = [...(eventsUrl === undefined ? ['events'] : []), ...(postgresUrl === undefined ? ['meta'] : [])].map((store) =>
    join(dataDir, store),
  )
  if (!(await hasUnfinishedRestore(dataDir))) {
    const found = own.find((dir) => existsSync(dir))
    if (found !== undefined) {
      throw new Error(`${found} exists: a backup is restored into a data directory without stores; choose another DENDRO_DATA_DIR`)
    }
  }
  const removeMark = await writeUnfinishedMark(dataDir, name)
  for (const dir of own) await rm(dir, { recursive: true, force: true, maxRetries: 3 })
  return removeMark
}

async function restoreEvents(target: RestoreTarget, manifest: BackupManifest, deps: EventDeps): Promise<void> {
  const { eventsUrl, dataDir, memoryBytes, location } = target
  if (eventsUrl !== undefined) {
    const clients = openClients(parseAddress(eventsUrl))
    await fillEvents(clients, manifest, false, deps).finally(() => clients.close())
    return
  }
  await mkdir(eventsDir(dataDir), { recursive: true, mode: 0o700 })
  const engine = await openEngine({ dataDir, memoryBytes, backups: location }, deps)
  await fillEvents(engine.clients(), manifest, true, deps).finally(() => engine.close())
  await markInitialized(dataDir)
  await syncPath(dataDir)
}

async function fillEvents(
  { outside, address }: Clients,
  { name, events }: BackupManifest,
  isEmbedded: boolean,
  { clock, ids }: EventDeps,
): Promise<void> {
  if (address.cluster !== undefined) throw new Error('Dendro restores no cluster: use RESTORE … ON CLUSTER of ClickHouse on its events')
  const tables = await tablesOf(outside, address.database)
  if (tables.length > 0)
    throw new Error(`the database ${address.database} of the event store has tables already; restore into an empty one`)
  await createDatabase(outside, address)
  const id = ids.uuid().replaceAll('-', '')
  await startRestore(outside, { id, name, database: events.database, into: address.database, isEmbedded })
  await waitForStore({ clock, outside }, id).catch((cause) => {
    throw new Error(`the events of ${name} cannot be restored: ${cause.message}`, { cause })
  })
}

/** The task that made the backup is open in it, and would otherwise make another one. */
const endOwnTask = ({ name, made_at_ms }: BackupManifest): Sql => sql`
  update backup_tasks set status = 'COMPLETE', backup = ${name}, made_at = ${made_at_ms}, ended_at = ${made_at_ms}
  where task = 'BACKUP' and status = 'IN_PROGRESS'`

async function restoreMetadata(target: RestoreTarget, manifest: BackupManifest, deps: EventDeps): Promise<number> {
  const { place, postgresUrl, dataDir } = target
  const { metadata } = manifest
  const copy = { ...metadata, tables: metadata.tables.map(({ pieces, ...table }) => ({ ...table, stored: pieces })) }
  const fill = async (url: string): Promise<number> => {
    if (!(await isEmptyDatabase(url))) throw new Error('the PostgreSQL database has tables already; restore into an empty one')
    return copyTablesIn(url, copy, (pieces) => readPieces(place, pieces), endOwnTask(manifest), deps)
  }
  if (postgresUrl !== undefined) return fill(postgresUrl)
  const embedded = await startEmbedded(dataDir, CONNECTIONS, deps)
  return fill(embedded.url).finally(() => embedded.close())
}
