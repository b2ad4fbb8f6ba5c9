import { ClickHouseError } from '@clickhouse/client'
import { Failure, unavailable } from '../../kernel/errors.ts'

/** AWAY: names that cannot be resolved, lost connections, shards of which no replica answers, replicas that lag too far, keeper, engines going down. */
const AWAY: ReadonlySet<string> = new Set(['3', '32', '198', '209', '210', '225', '236', '279', '369', '394', '735', '999'])

/** ALL_TRIES_FAILED is what is said of a shard of which no replica could be reached. */
const ALL_TRIES_FAILED = '279'

/** isPartAway says that a 503 came of a shard that is away while others answer. */
export const isPartAway = (thrown: unknown): boolean =>
  thrown instanceof Failure && thrown.cause instanceof ClickHouseError && thrown.cause.code === ALL_TRIES_FAILED

/** awayFailure is the 503 of a store that cannot be asked just now, whole or in part; undefined of an answer that says something else. */
export function awayFailure(cause: unknown): Failure | undefined {
  if (cause instanceof Failure) return undefined
  if (!(cause instanceof ClickHouseError)) return unavailable('the event store does not answer', { cause })
  if (!AWAY.has(cause.code)) return undefined
  return unavailable('a part of the event store does not answer: a shard of its cluster is away, or the connection to it was lost', {
    cause,
  })
}
