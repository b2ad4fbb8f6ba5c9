import type { Db } from './driver.ts'
import { sql } from './sql.ts'

/**
 * Deletes the rows whose column is older than the given time. Returns their number. Every process does this; locked rows are skipped,
 * because another process deletes or still needs them, so that no two processes deadlock.
 */
export const removeOld = (db: Db, table: string, column: string, beforeMs: number): Promise<number> =>
  db.run(sql`
    delete from ${sql.id(table)} where ctid = any (array(
      select ctid from ${sql.id(table)} where ${sql.id(column)} < ${beforeMs} for update skip locked))`)
