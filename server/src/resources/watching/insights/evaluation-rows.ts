import type { Retention } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'
import type { HourRow } from './counter-rows.ts'
import type { NewPatternOccurrence, PatternOccurrence, SenderRow } from './silence.ts'
import type { KeptRow, KeysRow, LevelsOfDay, ParsedOfDay, WatchedMonitor } from './standing.ts'

/** Bounds what one evaluation of an organization holds in memory. The largest datasets come first. */
const JUMPS_MAX = 300
const ROWS_MAX = 2_000

const NOT_OF_THE_SYSTEM = sql`join datasets d on d.id = own.log_id and d.deleted_at is null and not d.is_system_generated`

export const selectOrganizations = (db: Db) => db.all<{ id: string }>(sql`select id from organisations order by number`)

export type JumpBounds = {
  hourMs: number
  factor: number
  eventsMin: number
  errorsMin: number
  bytesMin: number
  comparedMs: readonly number[]
  createdBeforeMs: number
}

/**
 * The datasets with far more in an hour than the median or the mean of the compared hours. Sums here are materialized: while the store has no statistics of a
 * table, it would compute them again for each dataset.
 */
export const selectJumpCandidates = (
  db: Db,
  orgId: string,
  { hourMs, factor, eventsMin, errorsMin, bytesMin, comparedMs, createdBeforeMs }: JumpBounds,
) =>
  db.all<{ log_id: string }>(sql`
    with sums as materialized (
      select log_id, sum(events) filter (where hour_ms = ${hourMs}) as events, sum(errors) filter (where hour_ms = ${hourMs}) as errors,
        sum(bytes) filter (where hour_ms = ${hourMs}) as bytes, sum(events) filter (where hour_ms < ${hourMs}) / ${comparedMs.length}::float8 as usual_events,
        sum(errors) filter (where hour_ms < ${hourMs}) / ${comparedMs.length}::float8 as usual_errors,
        sum(bytes) filter (where hour_ms < ${hourMs}) / ${comparedMs.length}::float8 as usual_bytes,
        percentile_cont(0.5) within group (order by events) filter (where hour_ms < ${hourMs}) as middle_events,
        percentile_cont(0.5) within group (order by errors) filter (where hour_ms < ${hourMs}) as middle_errors,
        percentile_cont(0.5) within group (order by bytes) filter (where hour_ms < ${hourMs}) as middle_bytes
      from insight_hours where org_id = ${orgId} and hour_ms = any(${[hourMs, ...comparedMs]}::bigint[]) group by log_id
    ), own as materialized (
      select log_id, events from sums
      where (events >= ${eventsMin} and events >= ${factor}::float8 * coalesce(least(usual_events, middle_events), 0))
        or (errors >= ${errorsMin} and errors >= ${factor}::float8 * coalesce(least(usual_errors, middle_errors), 0))
        or (bytes >= ${bytesMin} and bytes >= ${factor}::float8 * coalesce(least(usual_bytes, middle_bytes), 0))
      order by events desc, log_id limit ${ROWS_MAX}
    )
    select own.log_id from own ${NOT_OF_THE_SYSTEM} where d.created_at <= ${createdBeforeMs}
    order by own.events desc, own.log_id limit ${JUMPS_MAX}`)

export const selectHours = (db: Db, orgId: string, logIds: readonly string[], { fromMs, toMs }: { fromMs: number; toMs: number }) =>
  db.all<HourRow>(sql`
    select log_id, hour_ms, events, bytes, counted, errors, debugs from insight_hours
    where org_id = ${orgId} and hour_ms >= ${fromMs} and hour_ms < ${toMs} and log_id = any(${[...logIds]}::uuid[])
    order by log_id, hour_ms`)

export type SilenceBounds = { hoursMin: number; silentSinceMs: number; missedSinceMs: number; firstBeforeMs: number }

/** The senders that are silent since `silentSinceMs` and not for longer than `missedSinceMs`. */
export const selectSilentSenders = (db: Db, orgId: string, { hoursMin, silentSinceMs, missedSinceMs, firstBeforeMs }: SilenceBounds) =>
  db.all<SenderRow>(sql`
    select own.log_id, own.identity_id, own.first_ms, own.last_ms, own.hours, own.gap_ms from insight_senders own ${NOT_OF_THE_SYSTEM}
    where own.org_id = ${orgId} and own.last_ms < ${silentSinceMs} and own.last_ms >= ${missedSinceMs} and own.hours >= ${hoursMin}
      and own.first_ms <= ${firstBeforeMs}
    order by own.hours desc, own.log_id, own.identity_id limit ${ROWS_MAX}`)

export const selectAbsentPatterns = (db: Db, orgId: string, { hoursMin, silentSinceMs, missedSinceMs, firstBeforeMs }: SilenceBounds) =>
  db.all<PatternOccurrence>(sql`
    select own.log_id, own.pattern, own.first_ms, own.last_ms, own.hours, own.events, own.gap_ms from insight_patterns own ${NOT_OF_THE_SYSTEM}
    join insight_datasets i on i.log_id = own.log_id and i.patterns_ms is not null
    where own.org_id = ${orgId} and own.last_ms < ${silentSinceMs} and own.last_ms >= ${missedSinceMs} and own.hours >= ${hoursMin}
      and own.first_ms <= ${firstBeforeMs}
    order by own.events desc, own.log_id, own.pattern limit ${ROWS_MAX}`)

/** The patterns that first occurred since a time, and how many the dataset got in the week before. */
export const selectNewPatterns = (
  db: Db,
  orgId: string,
  { sinceMs, weekMs, eventsMin }: { sinceMs: number; weekMs: number; eventsMin: number },
) =>
  db.all<NewPatternOccurrence>(sql`
    select own.log_id, own.pattern, own.first_ms, own.last_ms, own.hours, own.events, own.gap_ms, i.patterns_ms,
      (select count(*) from insight_patterns other where other.log_id = own.log_id and other.first_ms < ${sinceMs}
        and other.first_ms >= greatest(${sinceMs - weekMs}, i.patterns_ms + 86400000)) as new_before
    from insight_patterns own ${NOT_OF_THE_SYSTEM} join insight_datasets i on i.log_id = own.log_id and i.patterns_ms < ${sinceMs - weekMs + 86_400_000}
    where own.org_id = ${orgId} and own.first_ms >= ${sinceMs} and own.events >= ${eventsMin}
    order by own.events desc, own.log_id, own.pattern limit ${ROWS_MAX}`)

/** The datasets among some that got events in an hour. */
export const selectActive = (db: Db, orgId: string, logIds: readonly string[], hourMs: number) =>
  db.all<{ log_id: string }>(sql`
    select log_id from insight_hours where org_id = ${orgId} and hour_ms = ${hourMs} and events > 0 and log_id = any(${[...logIds]}::uuid[])`)

/** The datasets whose number of keys changed since a day, with the last count before it. */
export const selectGrownKeys = (db: Db, orgId: string, sinceDayMs: number) =>
  db.all<KeysRow>(sql`
    with own as materialized (
      select log_id, min(day_ms) as since_ms, max(day_ms) as last_ms from insight_keys
      where org_id = ${orgId} and day_ms >= ${sinceDayMs} group by log_id
    )
    select own.log_id, own.since_ms, last.keys, last.open_maps, before.keys as keys_before, before.open_maps as open_maps_before,
      (select min(day_ms) from insight_keys k where k.log_id = own.log_id) as first_day_ms
    from own ${NOT_OF_THE_SYSTEM}
    join insight_keys last on last.log_id = own.log_id and last.day_ms = own.last_ms
    join lateral (
      select keys, open_maps from insight_keys k where k.log_id = own.log_id and k.day_ms < own.since_ms order by day_ms desc limit 1) before on true
    where last.open_maps > before.open_maps or last.keys >= 2 * before.keys
    order by last.keys - before.keys desc, own.log_id limit ${ROWS_MAX}`)

export type UnqueriedRow = Omit<KeptRow, 'days'> & { collection: string; retention: Retention | null }

/** The datasets with events in a range that nobody queried since a time, with the largest first. */
export const selectUnqueried = (
  db: Db,
  orgId: string,
  { fromMs, toMs, beforeMs, bytesMin }: { fromMs: number; toMs: number; beforeMs: number; bytesMin: number },
) =>
  db.all<UnqueriedRow>(sql`
    with own as materialized (
      select log_id, sum(bytes)::bigint as bytes from insight_hours
      where org_id = ${orgId} and hour_ms >= ${fromMs} and hour_ms < ${toMs} group by log_id having sum(bytes) >= ${bytesMin}
    )
    select own.log_id, d.collection, d.retention, d.created_at, own.bytes, i.queried_ms,
      own.log_id in (select unnest(reads) from monitor_states where org_id = ${orgId}) as is_watched
    from own ${NOT_OF_THE_SYSTEM}
    left join insight_datasets i on i.log_id = own.log_id
    where d.created_at <= ${beforeMs} and (i.queried_ms is null or i.queried_ms <= ${beforeMs})
    order by own.bytes desc, own.log_id limit ${ROWS_MAX}`)

/** The datasets with mostly debug events in a range. */
export const selectVerbose = (
  db: Db,
  orgId: string,
  { fromMs, toMs, eventsMin, share }: { fromMs: number; toMs: number; eventsMin: number; share: number },
) =>
  db.all<LevelsOfDay>(sql`
    with own as materialized (
      select log_id, sum(counted)::bigint as counted, sum(debugs)::bigint as debugs from insight_hours
      where org_id = ${orgId} and hour_ms >= ${fromMs} and hour_ms < ${toMs} group by log_id
      having sum(counted) >= ${eventsMin} and sum(debugs) >= ${share}::float8 * sum(counted)
    )
    select own.log_id, own.counted, own.debugs from own ${NOT_OF_THE_SYSTEM}
    order by own.debugs desc, own.log_id limit ${ROWS_MAX}`)

/** The lines of the parsers of an organization in a range. */
export const selectParsed = (db: Db, orgId: string, { fromMs, toMs, linesMin }: { fromMs: number; toMs: number; linesMin: number }) =>
  db.all<ParsedOfDay>(sql`
    with own as materialized (
      select log_id, sum(lines)::bigint as lines, sum(matched)::bigint as matched from parser_minutes
      where org_id = ${orgId} and minute_ms >= ${fromMs} and minute_ms < ${toMs} group by log_id having sum(lines) >= ${linesMin}
    )
    select own.log_id, own.lines, own.matched from own ${NOT_OF_THE_SYSTEM}
    where d.parser_id is not null
    order by own.lines desc, own.log_id limit ${ROWS_MAX}`)

/** The monitors that are evaluated and not muted, with their status changes. */
export const selectWatchedMonitors = (db: Db, orgId: string, { nowMs, weekMs }: { nowMs: number; weekMs: number }) =>
  db.all<WatchedMonitor>(sql`
    select m.id, s.status, m.modified_at, s.last_trigger_ts, own.last_change_ms, own.alerts::int as alerts
    from monitors m join monitor_states s on s.monitor_id = m.id
    join lateral (
      select max(time) as last_change_ms, count(*) filter (where monitor_status = 'ALERT' and time >= ${nowMs - weekMs}) as alerts
      from monitor_events e where e.monitor_id = m.id) own on true
    where m.org_id = ${orgId} and (m.muted_until is null or (m.muted_until <> -1 and m.muted_until < ${nowMs}))
      and s.looked_at >= ${nowMs - 7_200_000}
    order by m.created_at, m.id limit ${ROWS_MAX}`)
