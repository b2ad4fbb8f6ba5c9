import type { Identity, Permission } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type RoleRow = {
  org_id: string
  id: string
  role_type: 'USER' | 'API'
  display_name: string
  description: string | null
  permissions: Permission[]
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectRoles = (db: Db, orgId: string) =>
  db.all<RoleRow>(sql`select * from roles where org_id = ${orgId} order by created_at desc, id`)

/** Serializes changes of role names in an organization. */
export const lockRoles = (db: Db, orgId: string) => db.run(sql`select 1 from organisations where id = ${orgId} for no key update`)

/** Waits for transactions that grant the role (lockRoleRowsForGrant) and blocks later ones. */
export const lockRole = (db: Db, orgId: string, id: string) =>
  db.one<{ id: string }>(sql`select id from roles where org_id = ${orgId} and id = ${id} for update`)

/** Locks roles against deletion until the end of the transaction; ids that are no UUIDs match nothing. */
export const lockRoleRowsForGrant = (db: Db, orgId: string, ids: readonly string[]) =>
  db.all<{ id: string }>(sql`select id from roles where org_id = ${orgId} and id::text = any (${ids}) order by id for key share`)

export const insertRole = (db: Db, row: RoleRow) =>
  db.run(sql`
    insert into roles (org_id, id, role_type, display_name, description, permissions, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.role_type}, ${row.display_name}, ${row.description}, ${row.permissions},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateRoleRow = (db: Db, row: RoleRow) =>
  db.one<RoleRow>(sql`
    update roles set display_name = ${row.display_name}, description = ${row.description}, permissions = ${row.permissions},
      modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id} returning *`)

export const deleteRole = (db: Db, orgId: string, id: string) => db.run(sql`delete from roles where org_id = ${orgId} and id = ${id}`)

/** Finds a holder of a role; deleted users and revoked grants do not count. */
export const selectRoleHolder = (db: Db, orgId: string, id: string) =>
  db.one<{ kind: 'user' | 'API key' | 'grant' }>(sql`
    select 'user' as kind from users where org_id = ${orgId} and ${id}::text = any (roles) and status <> 'REMOVED'
    union all select 'API key' from api_keys where org_id = ${orgId} and ${id}::text = any (roles)
    union all select 'grant' from access_grants where org_id = ${orgId} and ${id}::text = any (roles) and status <> 'revoked'
    limit 1`)
