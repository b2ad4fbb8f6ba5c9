import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

export const selectOrgNumber = (db: Db, orgId: string) =>
  db.one<{ number: number }>(sql`select number from organisations where id = ${orgId}`)
