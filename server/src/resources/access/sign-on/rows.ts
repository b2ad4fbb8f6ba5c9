import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { Kept } from './kept-sign-ons.ts'

/** What a provider that sends its answers to the service has said. */
export type KeptAnswer = {
  claims: Record<string, unknown> & { sub: string }
  session?: string | undefined
  endsAtMs?: number | undefined
  kept: Kept
}

export type PendingRow = {
  state_hash: Buffer
  browser_hash: Buffer
  org_id: string
  idp_id: string
  redirect_uri: string
  expires_at: number
  code_hash: Buffer | null
  answer: KeptAnswer | null
}

export const insertPending = (db: Db, row: PendingRow) =>
  db.run(sql`
    insert into sso_logins (state_hash, browser_hash, org_id, idp_id, redirect_uri, expires_at, code_hash, answer)
    values (${row.state_hash}, ${row.browser_hash}, ${row.org_id}, ${row.idp_id}, ${row.redirect_uri}, ${row.expires_at}, ${row.code_hash},
      ${row.answer === null ? null : json(row.answer)})`)

/** Returns 0 if no login waits for an answer of this provider with this state, or if it has one already. */
export const keepAnswer = (db: Db, of: { stateHash: Buffer; idpId: string; nowMs: number }, codeHash: Buffer, answer: KeptAnswer) =>
  db.run(sql`
    update sso_logins set code_hash = ${codeHash}, answer = ${json(answer)}
    where state_hash = ${of.stateHash} and idp_id = ${of.idpId} and expires_at > ${of.nowMs} and answer is null`)

/** Returns 0 if the message was here before. */
export const insertMessage = (db: Db, row: { org_id: string; idp_id: string; id_hash: Buffer; expires_at: number }) =>
  db.run(sql`
    insert into sso_messages (org_id, idp_id, id_hash, expires_at) values (${row.org_id}, ${row.idp_id}, ${row.id_hash}, ${row.expires_at})
    on conflict (idp_id, id_hash) do nothing`)

/** Skips rows that another request is deleting. */
export const deleteExpiredMessages = (db: Db, nowMs: number) =>
  db.run(sql`
    delete from sso_messages where (idp_id, id_hash) in (
      select idp_id, id_hash from sso_messages where expires_at <= ${nowMs - LEEWAY_MS} limit 100 for update skip locked)`)

/** Makes a state usable once, and only in the browser that it was made for. Not limited to an organization: a browser has only the state. */
export const consumePending = (db: Db, stateHash: Buffer, browserHash: Buffer, nowMs: number) =>
  db.one<PendingRow>(sql`
    delete from sso_logins where state_hash = ${stateHash} and browser_hash = ${browserHash} and expires_at > ${nowMs} returning *`)

/** Expired rows stay for this long, so that a process whose clock is ahead does not end the logins of others. */
const LEEWAY_MS = 60 * 60_000

/** Skips rows that another login is deleting. */
export const deleteExpiredPending = (db: Db, nowMs: number) =>
  db.run(sql`
    delete from sso_logins where state_hash in (
      select state_hash from sso_logins where expires_at <= ${nowMs - LEEWAY_MS} limit 100 for update skip locked)`)

export const selectIdentity = (db: Db, idpId: string, subject: string) =>
  db.one<{ user_id: string; deactivated_at: number | null }>(sql`
    select user_id, deactivated_at from sso_identities where idp_id = ${idpId} and subject = ${subject}`)

/** Returns 0 if the subject is linked already. */
export const insertIdentity = (db: Db, row: { org_id: string; idp_id: string; subject: string; user_id: string }) =>
  db.run(sql`
    insert into sso_identities (org_id, idp_id, subject, user_id) values (${row.org_id}, ${row.idp_id}, ${row.subject}, ${row.user_id})
    on conflict (idp_id, subject) do nothing`)
