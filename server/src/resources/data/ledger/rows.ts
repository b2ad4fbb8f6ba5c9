import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

/** The datasets of all organizations that are not deleted; the recount covers the whole deployment. */
export const selectExistingLogs = (db: Db) => db.all<{ id: string }>(sql`select id from datasets where deleted_at is null`)

/** The stored state of the last recount. */
export const selectRecount = (db: Db, kind: string) =>
  db.one<{ payload: Record<string, unknown> }>(sql`select payload from jobs where kind = ${kind} and key = ''`)

/** Leases use the clock of the store, because the clocks of the processes may differ. */
const STORE_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** Renews the lease of a process. A process that was taken for gone in the meantime counts as running again. */
export const renewProcess = (db: Db, id: string, leaseMs: number) =>
  db.run(sql`
    insert into ledger_processes (id, alive_until) values (${id}, ${STORE_MS} + ${leaseMs}::bigint)
    on conflict (id) do update set alive_until = excluded.alive_until, found_gone_at = null`)

export const deleteProcess = (db: Db, id: string) => db.run(sql`delete from ledger_processes where id = ${id}`)

/** Deletes all processes, at a start during which no other process can be running. */
export const deleteAllProcesses = (db: Db) => db.run(sql`delete from ledger_processes`)

const EXPIRED = sql`alive_until < ${STORE_MS}`

/** Returns when the earliest lease expired whose process is not recounted yet, or null if no lease has expired. */
export const selectGoneSince = async (db: Db): Promise<number | null> =>
  (await db.one<{ since: number | null }>(sql`select min(alive_until) as since from ledger_processes where ${EXPIRED}`))?.since ?? null

/** Records when processes were first found gone. */
export const markGone = (db: Db, nowMs: number) =>
  db.run(sql`update ledger_processes set found_gone_at = ${nowMs} where ${EXPIRED} and found_gone_at is null`)

/** Deletes processes that were found gone before a time. */
export const deleteGone = (db: Db, beforeMs: number) =>
  db.run(sql`delete from ledger_processes where ${EXPIRED} and found_gone_at < ${beforeMs}`)
