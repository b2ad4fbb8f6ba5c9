import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

export type CanaryRow = {
  sent_at: number
  found_ms: number | null
  found_at: number | null
  failure: string | null
  failing_since: number | null
}

export const selectCanary = (db: Db) => db.one<CanaryRow>(sql`select sent_at, found_ms, found_at, failure, failing_since from canary`)

type CanaryEnd = { readonly sentAt: number; readonly foundMs: number | undefined; readonly failure: string | undefined }

/** Saves what became of the last event. */
export const saveCanary = (
  db: Db,
  { sentAt, foundMs = null, failure = null }: { [name in keyof CanaryEnd]?: CanaryEnd[name] | null } & { sentAt: number },
) =>
  db.run(sql`
    insert into canary (sent_at, found_ms, found_at, failure, failing_since)
    values (${sentAt}, ${foundMs}::bigint, case when ${foundMs}::bigint is not null then ${sentAt}::bigint end, ${failure}::text,
      case when ${failure}::text is not null then ${sentAt}::bigint end)
    on conflict (is_only) do update set sent_at = excluded.sent_at, failure = excluded.failure,
      found_ms = coalesce(excluded.found_ms, canary.found_ms), found_at = coalesce(excluded.found_at, canary.found_at),
      failing_since = case when excluded.failure is not null then coalesce(canary.failing_since, excluded.failing_since) end`)
