import type { BodyOf, contract, EmailTemplate } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { notFound } from '../../../kernel/errors.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { changeIntegration, type IntegrationRecords, removeIntegration } from './integration-records.ts'
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
type Reader = Pick<World, 'meta'>

export const listEmailTemplates = (world: Reader, actor: Actor): Promise<EmailTemplate[]> =>
  world.meta.cached(actor.orgId, 'mail templates', async () => (await selectMailTemplates(world.meta, actor.orgId)).map(shown))

export async function findEmailTemplate(world: Reader, actor: Pick<Actor, 'orgId'>, id: string): Promise<MailTemplateRow> {
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
    created_at: nowMs,
    created_by: actor.identity,
    modified_at: nowMs,
    modified_by: actor.identity,
  }
  await world.meta.write(actor.orgId, async (tx) => {
    await insertMailTemplate(tx, row)
    await recordChange(world, tx, actor, { entity: { type: 'email_template', id: row.id }, after: shown(row) })
  })
  return shown(row)
}

export const updateEmailTemplate = (
  world: World,
  actor: Actor,
  { id }: MailTemplateRow,
  { name, payload }: NewEmailTemplate,
): Promise<EmailTemplate> => changeIntegration(world, actor, templateRecords, { id, change: async () => ({ name, payload }) })

export const removeEmailTemplate = (world: World, actor: Actor, { id }: MailTemplateRow): Promise<undefined> =>
  removeIntegration(world, actor, templateRecords, id)

const shown = (row: MailTemplateRow): EmailTemplate => ({ id: row.id, name: row.name, payload: row.payload, metadata: metadataOf(row) })

const templateRecords: IntegrationRecords<MailTemplateRow, EmailTemplate> = {
  noun: 'e-mail template',
  entity: 'email_template',
  lock: lockMailTemplate,
  update: updateMailTemplateRow,
  remove: deleteMailTemplate,
  shown,
}
