import { readEventsList } from './events-list.ts'
import type { BackupManifest } from './manifest.ts'
import { readPieces } from './pieces.ts'
import type { BackupPlace } from './place.ts'
import { countRows, damagedParts, dropTable, startPartRestore, type TablePart } from './rows.ts'
import { type StoreTask, waitForStore } from './wait.ts'

type Verification = StoreTask & { place: BackupPlace; database: string; newId(): string }

/** The table that partitions are restored to, one after the other. A backup is never made while it exists. */
export const SCRATCH = 'backup_scratch'

/**
 * Reads every byte of a backup and of those that it builds upon. Each partition of the events is restored to a table of its own, all of its
 * checksums are compared, and the table is dropped, so that the work needs no more space than the largest day. Throws at the first damage.
 * Returns the number of rows of the event store.
 */
export async function verifyBackup(work: Verification, manifest: BackupManifest): Promise<{ rows: number }> {
  for (const table of manifest.metadata.tables) for await (const _ of readPieces(work.place, table.pieces)) work.signal?.throwIfAborted()
  const list = await readEventsList(work.place, manifest.name)
  if (list.sha256 !== manifest.events.list.sha256) throw new Error(`the list of the files of events in ${manifest.name} is damaged`)
  let rows = 0
  for (const part of list.parts) rows += await withPart(work, manifest, part, () => countRows(work.outside, work.database, SCRATCH))
  return { rows }
}

/** Restores a partition to the scratch table, whole or not at all, and lets `use` read it there. */
export async function withPart<T>(work: Verification, manifest: BackupManifest, part: TablePart, use: () => Promise<T>): Promise<T> {
  const { outside, database, newId } = work
  work.signal?.throwIfAborted()
  const id = newId()
  await dropTable(outside, database, SCRATCH)
  try {
    const { name } = manifest
    await startPartRestore(outside, { id, name, database: manifest.events.database, into: database, as: SCRATCH, part })
    await waitForStore(work, id).catch((cause) => {
      throw new Error(`${part.table} ${part.partition} of ${name} cannot be restored: ${cause.message}`, { cause })
    })
    const [damage] = await damagedParts(outside, database, SCRATCH)
    if (damage !== undefined) throw new Error(`${part.table} ${part.partition} of ${name} is damaged: ${damage}`)
    return await use()
  } finally {
    await dropTable(outside, database, SCRATCH).catch(() => undefined)
  }
}
