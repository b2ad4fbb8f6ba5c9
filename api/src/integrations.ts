import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { nextCursor, pageParameters, sortParameter } from './list-pages.ts'
import { list, Metadata, mapOf, text, uuid } from './values.ts'

const HEADERS_MAX = 10

export const WebhookIntegration = z
  .object({
    id: uuid,
    name: text(1, 255),
    url: z.string(),
    custom_headers: z.record(z.string(), z.string()).describe('Headers sent to the target; values are never returned, each reads `***`.'),
    payload: z.string().optional(),
    is_signed: z.boolean().describe('Whether requests are signed.'),
    metadata: Metadata,
  })
  .meta({ id: 'WebhookIntegration', description: 'A URL that notifications are posted to.' })
export type WebhookIntegration = z.output<typeof WebhookIntegration>

const NewWebhook = z.object({
  name: text(1, 255),
  url: text(10, 2048),
  custom_headers: mapOf(text(0, 4096), HEADERS_MAX)
    .optional()
    .describe(
      'Sent with every request. In an update, `***` keeps the current value of the header, unless the scheme, host or port of `url` changes.',
    ),
  payload: text(0, 2048)
    .optional()
    .describe('A JSON text with placeholders such as `$title`, `$description` and `$alert_id`; without it, a default object is sent.'),
  signing_secret: z
    .union([text(16, 255), z.enum(['', '***'])])
    .optional()
    .describe(
      'Secret that signs every request body; never returned. In an update, `***` keeps it, unless the scheme, host or port of `url` changes; omit it to stop signing.',
    ),
})

const CHANNELS_MAX = 50

export const SlackWorkspace = z
  .object({
    id: uuid,
    name: text(1, 255),
    posts_by: z.enum(['TOKEN', 'WEBHOOK_URL']).describe('How messages are posted; the token or URL is never returned.'),
    api_url: z.string().optional().describe('Base URL of the chat service, if not the default.'),
    metadata: Metadata,
  })
  .meta({ id: 'SlackWorkspace', description: 'A chat service for notifications.' })
export type SlackWorkspace = z.output<typeof SlackWorkspace>

const NewSlackWorkspace = z
  .object({
    name: text(1, 255),
    token: text(1, 1024).optional().describe('The token of a bot; never returned.'),
    webhook_url: text(10, 2048).optional().describe('The URL of an incoming webhook; never returned.'),
    api_url: text(10, 2048).optional().describe('Base URL of the chat service, if not the default.'),
  })
  .refine(({ token, webhook_url }) => (token === undefined) !== (webhook_url === undefined), {
    error: 'or webhook_url is needed, and not both',
    path: ['token'],
  })
  .meta({ examples: [{ name: 'Our chat', webhook_url: 'https://chat.example.com/hooks/7c1f' }] })

export const SlackIntegration = z
  .object({ id: uuid, name: text(1, 255), channels: z.array(z.string()), workspace_id: uuid, metadata: Metadata })
  .meta({ id: 'SlackIntegration', description: 'Channels of a chat service for notifications.' })
export type SlackIntegration = z.output<typeof SlackIntegration>

const NewSlackIntegration = z.object({
  name: text(1, 255),
  channels: list(text(1, 255), { min: 1, max: CHANNELS_MAX }),
  workspace_id: uuid,
})

export const EmailTemplate = z
  .object({ id: uuid, name: text(1, 255), payload: z.string(), metadata: Metadata })
  .meta({ id: 'EmailTemplate', description: 'The body of notification e-mails, with the same placeholders as webhooks.' })
export type EmailTemplate = z.output<typeof EmailTemplate>

const NewEmailTemplate = z.object({
  name: text(1, 255),
  payload: text(1, 8192).describe(
    'Text with placeholders such as `$title`. A payload that begins with `<` is HTML, and values in it are escaped.',
  ),
})

const queryOf = (searched: string) =>
  z.object({
    ...pageParameters,
    search: pageParameters.search.describe(`Only ${searched} contain each of these words.`),
    sort: sortParameter([]),
  })

const [READ, WRITE, DELETE] = ['integrations_read', 'integrations_write', 'integrations_delete'] as const

export const integrations = {
  webhooks: endpoint({
    method: 'GET',
    path: '/integrations/webhooks',
    permission: READ,
    tier: 'S',
    summary: 'List the webhooks of the organization',
    query: queryOf('webhooks whose names and URLs'),
    reply: z.object({ integrations: z.array(WebhookIntegration), next_cursor: nextCursor }),
  }),
  createWebhook: endpoint({
    method: 'POST',
    path: '/integrations/webhooks',
    permission: WRITE,
    tier: 'C',
    summary: 'Create a webhook',
    body: NewWebhook,
    status: 201,
    reply: WebhookIntegration,
  }),
  updateWebhook: endpoint({
    method: 'PUT',
    path: '/integrations/webhooks/{webhookId}',
    permission: WRITE,
    tier: 'C',
    summary: 'Replace a webhook',
    body: NewWebhook,
    reply: WebhookIntegration,
    fails: [404],
  }),
  removeWebhook: endpoint({
    method: 'DELETE',
    path: '/integrations/webhooks/{webhookId}',
    permission: DELETE,
    tier: 'C',
    summary: 'Delete a webhook that no monitor uses',
    fails: [404, 409],
  }),
  testWebhook: endpoint({
    method: 'POST',
    path: '/integrations/webhooks/{webhookId}/test',
    permission: WRITE,
    tier: 'D',
    summary: 'Send a sample notification to a webhook and return the result',
    reply: z.object({
      delivered: z.boolean(),
      status: z.int().optional().describe('The response status of the target.'),
      failure_reason: z.string().optional(),
    }),
    fails: [404],
  }),
  slack: endpoint({
    method: 'GET',
    path: '/integrations/slack',
    permission: READ,
    tier: 'X',
    summary: 'List the chat integrations of the organization',
    query: queryOf('chat integrations whose names and channels'),
    reply: z.object({ integrations: z.array(SlackIntegration), next_cursor: nextCursor }),
  }),
  createSlack: endpoint({
    method: 'POST',
    path: '/integrations/slack',
    permission: WRITE,
    tier: 'X',
    summary: 'Create a chat integration: channels of a workspace',
    body: NewSlackIntegration,
    status: 201,
    reply: SlackIntegration,
  }),
  updateSlack: endpoint({
    method: 'PUT',
    path: '/integrations/slack/{slackId}',
    permission: WRITE,
    tier: 'X',
    summary: 'Replace a chat integration',
    body: NewSlackIntegration,
    reply: SlackIntegration,
    fails: [404],
  }),
  removeSlack: endpoint({
    method: 'DELETE',
    path: '/integrations/slack/{slackId}',
    permission: DELETE,
    tier: 'X',
    summary: 'Delete a chat integration that no monitor uses',
    fails: [404, 409],
  }),
  slackWorkspaces: endpoint({
    method: 'GET',
    path: '/integrations/slack/workspaces',
    permission: READ,
    tier: 'X',
    summary: 'List the chat workspaces of the organization',
    query: queryOf('workspaces whose names'),
    reply: z.object({ slack_workspaces: z.array(SlackWorkspace), next_cursor: nextCursor }),
  }),
  createSlackWorkspace: endpoint({
    method: 'POST',
    path: '/integrations/slack/workspaces',
    permission: WRITE,
    tier: 'X',
    summary: 'Add a chat workspace by a token or an incoming webhook',
    body: NewSlackWorkspace,
    status: 201,
    reply: SlackWorkspace,
  }),
  removeSlackWorkspace: endpoint({
    method: 'DELETE',
    path: '/integrations/slack/workspaces/{workspaceId}',
    permission: DELETE,
    tier: 'X',
    summary: 'Delete a chat workspace that no chat integration uses; the chat service itself is not changed',
    fails: [404, 409],
  }),
  emailTemplates: endpoint({
    method: 'GET',
    path: '/integrations/email',
    permission: READ,
    tier: 'X',
    summary: 'List the e-mail templates of the organization',
    query: queryOf('e-mail templates whose names'),
    reply: z.object({ integrations: z.array(EmailTemplate), next_cursor: nextCursor }),
  }),
  createEmailTemplate: endpoint({
    method: 'POST',
    path: '/integrations/email',
    permission: WRITE,
    tier: 'X',
    summary: 'Create an e-mail template',
    body: NewEmailTemplate,
    status: 201,
    reply: EmailTemplate,
  }),
  updateEmailTemplate: endpoint({
    method: 'PUT',
    path: '/integrations/email/{emailId}',
    permission: WRITE,
    tier: 'X',
    summary: 'Replace an e-mail template',
    body: NewEmailTemplate,
    reply: EmailTemplate,
    fails: [404],
  }),
  removeEmailTemplate: endpoint({
    method: 'DELETE',
    path: '/integrations/email/{emailId}',
    permission: DELETE,
    tier: 'X',
    summary: 'Delete an e-mail template that no monitor uses',
    fails: [404, 409],
  }),
}
