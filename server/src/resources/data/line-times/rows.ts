import type { Identity, LineTime } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

/** Sets or removes where the lines of a dataset tell their time; returns the previous setting. */
export const setLineTime = (
  db: Db,
  orgId: string,
  { logId, lineTime, nowMs, identity }: { logId: string; lineTime: LineTime | null; nowMs: number; identity: Identity },
) =>
  db.one<{ before: LineTime | null }>(sql`
    update datasets set line_time = ${json(lineTime ?? undefined)}, modified_at = ${nowMs}, modified_by = ${json(identity)}
    from (select id, line_time as before from datasets where org_id = ${orgId} and id = ${logId} and deleted_at is null for update) as was
    where datasets.id = was.id returning was.before`)
