import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { visibleDatasets } from '../../data/datasets/datasets.ts'
import {
  createTemplate,
  findTemplate,
  listTemplates,
  removeTemplate,
  shownTemplate,
  updateTemplate,
} from '../../queries/templates/templates.ts'
import { backtest } from './backtest.ts'
import { listEvaluations, listEvents, listNotifications } from './history.ts'
import { createMonitor, findMonitor, listMonitors, muteMonitor, removeMonitor, showMonitor, updateMonitor } from './monitors.ts'
import { monitorTemplates, normalizeTemplate } from './templates.ts'

export const monitorRoutes = (world: World): Routes =>
  routes('monitors', contract.monitors, {
    list: async ({ actor, query }) => {
      const log = query.log_id && ((await visibleDatasets(world, actor)).find(({ id }) => id === query.log_id) ?? query.log_id)
      return { monitors: await listMonitors(world, actor, log) }
    },
    create: ({ actor, body }) => createMonitor(world, actor, body),
    backtest: ({ actor, body, signal }) => backtest(world, actor, body, signal),
    get: onRecord(
      ({ actor, params }) => findMonitor(world, actor, params.monitorId),
      ({ record }) => showMonitor(world, record),
    ),
    update: onRecord(
      ({ actor, params }) => findMonitor(world, actor, params.monitorId),
      ({ actor, record, body }) => updateMonitor(world, actor, record.id, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findMonitor(world, actor, params.monitorId),
      ({ actor, record }) => removeMonitor(world, actor, record),
    ),
    status: onRecord(
      ({ actor, params }) => findMonitor(world, actor, params.monitorId),
      ({ actor, record, body }) => muteMonitor(world, actor, record.id, body.mute_until),
    ),
    mute: onRecord(
      ({ actor, params }) => findMonitor(world, actor, params.monitorId),
      ({ actor, record, body }) => muteMonitor(world, actor, record.id, body?.mute_until ?? -1),
    ),
    events: onRecord(
      ({ actor, params }) => findMonitor(world, actor, params.monitorId),
      ({ record, query }) => listEvents(world, record, query),
    ),
    notifications: onRecord(
      ({ actor, params }) => findMonitor(world, actor, params.monitorId),
      ({ record, query }) => listNotifications(world, record, query),
    ),
    evaluations: onRecord(
      ({ actor, params }) => findMonitor(world, actor, params.monitorId),
      ({ record, query }) => listEvaluations(world, record, query),
    ),
  })

export const monitorTemplateRoutes = (world: World): Routes =>
  routes('monitorTemplates', contract.monitorTemplates, {
    list: ({ actor }) => listTemplates(world, actor, monitorTemplates),
    create: ({ actor, body }) => createTemplate(world, actor, monitorTemplates, normalizeTemplate(body)),
    get: onRecord(
      ({ actor, params }) => findTemplate(world, actor, monitorTemplates, params.templateId),
      async ({ record }) => shownTemplate(record),
    ),
    update: onRecord(
      ({ actor, params }) => findTemplate(world, actor, monitorTemplates, params.templateId),
      ({ actor, record, body }) => updateTemplate(world, actor, monitorTemplates, record, (before) => normalizeTemplate(body, before)),
    ),
    remove: onRecord(
      ({ actor, params }) => findTemplate(world, actor, monitorTemplates, params.templateId),
      ({ actor, record }) => removeTemplate(world, actor, monitorTemplates, record),
    ),
  })
