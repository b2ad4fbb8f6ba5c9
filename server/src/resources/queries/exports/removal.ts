import type { JobKind } from '../../../jobs/job.ts'
import type { World } from '../../../world.ts'
import { readClock, readingOf } from '../../data/retention/retention.ts'
import { deleteExport, type ExportRow, failLost, selectEnded, selectKnown } from './rows.ts'
import { draftOf, EXPORTING } from './state.ts'

const DAY_MS = 86_400_000
const EVERY_MS = 15 * 60_000
/** KEPT_MS is how long the file of an export can be fetched. */
const KEPT_MS = 7 * DAY_MS
/** STRAY_MS is how long a file that nobody knows stays, since whoever writes it may be about to say so. */
const STRAY_MS = DAY_MS
/** LOST_MS: a job is there as soon as its export is, and gone when the export has ended. */
const LOST_MS = 10 * 60_000
const ROWS_MAX = 1_000

/** exportRemoval removes old exports with their files, and files whose exports are gone, unless the clock may be wrong. */
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
    const strays = (await blobStore.keysUntouchedSince(nowMs - STRAY_MS)).filter((key) => /^[\da-f-]{36}$/.test(key))
    const known = new Set((await selectKnown(meta, strays)).map(({ id }) => id))
    for (const key of strays.filter((id) => !known.has(id))) {
      await blobStore.remove({ key, upload: '' })
      log.info({ export_id: key }, 'the file of an export that is gone was removed')
    }
    return again
  },
})

/** removeWhole takes the file first: a row without a file is found again, a file without a row only as a stray. */
async function removeWhole({ meta, blobStore }: Pick<World, 'meta' | 'blobStore'>, row: ExportRow): Promise<void> {
  await blobStore.remove(draftOf(row))
  await deleteExport(meta, row.org_id, row.id)
}
