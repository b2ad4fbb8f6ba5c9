import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type Kind, pick, textOf } from '../kind.ts'

type Body = BodyInput<typeof contract.integrations.createEmailTemplate>

export const emailTemplateKind: Kind = {
  name: 'email_template',
  file: 'email-templates.yaml',
  members: ['name', 'payload'],
  nameOf: ({ name }) => textOf(name),
  referredAs: { kind: 'integration', prefix: 'email_template/' },
  load: async ({ client, signal }) =>
    (await client.integrations.emailTemplates({ signal })).integrations.map((one) => ({
      id: one.id,
      fields: pick(one, emailTemplateKind.members),
    })),
  check: (fields) => checkFields(contract.integrations.createEmailTemplate.body, fields),
  create: async ({ client, signal }, fields, send) =>
    (await send(() => client.integrations.createEmailTemplate({ body: fields as Body, signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    await send(() => client.integrations.updateEmailTemplate({ params: { emailId: before.id }, body: fields as Body, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.integrations.removeEmailTemplate({ params: { emailId: id }, signal })),
}
