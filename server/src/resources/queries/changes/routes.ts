import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findChangesIn } from './changes.ts'

export const changeRoutes = (world: World): Routes =>
  routes('changes', contract.changes, { find: ({ actor, body, signal }) => findChangesIn(world, actor, body, signal) })
