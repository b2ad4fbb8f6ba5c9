import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

export type SecondFactorRow = {
  org_id: string
  user_id: string
  secret: Buffer
  confirmed_at: number | null
  last_step: number
  recovery_hashes: Buffer[]
  failures: number
  failures_until: number
}

export const selectFactor = (db: Db, userId: string) => db.one<SecondFactorRow>(sql`select * from second_factors where user_id = ${userId}`)

export const lockFactor = (db: Db, userId: string) =>
  db.one<SecondFactorRow>(sql`select * from second_factors where user_id = ${userId} for update`)

/** Replaces a secret that was not confirmed; returns nothing if there is a confirmed one. */
export const insertFactor = (db: Db, row: Pick<SecondFactorRow, 'org_id' | 'user_id' | 'secret'>) =>
  db.one<{ user_id: string }>(sql`
    insert into second_factors as known (org_id, user_id, secret) values (${row.org_id}, ${row.user_id}, ${row.secret})
    on conflict (user_id) do update set secret = excluded.secret, last_step = 0, recovery_hashes = '{}'
    where known.confirmed_at is null returning user_id`)

export const updateFactor = (db: Db, row: SecondFactorRow) =>
  db.run(sql`
    update second_factors set confirmed_at = ${row.confirmed_at}, last_step = ${row.last_step}, recovery_hashes = ${row.recovery_hashes}::bytea[],
      failures = ${row.failures}, failures_until = ${row.failures_until}
    where user_id = ${row.user_id}`)

export const deleteFactor = (db: Db, userId: string) => db.run(sql`delete from second_factors where user_id = ${userId}`)
