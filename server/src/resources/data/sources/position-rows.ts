import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

/** How far one part of an origin is stored. `planned_to` is the end of a batch that is being stored. */
export type SourcePosition<Details extends object = object> = {
  id: string
  part: string | null
  position: number
  planned_to: number | null
  planned_at: number | null
  details: Details
}

type PositionPlace = { readonly org_id: string; readonly source_id: string }

export const selectPositions = <Details extends object>(db: Db, sourceId: string) =>
  db.all<SourcePosition<Details>>(sql`
    select id, part, position, planned_to, planned_at, details from source_positions where source_id = ${sourceId} order by seen_at, id`)

/** Adds a part that nothing is known of. Returns 0 when another process has added it. */
export const insertPosition = (db: Db, { org_id, source_id }: PositionPlace, row: SourcePosition, nowMs: number) =>
  db.run(sql`
    insert into source_positions (source_id, id, org_id, part, position, planned_to, planned_at, details, seen_at)
    values (${source_id}, ${row.id}, ${org_id}, ${row.part}, ${row.position}, ${row.planned_to}, ${row.planned_at}, ${json(row.details)}, ${nowMs})
    on conflict (source_id, part) do nothing`)

/** Adds many parts. Returns a smaller number when another process has added some of them. */
export const insertPositions = (db: Db, { org_id, source_id }: PositionPlace, rows: readonly SourcePosition[], nowMs: number) =>
  db.run(sql`
    insert into source_positions (source_id, id, org_id, part, position, planned_to, planned_at, details, seen_at)
    select ${source_id}::uuid, id, ${org_id}::uuid, part, position, planned_to, planned_at, details, ${nowMs}::bigint
    from jsonb_to_recordset(${json(rows)}) as given (id uuid, part text, position bigint, planned_to bigint, planned_at bigint, details jsonb)
    on conflict (source_id, part) do nothing`)

/** Ends parts that were planned as one batch. Returns a smaller number when another process has done so. */
export const finishPositions = (db: Db, sourceId: string, ids: readonly string[], nowMs: number) =>
  db.run(sql`
    update source_positions set position = planned_to, planned_to = null, planned_at = null, seen_at = ${nowMs},
      details = (details - 'group' - 'at') || '{"done": true}'::jsonb
    where source_id = ${sourceId} and id = any(${ids}::uuid[]) and planned_to is not null`)

type PositionPlan = { readonly to: number; readonly nowMs: number; readonly details: object; readonly waiting: number }

/** Saves the end of the next batch. Returns 0 when another process was faster: then it has planned or stored another batch from there. */
export const planPosition = (db: Db, sourceId: string, row: SourcePosition, plan: PositionPlan) =>
  db.run(sql`
    update source_positions set planned_to = ${plan.to}, planned_at = ${plan.nowMs}, details = ${json(plan.details)}, waiting = ${plan.waiting}
    where source_id = ${sourceId} and id = ${row.id} and position = ${row.position}
      and planned_to is not distinct from ${row.planned_to}::bigint`)

type PositionEnd = { readonly nowMs: number; readonly details: object; readonly waiting: number }

/** Advances to the end of the planned batch. Returns 0 when another process has done so. */
export const advancePosition = (db: Db, sourceId: string, row: SourcePosition, to: number, { nowMs, details, waiting }: PositionEnd) =>
  db.run(sql`
    update source_positions set position = ${to}, planned_to = null, planned_at = null, details = ${json(details)}, waiting = ${waiting},
      seen_at = ${nowMs}
    where source_id = ${sourceId} and id = ${row.id} and position = ${row.position} and planned_to is not distinct from ${row.planned_to}::bigint`)

/** Moves a position to another part, or to none when its content is gone from its place. */
export const movePosition = (db: Db, sourceId: string, id: string, part: string | null) =>
  db.run(sql`update source_positions set part = ${part} where source_id = ${sourceId} and id = ${id}`)

export const deletePositions = (db: Db, sourceId: string, ids: readonly string[]) =>
  db.run(sql`delete from source_positions where source_id = ${sourceId} and id = any(${ids}::uuid[])`)
