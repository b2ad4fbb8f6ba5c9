import type { Db } from '../../../meta/meta.ts'
import { removeOld } from '../../../meta/old-rows.ts'
import { json, sql } from '../../../meta/sql.ts'

/** The counts of a dataset in an hour. */
export type HourRow = { log_id: string; hour_ms: number; events: number; bytes: number; counted: number; errors: number; debugs: number }

/** Replaces the counts of hours. Like all writes here it takes the organization from the dataset and ignores unknown datasets. */
export const upsertHours = (db: Db, rows: readonly HourRow[]) =>
  db.run(sql`
    insert into insight_hours (org_id, hour_ms, log_id, events, bytes, counted, errors, debugs)
    select datasets.org_id, hour_ms, log_id, events, bytes, counted, errors, debugs
    from jsonb_to_recordset(${json(rows)}) as given (log_id uuid, hour_ms bigint, events bigint, bytes bigint, counted bigint, errors bigint, debugs bigint)
    join datasets on datasets.id = given.log_id
    order by 1, 2, 3
    on conflict (org_id, hour_ms, log_id) do update set events = excluded.events, bytes = excluded.bytes, counted = excluded.counted,
      errors = excluded.errors, debugs = excluded.debugs`)

/** Longest silences older than this are forgotten. */
export type HourOfSenders = { hourMs: number; gapsSinceMs: number }

/** Records that senders sent in an hour. */
export const upsertSenders = (db: Db, { hourMs, gapsSinceMs }: HourOfSenders, rows: readonly { log_id: string; identity_id: string }[]) =>
  db.run(sql`
    insert into insight_senders as s (org_id, log_id, identity_id, first_ms, last_ms, hours, gap_ms, gap_at)
    select datasets.org_id, log_id, identity_id, ${hourMs}::bigint, ${hourMs}::bigint, 1, 0, ${hourMs}::bigint
    from jsonb_to_recordset(${json(rows)}) as given (log_id uuid, identity_id uuid)
    join datasets on datasets.id = given.log_id
    order by 2, 3
    on conflict (log_id, identity_id) do update set last_ms = excluded.last_ms, hours = s.hours + 1,
      gap_ms = case when s.gap_at < ${gapsSinceMs} then excluded.last_ms - s.last_ms else greatest(s.gap_ms, excluded.last_ms - s.last_ms) end,
      gap_at = case when s.gap_at < ${gapsSinceMs} or excluded.last_ms - s.last_ms >= s.gap_ms then excluded.last_ms else s.gap_at end
    where s.last_ms < excluded.last_ms`)

/** Records the patterns of an hour. */
export const upsertPatterns = (
  db: Db,
  { hourMs, gapsSinceMs }: HourOfSenders,
  rows: readonly { log_id: string; pattern: string; events: number }[],
) =>
  db.run(sql`
    insert into insight_patterns as p (org_id, log_id, pattern, first_ms, last_ms, hours, events, gap_ms, gap_at)
    select datasets.org_id, log_id, pattern, ${hourMs}::bigint, ${hourMs}::bigint, 1, events, 0, ${hourMs}::bigint
    from jsonb_to_recordset(${json(rows)}) as given (log_id uuid, pattern text, events bigint)
    join datasets on datasets.id = given.log_id
    order by 2, 3
    on conflict (log_id, pattern) do update set last_ms = excluded.last_ms, hours = p.hours + 1, events = p.events + excluded.events,
      gap_ms = case when p.gap_at < ${gapsSinceMs} then excluded.last_ms - p.last_ms else greatest(p.gap_ms, excluded.last_ms - p.last_ms) end,
      gap_at = case when p.gap_at < ${gapsSinceMs} or excluded.last_ms - p.last_ms >= p.gap_ms then excluded.last_ms else p.gap_at end
    where p.last_ms < excluded.last_ms`)

/** Records whether all patterns of the datasets of an hour were counted. */
export const updatePatternsKnown = (db: Db, hourMs: number, rows: readonly { log_id: string; is_complete: boolean }[]) =>
  db.run(sql`
    insert into insight_datasets as i (org_id, log_id, patterns_ms)
    select datasets.org_id, log_id, case when is_complete then ${hourMs}::bigint end
    from jsonb_to_recordset(${json(rows)}) as given (log_id uuid, is_complete boolean)
    join datasets on datasets.id = given.log_id
    order by 2
    on conflict (log_id) do update set patterns_ms = case when excluded.patterns_ms is null then null else coalesce(i.patterns_ms, excluded.patterns_ms) end
    where (excluded.patterns_ms is null) <> (i.patterns_ms is null)`)

/** Records the last searches and exports of each dataset, from the usage of a range. */
export const updateQueried = (db: Db, { fromMs, toMs }: { fromMs: number; toMs: number }) =>
  db.run(sql`
    insert into insight_datasets as i (org_id, log_id, queried_ms)
    select datasets.org_id, log_id, max(minute_ms) from usage_minutes
    join datasets on datasets.id = usage_minutes.log_id
    where minute_ms >= ${fromMs} and minute_ms < ${toMs}
    group by datasets.org_id, log_id order by log_id
    on conflict (log_id) do update set queried_ms = greatest(i.queried_ms, excluded.queried_ms)`)

/** Counts the keys of some datasets whose storage layout changed since they were last counted. Returns their number. */
export const updateKeys = (db: Db, dayMs: number, datasetsMax: number) =>
  db.run(sql`
    with changed as (
      select m.org_id, m.log_id, m.version, cardinality(m.open_maps) as open_maps from slot_maps m left join insight_datasets i on i.log_id = m.log_id
      where i.version is distinct from m.version or i.open_maps is distinct from cardinality(m.open_maps)
      order by m.log_id limit ${datasetsMax}
    ), counted as (
      insert into insight_keys (org_id, log_id, day_ms, keys, open_maps)
      select org_id, log_id, ${dayMs}, (select count(*) from slots where slots.log_id = changed.log_id), open_maps from changed
      on conflict (log_id, day_ms) do update set keys = excluded.keys, open_maps = excluded.open_maps
    )
    insert into insight_datasets (org_id, log_id, version, open_maps) select org_id, log_id, version, open_maps from changed
    on conflict (log_id) do update set version = excluded.version, open_maps = excluded.open_maps`)

export const removeOldHours = (db: Db, beforeMs: number) => removeOld(db, 'insight_hours', 'hour_ms', beforeMs)
export const removeOldSenders = (db: Db, beforeMs: number) => removeOld(db, 'insight_senders', 'last_ms', beforeMs)
export const removeOldPatterns = (db: Db, beforeMs: number) => removeOld(db, 'insight_patterns', 'last_ms', beforeMs)

/** Keeps the last count of each dataset. */
export const removeOldKeys = (db: Db, beforeMs: number) =>
  db.run(sql`
    delete from insight_keys k where day_ms < ${beforeMs}
      and exists (select 1 from insight_keys later where later.log_id = k.log_id and later.day_ms > k.day_ms)`)
