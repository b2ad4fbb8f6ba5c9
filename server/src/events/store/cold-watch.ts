import type { ClickHouseClient } from '@clickhouse/client'
import { openBucketProbe } from '../../files/bucket-probe.ts'
import type { BucketLocation } from '../../files/location.ts'
import type { Clock } from '../../kernel/clock.ts'
import { unavailable } from '../../kernel/errors.ts'
import { keptReading } from '../../kernel/kept-reading.ts'
import { isBucketFailure } from './away.ts'
import { COLD_DISKS } from './cold-disk.ts'
import type { ReadResult, ReadStatement } from './reads.ts'

/**
 * Knows whether the bucket answers, and from which time on no event lies there. While the bucket is away, a read of older events ends at once: in the
 * store, reads that need the same file wait for each other, each for the whole time that a request may take.
 */
export type ColdWatch = {
  /** Why cold events cannot be read; undefined while they can. */
  unavailableReason(): Promise<string | undefined>
  guard(statement: ReadStatement, run: (statement: ReadStatement) => Promise<ReadResult>): Promise<ReadResult>
  close(): Promise<void>
}

const DAYS_KEPT_MS = 15_000
const ASK_BOUND_MS = 5_000
/** How often the bucket is asked while a read of cold events runs. */
const CHECK_EVERY_MS = 4_000

export function openColdWatch(location: BucketLocation, writer: () => ClickHouseClient, clock: Clock): ColdWatch {
  const probe = openBucketProbe(location, clock)
  const unavailableReason = async (): Promise<string | undefined> => {
    const reason = await probe.reason()
    return reason === undefined ? undefined : `the bucket of cold storage does not answer: ${reason}`
  }
  let knownMs = Number.POSITIVE_INFINITY
  const coldUntilMs = keptReading(DAYS_KEPT_MS, clock, async () => {
    // Without an answer, what was known before holds.
    knownMs = await coldUntil(writer()).catch(() => knownMs)
    return knownMs
  })

  const failure = (untilMs: number, reason: string, cause?: unknown): Error => {
    const since = Number.isFinite(untilMs) ? `events before ${new Date(untilMs).toISOString().slice(0, 10)}` : 'old events'
    return unavailable(`${since} lie in cold storage and cannot be read now: ${reason}; newer ones can`, { cause, retryAfterS: 10 })
  }

  const throwIfAway = async (untilMs: number): Promise<void> => {
    const reason = await unavailableReason()
    if (reason !== undefined) throw failure(untilMs, reason)
  }

  return {
    unavailableReason,
    guard: async (statement, run) => {
      const untilMs = await coldUntilMs()
      if (statement.fromMs !== undefined && statement.fromMs >= untilMs) return run(statement)
      await throwIfAway(untilMs)
      const ending = new AbortController()
      const away = Promise.withResolvers<never>()
      const timer = setInterval(() => {
        throwIfAway(untilMs).catch((thrown: unknown) => {
          away.reject(thrown)
          ending.abort(thrown)
        })
      }, CHECK_EVERY_MS)
      const result = run({ ...statement, signal: AbortSignal.any([statement.signal, ending.signal]) })
      return Promise.race([result, away.promise])
        .catch((cause: unknown) => {
          throw isBucketFailure(cause) ? failure(untilMs, 'a request to the bucket of cold storage failed', cause) : cause
        })
        .finally(() => clearInterval(timer))
    },
    close: probe.close,
  }
}

/** The end of the newest day with events in the bucket. */
async function coldUntil(writer: ClickHouseClient): Promise<number> {
  const answer = await writer.query({
    query: `select toFloat64(toUnixTimestamp(toDateTime(max(toDate(partition)) + 1, 'UTC'))) * 1000 as until, count() as parts from system.parts
      where active and database = currentDatabase()
        and disk_name in ${COLD_DISKS}`,
    format: 'JSONEachRow',
    abort_signal: AbortSignal.timeout(ASK_BOUND_MS),
  })
  const [row] = await answer.json<{ until: number; parts: string }>()
  return row && row.parts !== '0' ? row.until : Number.NEGATIVE_INFINITY
}
