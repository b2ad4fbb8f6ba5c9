import { ClickHouseError } from '@clickhouse/client'
import { Failure, unavailable } from '../../kernel/errors.ts'

/** Unresolvable names, lost connections, shards without a reachable replica, lagging replicas, Keeper errors, shutdowns. */
const UNAVAILABLE: ReadonlySet<string> = new Set(['3', '32', '198', '209', '210', '225', '236', '279', '369', '394', '735', '999'])

/** The error code when no replica of a shard could be reached. */
const ALL_TRIES_FAILED = '279'

/** True when one shard is unavailable while others answer. */
export const isShardUnavailable = (thrown: unknown): boolean =>
  thrown instanceof Failure && thrown.cause instanceof ClickHouseError && thrown.cause.code === ALL_TRIES_FAILED

/** The 503 for a store that is unavailable as a whole or in part; undefined for other errors. */
export function unavailableFailure(cause: unknown): Failure | undefined {
  if (cause instanceof Failure) return undefined
  if (!(cause instanceof ClickHouseError)) return unavailable('the event store does not answer', { cause })
  if (!UNAVAILABLE.has(cause.code)) return undefined
  return unavailable('a part of the event store does not answer: a shard of its cluster is unavailable, or the connection to it was lost', {
    cause,
  })
}
