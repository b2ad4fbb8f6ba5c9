import type { Identity } from '@dendro/api'
import type { Db } from '../../meta/meta.ts'
import { json, sql } from '../../meta/sql.ts'
import type { Source } from '../datasets/source.ts'

export type LiveTailRow = { id: string; org_id: string; identity: Identity; source: Source; condition: string; polled_at: number }

export const insertLiveTail = (db: Db, row: LiveTailRow) =>
  db.run(sql`
    insert into live_tails (id, org_id, identity, source, condition, polled_at)
    values (${row.id}, ${row.org_id}, ${json(row.identity)}, ${json(row.source)}, ${row.condition}, ${row.polled_at})`)

export const selectLiveTail = (db: Db, orgId: string, id: string) =>
  db.one<LiveTailRow>(sql`select * from live_tails where org_id = ${orgId} and id = ${id}`)

/** touchLiveTail keeps a job alive. No commit waits for the disk: a job that a power cut forgets is started again by who watches. */
export const touchLiveTail = (db: Db, id: string, nowMs: number) =>
  db.run(sql`
    with quick as (select set_config('synchronous_commit', 'off', true))
    update live_tails set polled_at = ${nowMs} from quick where id = ${id}`)

export const removeLiveTails = (db: Db, beforeMs: number) => db.run(sql`delete from live_tails where polled_at < ${beforeMs}`)
