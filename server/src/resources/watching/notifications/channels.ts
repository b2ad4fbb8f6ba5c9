import { Failure } from '../../../kernel/errors.ts'
import { type Letter, type Reply, Undelivered } from '../../../outgoing/outgoing.ts'
import type { World } from '../../../world.ts'
import type { Target } from '../integrations/integrations.ts'
import {
  type Delivery,
  findChat,
  findEmailTemplate,
  findWebhook,
  findWorkspace,
  letterTo,
  messageTo,
} from '../integrations/integrations.ts'
import { chatFor } from './chat-body.ts'
import { mailFor } from './mail-body.ts'
import { placeholdersOf, type Told } from './words.ts'

/** An Outcome is what became of one try; `again` is worth another one. Reasons are shown, so they hold nothing that a receiver said. */
export type Outcome =
  | { readonly kind: 'sent'; readonly status?: number }
  | { readonly kind: 'again'; readonly reason: string; readonly status?: number; readonly retryAfterMs?: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly status?: number }

type Sender = Pick<World, 'meta' | 'vault' | 'outgoing' | 'mailer'>

/** A Parcel is one notification on its way to one target. */
export type Parcel = { readonly orgId: string; readonly target: Target; readonly delivery: Delivery; readonly told: Told }

/** A Channel makes one try; it throws only when the signal ends it or our own stores are in trouble. */
type Channel = (world: Sender, parcel: Parcel, signal: AbortSignal) => Promise<Outcome>

const webhook: Channel = async (world, { orgId, target, delivery, told }, signal) => {
  const row = await thatIsThere(findWebhook(world, { orgId }, target.integration_id ?? ''))
  if (!row) return failed('the webhook is gone')
  return posted(world, await letterTo(world, row, placeholdersOf(told), delivery), signal)
}

const chat: Channel = async (world, { orgId, target, delivery, told }, signal) => {
  const row = await thatIsThere(findChat(world, { orgId }, target.integration_id ?? ''))
  const workspace = row && (await thatIsThere(findWorkspace(world, { orgId }, row.workspace_id)))
  if (!workspace) return failed('the chat integration is gone')
  const letter = await messageTo(world, workspace, chatFor(target.destination, told), delivery)
  return posted(world, letter, signal, workspace.token === null ? undefined : saidByApi)
}

const email: Channel = async (world, { orgId, target, delivery, told }, signal) => {
  const { integration_id, destination } = target
  const template = integration_id === undefined ? undefined : await thatIsThere(findEmailTemplate(world, { orgId }, integration_id))
  if (integration_id !== undefined && !template) return failed('the e-mail template is gone')
  return mailed(world, { ...mailFor(destination, told, template?.payload), id: delivery.id }, signal)
}

/** channels are the ways by which notifications leave. */
export const channels: Readonly<Record<Target['type'], Channel>> = { WEBHOOK: webhook, SLACK: chat, EMAIL: email }

const failed = (reason: string): Outcome => ({ kind: 'failed', reason })

async function thatIsThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (cause) {
    if (cause instanceof Failure && cause.status === 404) return undefined
    throw cause
  }
}

type Judge = (reply: Reply) => Outcome | undefined

async function posted({ outgoing }: Sender, letter: Letter, signal: AbortSignal, judge?: Judge): Promise<Outcome> {
  try {
    const reply = await outgoing.post(letter, signal)
    return (isSuccess(reply) ? judge?.(reply) : undefined) ?? outcomeOf(reply)
  } catch (cause) {
    if (!(cause instanceof Undelivered)) throw cause
    return cause.again ? { kind: 'again', reason: cause.message } : failed(cause.message)
  }
}

const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300
const TOO_MANY = 429
const RETRY_AFTER_MAX_MS = 300_000

function outcomeOf({ status, retryAfter }: Reply): Outcome {
  if (status >= 200 && status < 300) return { kind: 'sent', status }
  if (status >= 300 && status < 400)
    return { kind: 'failed', status, reason: `the target redirects (status ${status}), which is not followed` }
  const reason = `the target answered with status ${status}`
  if (status !== TOO_MANY && status < 500) return { kind: 'failed', status, reason }
  const seconds = /^\d{1,6}$/.test(retryAfter ?? '') ? Number(retryAfter) : 0
  return { kind: 'again', status, reason, ...(seconds > 0 ? { retryAfterMs: Math.min(seconds * 1_000, RETRY_AFTER_MAX_MS) } : {}) }
}

/** The words with which the service behind a token says that it is its own trouble; all others are ours. */
const passing = new Set(['ratelimited', 'rate_limited', 'internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'])

/** saidByApi reads the verdict that a chat service gives beside status 200. */
const saidByApi: Judge = ({ status, body }) => {
  const said = parsed(body) as { ok?: unknown; error?: unknown } | undefined
  if (said?.ok !== false) return undefined
  const word = typeof said.error === 'string' && /^[a-z_]{1,50}$/.test(said.error) ? said.error : 'no reason given'
  return { kind: passing.has(word) ? 'again' : 'failed', status, reason: `the chat service refused the message (${word})` }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** mailed hands a mail to the relay; what it refuses for good is not tried again. */
export async function mailed(
  { mailer }: Pick<World, 'mailer'>,
  mail: Parameters<World['mailer']['send']>[0],
  signal: AbortSignal,
): Promise<Outcome> {
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
