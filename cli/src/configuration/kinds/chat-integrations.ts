import { type BodyInput, contract } from '@dendro/api'
import { checkFields } from '../check-fields.ts'
import { type Kind, listOf, pick, SECRET, textOf, withMember } from '../kind.ts'

type WorkspaceBody = BodyInput<typeof contract.integrations.createSlackWorkspace>
type ChatBody = BodyInput<typeof contract.integrations.createSlack>

/** A chat service. The contract has no update of one. */
export const slackWorkspaceKind: Kind = {
  name: 'slack_workspace',
  file: 'slack-workspaces.yaml',
  members: ['name', 'token', 'webhook_url', 'api_url'],
  nameOf: ({ name }) => textOf(name),
  referredAs: { kind: 'slack_workspace', prefix: '' },
  load: async ({ client, signal }) =>
    (await client.integrations.slackWorkspaces({ signal })).slack_workspaces.map(({ id, name, posts_by, api_url }) => ({
      id,
      fields: { name, [posts_by === 'TOKEN' ? 'token' : 'webhook_url']: SECRET, ...(api_url === undefined ? {} : { api_url }) },
    })),
  check: (fields) => checkFields(contract.integrations.createSlackWorkspace.body, fields),
  isSecret: ([member]) => member === 'token' || member === 'webhook_url',
  needsEnvironment: ([member]) => member === 'token' || member === 'webhook_url',
  create: async ({ client, signal }, fields, send) =>
    (await send(() => client.integrations.createSlackWorkspace({ body: fields as WorkspaceBody, signal }))).id,
  remove: ({ client, signal }, { id }, send) =>
    send(() => client.integrations.removeSlackWorkspace({ params: { workspaceId: id }, signal })),
}

/** Channels of a chat service. */
export const slackKind: Kind = {
  name: 'slack',
  file: 'slack.yaml',
  members: ['name', 'workspace_id', 'channels'],
  nameOf: ({ name }) => textOf(name),
  referredAs: { kind: 'integration', prefix: 'slack/' },
  refersTo: ['slack_workspace'],
  load: async ({ client, signal }) =>
    (await client.integrations.slack({ signal })).integrations.map((one) => ({ id: one.id, fields: pick(one, slackKind.members) })),
  withReferences: (fields, map) =>
    withMember(fields, 'workspace_id', (id) => (typeof id === 'string' ? map('slack_workspace', id, ['workspace_id']) : id)),
  check: (given) => {
    const { fields, problems } = checkFields(contract.integrations.createSlack.body, given)
    return { fields: withMember(fields, 'channels', (channels) => [...new Set(listOf(channels))]), problems }
  },
  create: async ({ client, signal }, fields, send) =>
    (await send(() => client.integrations.createSlack({ body: fields as ChatBody, signal }))).id,
  update: async ({ client, signal }, { before, fields }, send) => {
    await send(() => client.integrations.updateSlack({ params: { slackId: before.id }, body: fields as ChatBody, signal }))
  },
  remove: ({ client, signal }, { id }, send) => send(() => client.integrations.removeSlack({ params: { slackId: id }, signal })),
}
