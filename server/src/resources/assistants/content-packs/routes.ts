import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { installPack, listOffers, previewPack } from './content-packs.ts'

export const contentPackRoutes = (world: World): Routes =>
  routes('contentPacks', contract.contentPacks, {
    list: ({ actor, query, signal }) => listOffers(world, actor, query, signal),
    preview: ({ actor, params, body, signal }) => previewPack(world, actor, params.packId, body, signal),
    install: ({ actor, params, body, signal }) => installPack(world, actor, params.packId, body, signal),
  })
