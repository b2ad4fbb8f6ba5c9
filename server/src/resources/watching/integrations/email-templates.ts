import type { BodyOf, contract, EmailTemplate } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { changeRecord, createdBy, createRecord, type RecordKind } from '../../records.ts'
import { removeIntegration } from './integration-records.ts'
import {
  deleteMailTemplate,
  insertMailTemplate,
  lockMailTemplate,
  type MailTemplateRow,
  selectMailTemplate,
  selectMailTemplates,
  updateMailTemplateRow,
} from './rows.ts'

type NewEmailTemplate = BodyOf<typeof contract.integrations.createEmailTemplate>

export const listEmailTemplates = (world: MetaWorld, actor: Actor): Promise<EmailTemplate[]> =>
  world.meta.cached(actor.orgId, 'mail templates', async () => (await selectMailTemplates(world.meta, actor.orgId)).map(shown))

export async function findEmailTemplate(world: MetaWorld, actor: Pick<Actor, 'orgId'>, id: string): Promise<MailTemplateRow> {
  const row = await selectMailTemplate(world.meta, actor.orgId, id)
  if (!row) throw notFound('e-mail template', id)
  return row
}

export async function createEmailTemplate(world: World, actor: Actor, request: NewEmailTemplate): Promise<EmailTemplate> {
  const nowMs = world.clock.nowMs()
  const row: MailTemplateRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    name: request.name,
    payload: request.payload,
    ...createdBy(actor, nowMs),
  }
  return createRecord(world, actor, templateRecords, row)
}

export const updateEmailTemplate = (
  world: World,
  actor: Actor,
  { id }: MailTemplateRow,
  { name, payload }: NewEmailTemplate,
): Promise<EmailTemplate> => changeRecord(world, actor, templateRecords, { id, change: () => ({ name, payload }) })

export const removeEmailTemplate = (world: World, actor: Actor, record: MailTemplateRow): Promise<undefined> =>
  removeIntegration(world, actor, templateRecords, record)

const shown = (row: MailTemplateRow): EmailTemplate => ({ id: row.id, name: row.name, payload: row.payload, metadata: metadataOf(row) })

const templateRecords: RecordKind<MailTemplateRow, EmailTemplate> = {
  noun: 'e-mail template',
  entity: 'email_template',
  lock: lockMailTemplate,
  insert: insertMailTemplate,
  update: updateMailTemplateRow,
  remove: deleteMailTemplate,
  shown,
}
