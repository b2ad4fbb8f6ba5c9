import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

export type PendingRow = {
  state_hash: Buffer
  browser_hash: Buffer
  org_id: string
  idp_id: string
  redirect_uri: string
  expires_at: number
}

export const insertPending = (db: Db, row: PendingRow) =>
  db.run(sql`
    insert into sso_logins (state_hash, browser_hash, org_id, idp_id, redirect_uri, expires_at)
    values (${row.state_hash}, ${row.browser_hash}, ${row.org_id}, ${row.idp_id}, ${row.redirect_uri}, ${row.expires_at})`)

/** Makes a state usable once, and only in the browser that it was made for. Not limited to an organization: a browser has only the state. */
export const consumePending = (db: Db, stateHash: Buffer, browserHash: Buffer, nowMs: number) =>
  db.one<PendingRow>(sql`
    delete from sso_logins where state_hash = ${stateHash} and browser_hash = ${browserHash} and expires_at > ${nowMs} returning *`)

/** Skips rows that another login is deleting. */
export const deleteExpiredPending = (db: Db, nowMs: number) =>
  db.run(sql`
    delete from sso_logins where state_hash in (
      select state_hash from sso_logins where expires_at <= ${nowMs} limit 100 for update skip locked)`)

export const selectIdentity = (db: Db, idpId: string, subject: string) =>
  db.one<{ user_id: string }>(sql`select user_id from sso_identities where idp_id = ${idpId} and subject = ${subject}`)

/** Returns 0 if the subject is linked already. */
export const insertIdentity = (db: Db, row: { org_id: string; idp_id: string; subject: string; user_id: string }) =>
  db.run(sql`
    insert into sso_identities (org_id, idp_id, subject, user_id) values (${row.org_id}, ${row.idp_id}, ${row.subject}, ${row.user_id})
    on conflict (idp_id, subject) do nothing`)
