import type { EventStore } from '../events/store/events.ts'
import type { QuerySlot } from '../world.ts'
import type { Question } from './question.ts'

/** YIELD_MS is how long a query of lower priority pauses at each block while one of higher priority runs: it slows down and does not stop. */
const YIELD_MS = 20

/** A Pause adds up the time that a query waits while none of its statements runs; it does not count as time the query takes. */
export type Pause = { waiting: number; running: number; sinceMs: number | undefined }

/** A Waiting is a query that waits for its turn before each statement. */
type Waiting = Pick<Question, 'ticket' | 'signal' | 'budget'> & { startedMs: number; readonly pause: Pause }

export const noPause = (): Pause => ({ waiting: 0, running: 0, sinceMs: undefined })

/** inTurn does the work once the query may run, with the settings that give it its share of the store. */
export async function inTurn<T>(
  store: EventStore,
  asking: Waiting,
  cores: number,
  work: (settings: Record<string, string>, running: number) => Promise<T>,
): Promise<T> {
  const { ticket, signal, budget, pause } = asking
  if (!ticket) return work(budget.threads === undefined ? {} : { max_threads: String(budget.threads) }, 1)
  if (pause.waiting === 0 && pause.running === 0) pause.sinceMs = performance.now()
  pause.waiting += 1
  let isWaiting = true
  const resume = () => {
    if (!isWaiting) return
    isWaiting = false
    pause.waiting -= 1
    if (pause.sinceMs !== undefined) asking.startedMs += performance.now() - pause.sinceMs
    pause.sinceMs = undefined
  }
  try {
    return await ticket.run({ signal, waitMs: budget.seconds * 1_000 }, async ({ isLast, rank, running }) => {
      resume()
      pause.running += 1
      try {
        return await work(shareOf({ rank, isLast }, budget.threads, store.engine ? cores : undefined), running)
      } finally {
        pause.running -= 1
      }
    })
  } finally {
    resume()
  }
}

/** LAST is behind every rank that a running query can have. */
const LAST = 100_000

/**
 * shareOf lets the first query of everybody have the processors and those beyond it give way, and exports to all others; `cores` are those of an engine
 * of our own.
 */
export function shareOf(
  { rank, isLast }: Pick<QuerySlot, 'rank' | 'isLast'>,
  threads: number | undefined,
  cores: number | undefined,
): Record<string, string> {
  const own = threads ?? (cores === undefined || rank < 2 ? undefined : Math.max(1, Math.floor(cores / rank)))
  return {
    priority: String(isLast ? LAST + rank : rank),
    low_priority_query_wait_time_ms: String(YIELD_MS),
    ...(own === undefined ? {} : { max_threads: String(own) }),
  }
}
