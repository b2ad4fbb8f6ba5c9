import type { Identity } from '@dendro/api'
import type { Db } from '../../../meta/meta.ts'
import { json, sql } from '../../../meta/sql.ts'

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

type Authored = { org_id: string; id: string; name: string } & Pick<WebhookRow, 'created_at' | 'created_by' | 'modified_at' | 'modified_by'>

export type WorkspaceRow = Authored & { token: Buffer | null; webhook_url: Buffer | null; api_url: string | null }
export type ChatRow = Authored & { channels: string[]; workspace_id: string }
export type MailTemplateRow = Authored & { payload: string }

export const selectWorkspaces = (db: Db, orgId: string) =>
  db.all<WorkspaceRow>(sql`select * from chat_workspaces where org_id = ${orgId} order by created_at desc, id`)

export const selectWorkspace = (db: Db, orgId: string, id: string) =>
  db.one<WorkspaceRow>(sql`select * from chat_workspaces where org_id = ${orgId} and id = ${id}`)

/** Blocks new chat integrations of the workspace: their foreign key takes a key share lock. */
export const lockWorkspace = (db: Db, orgId: string, id: string) =>
  db.one<WorkspaceRow>(sql`select * from chat_workspaces where org_id = ${orgId} and id = ${id} for update`)

export const insertWorkspace = (db: Db, row: WorkspaceRow) =>
  db.run(sql`
    insert into chat_workspaces (org_id, id, name, token, webhook_url, api_url, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.token}, ${row.webhook_url}, ${row.api_url},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const deleteWorkspace = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from chat_workspaces where org_id = ${orgId} and id = ${id}`)

export const selectChatsOf = (db: Db, orgId: string, workspaceId: string) =>
  db.all<{ name: string }>(
    sql`select name from chat_integrations where org_id = ${orgId} and workspace_id = ${workspaceId} order by name limit 3`,
  )

export const selectChats = (db: Db, orgId: string) =>
  db.all<ChatRow>(sql`select * from chat_integrations where org_id = ${orgId} order by created_at desc, id`)

export const selectChat = (db: Db, orgId: string, id: string) =>
  db.one<ChatRow>(sql`select * from chat_integrations where org_id = ${orgId} and id = ${id}`)

export const lockChat = (db: Db, orgId: string, id: string) =>
  db.one<ChatRow>(sql`select * from chat_integrations where org_id = ${orgId} and id = ${id} for update`)

export const insertChat = (db: Db, row: ChatRow) =>
  db.run(sql`
    insert into chat_integrations (org_id, id, name, channels, workspace_id, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${json(row.channels)}, ${row.workspace_id},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateChatRow = (db: Db, row: ChatRow) =>
  db.run(sql`
    update chat_integrations set name = ${row.name}, channels = ${json(row.channels)}, workspace_id = ${row.workspace_id},
      modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteChat = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from chat_integrations where org_id = ${orgId} and id = ${id}`)

export const selectMailTemplates = (db: Db, orgId: string) =>
  db.all<MailTemplateRow>(sql`select * from mail_templates where org_id = ${orgId} order by created_at desc, id`)

export const selectMailTemplate = (db: Db, orgId: string, id: string) =>
  db.one<MailTemplateRow>(sql`select * from mail_templates where org_id = ${orgId} and id = ${id}`)

export const lockMailTemplate = (db: Db, orgId: string, id: string) =>
  db.one<MailTemplateRow>(sql`select * from mail_templates where org_id = ${orgId} and id = ${id} for update`)

export const insertMailTemplate = (db: Db, row: MailTemplateRow) =>
  db.run(sql`
    insert into mail_templates (org_id, id, name, payload, created_at, created_by, modified_at, modified_by)
    values (${row.org_id}, ${row.id}, ${row.name}, ${row.payload},
      ${row.created_at}, ${json(row.created_by)}, ${row.modified_at}, ${json(row.modified_by)})`)

export const updateMailTemplateRow = (db: Db, row: MailTemplateRow) =>
  db.run(sql`
    update mail_templates set name = ${row.name}, payload = ${row.payload}, modified_at = ${row.modified_at}, modified_by = ${json(row.modified_by)}
    where org_id = ${row.org_id} and id = ${row.id}`)

export const deleteMailTemplate = (db: Db, orgId: string, id: string) =>
  db.run(sql`delete from mail_templates where org_id = ${orgId} and id = ${id}`)

export type IntegrationRow = { id: string; kind: 'webhook' | 'chat' | 'mail_template'; name: string; channels: string[] | null }

/** Looks up the integrations of actions, whatever their kind. */
export const selectIntegrations = (db: Db, orgId: string, ids: readonly string[]) =>
  db.all<IntegrationRow>(sql`
    select id, 'webhook' as kind, name, null::jsonb as channels from webhooks where org_id = ${orgId} and id in (${sql.join(ids)})
    union all select id, 'chat', name, channels from chat_integrations where org_id = ${orgId} and id in (${sql.join(ids)})
    union all select id, 'mail_template', name, null from mail_templates where org_id = ${orgId} and id in (${sql.join(ids)})`)

export const selectMonitorsUsing = (db: Db, orgId: string, integrationId: string) =>
  db.all<{ name: string }>(sql`
    select name from monitors where org_id = ${orgId} and actions @> ${json([{ integration_id: integrationId }])} order by name limit 3`)
