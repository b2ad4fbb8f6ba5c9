import { createHmac } from 'node:crypto'
import type { BodyOf, contract, ReplyOf, WebhookIntegration } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, Failure, notFound } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import { takeFromWindow } from '../../../meta/counters.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import { type Letter, refusedHeader, Undelivered } from '../../../outgoing/outgoing.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { openSecret, type SecretPlace, sealSecret } from '../../access/secrets/secrets.ts'
import { type Delivery, deliveryHeaders } from './delivery.ts'
import { changeKept, type Kept, removeKept } from './keeping.ts'
import { isSoundPayload, type Placeholders, renderPayload, samplePlaceholders } from './payload.ts'
import { deleteWebhook, insertWebhook, lockWebhook, selectWebhook, selectWebhooks, updateWebhookRow, type WebhookRow } from './rows.ts'

export { checkActions, type Target, targetsOf } from './actions.ts'
export { findChat, findWorkspace, messageTo } from './chat.ts'
export type { Delivery } from './delivery.ts'
export { findEmailTemplate } from './email-templates.ts'
export { type Placeholders, renderText } from './payload.ts'

type NewWebhook = BodyOf<typeof contract.integrations.createWebhook>
type Tested = ReplyOf<typeof contract.integrations.testWebhook>

/** KEPT is what a secret reads as; sent back, it leaves the secret as it is. */
const KEPT = '***'
/** MOVED: whoever may change a webhook must not thereby learn its secrets, which he could by having them sent to a server of his. */
const MOVED = `must be given again when the scheme, host or port of the url changes; ${KEPT} does not keep it for another server`

export async function listWebhooks(world: Pick<World, 'meta'>, actor: Actor): Promise<WebhookIntegration[]> {
  return world.meta.cached(actor.orgId, 'webhooks', async () => (await selectWebhooks(world.meta, actor.orgId)).map(shownWebhook))
}

export async function findWebhook(world: Pick<World, 'meta'>, actor: Pick<Actor, 'orgId'>, id: string): Promise<WebhookRow> {
  const row = await selectWebhook(world.meta, actor.orgId, id)
  if (!row) throw notFound('webhook', id)
  return row
}

export async function createWebhook(world: World, actor: Actor, ask: NewWebhook): Promise<WebhookIntegration> {
  check(world, ask)
  const [id, nowMs] = [world.ids.uuid(), world.clock.nowMs()]
  return world.meta.write(actor.orgId, async (tx) => {
    const row: WebhookRow = {
      org_id: actor.orgId,
      id,
      ...(await sealed(world, tx, { orgId: actor.orgId, id }, ask, undefined)),
      created_at: nowMs,
      created_by: actor.identity,
      modified_at: nowMs,
      modified_by: actor.identity,
    }
    await insertWebhook(tx, row)
    await recordChange(world, tx, actor, { entity: { type: 'webhook', id }, after: shownWebhook(row) })
    return shownWebhook(row)
  })
}

/** updateWebhook replaces a webhook; only secrets that come back as they were shown stay, and only while the target stays the same server. */
export async function updateWebhook(world: World, actor: Actor, { id }: WebhookRow, ask: NewWebhook): Promise<WebhookIntegration> {
  check(world, ask)
  return changeKept(world, actor, kept, { id, change: (tx, before) => sealed(world, tx, { orgId: actor.orgId, id }, ask, before) })
}

export const removeWebhook = (world: World, actor: Actor, { id }: WebhookRow): Promise<undefined> => removeKept(world, actor, kept, id)

/** testWebhook sends a sample; the caller learns the status or the reason, never what the target said. */
export async function testWebhook(world: World, record: WebhookRow, signal?: AbortSignal): Promise<Tested> {
  await countTest(world, record.org_id)
  const values = { ...samplePlaceholders, region: world.deployment.region }
  try {
    const { status } = await world.outgoing.post(await letterTo(world, record, values, { id: world.ids.uuid(), attempt: 1 }), signal)
    if (status >= 200 && status < 300) return { delivered: true, status }
    return { delivered: false, status, failure_reason: `the target answered with status ${status}` }
  } catch (cause) {
    if (cause instanceof Undelivered) return { delivered: false, failure_reason: cause.message }
    throw cause
  }
}

const TESTS_MAX = 10
const TESTS_WINDOW_MS = 60_000

/** countTest bounds the tests of an organisation, over all processes: what they tell of a target must not serve to look around in a network. */
async function countTest({ meta, clock }: Pick<World, 'meta' | 'clock'>, orgId: string): Promise<void> {
  const nowMs = clock.nowMs()
  const windowStartMs = nowMs - (nowMs % TESTS_WINDOW_MS)
  const { granted } = await takeFromWindow(meta, { subject: `${orgId}/webhook-tests`, windowStartMs, take: 1, limit: TESTS_MAX })
  if (granted > 0) return
  const seconds = Math.max(1, Math.ceil((windowStartMs + TESTS_WINDOW_MS - nowMs) / 1000))
  throw new Failure(429, `an organisation tests its webhooks at most ${TESTS_MAX} times a minute; try again in ${seconds} s`, {
    headers: { 'retry-after': String(seconds) },
  })
}

/** letterTo writes a notification to a webhook. */
export async function letterTo(
  world: Pick<World, 'meta' | 'vault'>,
  row: WebhookRow,
  values: Placeholders,
  delivery: Delivery,
): Promise<Letter> {
  const body = renderPayload(row.payload ?? undefined, values)
  const secret = row.signing_secret && (await openSecret(world, world.meta, placeOf(row, 'signing_secret'), row.signing_secret))
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
  if (payload !== undefined && payload !== '' && !isSoundPayload(payload)) {
    throw badField('payload', 'must be JSON once its placeholders are replaced')
  }
  const names = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const problem = refusedHeader(name, value) ?? (names.has(name.toLowerCase()) ? 'is given twice' : undefined)
    if (problem !== undefined) throw badField(`custom_headers.${name}`, problem)
    names.add(name.toLowerCase())
  }
}

type Given = Pick<WebhookRow, 'name' | 'url' | 'headers' | 'header_names' | 'payload' | 'signing_secret'>

async function sealed(
  world: World,
  tx: Db,
  at: { orgId: string; id: string },
  ask: NewWebhook,
  before: WebhookRow | undefined,
): Promise<Given> {
  const known = before ? await headersOf(world, tx, before) : {}
  const mayKeep = before === undefined || new URL(before.url).origin === new URL(ask.url).origin
  const headers = Object.entries(ask.custom_headers ?? {}).map(([name, value]): [string, string] => {
    if (value !== KEPT) return [name, value]
    const old = known[name]
    if (old === undefined) throw badField(`custom_headers.${name}`, `is new; ${KEPT} only keeps the value that a header has`)
    if (!mayKeep) throw badField(`custom_headers.${name}`, MOVED)
    return [name, old]
  })
  const row = { org_id: at.orgId, id: at.id }
  if (!mayKeep && before.signing_secret && ask.signing_secret === KEPT) throw badField('signing_secret', MOVED)
  return {
    name: ask.name,
    url: ask.url,
    headers: await sealSecret(world, tx, placeOf(row, 'headers'), new Secret(JSON.stringify(headers))),
    header_names: headers.map(([name]) => name),
    payload: ask.payload === undefined || ask.payload === '' ? null : ask.payload,
    signing_secret: await sealedSigning(world, tx, row, ask.signing_secret, before),
  }
}

async function sealedSigning(
  world: World,
  tx: Db,
  row: Pick<WebhookRow, 'org_id' | 'id'>,
  given: string | undefined,
  before: WebhookRow | undefined,
): Promise<Buffer | null> {
  if (given === undefined || given === '') return null
  if (given === KEPT) {
    if (!before?.signing_secret) throw badField('signing_secret', `is new; ${KEPT} only keeps the secret that is there`)
    return before.signing_secret
  }
  return sealSecret(world, tx, placeOf(row, 'signing_secret'), new Secret(given))
}

const placeOf = ({ org_id, id }: Pick<WebhookRow, 'org_id' | 'id'>, column: 'headers' | 'signing_secret'): SecretPlace => ({
  orgId: org_id,
  table: 'webhooks',
  row: id,
  column,
})

async function headersOf(world: Pick<World, 'vault'>, db: Db, row: WebhookRow): Promise<Record<string, string>> {
  const opened = await openSecret(world, db, placeOf(row, 'headers'), row.headers)
  return Object.fromEntries(JSON.parse(opened.reveal()) as [string, string][])
}

export const shownWebhook = (row: WebhookRow): WebhookIntegration => ({
  id: row.id,
  name: row.name,
  url: row.url,
  custom_headers: Object.fromEntries(row.header_names.map((name) => [name, KEPT])),
  ...(row.payload === null ? {} : { payload: row.payload }),
  is_signed: row.signing_secret !== null,
  metadata: metadataOf(row),
})

const kept: Kept<WebhookRow, WebhookIntegration> = {
  noun: 'webhook',
  entity: 'webhook',
  lock: lockWebhook,
  update: updateWebhookRow,
  remove: deleteWebhook,
  shown: shownWebhook,
}
