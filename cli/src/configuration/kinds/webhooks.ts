import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { isFields, type Kind, pick, SECRET, textOf } from '../kind.ts'

type Body = BodyInput<typeof contract.integrations.createWebhook>

export const webhookKind: Kind = {
  name: 'webhook',
  file: 'webhooks.yaml',
  members: ['name', 'url', 'custom_headers', 'payload', 'signing_secret'],
  nameOf: ({ name }) => textOf(name),
  referredAs: { kind: 'integration', prefix: 'webhook/' },
  load: async ({ client, signal }) =>
    (await client.integrations.webhooks({ signal })).integrations.map((webhook) => ({
      id: webhook.id,
      fields: { ...pick(webhook, webhookKind.members), ...(webhook.is_signed ? { signing_secret: SECRET } : {}) },
    })),
  check: (given) => {
    const { fields, problems } = checkFields(contract.integrations.createWebhook.body, given)
    const headers = isFields(given.custom_headers) ? Object.keys(given.custom_headers) : []
    const empty = headers.filter((name) => textOf((given.custom_headers as Record<string, unknown>)[name]) === '')
    return { fields, problems: [...problems, ...empty.map((name) => ({ path: ['custom_headers', name], message: 'must not be empty' }))] }
  },
  isSecret: ([member]) => member === 'custom_headers' || member === 'signing_secret',
  needsEnvironment: ([member]) => member === 'signing_secret',
  create: async ({ client, signal }, fields, send) =>
    (await send(() => client.integrations.createWebhook({ body: fields as Body, signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    await send(() => client.integrations.updateWebhook({ params: { webhookId: before.id }, body: fields as Body, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.integrations.removeWebhook({ params: { webhookId: id }, signal })),
}
