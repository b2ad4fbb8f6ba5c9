import type { Db } from '../../../meta/meta.ts'
import { type Sql, sql } from '../../../meta/sql.ts'

/** Selects usage; undefined members match everything. */
export type UsageQuery = {
  orgId: string
  kind: 'search' | 'export'
  fromMs: number
  toMs: number
  slices: number
  /** The measure to sum. */
  measure: 'bytes' | 'latency'
  logIds: readonly string[] | undefined
  identityId: string | undefined
}

export type UsageRow = { slice: number; log_id: string; identity_id: string; count: number; sum: number }

/** Sums each dataset and identity in each slice; a minute belongs to the slice in which it begins. */
export const selectUsage = (db: Db, request: UsageQuery) =>
  db.all<UsageRow>(sql`
    select ((minute_ms - ${request.fromMs}::bigint) * ${request.slices}::bigint / ${request.toMs - request.fromMs}::bigint)::int as slice, log_id, identity_id,
      sum(count) as count, sum(${measured(request.measure)}) as sum
    from usage_minutes
    where org_id = ${request.orgId} and kind = ${request.kind} and minute_ms >= ${request.fromMs} and minute_ms < ${request.toMs}
      and (${request.logIds === undefined} or log_id = any(${request.logIds ?? []}::uuid[]))
      and (${request.identityId ?? null}::uuid is null or identity_id = ${request.identityId ?? null}::uuid)
    group by slice, log_id, identity_id`)

const measured = (measure: 'bytes' | 'latency'): Sql => (measure === 'bytes' ? sql`bytes` : sql`latency_ms`)
