import type { World } from '../world.ts'
import type { Again, Job, JobKind } from './job.ts'
import { deleteJob, failJob, giveBack, holdLease, type JobRow, renewLease, rescheduleJob, takeUpAgain } from './rows.ts'

/** A LeaseLost says that somebody else holds the job by now, so that nothing more may be written for it. */
export class LeaseLost extends Error {
  constructor(kind: string) {
    super(`the lease of a job of the kind ${kind} is lost`)
    this.name = 'LeaseLost'
  }
}

/** A Running is a job under way; `ended` never rejects. */
export type Running = { ended: Promise<void> }

type Deps = Pick<World, 'meta' | 'clock' | 'log'>
type Terms = { leaseMs: number; claimedMs: number; stopping: AbortSignal }

const TRIES_MAX = 20
const RETRY_MIN_MS = 5_000
const RETRY_MAX_MS = 3_600_000
const RENEWALS_PER_LEASE = 3
const FAILURE_CHARACTERS_MAX = 1_000

/** runJob runs a claimed job, renews its lease meanwhile and writes down how it ended. */
export function runJob(deps: Deps, kind: JobKind, row: JobRow, terms: Terms): Running {
  const lost = new AbortController()
  const over = new AbortController()
  const job: Job = {
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
      deps.log.warn({ kind: kind.name, job_id: row.id }, 'a job ran longer than its lease; another holder does it')
      return
    }
    await settle(deps, kind, row, result, terms.stopping)
  }
  return {
    ended: run().catch((err) => deps.log.warn({ err, kind: kind.name, job_id: row.id }, 'the end of a job could not be written down')),
  }
}

type Result = { again: Again | undefined } | { failure: unknown }

async function attempt(kind: JobKind, job: Job): Promise<Result> {
  // Attempts are counted when they begin: a job that ends its process each time must end too.
  if (isExhausted(kind, job.attempt - 1)) return { failure: new Error('the process that ran it ended each time') }
  return kind.run(job).then(
    (again) => ({ again }),
    (failure: unknown) => ({ failure }),
  )
}

const isExhausted = (kind: JobKind, attempts: number): boolean => kind.everyMs === undefined && attempts >= (kind.triesMax ?? TRIES_MAX)

/** renew keeps the lease until the job is over; without an answer from the store it counts as lost when its time is up here. */
async function renew(
  { meta, clock, log }: Deps,
  kind: JobKind,
  row: JobRow,
  { leaseMs, claimedMs }: Terms,
  { lost, over }: { lost: AbortController; over: AbortSignal },
): Promise<void> {
  const everyMs = leaseMs / RENEWALS_PER_LEASE
  let renewedMs = claimedMs
  for (;;) {
    await clock.sleep(everyMs, over).catch(() => undefined)
    if (over.aborted) return
    const askedMs = clock.monotonicMs()
    const renewed = await renewLease(meta, row, leaseMs).catch((err) => {
      log.warn({ err, kind: kind.name, job_id: row.id }, 'a lease could not be renewed')
      return undefined
    })
    if (renewed === 1) renewedMs = askedMs
    const isLate = clock.monotonicMs() - renewedMs > leaseMs - everyMs
    if (renewed === 0 || (renewed === undefined && isLate)) return lost.abort(new LeaseLost(kind.name))
  }
}

/** settle writes down how the job ended. All of it misses when the lease is lost, and then the other holder's word counts. */
async function settle({ meta, clock, log }: Deps, kind: JobKind, row: JobRow, result: Result, stopping: AbortSignal): Promise<void> {
  const nowMs = clock.nowMs()
  if ('again' in result) {
    const { againInMs = kind.everyMs, payload = row.payload } = result.again ?? {}
    if (againInMs !== undefined) await rescheduleJob(meta, row, { nowMs, dueMs: nowMs + againInMs, payload })
    else if ((await deleteJob(meta, row)) === 0) await takeUpAgain(meta, row, nowMs)
    return
  }
  if (stopping.aborted) {
    await giveBack(meta, row)
    return
  }
  const isGivenUp = isExhausted(kind, row.attempts)
  const retryMs = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** (row.attempts - 1), kind.everyMs ?? RETRY_MAX_MS)
  const fields = { err: result.failure, kind: kind.name, job_id: row.id, org_id: row.org_id, attempt: row.attempts }
  if (isGivenUp) log.error(fields, 'a job is given up')
  else log.warn(fields, 'a job failed and is tried again')
  const failure = sentenceOf(result.failure).slice(0, FAILURE_CHARACTERS_MAX)
  await failJob(meta, row, { nowMs, failure, dueMs: isGivenUp ? undefined : nowMs + retryMs })
}

/** sentenceOf leaves out NUL, which the store cannot hold. */
const sentenceOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure)).replaceAll('\0', '')
