import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { queryTexts } from './pattern-texts.ts'
import { sendTest } from './sample-notification.ts'
import { suggestFor } from './suggestions.ts'

export const notificationRoutes = (world: World): Routes =>
  routes('notifications', contract.notifications, {
    sendTest: ({ actor, body }) => sendTest(world, actor, body),
    suggest: async ({ actor, body, signal }) => {
      const texts = await queryTexts(world, actor, body.monitor_context.queries ?? [], signal)
      return { suggestions: await suggestFor(world, body, signal, texts) }
    },
  })
