import type { Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { removeOld } from '../../../meta/old-rows.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { PatternType } from '../../../parsers/parsers.ts'

export type ParserRow = {
  org_id: string
  id: string
  name: string
  type: PatternType
  pattern: string
  log_id: string
  enabled: boolean
  description: string | null
  log_lines: string[] | null
  parsed_lines: Record<string, string>[] | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectParsers = (db: Db, orgId: string) =>
  db.all<ParserRow>(sql`select * from parsers where org_id = ${orgId} order by created_at desc, id`)

export const insertParser = (db: Db, row: ParserRow) =>
  db.run(sql`
    insert into parsers (org_id, id, name, type, pattern, log_id, enabled, description, log_lines, parsed_lines,
      created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.type}, ${row.pattern}, ${row.log_id}, ${row.enabled}, ${row.description},
      ${json(row.log_lines)}, ${json(row.parsed_lines)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const lockParser = (db: Db, orgId: string, id: string) =>
  db.one<ParserRow>(sql`select * from parsers where org_id = ${orgId} and id = ${id} for update`)

export const updateParserRow = (db: Db, row: ParserRow) =>
  db.run(sql`
    update parsers set name = ${row.name}, type = ${row.type}, pattern = ${row.pattern}, log_id = ${row.log_id}, enabled = ${row.enabled},
      description = ${row.description}, parsed_lines = ${json(row.parsed_lines)},
      modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteParser = (db: Db, orgId: string, id: string) => db.run(sql`delete from parsers where org_id = ${orgId} and id = ${id}`)

/** The number of parsers of an organization. */
export const countParsers = async (db: Db, orgId: string): Promise<number> =>
  Number((await db.one<{ parsers: number }>(sql`select count(*) as parsers from parsers where org_id = ${orgId}`))?.parsers ?? 0)

/** Assigns a parser to a dataset, or removes it with null; returns the previous one. */
export const assignParser = (
  db: Db,
  orgId: string,
  { logId, parserId, nowMs, identity }: { logId: string; parserId: string | null; nowMs: number; identity: Identity },
) =>
  db.one<{ before: string | null }>(sql`
    update datasets set parser_id = ${parserId}, modified_at = ${nowMs}, modified_by = ${json(identity)}
    from (select id, parser_id as before from datasets where org_id = ${orgId} and id = ${logId} and deleted_at is null for update) as was
    where datasets.id = was.id returning was.before`)

/** Removes a parser from all its datasets. */
export const unassignParser = (db: Db, orgId: string, parserId: string) =>
  db.run(sql`
    with held as (select id from datasets where org_id = ${orgId} and parser_id = ${parserId} order by id for update)
    update datasets set parser_id = null where id in (select id from held)`)

export type ParserMinute = {
  org_id: string
  log_id: string
  minute_ms: number
  lines: number
  matched: number
  given_up: number
  duration_ns: number
}

/** Adds to existing counts and ignores deleted datasets. Rows are written in one order, so that writers cannot deadlock. */
export const addParserMinutes = (db: Db, minutes: readonly ParserMinute[]) =>
  db.run(sql`
    insert into parser_minutes as m (org_id, log_id, minute_ms, lines, matched, given_up, duration_ns)
    select datasets.org_id, given.log_id, given.minute_ms, given.lines, given.matched, given.given_up, given.duration_ns
    from unnest(${minutes.map(({ log_id }) => log_id)}::uuid[], ${minutes.map(({ minute_ms }) => minute_ms)}::bigint[],
      ${minutes.map(({ lines }) => lines)}::bigint[], ${minutes.map(({ matched }) => matched)}::bigint[],
      ${minutes.map(({ given_up }) => given_up)}::bigint[], ${minutes.map(({ duration_ns }) => duration_ns)}::bigint[])
      as given (log_id, minute_ms, lines, matched, given_up, duration_ns)
    join datasets on datasets.id = given.log_id
    order by given.log_id, given.minute_ms
    on conflict (org_id, log_id, minute_ms) do update set lines = m.lines + excluded.lines, matched = m.matched + excluded.matched,
      given_up = m.given_up + excluded.given_up, duration_ns = m.duration_ns + excluded.duration_ns`)

export type ParserSlice = { log_id: string; slice: number; lines: number; matched: number; duration_ns: number }

/** Sums minutes into slices; a minute belongs to the slice in which it begins. */
export const selectParserSlices = (db: Db, orgId: string, { fromMs, toMs, widthMs }: { fromMs: number; toMs: number; widthMs: number }) =>
  db.all<ParserSlice>(sql`
    select log_id, floor((greatest(minute_ms, ${fromMs}::bigint) - ${fromMs}::bigint) / ${widthMs}::float8)::int as slice,
      sum(lines)::bigint as lines, sum(matched)::bigint as matched, sum(duration_ns)::bigint as duration_ns
    from parser_minutes
    where org_id = ${orgId} and minute_ms > ${fromMs - 60_000} and minute_ms < ${toMs}
    group by log_id, slice order by log_id, slice`)

export const removeParserMinutes = (db: Db, beforeMs: number) => removeOld(db, 'parser_minutes', 'minute_ms', beforeMs)
