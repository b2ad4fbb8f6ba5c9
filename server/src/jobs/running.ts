import type { World } from '../world.ts'
import type { JobContinuation, JobKind, JobRun } from './job.ts'
import { deleteJob, failJob, holdLease, type JobRow, releaseLease, renewLease, requeueJob, rescheduleJob } from './rows.ts'

/** Another process holds the job, so nothing may be written for it anymore. */
export class LeaseLost extends Error {
  constructor(kind: string) {
    super(`the lease of a ${kind} job is lost`)
    this.name = 'LeaseLost'
  }
}

/** A job that is being run. `ended` never rejects. */
export type JobExecution = { ended: Promise<void> /** Releases the lease, even though the job still runs. */; giveBack(): Promise<void> }

type Deps = Pick<World, 'meta' | 'clock' | 'log'>
type LeaseTerms = { leaseMs: number; claimedMs: number; stopping: AbortSignal }

const TRIES_MAX = 20
const RETRY_MIN_MS = 5_000
const RETRY_MAX_MS = 3_600_000
const RENEWALS_PER_LEASE = 3
const FAILURE_CHARACTERS_MAX = 1_000

/** Runs a claimed job, renews its lease meanwhile, and records the result. */
export function runJob(deps: Deps, kind: JobKind, row: JobRow, terms: LeaseTerms): JobExecution {
  const lost = new AbortController()
  const over = new AbortController()
  const job: JobRun = {
    id: row.id,
    orgId: row.org_id ?? undefined,
    payload: row.payload,
    attempt: row.attempts,
    fence: row.fence,
    signal: AbortSignal.any([lost.signal, terms.stopping]),
    hold: async (tx) => {
      if (!(await holdLease(tx, row))) throw new LeaseLost(kind.name)
    },
  }
  const renewing = renew(deps, kind, row, terms, { lost, over: over.signal })
  const run = async (): Promise<void> => {
    const result = await attempt(kind, job)
    over.abort()
    await renewing
    if (lost.signal.aborted) {
      deps.log.warn({ kind: kind.name, job_id: row.id }, 'job outlived its lease, another process continues it')
      return
    }
    await settle(deps, kind, row, result, terms.stopping)
  }
  return {
    giveBack: async () => void (await releaseLease(deps.meta, row)),
    ended: run().catch((err) => deps.log.warn({ err, kind: kind.name, job_id: row.id }, 'job result could not be recorded')),
  }
}

type AttemptResult = { again: JobContinuation | undefined } | { failure: unknown }

async function attempt(kind: JobKind, job: JobRun): Promise<AttemptResult> {
  // Attempts are counted when they begin, so that a job that always crashes its process is given up too.
  if (isExhausted(kind, job.attempt - 1)) return { failure: new Error('its process crashed on every attempt') }
  return kind.run(job).then(
    (again) => ({ again }),
    (failure: unknown) => ({ failure }),
  )
}

const isExhausted = (kind: JobKind, attempts: number): boolean => kind.everyMs === undefined && attempts >= (kind.triesMax ?? TRIES_MAX)

/** Renews the lease until the job is over. Without an answer from the store, the lease counts as lost when it expires on the local clock. */
async function renew(
  { meta, clock, log }: Deps,
  kind: JobKind,
  row: JobRow,
  { leaseMs, claimedMs }: LeaseTerms,
  { lost, over }: { lost: AbortController; over: AbortSignal },
): Promise<void> {
  const everyMs = leaseMs / RENEWALS_PER_LEASE
  let renewedMs = claimedMs
  for (;;) {
    await clock.sleep(everyMs, over).catch(() => undefined)
    if (over.aborted) return
    const sentMs = clock.monotonicMs()
    const renewed = await renewLease(meta, row, leaseMs).catch((err) => {
      log.warn({ err, kind: kind.name, job_id: row.id }, 'job lease could not be renewed')
      return undefined
    })
    if (renewed === 1) renewedMs = sentMs
    const isLate = clock.monotonicMs() - renewedMs > leaseMs - everyMs
    if (renewed === 0 || (renewed === undefined && isLate)) return lost.abort(new LeaseLost(kind.name))
  }
}

/** Records the result. The statements affect no row when the lease is lost, because the new holder decides. */
async function settle({ meta, clock, log }: Deps, kind: JobKind, row: JobRow, result: AttemptResult, stopping: AbortSignal): Promise<void> {
  const nowMs = clock.nowMs()
  if ('again' in result) {
    const { againInMs = kind.everyMs, payload = row.payload } = result.again ?? {}
    if (againInMs !== undefined) await rescheduleJob(meta, row, { nowMs, dueMs: nowMs + againInMs, payload })
    else if ((await deleteJob(meta, row)) === 0) await requeueJob(meta, row, nowMs)
    return
  }
  if (stopping.aborted) {
    await releaseLease(meta, row)
    return
  }
  const isGivenUp = isExhausted(kind, row.attempts)
  const retryMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** (row.attempts - 1), kind.everyMs ?? RETRY_MAX_MS)
  const fields = { err: result.failure, kind: kind.name, job_id: row.id, org_id: row.org_id, attempt: row.attempts }
  if (isGivenUp) log.error(fields, 'job given up')
  else log.warn(fields, 'job failed, will be retried')
  const failure = failureText(result.failure).slice(0, FAILURE_CHARACTERS_MAX)
  await failJob(meta, row, { nowMs, failure, dueMs: isGivenUp ? undefined : nowMs + retryMs })
}

/** PostgreSQL cannot store NUL. */
const failureText = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure)).replaceAll('\0', '')
