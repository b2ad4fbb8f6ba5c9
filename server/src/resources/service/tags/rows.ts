import type { Identity, Tags } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { Taggable, TaggedRow } from './taggables.ts'

export const selectTagged = (db: Db, orgId: string, kind: Taggable) =>
  db.all<TaggedRow>(sql`select id, tags from ${sql.id(kind.table)} where org_id = ${orgId} and ${kind.alive}`)

/** Locks the tags of a record until the end of the transaction, since each change rewrites all of them. */
export const lockTags = (db: Db, orgId: string, kind: Taggable, id: string) =>
  db.one<{ tags: Tags }>(sql`select tags from ${sql.id(kind.table)} where org_id = ${orgId} and id = ${id} and ${kind.alive} for update`)

export const updateTags = (
  db: Db,
  orgId: string,
  kind: Taggable,
  row: { id: string; tags: Tags; modified_at: number; modified_by: Identity },
) =>
  db.run(sql`
    update ${sql.id(kind.table)} set tags = ${json(row.tags)}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${orgId} and id = ${row.id}`)
