import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { createTemplate, findTemplate, listTemplates, removeTemplate, shownTemplate, updateTemplate } from '../templates/templates.ts'
import {
  createMetricDefinition,
  findMetricDefinition,
  listMetricDefinitions,
  metricDefinitionTemplates,
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

export const metricDefinitionTemplateRoutes = (world: World): Routes =>
  routes('metricDefinitionTemplates', contract.metricDefinitionTemplates, {
    list: ({ actor }) => listTemplates(world, actor, metricDefinitionTemplates),
    create: ({ actor, body }) => createTemplate(world, actor, metricDefinitionTemplates, body),
    get: onRecord(
      ({ actor, params }) => findTemplate(world, actor, metricDefinitionTemplates, params.templateId),
      async ({ record }) => shownTemplate(record),
    ),
    update: onRecord(
      ({ actor, params }) => findTemplate(world, actor, metricDefinitionTemplates, params.templateId),
      ({ actor, record, body }) => updateTemplate(world, actor, metricDefinitionTemplates, record, () => body),
    ),
    remove: onRecord(
      ({ actor, params }) => findTemplate(world, actor, metricDefinitionTemplates, params.templateId),
      ({ actor, record }) => removeTemplate(world, actor, metricDefinitionTemplates, record),
    ),
  })
