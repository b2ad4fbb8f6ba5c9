import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findPatterns } from './patterns.ts'
import { findValues } from './values.ts'

export const patternRoutes = (world: World): Routes =>
  routes('patterns', contract.patterns, {
    find: ({ actor, body, signal }) => findPatterns(world, actor, body, signal),
    values: ({ actor, body, signal }) => findValues(world, actor, body, signal),
  })
