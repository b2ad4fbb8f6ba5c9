import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { templateHandlers } from '../../queries/templates/templates.ts'
import type { RecordPath } from '../../records.ts'
import { backtest } from '../evaluations/evaluations.ts'
import { listEvaluations, listEvents, listNotifications } from './history.ts'
import { createMonitor, findMonitor, monitorPage, muteMonitor, removeMonitor, showMonitor, updateMonitor } from './monitors.ts'
import { monitorTemplates, normalizeTemplate } from './templates.ts'

const byMonitorId =
  (world: World) =>
  ({ actor, params }: RecordPath<'monitorId'>) =>
    findMonitor(world, actor, params.monitorId)

export const monitorRoutes = (world: World): Routes =>
  routes('monitors', contract.monitors, {
    list: ({ actor, query }) => monitorPage(world, actor, query),
    create: ({ actor, body }) => createMonitor(world, actor, body),
    backtest: ({ actor, body, signal }) => backtest(world, actor, body, signal),
    get: onRecord(byMonitorId(world), ({ record }) => showMonitor(world, record)),
    update: onRecord(byMonitorId(world), ({ actor, record, body }) => updateMonitor(world, actor, record.id, body)),
    remove: onRecord(byMonitorId(world), ({ actor, record }) => removeMonitor(world, actor, record)),
    status: onRecord(byMonitorId(world), ({ actor, record, body }) => muteMonitor(world, actor, record.id, body.mute_until)),
    mute: onRecord(byMonitorId(world), ({ actor, record, body }) => muteMonitor(world, actor, record.id, body?.mute_until ?? -1)),
    events: onRecord(byMonitorId(world), ({ record, query }) => listEvents(world, record, query)),
    notifications: onRecord(byMonitorId(world), ({ record, query }) => listNotifications(world, record, query)),
    evaluations: onRecord(byMonitorId(world), ({ record, query }) => listEvaluations(world, record, query)),
  })

export const monitorTemplateRoutes = (world: World): Routes =>
  routes('monitorTemplates', contract.monitorTemplates, templateHandlers(world, monitorTemplates, normalizeTemplate))
