import type { Db } from './driver.ts'
import { type Sql, sql } from './sql.ts'

/** Identifies a post as the event store does. `post` is an unsigned 64-bit number. */
export type PostKey = { orgNumber: number; logId: string; post: bigint }

/** Leases use the clock of the store, because the clocks of the processes may differ. */
const STORE_MS = sql`(extract(epoch from clock_timestamp()) * 1000)::bigint`
/** When the statement began: its snapshot is not older, so a renewal before that time is seen. */
const STATEMENT_MS = sql`(extract(epoch from statement_timestamp()) * 1000)::bigint`
/** Longer than any claim is kept. */
const OWNERS_KEPT_MS = 24 * 3_600_000
const DELETE_BATCH = 5_000
/** Tables that were all created within this time belong to a new deployment, which had no events before. */
const FIRST_START_MS = 600_000

/** Returns false when the lease had expired, so that others may have taken over the claims of the owner. */
export const renewOwner = async (db: Db, owner: { id: string; writer: string; leaseMs: number }): Promise<boolean> =>
  (await db.run(sql`
    insert into post_owners as o (id, writer, alive_until) values (${owner.id}, ${owner.writer}, ${STORE_MS} + ${owner.leaseMs}::bigint)
    on conflict (id) do update set alive_until = excluded.alive_until where o.alive_until > ${STORE_MS}`)) === 1

export const endOwner = (db: Db, ids: readonly string[]): Promise<number> =>
  db.run(sql`update post_owners set alive_until = least(alive_until, ${STORE_MS}) where id = any(${ids}::uuid[])`)

export type ClaimRow =
  | { kind: 'claimed'; isNew: boolean }
  | { kind: 'stored' | 'held'; bodyHash: bigint }
  | { kind: 'abandoned'; owner: string; writer: string }

type ClaimResultRow = {
  is_new: boolean | null
  is_stored: boolean | null
  body_hash: string | null
  owner: string | null
  writer: string | null
  is_gone: boolean | null
}

/**
 * Claims the posts that nobody stores or has stored, in one statement. A claim of a dead owner is taken over only after its inserts were
 * ended. Rows are locked in one order, so that two processes never deadlock. The statement may wait for a lock and then find a claim, and an
 * owner, that are newer than its snapshot: only an owner that it sees expired is dead, never one that it does not see.
 */
export async function claimPosts(
  db: Db,
  { owner, endedOwners, graceMs }: { owner: string; endedOwners: readonly string[]; graceMs: number },
  requested: readonly { key: PostKey; bodyHash: bigint }[],
): Promise<ClaimRow[]> {
  const keys = requested.map(({ key }) => key)
  const gone = (alias: Sql) => sql`${alias}.alive_until + ${graceMs}::bigint < ${STATEMENT_MS}`
  const rows = await db.all<ClaimResultRow>(sql`
    with asked as materialized (select * from ${unnested(keys)} as a (org_number, log_id, post, place)
      join unnest(${requested.map(({ bodyHash }) => signed(bodyHash))}::bigint[]) with ordinality as b (body_hash, place) using (place)),
    before as (
      select k.*, o.writer, ${gone(sql`o`)} as is_gone
      from asked join post_claims k using (org_number, log_id, post) left join post_owners o on o.id = k.owner),
    claimed as (
      insert into post_claims as k (org_number, log_id, post, body_hash, owner, claimed_at)
      select org_number, log_id, post, body_hash, ${owner}::uuid, ${STORE_MS} from asked order by org_number, log_id, post
      on conflict (org_number, log_id, post) do update
        set owner = excluded.owner, body_hash = excluded.body_hash, claimed_at = excluded.claimed_at
        where not k.is_stored and (k.owner is null or k.owner = excluded.owner or exists (
          select 1 from post_owners o where o.id = k.owner and ${gone(sql`o`)} and o.id = any(${endedOwners}::uuid[])))
      returning k.org_number, k.log_id, k.post, k.xmax = 0 as is_new)
    select c.is_new, b.is_stored, b.body_hash::text, b.owner, b.writer, b.is_gone
    from asked left join claimed c using (org_number, log_id, post) left join before b using (org_number, log_id, post)
    order by asked.place`)
  return rows.map((row, index) => claimOf(row, requested[index]?.bodyHash ?? 0n))
}

function claimOf({ is_new, is_stored, body_hash, owner, writer, is_gone }: ClaimResultRow, requestedHash: bigint): ClaimRow {
  if (is_new !== null) return { kind: 'claimed', isNew: is_new }
  // Without a previous row, another process created one concurrently: the caller retries.
  if (body_hash === null) return { kind: 'held', bodyHash: requestedHash }
  if (!is_stored && is_gone && owner !== null && writer !== null) return { kind: 'abandoned', owner, writer }
  return { kind: is_stored ? 'stored' : 'held', bodyHash: BigInt.asUintN(64, BigInt(body_hash)) }
}

/** Records the outcome of posts that one of the owners still holds. */
export const finishPosts = (
  db: Db,
  owners: readonly string[],
  finished: readonly { key: PostKey; outcome: 'stored' | 'some' | 'nothing' }[],
): Promise<number> =>
  db.run(sql`
    with asked as materialized (select * from ${unnested(finished.map(({ key }) => key))} as a (org_number, log_id, post, place)
      join unnest(${finished.map(({ outcome }) => outcome)}::text[]) with ordinality as b (outcome, place) using (place)),
    held as materialized (
      select k.org_number, k.log_id, k.post, asked.outcome from post_claims k join asked using (org_number, log_id, post)
      where k.owner = any(${owners}::uuid[]) order by k.org_number, k.log_id, k.post for update of k),
    gone as (
      delete from post_claims k using held h
      where h.outcome = 'nothing' and (k.org_number, k.log_id, k.post) = (h.org_number, h.log_id, h.post))
    update post_claims k set owner = null, is_stored = h.outcome = 'stored'
    from held h where h.outcome <> 'nothing' and (k.org_number, k.log_id, k.post) = (h.org_number, h.log_id, h.post)`)

/** Deletes the older claims of every organization, in batches. */
export async function deleteOldClaims(db: Db, keepMs: number): Promise<void> {
  for (let gone = DELETE_BATCH; gone === DELETE_BATCH; ) {
    gone = await db.run(sql`
      delete from post_claims where (org_number, log_id, post) in (
        select org_number, log_id, post from post_claims where claimed_at < ${STORE_MS} - ${keepMs}::bigint
        order by claimed_at limit ${DELETE_BATCH} for update skip locked)`)
  }
  await db.run(sql`delete from post_owners where alive_until < ${STORE_MS} - ${OWNERS_KEPT_MS}::bigint`)
}

/** Returns until when events from before the introduction of claims have to be looked up; 0 in a new deployment. */
export async function selectUnclaimedUntil(db: Db, keepMs: number): Promise<number> {
  const row = await db.one<{ made: number; first: number }>(
    sql`select max(applied_at) filter (where name like '%-post-claims') as made, min(applied_at) as first from migrations`,
  )
  if (!row) throw new Error('the list of migrations is empty')
  return row.made - row.first < FIRST_START_MS ? 0 : row.made + keepMs
}

const unnested = (keys: readonly PostKey[]): Sql =>
  sql`unnest(${keys.map((key) => key.orgNumber)}::int[], ${keys.map((key) => key.logId)}::uuid[], ${keys.map(({ post }) => signed(post))}::bigint[])
    with ordinality`

/** Returns 64 bits as a signed number, as PostgreSQL stores them. */
const signed = (bits: bigint): string => String(BigInt.asIntN(64, bits))
