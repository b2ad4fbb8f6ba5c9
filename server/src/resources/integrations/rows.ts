import type { Identity } from '@dendro/api'
import type { Db } from '../../meta/meta.ts'
import { json, sql } from '../../meta/sql.ts'

export type WebhookRow = {
  org_id: string
  id: string
  name: string
  url: string
  headers: Buffer
  header_names: string[]
  payload: string | null
  signing_secret: Buffer | null
  created_at: number
  created_by: Identity | null
  modified_at: number
  modified_by: Identity | null
}

export const selectWebhooks = (db: Db, orgId: string) =>
  db.all<WebhookRow>(sql`select * from webhooks where org_id = ${orgId} order by created_at desc, id`)

export const selectWebhook = (db: Db, orgId: string, id: string) =>
  db.one<WebhookRow>(sql`select * from webhooks where org_id = ${orgId} and id = ${id}`)

export const lockWebhook = (db: Db, orgId: string, id: string) =>
  db.one<WebhookRow>(sql`select * from webhooks where org_id = ${orgId} and id = ${id} for update`)

export const insertWebhook = (db: Db, row: WebhookRow) =>
  db.run(sql`
    insert into webhooks (org_id, id, name, url, headers, header_names, payload, signing_secret, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.url}, ${row.headers}, ${json(row.header_names)}, ${row.payload}, ${row.signing_secret},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateWebhookRow = (db: Db, row: WebhookRow) =>
  db.run(sql`
    update webhooks set name = ${row.name}, url = ${row.url}, headers = ${row.headers}, header_names = ${json(row.header_names)},
      payload = ${row.payload}, signing_secret = ${row.signing_secret}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteWebhook = (db: Db, orgId: string, id: string) => db.run(sql`delete from webhooks where org_id = ${orgId} and id = ${id}`)
