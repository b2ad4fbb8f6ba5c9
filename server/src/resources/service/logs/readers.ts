import type { contract, ReplyOf } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import type { World } from '../../../world.ts'
import { dashboardsOfLog } from '../../boards/dashboards/dashboards.ts'
import type { DatasetRow } from '../../data/datasets/datasets.ts'
import { listMonitors } from '../../watching/monitors/monitors.ts'

/** A ListRecordsOfLog answers which records of its noun read a log. */
type ListRecordsOfLog<T> = (world: World, actor: Actor, log: DatasetRow) => Promise<T>

/** recordsOfLog are the nouns that read logs; each puts its own reader here. A noun without records has nothing that reads a log. */
export const recordsOfLog: {
  monitors: ListRecordsOfLog<ReplyOf<typeof contract.logs.monitors>>
  dashboards: ListRecordsOfLog<ReplyOf<typeof contract.logs.dashboards>>
} = {
  monitors: listMonitors,
  dashboards: dashboardsOfLog,
}
