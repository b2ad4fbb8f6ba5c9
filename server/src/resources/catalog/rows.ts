import type { Slot } from '../../events/shred/slots.ts'
import type { TableClass } from '../../events/table.ts'
import type { Db } from '../../meta/meta.ts'
import { sql } from '../../meta/sql.ts'

export type SlotMapRow = { version: number; table_classes: TableClass[] }
export type SlotRow = { path: string; slot: Slot }

export const selectSlotMap = (db: Db, orgId: string, logId: string) =>
  db.one<SlotMapRow>(sql`select version, table_classes from slot_maps where org_id = ${orgId} and log_id = ${logId}`)

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

/** selectAllSlots gives the slots of many datasets, those of each in one row. */
export const selectAllSlots = (db: Db, orgId: string, logIds: readonly string[]) =>
  db.all<SlotMapRow & { log_id: string; paths: string[]; slots: Slot[] }>(sql`
    select slot_maps.log_id, slot_maps.version, slot_maps.table_classes,
      coalesce(array_agg(slots.path order by slots.path) filter (where slots.path is not null), '{}') as paths,
      coalesce(array_agg(slots.slot order by slots.path) filter (where slots.path is not null), '{}') as slots
    from slot_maps left join slots on slots.org_id = slot_maps.org_id and slots.log_id = slot_maps.log_id
    where slot_maps.org_id = ${orgId} and slot_maps.log_id = any(${[...logIds]}::uuid[])
    group by slot_maps.log_id, slot_maps.version, slot_maps.table_classes`)

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
