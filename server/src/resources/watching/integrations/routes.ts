import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { pageOfReplies, searchedText } from '../../list-pages.ts'
import type { RecordPath } from '../../records.ts'
import {
  createChat,
  createWorkspace,
  findChat,
  findWorkspace,
  listChats,
  listWorkspaces,
  removeChat,
  removeWorkspace,
  updateChat,
} from './chat.ts'
import { createEmailTemplate, findEmailTemplate, listEmailTemplates, removeEmailTemplate, updateEmailTemplate } from './email-templates.ts'
import { createWebhook, findWebhook, listWebhooks, removeWebhook, testWebhook, updateWebhook } from './integrations.ts'

const byWebhookId =
  (world: World) =>
  ({ actor, params }: RecordPath<'webhookId'>) =>
    findWebhook(world, actor, params.webhookId)

export const integrationRoutes = (world: World): Routes =>
  routes('integrations', contract.integrations, {
    webhooks: async ({ actor, query }) => {
      const { rows, ...rest } = pageOfReplies(await listWebhooks(world, actor), query, ({ name, url }) => searchedText([name, url]))
      return { integrations: rows, ...rest }
    },
    createWebhook: ({ actor, body }) => createWebhook(world, actor, body),
    updateWebhook: onRecord(byWebhookId(world), ({ actor, record, body }) => updateWebhook(world, actor, record, body)),
    removeWebhook: onRecord(byWebhookId(world), ({ actor, record }) => removeWebhook(world, actor, record)),
    testWebhook: onRecord(byWebhookId(world), ({ record }) => testWebhook(world, record)),
    slack: async ({ actor, query }) => {
      const { rows, ...rest } = pageOfReplies(await listChats(world, actor), query, ({ name, channels }) =>
        searchedText([name, ...channels]),
      )
      return { integrations: rows, ...rest }
    },
    createSlack: ({ actor, body }) => createChat(world, actor, body),
    updateSlack: onRecord(
      ({ actor, params }) => findChat(world, actor, params.slackId),
      ({ actor, record, body }) => updateChat(world, actor, record, body),
    ),
    removeSlack: onRecord(
      ({ actor, params }) => findChat(world, actor, params.slackId),
      ({ actor, record }) => removeChat(world, actor, record),
    ),
    slackWorkspaces: async ({ actor, query }) => {
      const { rows, ...rest } = pageOfReplies(await listWorkspaces(world, actor), query, ({ name }) => name)
      return { slack_workspaces: rows, ...rest }
    },
    createSlackWorkspace: ({ actor, body }) => createWorkspace(world, actor, body),
    removeSlackWorkspace: onRecord(
      ({ actor, params }) => findWorkspace(world, actor, params.workspaceId),
      ({ actor, record }) => removeWorkspace(world, actor, record),
    ),
    emailTemplates: async ({ actor, query }) => {
      const { rows, ...rest } = pageOfReplies(await listEmailTemplates(world, actor), query, ({ name }) => name)
      return { integrations: rows, ...rest }
    },
    createEmailTemplate: ({ actor, body }) => createEmailTemplate(world, actor, body),
    updateEmailTemplate: onRecord(
      ({ actor, params }) => findEmailTemplate(world, actor, params.emailId),
      ({ actor, record, body }) => updateEmailTemplate(world, actor, record, body),
    ),
    removeEmailTemplate: onRecord(
      ({ actor, params }) => findEmailTemplate(world, actor, params.emailId),
      ({ actor, record }) => removeEmailTemplate(world, actor, record),
    ),
  })
