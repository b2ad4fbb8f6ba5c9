import type { Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

export type CustomerRow = {
  org_id: string
  customer_name: string
  billing_emails: string[]
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectCustomer = (db: Db, orgId: string) => db.one<CustomerRow>(sql`select * from customers where org_id = ${orgId}`)

export const upsertCustomer = (db: Db, row: CustomerRow) =>
  db.run(sql`
    insert into customers (org_id, customer_name, billing_emails, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.customer_name}, ${json(row.billing_emails)}, ${row.created_at}, ${json(row.created_by)}, ${row.modified_at},
      ${json(row.modified_by)})
    on conflict (org_id) do update set customer_name = excluded.customer_name, billing_emails = excluded.billing_emails,
      modified_at = excluded.modified_at, modified_by = excluded.modified_by`)
