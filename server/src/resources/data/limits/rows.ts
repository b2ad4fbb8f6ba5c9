import type { Identity, Limit } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type LimitRow = Pick<Limit, 'category' | 'unit' | 'target' | 'scope' | 'type' | 'time_window'> & {
  org_id: string
  id: string
  description: string | null
  /** Decimal digits: the number may exceed the precision of a double. */
  value: string
  team: string
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectLimits = (db: Db, orgId: string) =>
  db.all<LimitRow>(sql`select *, value::text as value from limits where org_id = ${orgId} order by created_at desc, id`)

export const selectLimit = (db: Db, orgId: string, id: string) =>
  db.one<LimitRow>(sql`select *, value::text as value from limits where org_id = ${orgId} and id = ${id}`)

/** Locks the limit until the end of the transaction. */
export const lockLimit = (db: Db, orgId: string, id: string) =>
  db.one<LimitRow>(sql`select *, value::text as value from limits where org_id = ${orgId} and id = ${id} for update`)

/** Returns 0 if there is a limit with that target and scope. */
export const insertLimit = (db: Db, row: LimitRow) =>
  db.run(sql`
    insert into limits (org_id, id, category, description, value, unit, target, scope, team, type, time_window, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.category}, ${row.description}, ${row.value}::numeric, ${row.unit}, ${row.target}, ${json(row.scope)},
      ${row.team}, ${row.type}, ${row.time_window}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})
    on conflict (org_id, category, target, team) do nothing`)

export const updateLimitRow = (db: Db, row: LimitRow) =>
  db.run(sql`
    update limits set description = ${row.description}, value = ${row.value}::numeric, target = ${row.target}, scope = ${json(row.scope)},
      team = ${row.team}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteLimit = (db: Db, orgId: string, id: string) => db.run(sql`delete from limits where org_id = ${orgId} and id = ${id}`)

export type Crossing = { limit_id: string; window_start_ms: number; crossed_at: number }

export const selectCrossings = (db: Db, orgId: string) =>
  db.all<Crossing>(sql`select limit_id, window_start_ms, crossed_at from limit_crossings where org_id = ${orgId}`)

/** Returns 0 if the crossing is known, or the limit has changed since. */
export const insertCrossing = (db: Db, orgId: string, { limit_id, window_start_ms, crossed_at }: Crossing, modifiedAt: number) =>
  db.run(sql`
    insert into limit_crossings (org_id, limit_id, window_start_ms, crossed_at)
    select org_id, id, ${window_start_ms}::bigint, ${crossed_at}::bigint from limits
    where org_id = ${orgId} and id = ${limit_id} and modified_at = ${modifiedAt} for key share
    on conflict (limit_id, window_start_ms) do nothing`)

export const deleteCrossings = (db: Db, orgId: string, limitId: string) =>
  db.run(sql`delete from limit_crossings where org_id = ${orgId} and limit_id = ${limitId}`)

/** Serializes changes that take the same lock; foreign key checks on the organization continue. */
export const lockOrganization = (db: Db, orgId: string) =>
  db.one<{ id: string }>(sql`select id from organisations where id = ${orgId} for no key update`)

export const countMonitors = (db: Db, orgId: string) =>
  db.one<{ count: number }>(sql`select count(*) as count from monitors where org_id = ${orgId}`)

/** The datasets that carry the tag of a team. */
export const selectTeams = (db: Db, orgId: string) =>
  db.all<{ id: string; team: string }>(sql`
    select id, tags ->> 'team' as team from datasets where org_id = ${orgId} and deleted_at is null and tags ->> 'team' is not null`)
