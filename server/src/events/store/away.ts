import { ClickHouseError } from '@clickhouse/client'
import { Failure, unavailable } from '../../kernel/errors.ts'

/** Unresolvable names, lost connections, shards without a reachable replica, lagging replicas and lack of a quorum, Keeper errors, shutdowns. */
const UNAVAILABLE: ReadonlySet<string> = new Set([
  '3',
  '32',
  '198',
  '209',
  '210',
  '225',
  '236',
  '279',
  '285',
  '286',
  '289',
  '369',
  '394',
  '735',
  '999',
])

/** The codes of a failed request to object storage, and of one without any answer, which others share. */
const BUCKET_FAILED = '499'
const NO_ANSWER = '1000'

/** True when a request to object storage has failed. */
export const isBucketFailure = (cause: unknown): boolean =>
  cause instanceof ClickHouseError &&
  (cause.code === BUCKET_FAILED || (cause.code === NO_ANSWER && cause.message.includes('This error happened for S3 disk')))

/** The error code when no replica of a shard could be reached. */
const ALL_TRIES_FAILED = '279'

/** True when one shard is unavailable while others answer. */
export const isShardUnavailable = (thrown: unknown): boolean =>
  thrown instanceof Failure && thrown.cause instanceof ClickHouseError && thrown.cause.code === ALL_TRIES_FAILED

/** The 503 for a store that is unavailable as a whole or in part; undefined for other errors. */
export function unavailableFailure(cause: unknown): Failure | undefined {
  if (cause instanceof Failure) return undefined
  if (!(cause instanceof ClickHouseError)) return unavailable('the event store does not answer', { cause })
  if (isBucketFailure(cause))
    return unavailable('events in cold storage cannot be read: its bucket does not answer', { cause, retryAfterS: 10 })
  if (!UNAVAILABLE.has(cause.code)) return undefined
  return unavailable('a part of the event store does not answer: a shard of its cluster is unavailable, or the connection to it was lost', {
    cause,
  })
}
