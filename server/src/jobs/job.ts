import type { Db } from '../meta/meta.ts'

/** One run of a job while its lease is held. A job may run more than once, so its work must be idempotent. */
export type JobRun = {
  id: string
  /** Undefined for jobs of the whole deployment. */
  orgId: string | undefined
  payload: Readonly<Record<string, unknown>>
  /** Counts from 1 since the last success. */
  attempt: number
  /** A fencing token: it increases with every lease of this job. */
  fence: number
  /** Aborts when the lease is lost or the service stops. */
  signal: AbortSignal
  /** Call it first in every transaction of a job. Throws when the lease is lost, and otherwise keeps the lease until the transaction ends. */
  hold(tx: Db): Promise<void>
}

/** The job has more to do after this delay, with this payload. */
export type JobContinuation = { againInMs: number; payload?: Record<string, unknown> }

/** One kind of job. `work.ts` lists all kinds. */
export type JobKind = {
  name: string
  /** Makes the kind recurring: the deployment has exactly one job of it, which never ends. */
  everyMs?: number
  /** Makes a recurring job due whenever a process starts. */
  isDueAtStart?: boolean
  /** The maximum number of attempts of a job that is not recurring. After that the job is given up, and an operator is needed. */
  triesMax?: number
  /** Does the work. Returns undefined when it is done. */
  run(job: JobRun): Promise<JobContinuation | undefined>
}
