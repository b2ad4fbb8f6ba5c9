import type { Db } from '../meta/meta.ts'

/** A Job is one piece of work as its kind sees it while the lease is held. It may run more than once, so what it does must bear repeating. */
export type Job = {
  id: string
  /** orgId is undefined for work of the whole deployment. */
  orgId: string | undefined
  payload: Readonly<Record<string, unknown>>
  /** attempt counts from 1 since the last success. */
  attempt: number
  /** fence rises with every lease of this job. */
  fence: number
  /** signal ends when the lease is lost or the service stops; then the work must end soon. */
  signal: AbortSignal
  /** hold is the first statement of every transaction of a job: it throws when the lease is another's, and keeps it here until the end of tx. */
  hold(tx: Db): Promise<void>
}

/** An Again says that a job has more to do, in so many milliseconds, and what it wants to know then. */
export type Again = { againInMs: number; payload?: Record<string, unknown> }

/** A JobKind is how one sort of work is done; the roof lists all of them. */
export type JobKind = {
  name: string
  /** everyMs makes the kind recurring: the deployment has one job of it, which never ends. */
  everyMs?: number
  /** isDueAtStart brings a recurring job forward whenever a process starts. */
  isDueAtStart?: boolean
  /** triesMax bounds the attempts of a job that does not recur; then it is given up, and a person is needed. */
  triesMax?: number
  /** run returns when the work is done, or says when there is more of it. */
  run(job: Job): Promise<Again | undefined>
}
