import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { sendTest } from './sample-notification.ts'
import { suggestFor } from './suggestions.ts'

export const notificationRoutes = (world: World): Routes =>
  routes('notifications', contract.notifications, {
    sendTest: ({ actor, body }) => sendTest(world, actor, body),
    suggest: async ({ body, signal }) => ({ suggestions: await suggestFor(world, body, signal) }),
  })
