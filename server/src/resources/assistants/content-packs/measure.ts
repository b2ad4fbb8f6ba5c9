import type { ContentPackWidget, MetricFormula, MetricQuery } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { Failure } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { searchTimeseries } from '../../queries/timeseries/timeseries.ts'

const GROUPS_MAX = 100

type MeasuredPart = { readonly queries: MetricQuery[]; readonly formulas: MetricFormula[] }
type PartValues = Pick<ContentPackWidget, 'values' | 'failure'>

/** Returns what the queries of a widget or monitor give in the range. A query beyond the caller's budget is reported, not thrown. */
export const measurePart =
  (world: World, actor: Actor, natural: string, signal: AbortSignal) =>
  async ({ queries, formulas }: MeasuredPart): Promise<PartValues> => {
    const request = { queries, formulas, time_range: { natural }, num_of_slices: 1, limit: GROUPS_MAX }
    try {
      const found = await searchTimeseries(world, actor, request, signal)
      const shown = Object.values(found).map(({ name, aggregates, series, groups_series }) => ({
        name,
        value: aggregates[0]?.value ?? null,
        events: series.reduce((sum, { count }) => sum + Number(count), 0),
        groups: groups_series.length,
      }))
      return { values: shown }
    } catch (thrown) {
      signal.throwIfAborted()
      if (!(thrown instanceof Failure) || thrown.status === 400 || thrown.status >= 500) throw thrown
      return { values: [], failure: thrown.message }
    }
  }
