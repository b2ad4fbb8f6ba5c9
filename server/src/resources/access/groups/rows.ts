import type { GroupMember, Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type UserGroupRow = {
  org_id: string
  id: string
  name: string
  description: string | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectGroups = (db: Db, orgId: string) =>
  db.all<UserGroupRow>(sql`select * from groups where org_id = ${orgId} order by created_at desc, id`)

/** Serializes changes of names and memberships in an organization: two concurrent additions must not form a cycle together. */
export const lockGroups = (db: Db, orgId: string) => db.run(sql`select 1 from organisations where id = ${orgId} for no key update`)

export const selectGroup = (db: Db, orgId: string, id: string) =>
  db.one<UserGroupRow>(sql`select * from groups where org_id = ${orgId} and id = ${id}`)

export const selectGroupByName = (db: Db, orgId: string, name: string) =>
  db.one<UserGroupRow>(sql`select * from groups where org_id = ${orgId} and lower(name) = lower(${name})`)

export const insertGroup = (db: Db, row: UserGroupRow) =>
  db.run(sql`
    insert into groups (org_id, id, name, description, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.description}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at},
      ${json(row.modified_by)})`)

export const updateGroupRow = (db: Db, row: UserGroupRow) =>
  db.one<UserGroupRow>(sql`
    update groups set name = ${row.name}, description = ${row.description}, modified_at = ${row.modified_at},
      modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id} returning *`)

/** Deletes a group with its members; deleteMembershipsOf ends its own memberships. */
export const deleteGroup = (db: Db, orgId: string, id: string) => db.run(sql`delete from groups where org_id = ${orgId} and id = ${id}`)

export const deleteMembershipsOf = (db: Db, orgId: string, memberId: string) =>
  db.run(sql`delete from group_members where org_id = ${orgId} and member_id = ${memberId}`)

export const deleteGrantsOfGroup = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from access_grants where org_id = ${orgId} and entity_type = 'group' and entity_id = ${id}`)

export const selectGroupsOf = (db: Db, orgId: string, memberId: string) =>
  db.all<UserGroupRow>(sql`
    select g.* from groups g join group_members m on m.group_id = g.id
    where m.org_id = ${orgId} and m.member_id = ${memberId} order by g.created_at desc, g.id`)

/** Every direct membership in the organization with its group, ordered like selectGroupsOf. */
export const selectMemberships = (db: Db, orgId: string) =>
  db.all<UserGroupRow & { member_id: string }>(sql`
    select g.*, m.member_id from groups g join group_members m on m.group_id = g.id
    where m.org_id = ${orgId} order by g.created_at desc, g.id`)

/** Follows memberships upwards through nested groups. `union` drops duplicates, so the recursion ends. */
export const selectReached = (db: Db, orgId: string, memberId: string) =>
  db.all<{ id: string }>(sql`
    with recursive reached (id) as (
      select group_id from group_members where org_id = ${orgId} and member_id = ${memberId}
      union
      select m.group_id from group_members m join reached r on m.member_id = r.id where m.org_id = ${orgId}
    )
    select id from reached`)

export const selectMembers = (db: Db, orgId: string, groupId: string) =>
  db.all<GroupMember>(sql`
    select group_id, member_id, member_type, modified_at from group_members
    where org_id = ${orgId} and group_id = ${groupId} order by modified_at desc, member_id`)

/** Locks the users it finds against deletion until the end of the transaction: no membership may outlive its member. */
export const selectKnownUsers = (db: Db, orgId: string, ids: readonly string[]) =>
  db.all<{ id: string }>(
    sql`select id from users where org_id = ${orgId} and id = any (${ids}::uuid[]) and status <> 'REMOVED' order by id for key share`,
  )

export const selectKnownGroups = (db: Db, orgId: string, ids: readonly string[]) =>
  db.all<{ id: string }>(sql`select id from groups where org_id = ${orgId} and id = any (${ids}::uuid[])`)

export const insertMember = (db: Db, orgId: string, row: GroupMember) =>
  db.run(sql`
    insert into group_members (org_id, group_id, member_id, member_type, modified_at)
    values (${orgId}, ${row.group_id}, ${row.member_id}, ${row.member_type}, ${row.modified_at})
    on conflict (group_id, member_id) do nothing`)

export const deleteMember = (db: Db, orgId: string, row: Omit<GroupMember, 'modified_at'>) =>
  db.run(sql`
    delete from group_members
    where org_id = ${orgId} and group_id = ${row.group_id} and member_id = ${row.member_id} and member_type = ${row.member_type}`)
