import type { EncryptionKey, EncryptionKeyStatus, Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type EncryptionKeyRow = {
  org_id: string
  id: string
  name: string
  provider: EncryptionKey['provider']
  status: EncryptionKeyStatus
  alias_arn: string
  region: string | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectEncryptionKeys = (db: Db, orgId: string) =>
  db.all<EncryptionKeyRow>(sql`select * from encryption_keys where org_id = ${orgId} order by created_at desc, id`)

export const lockEncryptionKey = (db: Db, orgId: string, id: string) =>
  db.one<EncryptionKeyRow>(sql`select * from encryption_keys where org_id = ${orgId} and id = ${id} for update`)

/** Returns 0 when the id is taken. */
export const insertEncryptionKey = (db: Db, row: EncryptionKeyRow) =>
  db.run(sql`
    insert into encryption_keys (org_id, id, name, provider, status, alias_arn, region, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.provider}, ${row.status}, ${row.alias_arn}, ${row.region}, ${row.created_at},
      ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})
    on conflict (org_id, id) do nothing`)

export const updateEncryptionKeyRow = (db: Db, row: EncryptionKeyRow) =>
  db.run(sql`
    update encryption_keys set name = ${row.name}, status = ${row.status}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteEncryptionKey = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from encryption_keys where org_id = ${orgId} and id = ${id}`)
