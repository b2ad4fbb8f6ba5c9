import type { Db } from './driver.ts'
import { sql } from './sql.ts'

/**
 * removeOld deletes the rows whose column lies before a time, and gives their number. Every process does so; it passes over rows that another holds, which
 * that one deletes or still needs, so that no two wait for each other crosswise.
 */
export const removeOld = (db: Db, table: string, column: string, beforeMs: number): Promise<number> =>
  db.run(sql`
    delete from ${sql.id(table)} where ctid = any (array(
      select ctid from ${sql.id(table)} where ${sql.id(column)} < ${beforeMs} for update skip locked))`)
