import type { Slot } from '../../events/shred/slots.ts'
import type { TableClass } from '../../events/table.ts'
import type { Db } from '../../meta/meta.ts'
import { sql } from '../../meta/sql.ts'

export type SlotMapRow = { version: number; table_classes: TableClass[] }
export type SlotRow = { path: string; slot: Slot }

/** A FullSlotMapRow has the slots of the map too: two lists in one order. */
export type FullSlotMapRow = SlotMapRow & { log_id: string; paths: string[]; slots: Slot[] }

/** selectSlotMaps gives the maps of many datasets with their slots, as of one moment. */
export const selectSlotMaps = (db: Db, orgId: string, logIds: readonly string[]) =>
  db.all<FullSlotMapRow>(sql`
    select m.log_id, m.version, m.table_classes, coalesce(own.paths, '{}') as paths, coalesce(own.slots, '{}') as slots
    from slot_maps m
    left join lateral (
      select array_agg(path order by path) as paths, array_agg(slot order by path) as slots from slots where slots.log_id = m.log_id) own on true
    where m.org_id = ${orgId} and m.log_id = any(${[...logIds]}::uuid[])`)

/** insertSlotMap does nothing when somebody else was first. */
export const insertSlotMap = (db: Db, orgId: string, logId: string) =>
  db.run(
    sql`insert into slot_maps (org_id, log_id, version, table_classes) values (${orgId}, ${logId}, 0, '{}') on conflict (log_id) do nothing`,
  )

/** lockSlotMap lets one after the other decide, so that no two keys get one slot. */
export const lockSlotMap = (db: Db, orgId: string, logId: string) =>
  db.one<SlotMapRow>(sql`select version, table_classes from slot_maps where org_id = ${orgId} and log_id = ${logId} for update`)

export const updateSlotMap = (db: Db, orgId: string, logId: string, { version, table_classes }: SlotMapRow) =>
  db.run(
    sql`update slot_maps set version = ${version}, table_classes = ${table_classes}::text[] where org_id = ${orgId} and log_id = ${logId}`,
  )

export const selectSlots = (db: Db, orgId: string, logId: string) =>
  db.all<SlotRow>(sql`select path, slot from slots where org_id = ${orgId} and log_id = ${logId}`)

export const insertSlots = (db: Db, orgId: string, logId: string, version: number, rows: readonly SlotRow[]) =>
  db.run(sql`
    insert into slots (org_id, log_id, path, slot, version)
    select ${orgId}::uuid, ${logId}::uuid, path, slot, ${version}::int
    from unnest(${rows.map(({ path }) => path)}::text[], ${rows.map(({ slot }) => slot)}::text[]) as given (path, slot)`)

/** selectSlotsElsewhere gives, for each key, the slot that most other datasets of the organisation have for it. */
export const selectSlotsElsewhere = (db: Db, orgId: string, logId: string, paths: readonly string[]) =>
  db.all<SlotRow>(sql`
    select distinct on (path) path, slot from slots
    where org_id = ${orgId} and log_id <> ${logId} and path = any(${[...paths]}::text[])
    group by path, slot order by path, count(*) desc, slot`)
