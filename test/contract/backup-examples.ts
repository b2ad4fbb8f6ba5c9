import { type BackupManifest, nameAt, newManifest, writeManifest } from '../../server/src/backups/manifest.ts'
import { storePieces } from '../../server/src/backups/pieces.ts'
import { sql } from '../../server/src/meta/sql.ts'
import { copyTablesOut } from '../../server/src/meta/table-copy.ts'
import { DATASET_TABLES } from '../../server/src/resources/service/backups/dataset-rows.ts'
import type { Ask } from './examples.ts'
import type { Maker } from './stage.ts'

/** No job runs on the stage, so what earlier requests have left open is ended here. */
export async function withoutOpenTasks({ app }: Maker, ask: Ask = {}): Promise<Ask> {
  await app.app.world.meta.run(sql`update backup_tasks set status = 'COMPLETE', ended_at = created_at where ended_at is null`)
  return { key: app.managementKey, ...ask }
}

/** A task that somebody has asked for. */
export async function keptTask(maker: Maker): Promise<string> {
  const { key = '' } = await withoutOpenTasks(maker)
  return (await maker.app.ask<{ id: string }>('POST', '/backups', { key })).body.id
}

/** A backup with the datasets of the stage and without events. */
export async function keptBackup({ app }: Maker): Promise<string> {
  const { backups, clock, meta, vault } = app.app.world
  if (!backups) throw new Error('the stage has no place for backups')
  app.clock.advance(1)
  const [nowMs, name] = [clock.nowMs(), nameAt(clock.nowMs())]
  const { tables, ...copied } = await copyTablesOut(meta.url, async (table, rows) => {
    if (DATASET_TABLES.includes(table)) return storePieces(backups.place, `${name}/metadata/${table}`, rows)
    for await (const _ of rows);
    return []
  })
  const metadata: BackupManifest['metadata'] = { ...copied, tables: tables.map(({ stored, ...table }) => ({ ...table, pieces: stored })) }
  const events = { database: 'dendro', migrations: [], files: 0, bytes: 0, list: { bytes: 0, sha256: '' } }
  const times = { started_at_ms: nowMs, made_at_ms: nowMs }
  await writeManifest(backups.place, newManifest({ name, base: null, ...times, master_key: vault.fingerprint, events, metadata }))
  return name
}
