import type { Identity, LoginMethod, UserPreference, UserStatus } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { among, type ChangedIds } from '../../../meta/row-list.ts'
import { json, sql } from '../../../meta/sql.ts'

export type UserRow = {
  org_id: string
  id: string
  first_name: string
  last_name: string
  email: string
  email_key: string
  roles: string[]
  last_logins: Record<string, number>
  login_methods: LoginMethod[]
  tags: Record<string, string>
  status: UserStatus
  /** Unix seconds, as on the wire. */
  invited_at: number | null
  invited_by: string | null
  accepted_at: number | null
  preferences: UserPreference['preferences']
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

/** A user with the password hash; used only by the login. */
export type LoginRow = UserRow & { password_hash: string | null }

/** All columns except the password hash, which is read only to verify a password. */
const columns = sql`org_id, id, first_name, last_name, email, email_key, roles, last_logins, login_methods, tags, status, invited_at, invited_by,
  accepted_at, preferences, created_at, created_by, modified_at, modified_by`

export const selectUsers = (db: Db, orgId: string, changed?: ChangedIds) =>
  db.all<UserRow>(sql`
    select ${columns} from users where org_id = ${orgId} and ${among(sql`id`, changed?.get('users'))} order by created_at desc, id`)

export const selectUser = (db: Db, orgId: string, id: string) =>
  db.one<UserRow>(sql`select ${columns} from users where org_id = ${orgId} and id = ${id}`)

/** Finds a user by id alone: for users themselves, who may act in an organization that is not their own. */
export const selectPerson = (db: Db, id: string) => db.one<UserRow>(sql`select ${columns} from users where id = ${id}`)

/** Not limited to an organization, because a login names none. The row limit bounds the work of one login. */
export const selectByEmail = (db: Db, emailKey: string, rowsMax: number) =>
  db.all<LoginRow>(sql`
    select ${columns}, password_hash from users where email_key = ${emailKey} order by (password_hash is null), created_at, id limit ${rowsMax}`)

export const selectLogin = (db: Db, id: string) => db.one<LoginRow>(sql`select ${columns}, password_hash from users where id = ${id}`)

export const lockUser = (db: Db, orgId: string, id: string) =>
  db.one<UserRow>(sql`select ${columns} from users where org_id = ${orgId} and id = ${id} for update`)

export const lockByEmail = (db: Db, orgId: string, emailKey: string) =>
  db.one<UserRow>(sql`select ${columns} from users where org_id = ${orgId} and email_key = ${emailKey} for update`)

/** Locks a user and returns the hash of the password. */
export const lockPasswordHash = (db: Db, orgId: string, id: string) =>
  db.one<Pick<LoginRow, 'password_hash' | 'login_methods'>>(sql`
    select password_hash, login_methods from users where org_id = ${orgId} and id = ${id} for update`)

/** Locks the administrators who can log in until the end of the transaction: two requests that would together remove the last two run one after the other. */
export const lockAdmins = (db: Db, orgId: string) =>
  db.all<{ id: string }>(sql`
    select id from users
    where org_id = ${orgId} and 'Admin' = any (roles) and status in ('ACTIVE', 'INACTIVE', 'MIGRATED')
      and login_methods @> '[{"name": "Password", "enabled": true}]'
    order by id for update`)

/** Returns nothing if the e-mail is taken; the unique index resolves the race. */
export const insertUser = (db: Db, row: LoginRow) =>
  db.one<{ id: string }>(sql`
    insert into users (${columns}, password_hash)
    values (${row.org_id}, ${row.id}, ${row.first_name}, ${row.last_name}, ${row.email}, ${row.email_key}, ${row.roles}, ${json(row.last_logins)},
      ${json(row.login_methods)}, ${json(row.tags)}, ${row.status}, ${row.invited_at}, ${row.invited_by}, ${row.accepted_at},
      ${json(row.preferences)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)}, ${row.password_hash})
    on conflict (org_id, email_key) do nothing returning id`)

export const updateUserRow = (db: Db, row: UserRow) =>
  db.run(sql`
    update users set first_name = ${row.first_name}, last_name = ${row.last_name}, email = ${row.email},
      email_key = ${row.email_key}, roles = ${row.roles}, last_logins = ${json(row.last_logins)},
      login_methods = ${json(row.login_methods)}, status = ${row.status}, invited_at = ${row.invited_at}, invited_by = ${row.invited_by},
      accepted_at = ${row.accepted_at}, preferences = ${json(row.preferences)}, modified_at = ${row.modified_at},
      modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const updatePasswordHash = (db: Db, orgId: string, id: string, hash: string) =>
  db.run(sql`update users set password_hash = ${hash} where org_id = ${orgId} and id = ${id}`)

/** Deletes the invitation and the sessions too. */
export const deleteUser = (db: Db, orgId: string, id: string) => db.run(sql`delete from users where org_id = ${orgId} and id = ${id}`)

/** Replaces an earlier invitation, whose link becomes invalid. */
export const upsertInvitation = (
  db: Db,
  row: { org_id: string; user_id: string; token_hash: Buffer; created_at: number; expires_at: number },
) =>
  db.run(sql`
    insert into invitations (org_id, user_id, token_hash, created_at, expires_at)
    values (${row.org_id}, ${row.user_id}, ${row.token_hash}, ${row.created_at}, ${row.expires_at})
    on conflict (user_id) do update set token_hash = excluded.token_hash, created_at = excluded.created_at, expires_at = excluded.expires_at`)

/** Not limited to an organization: an invited user has only the link. */
export const selectInvitation = (db: Db, tokenHash: Buffer) =>
  db.one<{ org_id: string; user_id: string; token_hash: Buffer; expires_at: number }>(sql`
    select org_id, user_id, token_hash, expires_at from invitations where token_hash = ${tokenHash}`)

/** Makes the link usable once: of two concurrent requests only one gets a row. */
export const consumeInvitation = (db: Db, orgId: string, tokenHash: Buffer, nowMs: number) =>
  db.one<{ user_id: string }>(sql`
    delete from invitations where org_id = ${orgId} and token_hash = ${tokenHash} and expires_at > ${nowMs} returning user_id`)

export const deleteInvitation = (db: Db, orgId: string, userId: string) =>
  db.run(sql`delete from invitations where org_id = ${orgId} and user_id = ${userId}`)

/** Ends all sessions of a user, including those in other organizations. */
export const deleteSessionsOf = (db: Db, userId: string) => db.run(sql`delete from sessions where user_id = ${userId}`)
