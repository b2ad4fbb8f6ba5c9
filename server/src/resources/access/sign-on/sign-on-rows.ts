import type { Db } from '../../../meta/meta.ts'
import { type Sql, sql } from '../../../meta/sql.ts'

/** A sign-on whose sessions may be open. Token and hint are encrypted. */
export type SignOnRow = {
  org_id: string
  id: string
  idp_id: string
  user_id: string
  subject: string
  token_type: 'REFRESH' | 'ACCESS' | null
  token: Buffer | null
  token_ends_at: number | null
  hint: Buffer | null
  checked_at: number
  failures: number
}

/** Checks before `beforeMs` are due, and those after `aheadMs`, which a wrong clock wrote. */
export type Due = { nowMs: number; beforeMs: number; aheadMs: number }

export const insertSignOn = (db: Db, row: SignOnRow) =>
  db.run(sql`
    insert into sso_sign_ons (org_id, id, idp_id, user_id, subject, token_type, token, token_ends_at, hint, checked_at, failures)
    values (${row.org_id}, ${row.id}, ${row.idp_id}, ${row.user_id}, ${row.subject}, ${row.token_type}, ${row.token}, ${row.token_ends_at},
      ${row.hint}, ${row.checked_at}, ${row.failures})`)

/** Not limited to an organization: the sessions of a sign-on may act in several. */
export const selectSessionsOf = (db: Db, id: string) =>
  db.all<{ org_id: string; user_id: string }>(sql`select org_id, user_id from sessions where sign_on_id = ${id}`)

export const selectSignOnOfSession = (db: Db, orgId: string, sessionId: string) =>
  db.one<SignOnRow>(sql`
    select o.* from sso_sign_ons o join sessions s on s.sign_on_id = o.id where s.org_id = ${orgId} and s.id = ${sessionId}`)

/**
 * The newest sign-on of a user with personal keys. It is checked without an open session, too, because the keys rest when the provider refuses the user.
 * Refresh tokens alone last that long.
 */
const guardsKeys: Sql = sql`
  o.token_type = 'REFRESH'
  and exists (select 1 from api_keys k where k.user_id = o.user_id and k.suspended_at is null)
  and not exists (
    select 1 from sso_sign_ons n
    where n.user_id = o.user_id and n.idp_id = o.idp_id and n.token_type = 'REFRESH' and (n.checked_at, n.id) > (o.checked_at, o.id))`

const isDue = ({ nowMs, beforeMs, aheadMs }: Due): Sql => sql`
  o.token is not null and (o.checked_at <= ${beforeMs} or o.checked_at > ${aheadMs}) and (o.token_ends_at is null or o.token_ends_at > ${nowMs})
  and (exists (select 1 from sessions s where s.sign_on_id = o.id and s.expires_at > ${nowMs}) or (${guardsKeys}))`

/** The providers that have to be asked, in all organizations. */
export const selectDueProviders = (db: Db, due: Due) =>
  db.all<{ org_id: string; idp_id: string }>(sql`select distinct o.org_id, o.idp_id from sso_sign_ons o where ${isDue(due)}`)

/** Those that failed come first, so that no other ones keep them from being checked. */
export const selectDueSignOns = (db: Db, idpId: string, due: Due, rowsMax: number) =>
  db.all<SignOnRow>(sql`
    select o.* from sso_sign_ons o where o.idp_id = ${idpId} and ${isDue(due)} order by o.failures desc, o.checked_at, o.id limit ${rowsMax}`)

/** Records a check. A new token replaces the one of before. */
export const confirmSignOn = (db: Db, id: string, nowMs: number, token: Buffer | null) =>
  db.run(sql`update sso_sign_ons set checked_at = ${nowMs}, failures = 0, token = coalesce(${token}::bytea, token) where id = ${id}`)

export const failSignOn = (db: Db, id: string, nowMs: number) =>
  db.one<SignOnRow>(sql`update sso_sign_ons set checked_at = ${nowMs}, failures = failures + 1 where id = ${id} returning *`)

/** Counts a check without an answer for all sign-ons of a provider that are due, in one order for all writers. */
export const failDueSignOns = (db: Db, idpId: string, due: Due) =>
  db.all<SignOnRow>(sql`
    with due as (select o.id from sso_sign_ons o where o.idp_id = ${idpId} and ${isDue(due)} order by o.id for update)
    update sso_sign_ons set checked_at = ${due.nowMs}, failures = failures + 1 where id in (select id from due) returning *`)

/** Its sessions end with it. */
export const deleteSignOn = (db: Db, id: string) => db.run(sql`delete from sso_sign_ons where id = ${id}`)

/** Deletes sign-ons without a session that was open after a time, and without keys to guard; new ones have no session yet. */
export const deleteEndedSignOns = (db: Db, beforeMs: number, aheadMs: number) =>
  db.run(sql`
    delete from sso_sign_ons where id in (
      select o.id from sso_sign_ons o
      where (o.checked_at <= ${beforeMs} or o.checked_at > ${aheadMs})
        and not exists (select 1 from sessions s where s.sign_on_id = o.id and s.expires_at > ${beforeMs})
        and not (${guardsKeys})
      order by o.id limit 1000 for update skip locked)`)

/** Remembers that a user was deactivated because the provider refused them. */
export const markDeactivated = (db: Db, idpId: string, subject: string, deactivatedAtMs: number) =>
  db.run(sql`update sso_identities set deactivated_at = ${deactivatedAtMs} where idp_id = ${idpId} and subject = ${subject}`)
