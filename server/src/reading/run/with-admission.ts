import type { EventStore } from '../../events/store/events.ts'
import type { QuerySlot } from '../../world.ts'
import type { EventQuery } from '../query.ts'

/** A query of lower priority pauses this long at each block while one of higher priority runs. It slows down but does not stop. */
const YIELD_MS = 20

/** Tracks the time that a query waits while none of its statements runs. It does not count as query time. */
export type AdmissionWait = { waiting: number; running: number; sinceMs: number | undefined }

/** A query that needs admission before each statement. */
type AdmittedQuery = Pick<EventQuery, 'ticket' | 'signal' | 'budget'> & { startedMs: number; readonly admissionWait: AdmissionWait }

export const noAdmissionWait = (): AdmissionWait => ({ waiting: 0, running: 0, sinceMs: undefined })

/** Runs the work once the query is admitted, with the settings for its share of the store. */
export async function runAdmitted<T>(
  store: Pick<EventStore, 'engine' | 'readerLimits'>,
  query: AdmittedQuery,
  cores: number,
  work: (settings: Record<string, string>, running: number) => Promise<T>,
): Promise<T> {
  const { ticket, signal, budget, admissionWait } = query
  if (!ticket) return work(budget.threads === undefined ? {} : { max_threads: String(budget.threads) }, 1)
  if (admissionWait.waiting === 0 && admissionWait.running === 0) admissionWait.sinceMs = performance.now()
  admissionWait.waiting += 1
  let isWaiting = true
  const resume = () => {
    if (!isWaiting) return
    isWaiting = false
    admissionWait.waiting -= 1
    if (admissionWait.sinceMs !== undefined) query.startedMs += performance.now() - admissionWait.sinceMs
    admissionWait.sinceMs = undefined
  }
  try {
    return await ticket.run({ signal, waitMs: budget.seconds * 1_000 }, async ({ isLast, rank, running }) => {
      resume()
      admissionWait.running += 1
      try {
        return await work(
          prioritySettings({ rank, isLast, running }, budget.threads, store.engine ? cores : store.readerLimits.threads || undefined),
          running,
        )
      } finally {
        admissionWait.running -= 1
      }
    })
  } finally {
    resume()
  }
}

/** Larger than every rank of a running query. */
const LOWEST_PRIORITY = 100_000

/**
 * A query alone may use all processors. Queries that run at once share them, since more threads than processors take more time together. Further
 * queries of one owner get lower priority too, and exports the lowest. `cores` are those of the embedded engine, or the threads that a
 * server gives one query.
 */
export function prioritySettings(
  { rank, isLast, running }: Pick<QuerySlot, 'rank' | 'isLast' | 'running'>,
  threads: number | undefined,
  cores: number | undefined,
): Record<string, string> {
  const sharing = Math.max(rank, running)
  const own = threads ?? (cores === undefined || sharing < 2 ? undefined : Math.max(1, Math.floor(cores / sharing)))
  return {
    priority: String(isLast ? LOWEST_PRIORITY + rank : rank),
    low_priority_query_wait_time_ms: String(YIELD_MS),
    ...(own === undefined ? {} : { max_threads: String(own) }),
  }
}
