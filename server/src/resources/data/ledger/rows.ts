import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

/** The datasets of all organizations that are not deleted; the recount covers the whole deployment. */
export const selectLivingLogs = (db: Db) => db.all<{ id: string }>(sql`select id from datasets where deleted_at is null`)

/** The stored state of the last recount. */
export const selectRecount = (db: Db, kind: string) =>
  db.one<{ payload: Record<string, unknown> }>(sql`select payload from jobs where kind = ${kind} and key = ''`)

/** Leases use the clock of the store, because the clocks of the processes may differ. */
const STORE_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`

/** keepProcess says that a process is there for so long; one that was taken for gone meanwhile is there again. */
export const keepProcess = (db: Db, id: string, leaseMs: number) =>
  db.run(sql`
    insert into ledger_processes (id, alive_until) values (${id}, ${STORE_MS} + ${leaseMs}::bigint)
    on conflict (id) do update set alive_until = excluded.alive_until, found_gone_at = null`)

export const deleteProcess = (db: Db, id: string) => db.run(sql`delete from ledger_processes where id = ${id}`)

/** deleteAllProcesses is for a start at which no other process can be there. */
export const deleteAllProcesses = (db: Db) => db.run(sql`delete from ledger_processes`)

const GONE = sql`alive_until < ${STORE_MS}`

/** selectGone is since when the first of the processes is gone that are not recounted yet; null when all are there. */
export const selectGone = async (db: Db): Promise<number | null> =>
  (await db.one<{ since: number | null }>(sql`select min(alive_until) as since from ledger_processes where ${GONE}`))?.since ?? null

/** noteGone notes when processes were first found gone. */
export const noteGone = (db: Db, nowMs: number) =>
  db.run(sql`update ledger_processes set found_gone_at = ${nowMs} where ${GONE} and found_gone_at is null`)

/** deleteGone forgets processes that were found gone before a time. */
export const deleteGone = (db: Db, beforeMs: number) =>
  db.run(sql`delete from ledger_processes where ${GONE} and found_gone_at < ${beforeMs}`)
