import type { UserStatus } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { ScimObject } from './attribute-path.ts'

/** A user with what a directory says about them, which is null if no directory does. */
export type ScimUserRow = {
  id: string
  email: string
  first_name: string
  last_name: string
  status: UserStatus
  created_at: number
  modified_at: number
  user_name: string | null
  external_id: string | null
  attributes: ScimObject | null
}

export type ScimGroupRow = { id: string; name: string; external_id: string | null; created_at: number; modified_at: number }

const userColumns = sql`u.id, u.email, u.first_name, u.last_name, u.status, u.created_at,
  greatest(u.modified_at, s.modified_at) as modified_at, s.user_name, s.external_id, s.attributes`

/** The users of an organization, oldest first; those with a user name or an external id if one is given. */
export const selectScimUsers = (db: Db, orgId: string, { userNameKey, externalId }: { userNameKey?: string; externalId?: string }) =>
  db.all<ScimUserRow>(sql`
    select ${userColumns} from users u left join scim_users s on s.user_id = u.id
    where u.org_id = ${orgId} and u.status <> 'REMOVED'
      and (${userNameKey ?? null}::text is null or coalesce(s.user_name_key, u.email_key) = ${userNameKey ?? null})
      and (${externalId ?? null}::text is null or s.external_id = ${externalId ?? null})
    order by u.created_at, u.id`)

export const selectScimUser = (db: Db, orgId: string, id: string) =>
  db.one<ScimUserRow>(sql`
    select ${userColumns} from users u left join scim_users s on s.user_id = u.id
    where u.org_id = ${orgId} and u.id = ${id} and u.status <> 'REMOVED'`)

export const hasPasswordHash = async (db: Db, orgId: string, id: string): Promise<boolean> =>
  (await db.one(sql`select 1 from users where org_id = ${orgId} and id = ${id} and password_hash is not null`)) !== undefined

/** Fails if another user of the organization has the user name. */
export const upsertScimUser = (
  db: Db,
  row: Pick<ScimUserRow, 'external_id'> & {
    org_id: string
    user_id: string
    user_name: string
    user_name_key: string
    attributes: ScimObject
    modified_at: number
  },
) =>
  db.run(sql`
    insert into scim_users (org_id, user_id, user_name, user_name_key, external_id, attributes, modified_at)
    values (${row.org_id}, ${row.user_id}, ${row.user_name}, ${row.user_name_key}, ${row.external_id}, ${json(row.attributes)}, ${row.modified_at})
    on conflict (user_id) do update set user_name = excluded.user_name, user_name_key = excluded.user_name_key,
      external_id = excluded.external_id, attributes = excluded.attributes, modified_at = excluded.modified_at`)

export const selectScimGroups = (db: Db, orgId: string) =>
  db.all<ScimGroupRow>(sql`
    select g.id, g.name, s.external_id, g.created_at, greatest(g.modified_at, s.modified_at) as modified_at
    from scim_groups s join groups g on g.id = s.group_id where s.org_id = ${orgId} order by g.created_at, g.id`)

export const upsertScimGroup = (db: Db, row: { org_id: string; group_id: string; external_id: string | null; modified_at: number }) =>
  db.run(sql`
    insert into scim_groups (org_id, group_id, external_id, modified_at)
    values (${row.org_id}, ${row.group_id}, ${row.external_id}, ${row.modified_at})
    on conflict (group_id) do update set external_id = excluded.external_id, modified_at = excluded.modified_at`)

/** The users in the groups of a directory. */
export const selectScimMembers = (db: Db, orgId: string) =>
  db.all<{ group_id: string; user_id: string; email: string }>(sql`
    select m.group_id, m.member_id as user_id, u.email
    from group_members m join scim_groups s on s.group_id = m.group_id join users u on u.id = m.member_id
    where m.org_id = ${orgId} and m.member_type = 'USER' order by u.email, u.id`)
