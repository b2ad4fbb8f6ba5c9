import type { Slot } from '../../../lines/layout/slots.ts'
import type { TableClass } from '../../../lines/layout/table.ts'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

/** open_maps are the prefixes of objects whose keys differ from event to event (parts.ts). */
export type SlotMapRow = { version: number; table_classes: TableClass[]; periods: number[]; open_maps: string[] }
/** `of_events` is set for attributes of single events. */
export type SlotRow = { path: string; slot: Slot; of_events: boolean }

/** A slot map with its slots: lists in one order. */
export type FullSlotMapRow = SlotMapRow & { log_id: string; paths: string[]; slots: Slot[]; of_events: boolean[] }

/** The maps of many datasets with their slots, from one snapshot. */
export const selectSlotMaps = (db: Db, orgId: string, logIds: readonly string[]) =>
  db.all<FullSlotMapRow>(sql`
    select m.log_id, m.version, m.table_classes, m.periods, m.open_maps, coalesce(own.paths, '{}') as paths, coalesce(own.slots, '{}') as slots,
      coalesce(own.of_events, '{}') as of_events
    from slot_maps m
    left join lateral (
      select array_agg(path order by path) as paths, array_agg(slot order by path) as slots, array_agg(of_events order by path) as of_events
      from slots where slots.log_id = m.log_id) own on true
    where m.org_id = ${orgId} and m.log_id = any(${[...logIds]}::uuid[])`)

export type OwnedSlotMapRow = SlotMapRow & { log_id: string }
export type OwnedSlotRow = SlotRow & { log_id: string; version: number }

/** Keeps the maps that another process inserted first. */
export const insertSlotMaps = (db: Db, orgId: string, logIds: readonly string[]) =>
  db.run(sql`
    insert into slot_maps (org_id, log_id, version, table_classes, periods)
    select ${orgId}::uuid, log_id, 0, '{}', '{}' from unnest(${[...logIds]}::uuid[]) as given (log_id) order by log_id
    on conflict (log_id) do nothing`)

/** Serializes the assignment, so that no two keys of a dataset get one slot. Locking in the order of ids avoids deadlocks. */
export const lockSlotMaps = (db: Db, orgId: string, logIds: readonly string[]) =>
  db.all<OwnedSlotMapRow>(sql`
    select log_id, version, table_classes, periods, open_maps from slot_maps where org_id = ${orgId} and log_id = any(${[...logIds]}::uuid[]) order by log_id for update`)

export const updateSlotMaps = (db: Db, orgId: string, rows: readonly OwnedSlotMapRow[]) =>
  db.run(sql`
    update slot_maps set version = given.version, table_classes = given.table_classes, periods = given.periods, open_maps = given.open_maps
    from jsonb_to_recordset(${json(rows)}) as given (log_id uuid, version int, table_classes text[], periods int[], open_maps text[])
    where org_id = ${orgId} and slot_maps.log_id = given.log_id`)

/**
 * Notes a change of maps that another transaction just changed. Its own notification may come later than its commit, and until then this process and others
 * would use the map from before.
 */
export const noteSlotMaps = (db: Db, orgId: string, logIds: readonly string[]) =>
  db.run(sql`select note_change(${orgId}, 'slot_maps', log_id) from unnest(${[...logIds]}::text[]) as given (log_id)`)

export const selectSlotsOf = (db: Db, orgId: string, logIds: readonly string[]) =>
  db.all<SlotRow & { log_id: string }>(
    sql`select log_id, path, slot, of_events from slots where org_id = ${orgId} and log_id = any(${[...logIds]}::uuid[])`,
  )

export const insertSlots = (db: Db, orgId: string, rows: readonly OwnedSlotRow[]) =>
  db.run(sql`
    insert into slots (org_id, log_id, path, slot, version, of_events)
    select ${orgId}::uuid, log_id, path, slot, version, of_events
    from unnest(${rows.map(({ log_id }) => log_id)}::uuid[], ${rows.map(({ path }) => path)}::text[], ${rows.map(({ slot }) => slot)}::text[],
      ${rows.map(({ version }) => version)}::int[], ${rows.map(({ of_events }) => of_events)}::boolean[]) as given (log_id, path, slot, version, of_events)`)

/** For each key, the slot that most other datasets of the organization use for it. */
export const selectSlotsElsewhere = (db: Db, orgId: string, logIds: readonly string[], paths: readonly string[]) =>
  db.all<Pick<SlotRow, 'path' | 'slot'>>(sql`
    select distinct on (path) path, slot from slots
    where org_id = ${orgId} and log_id <> all(${[...logIds]}::uuid[]) and path = any(${[...paths]}::text[])
    group by path, slot order by path, count(*) desc, slot`)
