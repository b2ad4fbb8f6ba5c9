import { Failure } from '../../../kernel/errors.ts'
import { DeliveryError, type OutgoingRequest, type OutgoingResponse } from '../../../outgoing/outgoing.ts'
import type { World } from '../../../world.ts'
import type { NotificationTarget } from '../integrations/integrations.ts'
import {
  chatRequest,
  type DeliveryAttempt,
  findChat,
  findEmailTemplate,
  findWebhook,
  findWorkspace,
  webhookRequest,
} from '../integrations/integrations.ts'
import { chatFor } from './chat-body.ts'
import { mailFor } from './mail-body.ts'
import { type NotificationContent, placeholdersOf } from './message-text.ts'

/** The result of one try; `again` means that a retry can help. Reasons are visible to users, so they contain nothing from the response. */
export type DeliveryOutcome =
  | { readonly kind: 'sent'; readonly status?: number }
  | { readonly kind: 'again'; readonly reason: string; readonly status?: number; readonly retryAfterMs?: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly status?: number }

type Sender = Pick<World, 'meta' | 'vault' | 'outgoing' | 'mailer'>

/** One notification on its way to one receiver. */
export type OutgoingNotification = {
  readonly orgId: string
  readonly target: NotificationTarget
  readonly delivery: DeliveryAttempt
  readonly content: NotificationContent
}

/** Makes one try. Throws only when the signal aborts or our own stores fail. */
type Channel = (world: Sender, notification: OutgoingNotification, signal: AbortSignal) => Promise<DeliveryOutcome>

const webhook: Channel = async (world, { orgId, target, delivery, content }, signal) => {
  const row = await unlessGone(findWebhook(world, { orgId }, target.integration_id ?? ''))
  if (!row) return failed('the webhook is gone')
  return postRequest(world, await webhookRequest(world, row, placeholdersOf(content), delivery), signal)
}

const chat: Channel = async (world, { orgId, target, delivery, content }, signal) => {
  const row = await unlessGone(findChat(world, { orgId }, target.integration_id ?? ''))
  const workspace = row && (await unlessGone(findWorkspace(world, { orgId }, row.workspace_id)))
  if (!workspace) return failed('the chat integration is gone')
  const request = await chatRequest(world, workspace, chatFor(target.destination, content), delivery)
  return postRequest(world, request, signal, workspace.token === null ? undefined : chatApiError)
}

const email: Channel = async (world, { orgId, target, delivery, content }, signal) => {
  const { integration_id, destination } = target
  const template = integration_id === undefined ? undefined : await unlessGone(findEmailTemplate(world, { orgId }, integration_id))
  if (integration_id !== undefined && !template) return failed('the e-mail template is gone')
  return sendMail(world, { ...mailFor(destination, content, template?.payload), id: delivery.id }, signal)
}

export const channels: Readonly<Record<NotificationTarget['type'], Channel>> = { WEBHOOK: webhook, SLACK: chat, EMAIL: email }

const failed = (reason: string): DeliveryOutcome => ({ kind: 'failed', reason })

async function unlessGone<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (cause) {
    if (cause instanceof Failure && cause.status === 404) return undefined
    throw cause
  }
}

type ReplyCheck = (reply: OutgoingResponse) => DeliveryOutcome | undefined

async function postRequest(
  { outgoing }: Sender,
  request: OutgoingRequest,
  signal: AbortSignal,
  checkReply?: ReplyCheck,
): Promise<DeliveryOutcome> {
  try {
    const reply = await outgoing.post(request, signal)
    return (isSuccess(reply) ? checkReply?.(reply) : undefined) ?? outcomeOf(reply)
  } catch (cause) {
    if (!(cause instanceof DeliveryError)) throw cause
    return cause.isRetryable ? { kind: 'again', reason: cause.message } : failed(cause.message)
  }
}

const isSuccess = ({ status }: OutgoingResponse): boolean => status >= 200 && status < 300
const TOO_MANY = 429
const RETRY_AFTER_MAX_MS = 300_000

function outcomeOf({ status, retryAfter }: OutgoingResponse): DeliveryOutcome {
  if (status >= 200 && status < 300) return { kind: 'sent', status }
  if (status >= 300 && status < 400)
    return { kind: 'failed', status, reason: `the target redirects (status ${status}), which is not followed` }
  const reason = `the target answered with status ${status}`
  if (status !== TOO_MANY && status < 500) return { kind: 'failed', status, reason }
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0
  return { kind: 'again', status, reason, ...(seconds > 0 ? { retryAfterMs: Math.min(seconds * 1_000, RETRY_AFTER_MAX_MS) } : {}) }
}

/** Error codes of the chat API that a retry can resolve; other codes are permanent. */
const retryableErrors = new Set(['ratelimited', 'rate_limited', 'internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'])

/** Reads the error that a chat API returns with status 200. */
const chatApiError: ReplyCheck = ({ status, body }) => {
  const said = parsed(body) as { ok?: unknown; error?: unknown } | undefined
  if (said?.ok !== false) return undefined
  const word = typeof said.error === 'string' && /^[a-z_]{1,50}$/.test(said.error) ? said.error : 'no reason given'
  return { kind: retryableErrors.has(word) ? 'again' : 'failed', status, reason: `the chat service refused the message (${word})` }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends a mail through the relay; a permanent rejection is not retried. */
export async function sendMail(
  { mailer }: Pick<World, 'mailer'>,
  mail: Parameters<World['mailer']['send']>[0],
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  if (!mailer.configured) return failed('no mail relay is configured (DENDRO_SMTP_URL)')
  try {
    await mailer.send(mail, signal)
    return { kind: 'sent' }
  } catch (cause) {
    if (signal.aborted) throw cause
    const status = (cause as { responseCode?: unknown }).responseCode
    if (typeof status !== 'number') return { kind: 'again', reason: 'the mail relay could not be reached' }
    const reason = `the mail relay refused the mail (status ${status})`
    return status >= 500 ? { kind: 'failed', status, reason } : { kind: 'again', status, reason }
  }
}
