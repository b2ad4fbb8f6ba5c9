import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../http/mount.ts'
import type { World } from '../../world.ts'
import { createWebhook, findWebhook, listWebhooks, removeWebhook, testWebhook, updateWebhook } from './integrations.ts'

export const integrationRoutes = (world: World): Routes =>
  routes('integrations', contract.integrations, {
    webhooks: async ({ actor }) => ({ integrations: await listWebhooks(world, actor) }),
    createWebhook: ({ actor, body }) => createWebhook(world, actor, body),
    updateWebhook: onRecord(
      ({ actor, params }) => findWebhook(world, actor, params.webhookId),
      ({ actor, record, body }) => updateWebhook(world, actor, record, body),
    ),
    removeWebhook: onRecord(
      ({ actor, params }) => findWebhook(world, actor, params.webhookId),
      ({ actor, record }) => removeWebhook(world, actor, record),
    ),
    testWebhook: onRecord(
      ({ actor, params }) => findWebhook(world, actor, params.webhookId),
      ({ record }) => testWebhook(world, record),
    ),
  })
