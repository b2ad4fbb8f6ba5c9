import type { Identity, NewRehydration, Rehydration } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type RehydrationRow = {
  org_id: string
  id: string
  log_id: string
  /** Without secrets. */
  origin: NewRehydration['origin']
  secrets: Buffer | null
  from_ts: number | null
  to_ts: number | null
  filter: string | null
  status: Rehydration['status']
  is_listed: boolean
  failure_detail: string | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
  ended_at: number | null
}

/** The sums over the files of a rehydration. */
export type RehydrationSums = {
  files: number
  ended_files: number
  refused_files: number
  bytes: number
  ended_bytes: number
} & EventCounts

type EventCounts = {
  read_events: number
  stored_events: number
  earlier_events: number
  unselected_events: number
  refused_events: number
}

export type RehydrationFileRow = EventCounts & {
  rehydration_id: string
  number: number
  file: string
  name: string
  bytes: number
  status: 'WAITING' | 'COMPLETE' | 'REFUSED'
  position: number
  planned_to: number | null
  planned_at: number | null
  in_line: boolean
  form: 1 | 2
  failure_detail: string | null
}

const SHOWN_MAX = 100
const RECEIPTS_MAX = 1_000

export const selectRehydrations = (db: Db, orgId: string) =>
  db.all<RehydrationRow>(sql`select * from rehydrations where org_id = ${orgId} order by created_at desc, id limit ${SHOWN_MAX}`)

export const selectRehydration = (db: Db, orgId: string, id: string) =>
  db.one<RehydrationRow>(sql`select * from rehydrations where org_id = ${orgId} and id = ${id}`)

/** Returns 0 while another one is under way for the dataset. */
export const insertRehydration = (db: Db, row: RehydrationRow) =>
  db.run(sql`
    insert into rehydrations (org_id, id, log_id, origin, secrets, from_ts, to_ts, filter, status, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.log_id}, ${json(row.origin)}, ${row.secrets}, ${row.from_ts}, ${row.to_ts}, ${row.filter}, ${row.status},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})
    on conflict (org_id, log_id) where ended_at is null do nothing`)

export const cancelRehydration = (db: Db, row: Pick<RehydrationRow, 'org_id' | 'id' | 'modified_at' | 'modified_by'>) =>
  db.run(sql`
    update rehydrations set status = 'CANCELLING', modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id} and ended_at is null`)

/** Notes that the work has begun, or why it waits. */
export const noteRehydration = (db: Db, orgId: string, id: string, failure: string | null) =>
  db.run(sql`
    update rehydrations set status = case when status = 'CREATED' then 'IN_PROGRESS' else status end, failure_detail = ${failure}
    where org_id = ${orgId} and id = ${id} and ended_at is null`)

export const endRehydration = (
  db: Db,
  orgId: string,
  id: string,
  { status, failure, nowMs }: { status: RehydrationRow['status']; failure: string | null; nowMs: number },
) =>
  db.run(sql`
    update rehydrations set status = ${status}, failure_detail = ${failure}, ended_at = ${nowMs}, secrets = null
    where org_id = ${orgId} and id = ${id} and ended_at is null`)

export type ListedFile = Pick<RehydrationFileRow, 'file' | 'name' | 'bytes'>

/** Saves the files of a rehydration, once. The form of a file that was read before stays, so that positions in it mean the same. */
export async function insertFiles(db: Db, row: RehydrationRow, files: readonly ListedFile[]): Promise<void> {
  await db.run(sql`
    insert into rehydration_files (rehydration_id, number, org_id, log_id, file, name, bytes, status, form)
    select ${row.id}::uuid, place, ${row.org_id}::uuid, ${row.log_id}::uuid, given.file, given.name, given.bytes, 'WAITING',
      coalesce((select min(form) from rehydration_files earlier
        where earlier.log_id = ${row.log_id} and earlier.file = given.file and earlier.org_id = ${row.org_id} and earlier.position > 0), 2)
    from unnest(${files.map(({ file }) => file)}::text[], ${files.map(({ name }) => name)}::text[], ${files.map(({ bytes }) => bytes)}::bigint[])
      with ordinality as given (file, name, bytes, place)
    on conflict do nothing`)
  await db.run(sql`update rehydrations set is_listed = true where id = ${row.id}`)
}

export const selectNextFile = (db: Db, id: string) =>
  db.one<RehydrationFileRow>(sql`
    select * from rehydration_files where rehydration_id = ${id} and status = 'WAITING' order by planned_to is null, number limit 1`)

export const selectFiles = (db: Db, id: string, after: number) =>
  db.all<RehydrationFileRow>(sql`
    select * from rehydration_files where rehydration_id = ${id} and number > ${after} order by number limit ${RECEIPTS_MAX}`)

export const selectSums = (db: Db, ids: readonly string[]) =>
  db.all<RehydrationSums & { rehydration_id: string }>(sql`
    select rehydration_id, count(*)::int as files, (count(*) filter (where status <> 'WAITING'))::int as ended_files,
      (count(*) filter (where status = 'REFUSED'))::int as refused_files, sum(bytes)::bigint as bytes,
      coalesce(sum(bytes) filter (where status <> 'WAITING'), 0)::bigint as ended_bytes, sum(read_events)::bigint as read_events,
      sum(stored_events)::bigint as stored_events, sum(earlier_events)::bigint as earlier_events,
      sum(unselected_events)::bigint as unselected_events, sum(refused_events)::bigint as refused_events
    from rehydration_files where rehydration_id = any(${ids}::uuid[]) group by rehydration_id`)

/** What an earlier rehydration has selected of a file, up to a position. */
type EarlierSelection = Pick<RehydrationRow, 'from_ts' | 'to_ts' | 'filter' | 'created_at'> & { position: number }

export const selectEarlier = (db: Db, row: RehydrationRow, file: string) =>
  db.all<EarlierSelection>(sql`
    select r.from_ts, r.to_ts, r.filter, max(f.position)::bigint as position, min(r.created_at)::bigint as created_at
    from rehydration_files f join rehydrations r on r.id = f.rehydration_id
    where f.log_id = ${row.log_id} and f.file = ${file} and r.id <> ${row.id} and f.org_id = ${row.org_id} and f.position > 0
    group by r.from_ts, r.to_ts, r.filter order by 4 desc`)

/** Saves the end of a batch before it is sent. Returns 0 when another process has moved on. */
export const planBatch = (db: Db, { rehydration_id, number, position }: RehydrationFileRow, to: number, nowMs: number) =>
  db.run(sql`
    update rehydration_files set planned_to = ${to}, planned_at = coalesce(planned_at, ${nowMs})
    where rehydration_id = ${rehydration_id} and number = ${number} and position = ${position} and status = 'WAITING'`)

export const advanceFile = (
  db: Db,
  { rehydration_id, number, position }: RehydrationFileRow,
  after: Pick<RehydrationFileRow, 'position' | 'in_line' | 'status' | 'failure_detail'> & EventCounts,
) =>
  db.run(sql`
    update rehydration_files set position = ${after.position}, planned_to = null, planned_at = null, in_line = ${after.in_line},
      status = ${after.status}, failure_detail = ${after.failure_detail}, read_events = read_events + ${after.read_events},
      stored_events = stored_events + ${after.stored_events}, earlier_events = earlier_events + ${after.earlier_events},
      unselected_events = unselected_events + ${after.unselected_events}, refused_events = refused_events + ${after.refused_events}
    where rehydration_id = ${rehydration_id} and number = ${number} and position = ${position} and status = 'WAITING'`)
