import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { templateHandlers } from '../templates/templates.ts'
import { printMetricDefinitions } from './exposition.ts'
import {
  createMetricDefinition,
  findMetricDefinition,
  metricDefinitionPage,
  metricDefinitionTemplates,
  removeMetricDefinition,
  shownMetricDefinition,
  updateMetricDefinition,
} from './metric-definitions.ts'

const byMetricId =
  (world: World) =>
  ({ actor, params }: RecordPath<'metricId'>) =>
    findMetricDefinition(world, actor, params.metricId)

export const metricDefinitionRoutes = (world: World): Routes =>
  routes('metricDefinitions', contract.metricDefinitions, {
    list: ({ actor, query }) => metricDefinitionPage(world, actor, query),
    print: ({ actor, query, signal }) => printMetricDefinitions(world, actor, query.seconds, signal),
    create: ({ actor, body }) => createMetricDefinition(world, actor, body),
    get: onRecord(byMetricId(world), async ({ record }) => shownMetricDefinition(record)),
    update: onRecord(byMetricId(world), ({ actor, record, body }) => updateMetricDefinition(world, actor, record, body)),
    remove: onRecord(byMetricId(world), ({ actor, record }) => removeMetricDefinition(world, actor, record)),
  })

export const metricDefinitionTemplateRoutes = (world: World): Routes =>
  routes(
    'metricDefinitionTemplates',
    contract.metricDefinitionTemplates,
    templateHandlers(world, metricDefinitionTemplates, (draft) => draft),
  )
