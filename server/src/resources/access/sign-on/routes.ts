import { contract } from '@dendro/api'
import { Answer, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { logOutAtProvider } from './logout.ts'
import { openProviderMessages } from './provider-messages.ts'
import { finishSignOn, providersFor, startSignOn } from './sign-on.ts'

export const signOnRoutes = (world: World): Routes => ({
  ...routes('signOn', contract.signOn, {
    providers: ({ body }) => providersFor(world, body),
    start: async ({ facts, headers, body }) => {
      const { reply, cookie } = await startSignOn(world, facts, headers, body.provider)
      return new Answer(200, reply, { 'set-cookie': cookie })
    },
    logout: ({ actor }) => logOutAtProvider(world, actor),
    finish: ({ facts, headers, body }) => finishSignOn(world, facts, headers, body.answer),
  }),
  findRawHandler: openProviderMessages(world),
})
