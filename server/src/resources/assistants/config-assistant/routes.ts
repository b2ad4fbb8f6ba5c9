import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createConfig, findConfig, listAgents, modifyConfig, readConfig, validateConfig } from './config-assistant.ts'

export const configAssistantRoutes = (world: World): Routes =>
  routes('configAssistant', contract.configAssistant, {
    agents: async () => ({ agents: listAgents() }),
    create: ({ actor, body, signal }) => createConfig(world, actor, body, signal),
    modify: ({ actor, body, signal }) => modifyConfig(world, actor, body, signal),
    validate: async ({ body }) => validateConfig(body),
    get: onRecord(
      ({ actor, params }) => findConfig(world, actor, params.configId),
      ({ record }) => readConfig(world, record),
    ),
  })
