import type { BodyOf, contract } from '@dendro/api'
import type { Filter } from '@dendro/language/tree'
import type { Actor } from '../../../http/actor.ts'
import { badField, badRequest } from '../../../kernel/errors.ts'
import { boundsOf, rangeFieldsIn } from '../../../query/bounds.ts'
import { parseAll } from '../../../query/parse-all.ts'
import { parseFilter } from '../../../query/query.ts'
import type { EventQuery } from '../../../reading/query.ts'
import type { World } from '../../../world.ts'
import { type DatasetRow, datasetSelectionOf, selectedDatasets } from '../../data/datasets/datasets.ts'
import { and, buildEventQuery } from '../../data/event-queries/event-queries.ts'

type SearchDetails = BodyOf<typeof contract.patterns.find>['search_details']
type PatternRange = { readonly datasets: readonly DatasetRow[]; readonly eventQuery: EventQuery; readonly startedMs: number }

const DEFAULT_RANGE = 'last 1 day'

/** Reads the source, filter and time range of a request for patterns. */
export async function patternRange(
  world: World,
  actor: Actor,
  ask: SearchDetails,
  signal: AbortSignal,
  narrower: Filter = { kind: 'all' },
): Promise<PatternRange> {
  if (ask.from?.length && ask.from_expr?.trim()) {
    throw badRequest('from and from_expr exclude each other', {
      errors: [{ field: 'search_details.from_expr', code: 'CONFLICT', message: 'excludes from' }],
    })
  }
  if (!ask.from?.length && !ask.from_expr?.trim()) throw badField('search_details.from', 'or from_expr is required', 'MISSING_SOURCE')
  const { filter, bounds, choose } = parseAll({
    filter: () => parseFilter(ask.where ?? '', 'search_details.where').filter,
    bounds: () => boundsOf(ask, world.clock.nowMs(), DEFAULT_RANGE, rangeFieldsIn('search_details')),
    choose: () => datasetSelectionOf(ask, 'search_details'),
  })
  const startedMs = world.clock.monotonicMs()
  const datasets = await selectedDatasets(world, actor, choose)
  const eventQuery = await buildEventQuery(world, actor, { datasets, filter: and(filter, narrower), bounds, signal })
  return { datasets, eventQuery, startedMs }
}
