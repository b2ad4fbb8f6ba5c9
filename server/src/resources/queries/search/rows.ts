import type { Identity, QueryStatus } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { removeOld } from '../../../meta/old-rows.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { EventFilters } from '../../data/datasets/datasets.ts'

export type PageRow = {
  id: string
  first_id: string
  prev_id: string | null
  after_ns: string | null
  after_seq: string | null
  expires_at: number
}

/** A page with its query and its caller; old pages have no caller. */
export type FoundPage = PageRow & { question: Record<string, unknown>; identity: Identity | null }

/**
 * Stores a query and its second page. The commit does not wait for the disk, which would double the time of a quick search: a power loss
 * may lose the newest links.
 */
export const insertFirstPage = (
  db: Db,
  orgId: string,
  first: { id: string; question: Record<string, unknown>; identity: Identity },
  next: PageRow,
) =>
  db.run(sql`
    with quick as (select set_config('synchronous_commit', 'off', true))
    insert into search_pages (id, org_id, first_id, prev_id, question, identity, after_ns, after_seq, expires_at)
    select given.* from quick, (values
      (${first.id}::uuid, ${orgId}::uuid, ${first.id}::uuid, null::uuid, ${json(first.question)}, ${json(first.identity)}, null::numeric, null::numeric, ${next.expires_at}::bigint),
      (${next.id}::uuid, ${orgId}::uuid, ${next.first_id}::uuid, ${next.prev_id}::uuid, null::jsonb, null::jsonb, ${next.after_ns}::numeric, ${next.after_seq}::numeric, ${next.expires_at}::bigint)
    ) as given`)

/** Stores another page and extends the life of its query. */
export const insertPage = (db: Db, orgId: string, page: PageRow) =>
  db.run(sql`
    with quick as (select set_config('synchronous_commit', 'off', true)),
      kept as (update search_pages set expires_at = ${page.expires_at} where org_id = ${orgId} and id = ${page.first_id})
    insert into search_pages (id, org_id, first_id, prev_id, after_ns, after_seq, expires_at)
    select ${page.id}, ${orgId}, ${page.first_id}, ${page.prev_id}, ${page.after_ns}::numeric, ${page.after_seq}::numeric, ${page.expires_at}::bigint
    from quick`)

export const selectPage = (db: Db, orgId: string, id: string) =>
  db.one<FoundPage>(sql`
    select page.id, page.first_id, page.prev_id, page.after_ns::text, page.after_seq::text, page.expires_at, first.question, first.identity
    from search_pages page join search_pages first on first.id = page.first_id
    where page.org_id = ${orgId} and page.id = ${id}`)

export const removePages = (db: Db, beforeMs: number) => removeOld(db, 'search_pages', 'expires_at', beforeMs)

export type SearchRow = {
  id: string
  org_id: string
  identity: Identity
  status: QueryStatus
  progress: number
  read_bytes: number
  started_at: number
  beat_at: number
  polled_at: number
  ended_at: number | null
  /** Compressed JSON: the empty response while the search runs, then the final one. */
  answer: Uint8Array | null
  /** The datasets of the result; null in rows written before they were recorded. */
  log_ids: string[] | null
  /** The filters through which the caller saw them when the search began. */
  event_filters: EventFilters
}

export const insertSearch = (
  db: Db,
  row: Omit<SearchRow, 'beat_at' | 'polled_at' | 'ended_at' | 'progress' | 'read_bytes'> & { answer: Uint8Array },
) =>
  db.run(sql`
    insert into searches (id, org_id, identity, status, started_at, beat_at, polled_at, answer, log_ids, event_filters)
    values (${row.id}, ${row.org_id}, ${json(row.identity)}, ${row.status}, ${row.started_at}, ${row.started_at}, ${row.started_at}, ${row.answer},
      ${row.log_ids}::uuid[], ${json(row.event_filters)})`)

/** The heartbeat of a search; returns whether it was ended by another process, and when it was last polled. */
export const recordHeartbeat = (db: Db, id: string, nowMs: number, { progress, bytes }: { progress: number; bytes: number }) =>
  db.one<Pick<SearchRow, 'status' | 'polled_at'>>(sql`
    update searches set beat_at = ${nowMs}, progress = greatest(progress, ${progress}::int), read_bytes = greatest(read_bytes, ${bytes}::bigint)
    where id = ${id} returning status, polled_at`)

/** Stores a partial result. */
export const storePartial = (db: Db, id: string, answer: Uint8Array) =>
  db.run(sql`update searches set answer = ${answer} where id = ${id} and status = 'IN_PROGRESS'`)

/** Ends a search once; without a result it keeps the stored one. */
export const endSearch = (db: Db, id: string, end: { status: QueryStatus; nowMs: number; answer?: Uint8Array }) =>
  db.run(sql`
    update searches set status = ${end.status}, ended_at = ${end.nowMs}, answer = coalesce(${end.answer ?? null}::bytea, answer),
      progress = case when ${end.status} = 'COMPLETED' then 100 else progress end
    where id = ${id} and status = 'IN_PROGRESS'`)

export const pollSearch = (db: Db, orgId: string, id: string, nowMs: number) =>
  db.one<SearchRow>(sql`update searches set polled_at = ${nowMs} where org_id = ${orgId} and id = ${id} returning *`)

/** Deletes old results but keeps the record of the searches. */
export const dropAnswers = (db: Db, beforeMs: number) =>
  db.run(sql`
    update searches set answer = null where id in (
      select id from searches where ended_at < ${beforeMs} and answer is not null for update skip locked)`)

export const removeSearches = (db: Db, beforeMs: number) => removeOld(db, 'searches', 'started_at', beforeMs)
