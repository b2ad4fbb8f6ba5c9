import type { ClickHouseClient } from '@clickhouse/client'
import { appliedMigrations } from '../events/store/rows.ts'
import { copyTablesOut } from '../meta/table-copy.ts'
import { readEventsList } from './events-list.ts'
import { type BackupManifest, nameAt, newManifest, writeManifest, writeStarted } from './manifest.ts'
import { storePieces } from './pieces.ts'
import type { BackupPlace } from './place.ts'
import { startBackup } from './rows.ts'
import { type StoreTask, waitForStore } from './wait.ts'

type BackupSource = StoreTask & {
  place: BackupPlace
  writer: ClickHouseClient
  database: string
  metaUrl: string
  masterKey: string
  /** Finds the statement of this backup in the event store. */
  id: string
}

/**
 * Makes one backup while the service runs: the events first and then the metadata, so that no stored event belongs to a dataset or an organization
 * that is not there. `base` is the backup that this one builds upon; files that it has are not stored again. The manifest comes last, and a
 * backup without it does not count.
 */
export async function makeBackup(source: BackupSource, base: string | null): Promise<BackupManifest> {
  const { place, clock, masterKey, database, id } = source
  const startedMs = clock.nowMs()
  const name = nameAt(startedMs)
  await writeStarted(place, name, masterKey, startedMs)
  const migrations = (await appliedMigrations(source.writer)).map((migration) => migration.name)
  await startBackup(source.outside, { id, name, base, database })
  const { files, bytes } = await waitForStore(source, id)
  const list = await readEventsList(place, name)
  const madeMs = clock.nowMs()
  const { tables, ...metadata } = await copyTablesOut(source.metaUrl, (table, rows) =>
    storePieces(place, `${name}/metadata/${table}`, rows),
  )
  source.signal?.throwIfAborted()
  const manifest = newManifest({
    name,
    base,
    started_at_ms: startedMs,
    made_at_ms: madeMs,
    master_key: masterKey,
    events: { database, migrations, files, bytes, list: { bytes: list.bytes, sha256: list.sha256 } },
    metadata: { ...metadata, tables: tables.map(({ stored, ...table }) => ({ ...table, pieces: stored })) },
  })
  await writeManifest(place, manifest)
  return manifest
}
