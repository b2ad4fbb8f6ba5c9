import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createTag, removeTag, searchTags, updateTag } from './tags.ts'

export const tagRoutes = (world: World): Routes =>
  routes('tags', contract.tags, {
    search: async ({ actor, query }) => ({ tags: await searchTags(world, actor, query) }),
    create: ({ actor, body }) => createTag(world, actor, body),
    update: ({ actor, body }) => updateTag(world, actor, body),
    remove: ({ actor, body }) => removeTag(world, actor, body),
  })
