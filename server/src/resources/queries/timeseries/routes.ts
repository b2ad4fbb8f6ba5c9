import { contract } from '@dendro/api'
import { onRecord, type Routes, routes } from '../../../http/mount.ts'
import type { World } from '../../../world.ts'
import { findMetricDefinition } from '../metric-definitions/metric-definitions.ts'
import { measureDefinition, searchTimeseries } from './timeseries.ts'

export const timeseriesRoutes = (world: World): Routes =>
  routes('timeseries', contract.timeseries, {
    get: onRecord(
      ({ actor, params }) => findMetricDefinition(world, actor, params.metricDefinitionId),
      ({ actor, record, query, signal }) =>
        measureDefinition(world, actor, { queries: record.queries, formulas: record.formulas ?? undefined }, query, signal),
    ),
    search: ({ actor, body, signal }) => searchTimeseries(world, actor, body, signal),
  })
