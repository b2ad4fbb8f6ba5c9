import type { AccessMember, Identity, Organization } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type OrganizationRow = {
  id: string
  number: number
  name: string
  description: string | null
  login_methods: Organization['login_methods'] | null
  partition_tags: Organization['partition_tags'] | null
  settings: Organization['settings'] | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export type GrantRow = {
  org_id: string
  entity_type: AccessMember['type']
  entity_id: string
  roles: string[]
  status: AccessMember['status']
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectFirstOrganization = (db: Db) =>
  db.one<{ id: string; number: number }>(sql`select id, number from organisations order by number limit 1`)

export const selectOrganization = (db: Db, id: string) => db.one<OrganizationRow>(sql`select * from organisations where id = ${id}`)

export const selectAllOrganizations = (db: Db) => db.all<OrganizationRow>(sql`select * from organisations order by number desc`)

/** The organizations in which a user may act: their own and those with granted roles; `orgId` is always included. */
export const selectOrganizationsOf = (db: Db, orgId: string, userId: string) =>
  db.all<OrganizationRow>(sql`
    select * from organisations where id = ${orgId}
      or id in (select org_id from users where id = ${userId} and status <> 'REMOVED')
      or id in (select org_id from access_grants where entity_type = 'user' and entity_id = ${userId} and status = 'active')
    order by number desc`)

/** selectOrganizationsOf for all users of an organization who may act in others too. */
export const selectOrganizationsOfMembers = (db: Db, orgId: string) =>
  db.all<OrganizationRow & { user_id: string }>(sql`
    select o.*, u.id as user_id from users u
      join access_grants a on a.entity_type = 'user' and a.entity_id = u.id and a.status = 'active'
      join organisations o on o.id = a.org_id
    where u.org_id = ${orgId} and a.org_id <> ${orgId} order by o.number desc`)

/** The last switch of every user of an organization, where it leads to another one. */
export const selectActiveOfMembers = (db: Db, orgId: string) =>
  db.all<{ user_id: string }>(sql`
    select a.user_id from users u join active_organisations a on a.user_id = u.id where u.org_id = ${orgId} and a.org_id <> ${orgId}`)

/** Returns nothing if the name is taken; the unique index resolves the race. */
export const insertOrganization = (db: Db, row: { id: string; name: string; created_at: number; created_by: Identity | null }) =>
  db.one<{ id: string }>(sql`
    insert into organisations (id, name, created_at, created_by, modified_at, modified_by)
    values (${row.id}, ${row.name}, ${row.created_at}, ${json(row.created_by)}, ${row.created_at}, ${json(row.created_by)})
    on conflict (name) do nothing returning id`)

/** Serializes renames with each other and with new organizations; reads and row locks continue. */
export const lockOrganizations = (db: Db) => db.run(sql`lock table organisations in share row exclusive mode`)

export const selectOrganizationByName = (db: Db, name: string) =>
  db.one<{ id: string }>(sql`select id from organisations where name = ${name}`)

export const updateOrganizationRow = (db: Db, row: OrganizationRow) =>
  db.run(sql`
    update organisations set name = ${row.name}, description = ${row.description}, login_methods = ${json(row.login_methods)},
      partition_tags = ${json(row.partition_tags)}, settings = ${json(row.settings)}, modified_at = ${row.modified_at},
      modified_by = ${json(row.modified_by)}
    where id = ${row.id}`)

export const selectGrants = (db: Db, orgId: string) =>
  db.all<GrantRow>(sql`select * from access_grants where org_id = ${orgId} order by created_at desc, entity_id`)

export const selectGrant = (db: Db, orgId: string, type: AccessMember['type'], id: string) =>
  db.one<GrantRow>(sql`select * from access_grants where org_id = ${orgId} and entity_type = ${type} and entity_id = ${id}`)

/** Replaces an earlier grant; a revoked one starts again. */
export const upsertGrant = (db: Db, row: GrantRow) =>
  db.one<GrantRow>(sql`
    insert into access_grants as earlier (org_id, entity_type, entity_id, roles, status, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.entity_type}, ${row.entity_id}, ${row.roles}, ${row.status}, ${row.created_at}, ${json(row.created_by)},
      ${row.modified_at}, ${json(row.modified_by)})
    on conflict (org_id, entity_type, entity_id) do update set
      roles = excluded.roles, status = excluded.status, modified_at = excluded.modified_at, modified_by = excluded.modified_by,
      created_at = case when earlier.status = 'revoked' then excluded.created_at else earlier.created_at end,
      created_by = case when earlier.status = 'revoked' then excluded.created_by else earlier.created_by end
    returning *`)

/** Records that there was a grant, without its roles. */
export const revokeGrant = (db: Db, row: Pick<GrantRow, 'org_id' | 'entity_type' | 'entity_id' | 'modified_at' | 'modified_by'>) =>
  db.run(sql`
    update access_grants set status = 'revoked', roles = '{}', modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and entity_type = ${row.entity_type} and entity_id = ${row.entity_id} and status <> 'revoked'`)

/** The roles that active grants give a user or group, directly and through every group that contains it, at any depth. */
export const selectGrantedRoles = (db: Db, orgId: string, type: AccessMember['type'], id: string) =>
  db.all<{ role: string }>(sql`
    with recursive reached (id) as (
      select group_id from group_members where org_id = ${orgId} and member_id = ${id}
      union
      select m.group_id from group_members m join reached r on m.member_id = r.id where m.org_id = ${orgId}
    )
    select distinct unnest(roles) as role from access_grants
    where org_id = ${orgId} and status = 'active' and (
      (entity_type = ${type} and entity_id = ${id}) or (entity_type = 'group' and entity_id in (select id from reached)))
    order by role`)

export const selectRolesOfGroups = (db: Db, orgId: string, groupIds: readonly string[]) =>
  db.all<{ role: string }>(sql`
    select distinct unnest(roles) as role from access_grants
    where org_id = ${orgId} and entity_type = 'group' and entity_id = any (${groupIds}::uuid[]) and status = 'active' order by role`)

export const selectUser = (db: Db, orgId: string, id: string) =>
  db.one<{ id: string }>(sql`select id from users where org_id = ${orgId} and id = ${id} and status <> 'REMOVED'`)

/** Not limited to an organization: the record of a guest is in another one than where they act. */
export const selectUserById = (db: Db, id: string) =>
  db.one<{ org_id: string; roles: string[]; status: string }>(sql`select org_id, roles, status from users where id = ${id}`)

/** lockUserForGrant and lockGroupForGrant lock the entity of a grant against deletion until the end of the transaction: no grant may outlive it. */
export const lockUserForGrant = (db: Db, orgId: string, id: string) =>
  db.one<{ id: string }>(sql`select id from users where org_id = ${orgId} and id = ${id} and status <> 'REMOVED' for key share`)

export const lockGroupForGrant = (db: Db, orgId: string, id: string) =>
  db.one<{ id: string }>(sql`select id from groups where org_id = ${orgId} and id = ${id} for key share`)

/** Reaches into every organization: only for users who are deleted. */
export const deleteAccessOfUser = (db: Db, userId: string) =>
  db.run(sql`delete from access_grants where entity_type = 'user' and entity_id = ${userId}`)

export const selectActiveOrganization = (db: Db, userId: string) =>
  db.one<{ org_id: string }>(sql`select org_id from active_organisations where user_id = ${userId}`)

export const upsertActiveOrganization = (db: Db, userId: string, orgId: string) =>
  db.run(sql`
    insert into active_organisations (user_id, org_id) values (${userId}, ${orgId})
    on conflict (user_id) do update set org_id = excluded.org_id`)

export const deleteActiveOrganization = (db: Db, userId: string) => db.run(sql`delete from active_organisations where user_id = ${userId}`)

/** Settings that all processes of a deployment must share. */
export type FingerprintName = 'master key' | 'token secret' | 'place of exports'

/**
 * Stores the fingerprint of the first start and returns the stored one. Later starts write nothing: a write to the settings table, even of no rows,
 * clears the cache of every process.
 */
export const insertFingerprint = async (db: Db, name: FingerprintName, fingerprint: string): Promise<string | undefined> => {
  const kept = await selectFingerprint(db, name)
  if (kept !== undefined) return kept
  await db.run(sql`insert into settings (name, value) values (${name}, ${json(fingerprint)}) on conflict (name) do nothing`)
  return selectFingerprint(db, name)
}

export const replaceFingerprint = (db: Db, name: FingerprintName, fingerprint: string) =>
  db.run(sql`
    insert into settings (name, value) values (${name}, ${json(fingerprint)}) on conflict (name) do update set value = excluded.value`)

const selectFingerprint = async (db: Db, name: FingerprintName): Promise<string | undefined> =>
  (await db.one<{ value: string }>(sql`select value from settings where name = ${name}`))?.value
