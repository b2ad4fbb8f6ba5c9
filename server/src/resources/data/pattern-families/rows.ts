import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'
import { STORED_MASK } from '../../../patterns/family-form.ts'
import { MASK } from '../../../patterns/pattern.ts'

export type CatalogRow = { log_id: string; version: number }

export const selectCatalogs = (db: Db, orgId: string, logIds: readonly string[]) =>
  db.all<CatalogRow>(sql`
    select log_id, version from pattern_catalogs where org_id = ${orgId} and log_id = any(${[...logIds]}::uuid[])`)

export type FamilyOfPatternRow = { log_id: string; pattern: string; family: string | null }

/** The patterns that were decided about after the given version of each dataset. */
export const selectMembersSince = (db: Db, orgId: string, since: readonly CatalogRow[]) =>
  db.all<FamilyOfPatternRow>(sql`
    select m.log_id, m.pattern, m.family
    from unnest(${since.map(({ log_id }) => log_id)}::uuid[], ${since.map(({ version }) => version)}::int[]) as given (log_id, version)
    join pattern_members m on m.log_id = given.log_id and m.version > given.version
    where m.org_id = ${orgId}`)

/** Serializes decisions about a dataset. Returns its version. Undefined when the dataset is gone. */
export async function lockCatalog(tx: Db, orgId: string, logId: string): Promise<number | undefined> {
  await tx.run(sql`
    insert into pattern_catalogs (org_id, log_id, version) select org_id, id, 0 from datasets where org_id = ${orgId} and id = ${logId}
    on conflict (log_id) do nothing`)
  const row = await tx.one<{ version: number }>(
    sql`select version from pattern_catalogs where org_id = ${orgId} and log_id = ${logId} for update`,
  )
  return row?.version
}

export const updateCatalog = (tx: Db, logId: string, version: number) =>
  tx.run(sql`update pattern_catalogs set version = ${version} where log_id = ${logId}`)

/** Which of these patterns have been decided about. */
export const selectKnown = (tx: Db, logId: string, patterns: readonly string[]) =>
  tx.all<{ pattern: string }>(sql`select pattern from pattern_members where log_id = ${logId} and pattern = any(${[...patterns]}::text[])`)

export type FamilyRow = { id: string; frame: string; words: string[] }

/** The families of some frames, the oldest first. */
export async function selectFamilies(tx: Db, logId: string, frames: readonly string[]): Promise<FamilyRow[]> {
  const rows = await tx.all<FamilyRow>(sql`
    select id, frame, words from pattern_families where log_id = ${logId} and frame = any(${[...frames]}::text[]) order by age, id`)
  return rows.map((row) => ({ ...row, words: masked(row.words) }))
}

/** The families with these ids. */
export async function selectFamiliesById(db: Db, orgId: string, logIds: readonly string[], ids: readonly string[]) {
  const rows = await db.all<FamilyRow & { log_id: string }>(sql`
    select log_id, id, frame, words from pattern_families
    where org_id = ${orgId} and log_id = any(${[...logIds]}::uuid[]) and id = any(${[...ids]}::text[])`)
  return rows.map((row) => ({ ...row, words: masked(row.words) }))
}

type NamedPatternRow = { pattern: string; family: string | null; words: string[] | null }

/** The patterns with these ids, and those of the families with these ids. Those with a family have no words of their own. */
export async function selectNamedPatterns(db: Db, orgId: string, logIds: readonly string[], ids: readonly string[]) {
  const rows = await db.all<NamedPatternRow>(sql`
    select pattern, family, words from pattern_members
    where org_id = ${orgId} and log_id = any(${[...logIds]}::uuid[]) and (pattern = any(${[...ids]}::text[]) or family = any(${[...ids]}::text[]))`)
  return rows.map((row) => ({ ...row, words: row.words && masked(row.words) }))
}

export type SingleRow = { pattern: string; frame: string; words: string[] }

/** The newest patterns of each frame that have no family, at most `limit` per frame. */
export async function selectSingles(tx: Db, logId: string, frames: readonly string[], limit: number): Promise<SingleRow[]> {
  const rows = await tx.all<SingleRow>(sql`
    select own.pattern, own.frame, own.words from unnest(${[...frames]}::text[]) as given (frame)
    join lateral (
      select pattern, frame, words from pattern_members
      where log_id = ${logId} and frame = given.frame and family is null order by version desc, pattern limit ${limit}) own on true`)
  return rows.map((row) => ({ ...row, words: masked(row.words) }))
}

export const upsertFamilies = (tx: Db, orgId: string, logId: string, families: readonly FamilyRow[], age: number) =>
  tx.run(sql`
    insert into pattern_families (org_id, log_id, id, frame, words, age)
    select ${orgId}::uuid, ${logId}::uuid, id, frame, array(select jsonb_array_elements_text(words)), ${age}
    from jsonb_to_recordset(${JSON.stringify(families.map((family) => ({ ...family, words: stored(family.words) })))}::jsonb)
      as given (id text, frame text, words jsonb)
    on conflict (log_id, id) do update set words = excluded.words`)

export type MemberRow = { pattern: string; frame: string; words: readonly string[] | null; family: string | null }

/** Records decisions. A pattern that has a family keeps it. */
export const upsertMembers = (tx: Db, orgId: string, logId: string, members: readonly MemberRow[], version: number) =>
  tx.run(sql`
    insert into pattern_members (org_id, log_id, pattern, frame, words, family, version)
    select ${orgId}::uuid, ${logId}::uuid, pattern, frame,
      case when family is null then array(select jsonb_array_elements_text(words)) end, family, ${version}
    from jsonb_to_recordset(${JSON.stringify(members.map((member) => ({ ...member, words: member.words && stored(member.words) })))}::jsonb)
      as given (pattern text, frame text, words jsonb, family text)
    on conflict (log_id, pattern) do update set family = excluded.family, words = excluded.words, version = excluded.version
    where pattern_members.family is null`)

const stored = (words: readonly string[]): string[] => words.map((word) => word.replaceAll(MASK, STORED_MASK))
const masked = (words: readonly string[]): string[] => words.map((word) => word.replaceAll(STORED_MASK, MASK))
