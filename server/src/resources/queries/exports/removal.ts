import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { readClock, readingOf } from '../../data/retention/retention.ts'
import { deleteExport, type ExportRow, failLost, selectEnded, selectKnown } from './rows.ts'
import { draftOf, EXPORTING } from './state.ts'

const DAY_MS = 86_400_000
const EVERY_MS = 15 * 60_000
/** How long the file of an export is kept. */
const KEPT_MS = 7 * DAY_MS
/** How long an unknown file is kept, since its writer may not have saved its progress yet. */
const ORPHAN_MS = DAY_MS
/** A job is created with its export and removed when the export ends. An export without a job for this long is lost. */
const LOST_MS = 10 * 60_000
const ROWS_MAX = 1_000

/** Removes old exports with their files, and files without an export, unless the clock may be wrong. */
export const exportRemoval = (world: Pick<World, 'clock' | 'log' | 'meta' | 'blobStore'>): JobKind => ({
  name: 'export_removal',
  everyMs: EVERY_MS,
  run: async ({ signal, payload }) => {
    const { clock, meta, blobStore, log } = world
    const nowMs = clock.nowMs()
    const lost = await failLost(meta, {
      kind: EXPORTING,
      nowMs,
      beforeMs: nowMs - LOST_MS,
      reason: 'it could not be written, whatever was tried',
    })
    for (const row of lost) await blobStore.remove(draftOf(row))
    const { reading, isTrusted } = readClock(readingOf(payload.reading), nowMs, clock.report?.())
    const again = { againInMs: EVERY_MS, payload: { reading } }
    if (!isTrusted) return again
    for (const row of await selectEnded(meta, nowMs - KEPT_MS, ROWS_MAX)) {
      signal.throwIfAborted()
      await removeWhole(world, row)
    }
    const orphans = (await blobStore.keysUntouchedSince(nowMs - ORPHAN_MS)).filter((key) => /^[\da-f-]{36}$/.test(key))
    const known = new Set((await selectKnown(meta, orphans)).map(({ id }) => id))
    for (const key of orphans.filter((id) => !known.has(id))) {
      await blobStore.remove({ key, upload: '' })
      log.info({ export_id: key }, 'the file of a missing export was removed')
    }
    return again
  },
})

/** Removes the file first: a row without a file is found again, a file without a row only as an orphan. */
async function removeWhole({ meta, blobStore }: Pick<World, 'meta' | 'blobStore'>, row: ExportRow): Promise<void> {
  await blobStore.remove(draftOf(row))
  await deleteExport(meta, row.org_id, row.id)
}
