import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Metadata, mapOf, text, uuid } from './values.ts'

const HEADERS_MAX = 10

export const WebhookIntegration = z
  .object({
    id: uuid,
    name: text(1, 255),
    url: z.string(),
    custom_headers: z.record(z.string(), z.string()).describe('Sent to the target; values are never shown again, each reads `***`.'),
    payload: z.string().optional(),
    is_signed: z.boolean().describe('Whether requests carry a signature of their body.'),
    metadata: Metadata,
  })
  .meta({ id: 'WebhookIntegration', description: 'A place that notifications are posted to.' })
export type WebhookIntegration = z.output<typeof WebhookIntegration>

const NewWebhook = z.object({
  name: text(1, 255),
  url: text(10, 2048),
  custom_headers: mapOf(text(0, 4096), HEADERS_MAX)
    .optional()
    .describe('Sent with every request. In an update the value `***` keeps the value that the header has.'),
  payload: text(0, 2048)
    .optional()
    .describe(
      'A JSON text in which placeholders such as `$title`, `$description` and `$alert_id` are replaced; without it a plain object is sent.',
    ),
  signing_secret: z
    .union([text(16, 255), z.enum(['', '***'])])
    .optional()
    .describe('Signs the body of every request; never shown again. In an update `***` keeps it, and leaving it out ends the signing.'),
})

export const integrations = {
  webhooks: endpoint({
    method: 'GET',
    path: '/integrations/webhooks',
    permission: 'integrations_read',
    tier: 'S',
    summary: 'All webhooks of the organisation',
    reply: z.object({ integrations: z.array(WebhookIntegration) }),
  }),
  createWebhook: endpoint({
    method: 'POST',
    path: '/integrations/webhooks',
    permission: 'integrations_write',
    tier: 'C',
    summary: 'Create a webhook',
    body: NewWebhook,
    status: 201,
    reply: WebhookIntegration,
  }),
  updateWebhook: endpoint({
    method: 'PUT',
    path: '/integrations/webhooks/{webhookId}',
    permission: 'integrations_write',
    tier: 'C',
    summary: 'Replace a webhook',
    body: NewWebhook,
    reply: WebhookIntegration,
    fails: [404],
  }),
  removeWebhook: endpoint({
    method: 'DELETE',
    path: '/integrations/webhooks/{webhookId}',
    permission: 'integrations_delete',
    tier: 'C',
    summary: 'Delete a webhook; what names it fails with a reason from then on',
    fails: [404],
  }),
  testWebhook: endpoint({
    method: 'POST',
    path: '/integrations/webhooks/{webhookId}/test',
    permission: 'integrations_write',
    tier: 'D',
    summary: 'Send a sample notification to a webhook, and say what became of it',
    reply: z.object({
      delivered: z.boolean(),
      status: z.int().optional().describe('The status with which the target answered.'),
      failure_reason: z.string().optional(),
    }),
    fails: [404],
  }),
}
