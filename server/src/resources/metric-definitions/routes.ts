import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../http/mount.ts'
import type { World } from '../../world.ts'
import {
  createMetricDefinition,
  findMetricDefinition,
  listMetricDefinitions,
  removeMetricDefinition,
  shownMetricDefinition,
  updateMetricDefinition,
} from './metric-definitions.ts'

export const metricDefinitionRoutes = (world: World): Routes =>
  routes('metricDefinitions', contract.metricDefinitions, {
    list: async ({ actor }) => ({ metric_definitions: await listMetricDefinitions(world, actor) }),
    create: ({ actor, body }) => createMetricDefinition(world, actor, body),
    get: onRecord(
      ({ actor, params }) => findMetricDefinition(world, actor, params.metricId),
      async ({ record }) => shownMetricDefinition(record),
    ),
    update: onRecord(
      ({ actor, params }) => findMetricDefinition(world, actor, params.metricId),
      ({ actor, record, body }) => updateMetricDefinition(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findMetricDefinition(world, actor, params.metricId),
      ({ actor, record }) => removeMetricDefinition(world, actor, record),
    ),
  })
