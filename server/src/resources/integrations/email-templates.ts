import type { BodyOf, contract, EmailTemplate } from '@dendro/api'
import { notFound } from '../../errors.ts'
import type { Actor } from '../../http/actor.ts'
import { metadataOf } from '../../meta/metadata.ts'
import type { World } from '../../world.ts'
import { recordChange } from '../audit/audit.ts'
import { refuseInUse } from './in-use.ts'
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

export async function createEmailTemplate(world: World, actor: Actor, ask: NewEmailTemplate): Promise<EmailTemplate> {
  const nowMs = world.clock.nowMs()
  const row: MailTemplateRow = {
    org_id: actor.orgId,
    id: world.ids.uuid(),
    name: ask.name,
    payload: ask.payload,
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

export async function updateEmailTemplate(
  world: World,
  actor: Actor,
  record: MailTemplateRow,
  ask: NewEmailTemplate,
): Promise<EmailTemplate> {
  return world.meta.write(actor.orgId, async (tx) => {
    const before = await lockMailTemplate(tx, actor.orgId, record.id)
    if (!before) throw notFound('e-mail template', record.id)
    const { name, payload } = ask
    const next: MailTemplateRow = { ...before, name, payload, modified_at: world.clock.nowMs(), modified_by: actor.identity }
    await updateMailTemplateRow(tx, next)
    const entity = { type: 'email_template', id: record.id }
    await recordChange(world, tx, actor, { entity, before: shown(before), after: shown(next) })
    return shown(next)
  })
}

export async function removeEmailTemplate(world: World, actor: Actor, record: MailTemplateRow): Promise<undefined> {
  await world.meta.write(actor.orgId, async (tx) => {
    if (!(await lockMailTemplate(tx, actor.orgId, record.id))) throw notFound('e-mail template', record.id)
    await refuseInUse(tx, actor.orgId, record.id)
    await deleteMailTemplate(tx, actor.orgId, record.id)
    await recordChange(world, tx, actor, { entity: { type: 'email_template', id: record.id }, before: shown(record) })
  })
}

const shown = (row: MailTemplateRow): EmailTemplate => ({ id: row.id, name: row.name, payload: row.payload, metadata: metadataOf(row) })
