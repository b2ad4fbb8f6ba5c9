import { createHmac } from 'node:crypto'
import type { BodyOf, contract, ReplyOf, WebhookIntegration } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import { countTest } from '../../../meta/counters.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import { DeliveryError, type OutgoingRequest, refusedHeader } from '../../../outgoing/outgoing.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { MASK, openSecret, type SecretPlace, sealSecret } from '../../access/secrets/secrets.ts'
import { changeRecord, createdBy, type RecordKind } from '../../records.ts'
import { type DeliveryAttempt, deliveryHeaders } from './delivery.ts'
import { removeIntegration } from './integration-records.ts'
import { isValidPayload, type Placeholders, renderPayload, samplePlaceholders } from './payload.ts'
import { deleteWebhook, insertWebhook, lockWebhook, selectWebhook, selectWebhooks, updateWebhookRow, type WebhookRow } from './rows.ts'

export { checkActions, type NotificationTarget, targetsOf } from './actions.ts'
export { chatRequest, findChat, findWorkspace } from './chat.ts'
export type { DeliveryAttempt } from './delivery.ts'
export { findEmailTemplate } from './email-templates.ts'
export { type Placeholders, renderText } from './payload.ts'

type NewWebhook = BodyOf<typeof contract.integrations.createWebhook>
type WebhookTest = ReplyOf<typeof contract.integrations.testWebhook>

/** A user who may change a webhook must not be able to send its secrets to their own server. */
const SERVER_CHANGED = `must be given again when the scheme, host or port of the url changes; ${MASK} does not keep it for another server`

export async function listWebhooks(world: Pick<World, 'meta'>, actor: Actor): Promise<WebhookIntegration[]> {
  return world.meta.cached(actor.orgId, 'webhooks', async () => (await selectWebhooks(world.meta, actor.orgId)).map(webhookReply))
}

export async function findWebhook(world: Pick<World, 'meta'>, actor: Pick<Actor, 'orgId'>, id: string): Promise<WebhookRow> {
  const row = await selectWebhook(world.meta, actor.orgId, id)
  if (!row) throw notFound('webhook', id)
  return row
}

export async function createWebhook(world: World, actor: Actor, request: NewWebhook): Promise<WebhookIntegration> {
  check(world, request)
  const [id, nowMs] = [world.ids.uuid(), world.clock.nowMs()]
  return world.meta.write(actor.orgId, async (tx) => {
    const row: WebhookRow = {
      org_id: actor.orgId,
      id,
      ...(await sealed(world, tx, { orgId: actor.orgId, id }, request, undefined)),
      ...createdBy(actor, nowMs),
    }
    await insertWebhook(tx, row)
    await recordChange(world, tx, actor, { entity: { type: 'webhook', id }, after: webhookReply(row) })
    return webhookReply(row)
  })
}

/** Replaces a webhook. Masked secrets are kept only while the URL stays on the same server. */
export async function updateWebhook(world: World, actor: Actor, { id }: WebhookRow, request: NewWebhook): Promise<WebhookIntegration> {
  check(world, request)
  return changeRecord(world, actor, webhookRecords, {
    id,
    change: (before, tx) => sealed(world, tx, { orgId: actor.orgId, id }, request, before),
  })
}

export const removeWebhook = (world: World, actor: Actor, record: WebhookRow): Promise<undefined> =>
  removeIntegration(world, actor, webhookRecords, record)

/** Sends a sample. The caller gets the status or the reason, never the response of the target. */
export async function testWebhook(world: World, record: WebhookRow, signal?: AbortSignal): Promise<WebhookTest> {
  await countOwnTest(world, record.org_id)
  const values = { ...samplePlaceholders, region: world.deployment.region }
  try {
    const { status } = await world.outgoing.post(await webhookRequest(world, record, values, { id: world.ids.uuid(), attempt: 1 }), signal)
    if (status >= 200 && status < 300) return { delivered: true, status }
    return { delivered: false, status, failure_reason: `the target answered with status ${status}` }
  } catch (cause) {
    if (cause instanceof DeliveryError) return { delivered: false, failure_reason: cause.message }
    throw cause
  }
}

const TESTS_MAX = 10

const countOwnTest = ({ meta, clock }: Pick<World, 'meta' | 'clock'>, orgId: string): Promise<void> =>
  countTest(
    meta,
    {
      subject: `${orgId}/webhook-tests`,
      limit: TESTS_MAX,
      refusal: `an organization tests its webhooks at most ${TESTS_MAX} times a minute`,
    },
    clock.nowMs(),
  )

/** Builds the request that sends a notification to a webhook. */
export async function webhookRequest(
  world: Pick<World, 'meta' | 'vault'>,
  row: WebhookRow,
  values: Placeholders,
  delivery: DeliveryAttempt,
): Promise<OutgoingRequest> {
  const body = renderPayload(row.payload ?? undefined, values)
  const secret = row.signing_secret && (await openSecret(world, world.meta, secretPlace(row, 'signing_secret'), row.signing_secret))
  return {
    url: row.url,
    headers: {
      ...(await headersOf(world, world.meta, row)),
      ...deliveryHeaders(delivery),
      ...(secret ? { 'x-dendro-signature': `sha256=${createHmac('sha256', secret.reveal()).update(body).digest('hex')}` } : {}),
    },
    body,
  }
}

function check({ outgoing }: Pick<World, 'outgoing'>, { url, payload, custom_headers: headers = {} }: NewWebhook): void {
  outgoing.check(url, 'url')
  if (payload !== undefined && payload !== '' && !isValidPayload(payload)) {
    throw badField('payload', 'must be JSON once its placeholders are replaced')
  }
  const names = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const problem = refusedHeader(name, value) ?? (names.has(name.toLowerCase()) ? 'is given twice' : undefined)
    if (problem !== undefined) throw badField(`custom_headers.${name}`, problem)
    names.add(name.toLowerCase())
  }
}

type WebhookFields = Pick<WebhookRow, 'name' | 'url' | 'headers' | 'header_names' | 'payload' | 'signing_secret'>

async function sealed(
  world: World,
  tx: Db,
  at: { orgId: string; id: string },
  request: NewWebhook,
  before: WebhookRow | undefined,
): Promise<WebhookFields> {
  const known = before ? await headersOf(world, tx, before) : {}
  const mayKeep = before === undefined || new URL(before.url).origin === new URL(request.url).origin
  const headers = Object.entries(request.custom_headers ?? {}).map(([name, value]): [string, string] => {
    if (value !== MASK) return [name, value]
    const old = known[name]
    if (old === undefined) throw badField(`custom_headers.${name}`, `is new; ${MASK} only keeps an existing value`)
    if (!mayKeep) throw badField(`custom_headers.${name}`, SERVER_CHANGED)
    return [name, old]
  })
  const row = { org_id: at.orgId, id: at.id }
  if (!mayKeep && before.signing_secret && request.signing_secret === MASK) throw badField('signing_secret', SERVER_CHANGED)
  return {
    name: request.name,
    url: request.url,
    headers: await sealSecret(world, tx, secretPlace(row, 'headers'), new Secret(JSON.stringify(headers))),
    header_names: headers.map(([name]) => name),
    payload: request.payload === undefined || request.payload === '' ? null : request.payload,
    signing_secret: await sealSigningSecret(world, tx, row, request.signing_secret, before),
  }
}

async function sealSigningSecret(
  world: World,
  tx: Db,
  row: Pick<WebhookRow, 'org_id' | 'id'>,
  given: string | undefined,
  before: WebhookRow | undefined,
): Promise<Buffer | null> {
  if (given === undefined || given === '') return null
  if (given === MASK) {
    if (!before?.signing_secret) throw badField('signing_secret', `is new; ${MASK} only keeps an existing secret`)
    return before.signing_secret
  }
  return sealSecret(world, tx, secretPlace(row, 'signing_secret'), new Secret(given))
}

const secretPlace = ({ org_id, id }: Pick<WebhookRow, 'org_id' | 'id'>, column: 'headers' | 'signing_secret'): SecretPlace => ({
  orgId: org_id,
  table: 'webhooks',
  row: id,
  column,
})

async function headersOf(world: Pick<World, 'vault'>, db: Db, row: WebhookRow): Promise<Record<string, string>> {
  const opened = await openSecret(world, db, secretPlace(row, 'headers'), row.headers)
  return Object.fromEntries(JSON.parse(opened.reveal()) as [string, string][])
}

export const webhookReply = (row: WebhookRow): WebhookIntegration => ({
  id: row.id,
  name: row.name,
  url: row.url,
  custom_headers: Object.fromEntries(row.header_names.map((name) => [name, MASK])),
  ...(row.payload === null ? {} : { payload: row.payload }),
  is_signed: row.signing_secret !== null,
  metadata: metadataOf(row),
})

const webhookRecords: RecordKind<WebhookRow, WebhookIntegration> = {
  noun: 'webhook',
  entity: 'webhook',
  lock: lockWebhook,
  insert: insertWebhook,
  update: updateWebhookRow,
  remove: deleteWebhook,
  shown: webhookReply,
}
