import { BlobStoreFull, type PendingFile } from '../../../files/files.ts'
import type { JobContinuation, JobKind, JobRun } from '../../../jobs/job.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { ExportWorld } from './export-world.ts'
import type { ExportRow } from './rows.ts'
import { type ExportStep, selectExport, updateExport } from './rows.ts'
import { EXPORTING, readState } from './state.ts'
import { writeStep } from './step.ts'
import { reasonToStop } from './stop-reason.ts'

/** Consecutive failed attempts before giving up: about two hours of an unavailable store. */
const TRIES_MAX = 10

/** Writes exports in steps of a few seconds, so that a small export never waits for a large one. */
export const exporting = (world: ExportWorld): JobKind => ({ name: EXPORTING, triesMax: TRIES_MAX, run: (job) => runExport(world, job) })

async function runExport(world: ExportWorld, job: JobRun): Promise<JobContinuation | undefined> {
  const id = keyOf(job)
  const row = await selectExport(world.meta, job.orgId ?? '', id)
  if (!row) {
    await world.blobStore.remove({ key: id, upload: String(job.payload.upload ?? '') })
    return undefined
  }
  if (row.ended_at !== null) return undefined
  try {
    const trouble = await reasonToStop(world, row)
    if (trouble) throw new ExportEnded(trouble)
    return await writeStep(world, job, row)
  } catch (thrown) {
    const reason = job.signal.aborted ? undefined : reasonToEnd(thrown, job)
    if (reason === undefined) throw thrown
    await fail(world, job, row, reason)
    return undefined
  }
}

/** Why an export cannot be completed. */
class ExportEnded extends Error {}

/** The export that a job belongs to. */
const keyOf = (job: JobRun): string => String(job.payload.export_id)

/** The failure shown to the user; undefined when retrying can help. */
function reasonToEnd(thrown: unknown, { attempt }: JobRun): string | undefined {
  if (thrown instanceof ExportEnded || thrown instanceof BlobStoreFull) return thrown.message
  if (thrown instanceof Failure && thrown.status < 500) return thrown.message
  if (attempt < TRIES_MAX) return undefined
  return thrown instanceof Failure
    ? `it was tried ${TRIES_MAX} times: ${thrown.message}`
    : `it was tried ${TRIES_MAX} times and failed each time`
}

async function fail(world: ExportWorld, job: JobRun, before: ExportRow, reason: string): Promise<void> {
  const nowMs = world.clock.nowMs()
  const row = (await selectExport(world.meta, before.org_id, before.id)) ?? before
  const draft: PendingFile = { key: row.id, upload: readState(row).upload ?? '' }
  // The saved state finds the file if it cannot be removed now.
  const state = { upload: draft.upload }
  const step: ExportStep = { ...row, status: 'FAILED', state, bytes: 0, events: 0, failure_detail: reason, ended_at: nowMs }
  await world.meta.write(row.org_id, async (tx) => {
    await job.hold(tx)
    await updateExport(tx, row.org_id, row.id, step, nowMs)
  })
  world.log.warn({ export_id: row.id, reason }, 'an export failed')
  await world.blobStore.remove(draft)
}
