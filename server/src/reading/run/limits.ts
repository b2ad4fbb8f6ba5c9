import { availableParallelism } from 'node:os'
import type { QueryBounds, QueryLimit, QueryLimits } from '../../world.ts'

const RUNNING_PER_CORE = 4
const RUNNING_MIN = 8
/** The maximum share of the running slots for one organization, so that others need not wait for it. */
const ORG_SHARE = 0.75
/** Most queries on a busy machine take less. */
const RECENT_MS = 250

type BoundSettings = {
  readonly DENDRO_QUERY_RUNNING: QueryLimit
  readonly DENDRO_QUERY_WAITING: QueryLimit
  readonly DENDRO_QUERY_RUNNING_ORG: number | undefined
  readonly DENDRO_QUERY_RUNNING_ALL: number | undefined
  readonly DENDRO_CLICKHOUSE_URL: unknown
}

/**
 * Returns the concurrency limits. Those that are not configured are derived from the number of cores. In the embedded engine more than one
 * heavy query per core only delays those of other organizations: while a query merges or sorts, it yields to none.
 */
export function queryBoundsOf(config: BoundSettings, cores = availableParallelism()): QueryBounds {
  const running = config.DENDRO_QUERY_RUNNING_ALL ?? Math.max(RUNNING_MIN, RUNNING_PER_CORE * cores)
  const share = Math.max(1, Math.floor(running * ORG_SHARE))
  const perOrg = Math.min(running, config.DENDRO_QUERY_RUNNING_ORG ?? share)
  const isChosen = config.DENDRO_QUERY_RUNNING_ORG !== undefined || config.DENDRO_CLICKHOUSE_URL !== undefined
  return {
    running,
    perOrg,
    perOrgShared: isChosen ? perOrg : Math.min(perOrg, cores),
    reserved: running - share,
    ...(isChosen ? {} : { recentlyStarted: { atOnce: cores + 1, forMs: RECENT_MS } }),
    runningPerCredential: config.DENDRO_QUERY_RUNNING,
    waitingPerCredential: config.DENDRO_QUERY_WAITING,
  }
}

type LimitSettings = {
  readonly DENDRO_QUERY_BYTES: QueryLimit
  readonly DENDRO_QUERY_ROWS: QueryLimit
  readonly DENDRO_QUERY_TIME: QueryLimit
  readonly DENDRO_QUERY_MEMORY: number
  readonly DENDRO_QUERY_SPILL: number
}

/** Returns the configured limits of one query. */
export const queryLimitsOf = (config: LimitSettings): QueryLimits => ({
  bytes: config.DENDRO_QUERY_BYTES,
  rows: config.DENDRO_QUERY_ROWS,
  seconds: config.DENDRO_QUERY_TIME,
  memoryBytes: config.DENDRO_QUERY_MEMORY,
  spillBytes: config.DENDRO_QUERY_SPILL,
})
