import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findDataset, latestArrivals, removeDataset } from '../../data/datasets/datasets.ts'
import { createLog, listLogs, shownLog, updateLog } from './logs.ts'
import { recordsOfLog } from './readers.ts'
import { views } from './views.ts'

export const logRoutes = (world: World): Routes =>
  routes('logs', contract.logs, {
    list: ({ actor }) => listLogs(world, actor),
    create: ({ actor, body }) => createLog(world, actor, body),
    views: async () => ({ views }),
    get: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.logId, 'log'),
      async ({ actor, record }) => shownLog(record, await latestArrivals(world, actor.orgId)),
    ),
    update: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.logId, 'log'),
      ({ actor, record, body }) => updateLog(world, actor, record, body),
    ),
    remove: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.logId, 'log'),
      ({ actor, record }) => removeDataset(world, actor, record),
    ),
    monitors: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.logId, 'log'),
      ({ actor, record }) => recordsOfLog.monitors(world, actor, record),
    ),
    dashboards: onRecord(
      ({ actor, params }) => findDataset(world, actor, params.logId, 'log'),
      ({ actor, record }) => recordsOfLog.dashboards(world, actor, record),
    ),
  })
