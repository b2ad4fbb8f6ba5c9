import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import type { RecordPath } from '../../records.ts'
import { findDataset } from '../datasets/datasets.ts'
import { changeLineTime, previewLineTimes } from './line-times.ts'

export function lineTimeRoutes(world: World): Routes {
  const find = ({ actor, params }: RecordPath<'datasetId'>) => findDataset(world, actor, params.datasetId)
  return routes('lineTimes', contract.lineTimes, {
    get: onRecord(find, async ({ record }) => ({ line_time: record.line_time ?? null })),
    set: onRecord(find, ({ actor, record, body }) => changeLineTime(world, actor, record, body)),
    remove: onRecord(find, ({ actor, record }) => changeLineTime(world, actor, record, null)),
    preview: onRecord(find, ({ actor, record, query, signal }) => previewLineTimes(world, actor, record, { ...query, signal })),
  })
}
