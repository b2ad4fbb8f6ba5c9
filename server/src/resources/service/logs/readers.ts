import type { contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { dashboardsOfLog } from '../../boards/dashboards/dashboards.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { listMonitors } from '../../watching/monitors/monitors.ts'

/** Lists the records of a kind that read a log. */
type ListRecordsOfLog<T> = (world: World, actor: Actor, log: DatasetRow) => Promise<T>

/** The kinds of records that read logs; each registers its function here. */
export const recordsOfLog: {
  monitors: ListRecordsOfLog<ReplyOf<typeof contract.logs.monitors>>
  dashboards: ListRecordsOfLog<ReplyOf<typeof contract.logs.dashboards>>
} = {
  monitors: listMonitors,
  dashboards: dashboardsOfLog,
}
