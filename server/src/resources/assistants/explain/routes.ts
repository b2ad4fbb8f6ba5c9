import { contract } from '@dendro/api'
import { type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { explainError } from './explain.ts'
import { proposeWidget } from './widget-assistant.ts'

export const assistantRoutes = (world: World): Routes =>
  routes('assistants', contract.assistants, {
    explainError: ({ actor, query, signal }) => explainError(world, actor, query, signal),
    proposeWidget: ({ actor, query, signal }) => proposeWidget(world, actor, query, signal),
  })
