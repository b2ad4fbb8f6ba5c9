import type { JobContinuation, JobKind, JobRun } from '../../jobs/job.ts'
import { Failure } from '../../kernel/errors.ts'
import { DeliveryError } from '../../outgoing/outgoing.ts'
import {
  endRehydration,
  insertFiles,
  noteRehydration,
  REHYDRATION,
  type RehydrationRow,
  selectNextFile,
  selectRehydration,
} from '../../resources/data/rehydrations/rehydrations.ts'
import { OriginError } from '../../resources/data/sources/sources.ts'
import type { SourceWorld } from '../sources/post.ts'
import { OpenRehydrations } from './open-rehydrations.ts'
import { isCancelled, type RehydrationStep, readFile, refuseFile } from './read-file.ts'

/** How long one rehydration works before others continue. */
const STEP_MS = 30_000
const RETRY_MS = 10_000

/** The job of rehydrations, and what it leaves open. */
type Rehydrating = { readonly kind: JobKind; close(): Promise<void> }
type Work = Pick<RehydrationStep, 'world' | 'job' | 'row'>

/** Reads files back into datasets, in steps. It is never given up: while events cannot be stored, it waits. */
export function openRehydrating(world: SourceWorld): Rehydrating {
  const opened = new OpenRehydrations(world)
  const run = (job: JobRun) => runRehydration(world, opened, job)
  return { kind: { name: REHYDRATION, triesMax: Number.POSITIVE_INFINITY, run }, close: () => opened.closeAll() }
}

async function runRehydration(world: SourceWorld, opened: OpenRehydrations, job: JobRun): Promise<JobContinuation | undefined> {
  const { meta, clock } = world
  const [orgId, id] = [job.orgId ?? '', String(job.payload.id)]
  const row = await selectRehydration(meta, orgId, id)
  if (!row || row.ended_at !== null) return undefined
  const work = { world, job, row }
  const stop = () => void opened.close(id)
  job.signal.addEventListener('abort', stop)
  let continuation: JobContinuation | undefined
  try {
    await noteRehydration(meta, orgId, id, null)
    continuation = await takeStep({ ...work, open: await opened.get(row), untilMs: clock.monotonicMs() + STEP_MS })
  } catch (thrown) {
    if (job.signal.aborted) throw thrown
    if (thrown instanceof OriginError) await end(work, 'FAILED', thrown.message)
    else if (thrown instanceof DeliveryError && (await isCancelled(work))) await endUnread(work, thrown)
    else if (thrown instanceof Failure || thrown instanceof DeliveryError) {
      await noteRehydration(meta, orgId, id, thrown.message)
      continuation = { againInMs: RETRY_MS }
    } else throw thrown
  } finally {
    job.signal.removeEventListener('abort', stop)
    if (continuation) await opened.leave(id)
    else await opened.close(id)
  }
  return continuation
}

async function takeStep(step: RehydrationStep): Promise<JobContinuation | undefined> {
  const { world, job, row, open } = step
  if (!row.is_listed) {
    const listed = [...open.origin.files.values()].map(({ identity, name, bytes }) => ({ file: identity, name, bytes }))
    listed.sort((a, b) => (a.name < b.name ? -1 : 1))
    await world.meta.write(row.org_id, async (tx) => {
      await job.hold(tx)
      await insertFiles(tx, row, listed)
    })
  }
  for (;;) {
    const next = await selectNextFile(world.meta, row.id)
    if (!next) return end(step, (await isCancelled(step)) ? 'CANCELLED' : 'COMPLETE')
    if (next.planned_to === null && (await isCancelled(step))) return end(step, 'CANCELLED')
    if (world.clock.monotonicMs() > step.untilMs) return { againInMs: 0 }
    await readFile(step, next)
  }
}

/** Ends a cancelled rehydration whose origin cannot be read. Nobody knows whether the batch that was planned is stored: later ones leave it out. */
async function endUnread(work: Work, cause: DeliveryError): Promise<void> {
  const next = await selectNextFile(work.world.meta, work.row.id)
  if (next && next.planned_to !== null) {
    const failure = `its last ${next.planned_to - next.position} bytes may be stored or not, because it could not be read again: ${cause.message}`
    await refuseFile(work, next, failure, next.planned_to)
  }
  await end(work, 'CANCELLED')
}

async function end({ world, job, row }: Work, status: RehydrationRow['status'], failure: string | null = null): Promise<undefined> {
  await world.meta.write(row.org_id, async (tx) => {
    await job.hold(tx)
    await endRehydration(tx, row.org_id, row.id, { status, failure, nowMs: world.clock.nowMs() })
  })
}
