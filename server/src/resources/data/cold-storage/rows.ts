import type { Db } from '../../../meta/meta.ts'
import { sql } from '../../../meta/sql.ts'

/** The datasets among some ids, and those of the organizations among them. */
export const selectDatasetsOf = (db: Db, ids: readonly string[]) =>
  db.all<{ id: string; org_id: string }>(sql`
    select id, org_id from datasets where id = any (${ids}::uuid[]) or org_id = any (${ids}::uuid[]) order by id`)
