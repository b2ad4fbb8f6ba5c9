import type { Identity, LineTime, Retention } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { removeOld } from '../../../meta/old-rows.ts'
import { among, type ChangedIds } from '../../../meta/row-list.ts'
import { json, sql } from '../../../meta/sql.ts'

export type DatasetRow = {
  org_id: string
  id: string
  collection: string
  dataset: string
  is_system_generated: boolean
  tags: Record<string, string>
  parser_id: string | null
  /** Where its lines tell their time; absent in rows to be written. */
  line_time?: LineTime | null
  retention: Retention | null
  /** Who set the dataset's own retention; null without one. */
  retention_mark?: RetentionMark | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export type RetentionMark = { created_by: string; created_at: number; updated_by?: string; updated_at?: number }

export const selectDatasets = (db: Db, orgId: string, changed: ChangedIds | undefined) =>
  db.all<DatasetRow>(sql`
    select * from datasets where org_id = ${orgId} and deleted_at is null and ${among(sql`id`, changed?.get('datasets'))}
    order by created_at desc, id`)

export const selectHeartbeats = (db: Db, orgId: string) =>
  db.all<{ log_id: string; beat_at: number }>(sql`
    select log_id, beat_at from dataset_heartbeats h join datasets on datasets.id = h.log_id where h.org_id = ${orgId} and deleted_at is null`)

/** Returns nothing if the name is taken; the unique index resolves the race. */
export const insertDataset = (db: Db, row: DatasetRow) =>
  db.one<DatasetRow>(sql`
    insert into datasets (org_id, id, collection, dataset, is_system_generated, tags, parser_id, retention, retention_mark, created_at, created_by,
      modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.collection}, ${row.dataset}, ${row.is_system_generated}, ${json(row.tags)}, ${row.parser_id},
      ${row.retention}, ${json(row.retention_mark ?? null)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at},
      ${json(row.modified_by)})
    on conflict (org_id, collection, dataset) where deleted_at is null do nothing
    returning *`)

/** Inserts many in one statement and returns those whose name was free. */
export const insertDatasets = (db: Db, rows: readonly DatasetRow[]) =>
  db.all<DatasetRow>(sql`
    insert into datasets (org_id, id, collection, dataset, is_system_generated, tags, created_at, created_by, modified_at, modified_by)
    select org_id, id, collection, dataset, is_system_generated, tags, created_at, created_by, modified_at, modified_by
    from jsonb_to_recordset(${json(rows)}) as given (org_id uuid, id uuid, collection text, dataset text, is_system_generated boolean, tags jsonb,
      created_at bigint, created_by jsonb, modified_at bigint, modified_by jsonb)
    order by collection, dataset
    on conflict (org_id, collection, dataset) where deleted_at is null do nothing
    returning *`)

/** Locks in the order of ids, so that two requests with the same datasets cannot deadlock. */
export const lockDatasets = (db: Db, orgId: string, ids: readonly string[]) =>
  db.all<DatasetRow>(sql`
    select * from datasets where org_id = ${orgId} and id = any(${[...ids]}::uuid[]) and deleted_at is null order by id for update`)

/** Locks the dataset until the end of the transaction, so that `before` in the audit record is what was there. */
export const lockDataset = (db: Db, orgId: string, id: string) =>
  db.one<DatasetRow>(sql`select * from datasets where org_id = ${orgId} and id = ${id} and deleted_at is null for update`)

export const updateDatasetRow = (
  db: Db,
  row: Pick<
    DatasetRow,
    'org_id' | 'id' | 'collection' | 'dataset' | 'tags' | 'retention' | 'retention_mark' | 'modified_at' | 'modified_by'
  >,
) =>
  db.one<DatasetRow>(sql`
    update datasets set collection = ${row.collection}, dataset = ${row.dataset}, tags = ${json(row.tags)}, retention = ${row.retention},
      retention_mark = ${json(row.retention_mark ?? null)}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id} and deleted_at is null returning *`)

/** Leaves a tombstone: the dataset is invisible at once, and its events are purged later. */
export const markDatasetDeleted = (db: Db, orgId: string, id: string, deletedAt: number, deletedBy: Identity) =>
  db.run(
    sql`update datasets set deleted_at = ${deletedAt}, deleted_by = ${json(deletedBy)} where org_id = ${orgId} and id = ${id} and deleted_at is null`,
  )

export type TombstoneRow = Pick<DatasetRow, 'org_id' | 'id' | 'collection' | 'dataset'> & { deleted_at: number }

/** The tombstones of all organizations: one job removes their events for the deployment. */
export const selectTombstones = (db: Db) =>
  db.all<TombstoneRow>(
    sql`select org_id, id, collection, dataset, deleted_at from datasets where deleted_at is not null order by deleted_at, id`,
  )

/** Deletes the dataset rows with everything that depends on them: slots, heartbeat, list membership. */
export const deleteTombstones = (db: Db, ids: readonly string[]) =>
  db.run(sql`
    with held as (select id from datasets where id = any(${[...ids]}::uuid[]) and deleted_at is not null order by id for update)
    delete from datasets where id in (select id from held)`)

/** Finds datasets by name. */
export const selectDatasetsByName = (db: Db, orgId: string, names: readonly { collection: string; dataset: string }[]) =>
  db.all<DatasetRow>(sql`
    select datasets.* from datasets join unnest(${names.map(({ collection }) => collection)}::text[], ${names.map(({ dataset }) => dataset)}::text[])
      as wanted (collection, dataset) using (collection, dataset)
    where org_id = ${orgId} and deleted_at is null`)

export const updateDatasetsTags = (
  db: Db,
  orgId: string,
  rows: readonly Pick<DatasetRow, 'id' | 'tags'>[],
  { atMs, by }: { atMs: number; by: Identity },
) =>
  db.all<DatasetRow>(sql`
    update datasets set tags = given.tags, modified_at = ${atMs}, modified_by = ${json(by)}
    from jsonb_to_recordset(${json(rows.map(({ id, tags }) => ({ id, tags })))}) as given (id uuid, tags jsonb)
    where org_id = ${orgId} and datasets.id = given.id and deleted_at is null returning datasets.*`)

/** Adds to the number of datasets that an identity has created in this hour. */
export const addToCreationCount = (
  db: Db,
  orgId: string,
  identityId: string,
  { hourStartMs, count }: { hourStartMs: number; count: number },
) =>
  db.one<{ created: number }>(sql`
    insert into dataset_births as b (org_id, identity_id, hour_start_ms, births) values (${orgId}, ${identityId}, ${hourStartMs}, ${count}::int)
    on conflict (org_id, identity_id, hour_start_ms) do update set births = b.births + excluded.births
    returning births as created`)

export const deleteCreationCounts = (db: Db, beforeMs: number) => removeOld(db, 'dataset_births', 'hour_start_ms', beforeMs)

/** Ignores deleted datasets; a heartbeat never goes back in time. Rows are written in one order, so that writers cannot deadlock. */
export const upsertHeartbeats = (db: Db, beats: readonly { log_id: string; beat_at: number }[]) =>
  db.run(sql`
    insert into dataset_heartbeats as h (org_id, log_id, beat_at)
    select datasets.org_id, given.log_id, given.beat_at
    from unnest(${beats.map((beat) => beat.log_id)}::uuid[], ${beats.map((beat) => beat.beat_at)}::bigint[]) as given (log_id, beat_at)
    join datasets on datasets.id = given.log_id
    order by given.log_id
    on conflict (log_id) do update set beat_at = greatest(h.beat_at, excluded.beat_at)`)
