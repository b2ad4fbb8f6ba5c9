import type { Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { removeOld } from '../../../meta/old-rows.ts'
import { json, sql } from '../../../meta/sql.ts'
import type { SourceSelection } from '../../data/datasets/datasets.ts'

export type LiveTailRow = {
  id: string
  org_id: string
  identity: Identity
  source: SourceSelection
  condition: string
  polled_at: number
  began_at: number | null
  turn: number
  position: Buffer | null
  /** What the last turns of a stream delivered (delivered.ts); null for a job that is polled. */
  delivered: Buffer | null
}

export const insertLiveTail = (db: Db, row: LiveTailRow) =>
  db.run(sql`
    insert into live_tails (id, org_id, identity, source, condition, polled_at, began_at, turn, position)
    values (${row.id}, ${row.org_id}, ${json(row.identity)}, ${json(row.source)}, ${row.condition}, ${row.polled_at}, ${row.began_at}, ${row.turn},
      ${row.position})`)

export const selectLiveTail = (db: Db, orgId: string, id: string) =>
  db.one<LiveTailRow>(sql`select * from live_tails where org_id = ${orgId} and id = ${id}`)

/** Keeps a job alive. The commit does not wait for the disk: after a power loss the client starts a new job. */
export const touchLiveTail = (db: Db, id: string, nowMs: number) =>
  db.run(sql`
    with quick as (select set_config('synchronous_commit', 'off', true))
    update live_tails set polled_at = ${nowMs} from quick where id = ${id}`)

type NextPosition = { position: Buffer; delivered: Buffer | null }

/** Stores a new position unless another request did so since the job was read; then it returns 0. */
export const moveLiveTail = (
  db: Db,
  { id, turn }: Pick<LiveTailRow, 'id' | 'turn'>,
  { position, delivered }: NextPosition,
  nowMs: number,
) =>
  db.run(sql`
    with quick as (select set_config('synchronous_commit', 'off', true))
    update live_tails set polled_at = ${nowMs}, position = ${position}, delivered = ${delivered}, turn = turn + 1
    from quick where id = ${id} and turn = ${turn}`)

/** Stores which events of the last turn have left, unless another request has advanced the job. */
export const noteDelivered = (db: Db, { id, turn }: Pick<LiveTailRow, 'id' | 'turn'>, delivered: Buffer) =>
  db.run(sql`
    with quick as (select set_config('synchronous_commit', 'off', true))
    update live_tails set delivered = ${delivered} from quick where id = ${id} and turn = ${turn}`)

export const removeLiveTails = (db: Db, beforeMs: number) => removeOld(db, 'live_tails', 'polled_at', beforeMs)
