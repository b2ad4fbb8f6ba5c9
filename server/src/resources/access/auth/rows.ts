import type { UserStatus } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

export type SessionRow = { org_id: string; id: string; user_id: string; created_at: number; expires_at: number } & ProvidedBy & BegunFrom

/** How and from where a session began; null for sessions of earlier versions. */
export type BegunFrom = { method: string | null; address: string | null; user_agent: string | null }

/** A session with its last use, if there is any yet. */
export type ShownSessionRow = SessionRow & { used_at: number | null; used_address: string | null }

/** The provider of a session, with its names for the person and the session, and the sign-on; null for a session by password. */
export type ProvidedBy = { idp_id: string | null; subject: string | null; provider_session: string | null; sign_on_id: string | null }

/** The row from which the caller of a token is built. */
export type CallerRow = {
  user_id: string
  home_org_id: string
  org_number: number
  email: string
  roles: string[]
  status: UserStatus
  expires_at: number
}

export const insertSession = (db: Db, row: SessionRow) =>
  db.run(sql`
    insert into sessions (org_id, id, user_id, created_at, expires_at, idp_id, subject, provider_session, sign_on_id, method, address, user_agent)
    values (${row.org_id}, ${row.id}, ${row.user_id}, ${row.created_at}, ${row.expires_at}, ${row.idp_id}, ${row.subject},
      ${row.provider_session}, ${row.sign_on_id}, ${row.method}, ${row.address}, ${row.user_agent})`)

export const selectSession = (db: Db, orgId: string, id: string) =>
  db.one<SessionRow>(sql`select * from sessions where org_id = ${orgId} and id = ${id}`)

export const selectProviderName = (db: Db, orgId: string, sessionId: string) =>
  db.one<{ name: string }>(sql`
    select i.name from sessions s join sso_idps i on i.id = s.idp_id where s.org_id = ${orgId} and s.id = ${sessionId}`)

/** Ends the sessions of a person at a provider, or one of them. They may act in several organizations. */
export const deleteProvidedSessions = (db: Db, idpId: string, of: { subject?: string | undefined; session?: string | undefined }) =>
  db.all<{ org_id: string; user_id: string }>(sql`
    delete from sessions where idp_id = ${idpId}
      and (${of.subject ?? null}::text is null or subject = ${of.subject ?? null})
      and (${of.session ?? null}::text is null or provider_session = ${of.session ?? null})
    returning org_id, user_id`)

/** The user of a session. The user may belong to another organization than the one the session acts in. */
export const selectCaller = (db: Db, orgId: string, sessionId: string) =>
  db.one<CallerRow>(sql`
    select s.user_id, s.expires_at, u.org_id as home_org_id, u.email, u.roles, u.status, o.number as org_number
    from sessions s join users u on u.id = s.user_id join organisations o on o.id = s.org_id
    where s.org_id = ${orgId} and s.id = ${sessionId}`)

/** A user as they act in an organization, which may not be their own. */
export const selectUserCaller = (db: Db, orgId: string, userId: string) =>
  db.one<Omit<CallerRow, 'expires_at'>>(sql`
    select u.id as user_id, u.org_id as home_org_id, u.email, u.roles, u.status, o.number as org_number
    from users u join organisations o on o.id = ${orgId} where u.id = ${userId}`)

export const deleteSession = (db: Db, orgId: string, id: string) => db.run(sql`delete from sessions where org_id = ${orgId} and id = ${id}`)

export const selectSessionsOf = (db: Db, userId: string, { nowMs, rowsMax }: { nowMs: number; rowsMax: number }) =>
  db.all<ShownSessionRow>(sql`
    select s.*, u.used_at, u.address as used_address from sessions s left join session_uses u on u.session_id = s.id
    where s.user_id = ${userId} and s.expires_at > ${nowMs} order by s.created_at desc, s.id limit ${rowsMax}`)

export const deleteSessionOf = (db: Db, userId: string, id: string) =>
  db.run(sql`delete from sessions where user_id = ${userId} and id = ${id}`)

export const deleteOtherSessions = (db: Db, userId: string, id: string) =>
  db.run(sql`delete from sessions where user_id = ${userId} and id <> ${id}`)

/** Ignores ended sessions; the last use never goes back in time. Rows are written in one order, so that writers cannot deadlock. */
export const upsertSessionUses = (db: Db, uses: readonly { id: string; used_at: number; address: string }[]) =>
  db.run(sql`
    insert into session_uses as u (session_id, used_at, address)
    select s.id, given.used_at, given.address
    from unnest(${uses.map(({ id }) => id)}::uuid[], ${uses.map(({ used_at }) => used_at)}::bigint[], ${uses.map(({ address }) => address)}::text[])
      as given (id, used_at, address)
    join sessions s on s.id = given.id
    order by s.id
    on conflict (session_id) do update set used_at = excluded.used_at, address = excluded.address where u.used_at < excluded.used_at`)

/** Deletes expired sessions at each login. Skips rows that another login is deleting. */
export const deleteExpiredSessions = (db: Db, orgId: string, nowMs: number) =>
  db.run(sql`
    delete from sessions where id in (
      select id from sessions where org_id = ${orgId} and expires_at <= ${nowMs} limit 100 for update skip locked)`)

export const selectFirstOrganization = (db: Db) => db.one<{ id: string }>(sql`select id from organisations order by number limit 1`)

export type AttemptRow = { subject: Buffer; failures: number; until_ms: number }

/**
 * Increments the count of each subject, or restarts it if its window is over, and returns the counts. Rows are locked in one order, so that two
 * logins cannot deadlock. The window cannot grow when the clock is set back.
 */
export const countAttempts = (db: Db, subjects: readonly { subject: Buffer; untilMs: number }[], nowMs: number) =>
  db.all<AttemptRow>(sql`
    insert into login_attempts as known (subject, failures, until_ms)
    select s.subject, 1, s.until_ms
    from unnest(${subjects.map(({ subject }) => subject)}::bytea[], ${subjects.map(({ untilMs }) => untilMs)}::bigint[]) as s (subject, until_ms)
    order by s.subject
    on conflict (subject) do update set
      failures = case when known.until_ms <= ${nowMs} then 1 else known.failures + 1 end,
      until_ms = case when known.until_ms <= ${nowMs} then excluded.until_ms else least(known.until_ms, excluded.until_ms) end
    returning subject, failures, until_ms`)

export const uncountAttempt = (db: Db, subject: Buffer) =>
  db.run(sql`update login_attempts set failures = failures - 1 where subject = ${subject} and failures > 0`)

export const deleteAttempts = (db: Db, subject: Buffer) => db.run(sql`delete from login_attempts where subject = ${subject}`)

/** Deletes old attempts. Skips locked rows, because waiting for one while holding another could deadlock two logins. */
export const deleteOldAttempts = (db: Db, nowMs: number) =>
  db.run(sql`
    delete from login_attempts where subject in (
      select subject from login_attempts where until_ms <= ${nowMs} limit 100 for update skip locked)`)
