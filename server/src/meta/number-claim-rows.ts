import type { Db } from './driver.ts'
import { sql } from './sql.ts'

/** A day of sequence numbers, which count nanoseconds. */
const KEPT_NUMBERS = 86_400_000_000_000n
/** Tables that were all created within this time belong to a new deployment. */
const FIRST_START_MS = 600_000
/** After an upgrade, no process of the version before runs any more by then. */
const UPGRADE_MS = 86_400_000

/** The end of the highest block, or 0. */
export const lastNumberClaimed = async (db: Db): Promise<bigint> => {
  const row = await db.one<{ next: string }>(sql`select coalesce(max(next), 0)::text as next from number_claims`)
  return BigInt(row?.next ?? 0)
}

/**
 * Claims the lowest block with an odd number whose numbers are all at least `from` and above those of earlier blocks. Returns its first number, or undefined
 * when another process claimed it at the same time.
 */
export const insertNumberClaim = async (db: Db, from: bigint, size: bigint): Promise<bigint | undefined> => {
  const row = await db.one<{ first: string }>(sql`
    with lowest as (select greatest(coalesce(max(next), 0), ${String(from)}::bigint) as number from number_claims),
    block as (select ((number + ${String(size)}::bigint - 1) / ${String(size)}::bigint) | 1 as place from lowest)
    insert into number_claims (first, next)
    select place * ${String(size)}::bigint, (place + 1) * ${String(size)}::bigint from block
    on conflict (first) do nothing returning first::text`)
  return row && BigInt(row.first)
}

export const deleteNumberClaims = (db: Db, first: bigint): Promise<number> =>
  db.run(sql`delete from number_claims where next < ${String(first - KEPT_NUMBERS)}::bigint`)

/** Whether every process knows these claims: in a new deployment, and once an upgrade is over. */
export const areNumberClaimsKnown = async (db: Db): Promise<boolean> => {
  const row = await db.one<{ known: boolean | null }>(sql`
    select made - first < ${FIRST_START_MS}::bigint or made + ${UPGRADE_MS}::bigint < (extract(epoch from clock_timestamp()) * 1000)::bigint as known
    from (select max(applied_at) as made from compatible_migrations where name like '%-number-claims') as a,
      (select min(applied_at) as first from migrations) as b`)
  return row?.known === true
}
