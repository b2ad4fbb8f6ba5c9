import type { BodyOf, contract, SlackIntegration, SlackWorkspace } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, conflict, notFound } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { OutgoingRequest } from '../../../outgoing/outgoing.ts'
import type { MetaWorld, World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { openSecret, type SecretPlace, sealSecret } from '../../access/secrets/secrets.ts'
import { changeRecord, createdBy, createRecord, type RecordKind, removeRecord } from '../../records.ts'
import { type DeliveryAttempt, deliveryHeaders } from './delivery.ts'
import { removeIntegration } from './integration-records.ts'
import {
  type ChatRow,
  deleteChat,
  deleteWorkspace,
  insertChat,
  insertWorkspace,
  lockChat,
  lockWorkspace,
  selectChat,
  selectChats,
  selectChatsOf,
  selectWorkspace,
  selectWorkspaces,
  updateChatRow,
  type WorkspaceRow,
} from './rows.ts'

type NewWorkspace = BodyOf<typeof contract.integrations.createSlackWorkspace>
type NewChat = BodyOf<typeof contract.integrations.createSlack>

export const listWorkspaces = (world: MetaWorld, actor: Actor): Promise<SlackWorkspace[]> =>
  world.meta.cached(actor.orgId, 'chat workspaces', async () => (await selectWorkspaces(world.meta, actor.orgId)).map(workspaceReply))

export async function findWorkspace(world: MetaWorld, actor: Pick<Actor, 'orgId'>, id: string): Promise<WorkspaceRow> {
  const row = await selectWorkspace(world.meta, actor.orgId, id)
  if (!row) throw notFound('chat workspace', id)
  return row
}

/** The token and the webhook URL are stored encrypted. */
export async function createWorkspace(world: World, actor: Actor, request: NewWorkspace): Promise<SlackWorkspace> {
  const { token, webhook_url, api_url } = request
  if (webhook_url !== undefined) world.outgoing.check(webhook_url, 'webhook_url')
  if (api_url !== undefined) {
    if (token === undefined) throw badField('api_url', 'goes with a token only')
    world.outgoing.check(api_url, 'api_url')
  }
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) throw badField('token', 'must be of ASCII characters without spaces')
  const [id, nowMs] = [world.ids.uuid(), world.clock.nowMs()]
  return world.meta.write(actor.orgId, async (tx) => {
    const sealed = (column: 'token' | 'webhook_url', text: string | undefined): Promise<Buffer> | null =>
      text === undefined ? null : sealSecret(world, tx, secretPlace({ org_id: actor.orgId, id }, column), new Secret(text))
    const row: WorkspaceRow = {
      org_id: actor.orgId,
      id,
      name: request.name,
      token: await sealed('token', token),
      webhook_url: await sealed('webhook_url', webhook_url),
      api_url: api_url ?? null,
      ...createdBy(actor, nowMs),
    }
    await insertWorkspace(tx, row)
    await recordChange(world, tx, actor, { entity: { type: 'chat_workspace', id }, after: workspaceReply(row) })
    return workspaceReply(row)
  })
}

export async function removeWorkspace(world: World, actor: Actor, record: WorkspaceRow): Promise<undefined> {
  const kind = { noun: 'chat workspace', entity: 'chat_workspace', lock: lockWorkspace, remove: deleteWorkspace, shown: workspaceReply }
  return removeRecord(world, actor, kind, record, {
    check: async (_, tx) => {
      const naming = await selectChatsOf(tx, actor.orgId, record.id)
      if (naming.length > 0) throw conflict(`in use by the chat integration ${naming.map(({ name }) => `"${name}"`).join(', ')}`)
    },
  })
}

const DEFAULT_API_URL = 'https://slack.com/api'

/** Builds the request that posts a message to a workspace. */
export async function chatRequest(
  world: Pick<World, 'meta' | 'vault'>,
  row: WorkspaceRow,
  body: string,
  delivery: DeliveryAttempt,
): Promise<OutgoingRequest> {
  const headers = deliveryHeaders(delivery)
  if (row.webhook_url) {
    const url = await openSecret(world, world.meta, secretPlace(row, 'webhook_url'), row.webhook_url)
    return { url: url.reveal(), headers, body }
  }
  if (!row.token) throw new Error('a chat workspace has neither a token nor a URL')
  const token = await openSecret(world, world.meta, secretPlace(row, 'token'), row.token)
  const base = (row.api_url ?? DEFAULT_API_URL).replace(/\/+$/, '')
  return {
    url: `${base}/chat.postMessage`,
    headers: { ...headers, 'content-type': 'application/json; charset=utf-8', authorization: `Bearer ${token.reveal()}` },
    body,
  }
}

const secretPlace = ({ org_id, id }: Pick<WorkspaceRow, 'org_id' | 'id'>, column: 'token' | 'webhook_url'): SecretPlace => ({
  orgId: org_id,
  table: 'chat_workspaces',
  row: id,
  column,
})

const workspaceReply = (row: WorkspaceRow): SlackWorkspace => ({
  id: row.id,
  name: row.name,
  posts_by: row.token === null ? 'WEBHOOK_URL' : 'TOKEN',
  ...(row.api_url === null ? {} : { api_url: row.api_url }),
  metadata: metadataOf(row),
})

export const listChats = (world: MetaWorld, actor: Actor): Promise<SlackIntegration[]> =>
  world.meta.cached(actor.orgId, 'chat integrations', async () => (await selectChats(world.meta, actor.orgId)).map(chatReply))

export async function findChat(world: MetaWorld, actor: Pick<Actor, 'orgId'>, id: string): Promise<ChatRow> {
  const row = await selectChat(world.meta, actor.orgId, id)
  if (!row) throw notFound('chat integration', id)
  return row
}

export async function createChat(world: World, actor: Actor, request: NewChat): Promise<SlackIntegration> {
  const [id, nowMs] = [world.ids.uuid(), world.clock.nowMs()]
  const row: ChatRow = {
    org_id: actor.orgId,
    id,
    ...given(request),
    ...createdBy(actor, nowMs),
  }
  return createRecord(world, actor, chatRecords, row, (tx) => checkWorkspace(tx, actor.orgId, request.workspace_id))
}

export async function updateChat(world: World, actor: Actor, { id }: ChatRow, request: NewChat): Promise<SlackIntegration> {
  const change = async (_: ChatRow, tx: Db) => {
    await checkWorkspace(tx, actor.orgId, request.workspace_id)
    return given(request)
  }
  return changeRecord(world, actor, chatRecords, { id, change })
}

export const removeChat = (world: World, actor: Actor, record: ChatRow): Promise<undefined> =>
  removeIntegration(world, actor, chatRecords, record)

const given = ({ name, channels, workspace_id }: NewChat) => ({ name, channels: [...new Set(channels)], workspace_id })

async function checkWorkspace(tx: Db, orgId: string, id: string): Promise<void> {
  if (!(await lockWorkspace(tx, orgId, id))) throw badField('workspace_id', 'names no chat workspace', 'UNKNOWN')
}

const chatReply = (row: ChatRow): SlackIntegration => ({
  id: row.id,
  name: row.name,
  channels: row.channels,
  workspace_id: row.workspace_id,
  metadata: metadataOf(row),
})

const chatRecords: RecordKind<ChatRow, SlackIntegration> = {
  noun: 'chat integration',
  entity: 'chat_integration',
  lock: lockChat,
  insert: insertChat,
  update: updateChatRow,
  remove: deleteChat,
  shown: chatReply,
}
