import type { ExportCompression, ExportDetails, ExportFormat, ExportStatus, Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { EventFilters } from '../../data/datasets/datasets.ts'

export type ExportRow = {
  id: string
  org_id: string
  status: ExportStatus
  progress: number
  bytes: number
  events: number
  search_details: ExportDetails & { from_ts: number; to_ts: number }
  format: ExportFormat
  compression: ExportCompression
  seq_max: string
  /** The filters through which the creator saw the datasets. */
  event_filters: EventFilters
  state: unknown
  failure_detail: string | null
  created_at: number
  created_by: Identity
  modified_at: number
  ended_at: number | null
}

const columns = sql`id, org_id, status, progress, bytes, events, search_details, format, compression, seq_max::text, event_filters, state, failure_detail, created_at,
  created_by, modified_at, ended_at`

export type NewExportRow = Omit<ExportRow, 'progress' | 'bytes' | 'events' | 'state' | 'failure_detail' | 'ended_at'>

export const insertExport = (db: Db, row: NewExportRow) =>
  db.run(sql`
    insert into exports (id, org_id, status, search_details, format, compression, seq_max, event_filters, created_at, created_by,
      modified_at)
    values (${row.id}, ${row.org_id}, ${row.status}, ${json(row.search_details)}, ${row.format}, ${row.compression}, ${row.seq_max}::numeric,
      ${json(row.event_filters)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at})`)

export const selectExports = (db: Db, orgId: string) =>
  db.all<ExportRow>(sql`select ${columns} from exports where org_id = ${orgId} order by created_at desc, id`)

export const selectExport = (db: Db, orgId: string, id: string) =>
  db.one<ExportRow>(sql`select ${columns} from exports where org_id = ${orgId} and id = ${id}`)

/** Finds the export of a signed link, which names no organization. */
export const selectExportById = (db: Db, id: string) => db.one<ExportRow>(sql`select ${columns} from exports where id = ${id}`)

export const deleteExport = (db: Db, orgId: string, id: string) => db.run(sql`delete from exports where org_id = ${orgId} and id = ${id}`)

export type ExportStep = Pick<ExportRow, 'status' | 'progress' | 'bytes' | 'events' | 'state' | 'failure_detail' | 'ended_at'>

/** Returns 0 when the export was deleted or has ended. */
export const updateExport = (db: Db, orgId: string, id: string, step: ExportStep, nowMs: number) =>
  db.run(sql`
    update exports set status = ${step.status}, progress = greatest(progress, ${step.progress}::int), bytes = ${step.bytes}, events = ${step.events},
      state = ${json(step.state)}, failure_detail = ${step.failure_detail}, ended_at = ${step.ended_at}::bigint, modified_at = ${nowMs}
    where org_id = ${orgId} and id = ${id} and ended_at is null`)

/** Adds metadata for the end of the file, in file order. */
export const insertNotes = (db: Db, orgId: string, id: string, { first, notes }: { first: number; notes: readonly Uint8Array[] }) =>
  db.run(sql`
    insert into export_notes (org_id, export_id, number, note)
    select ${orgId}::uuid, ${id}::uuid, ${first}::int + place, note from unnest(${notes}::bytea[]) with ordinality as given (note, place)`)

export const selectNotes = (db: Db, orgId: string, id: string) =>
  db.all<{ note: Buffer }>(sql`select note from export_notes where org_id = ${orgId} and export_id = ${id} order by number`)

export const selectEnded = (db: Db, beforeMs: number, rowsMax: number) =>
  db.all<ExportRow>(sql`select ${columns} from exports where ended_at < ${beforeMs} order by ended_at limit ${rowsMax}`)

export const selectKnown = (db: Db, ids: readonly string[]) =>
  db.all<{ id: string }>(sql`select id from exports where id = any(${ids}::uuid[])`)

/** Fails exports whose jobs gave up or are gone. */
export const failLost = (db: Db, lost: { kind: string; nowMs: number; beforeMs: number; reason: string }) =>
  db.all<ExportRow>(sql`
    update exports e set status = 'FAILED', failure_detail = ${lost.reason}, bytes = 0, events = 0, ended_at = ${lost.nowMs}, modified_at = ${lost.nowMs}
    where ended_at is null and modified_at < ${lost.beforeMs}
      and not exists (select 1 from jobs j where j.kind = ${lost.kind} and j.key = e.id::text and j.given_up_at is null)
    returning ${columns}`)
