import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from '../../../parts/shell/client.ts'
import { type Groups, measureGroups } from '../groups/groups.ts'
import { countPatterns, mergePatterns, type Pattern } from '../patterns/patterns.ts'
import type { ExploreQuery } from '../query/explore-query.ts'
import { type Bars, countBars } from './bars.ts'
import { type Comparison, earlierRange, shiftOf } from './compare.ts'

/** Counts the bars of the compared period. The shift is a multiple of the step, so that the bars match one to one. */
export function useEarlierBars(query: ExploreQuery, bars: Bars | undefined, comparison: Comparison | undefined) {
  const client = useClient()
  const start = bars?.bars[0]?.fromMs
  const barGrid = bars && { start, stepMs: bars.stepMs, slices: bars.bars.length, lengthMs: bars.lengthMs }
  return useQuery({
    queryKey: ['earlier bars', query.datasets, query.where, barGrid, comparison],
    enabled: comparison !== undefined && start !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Bars | undefined> => {
      if (!barGrid || start === undefined || comparison === undefined) return undefined
      const { stepMs, slices } = barGrid
      const shiftMs = Math.max(1, Math.round(shiftOf(comparison, barGrid.lengthMs) / stepMs)) * stepMs
      const grid = { fromMs: start - shiftMs, toMs: start - shiftMs + slices * stepMs, stepMs, slices }
      return countBars(client, query, grid, signal)
    },
  })
}

/** Counts the patterns of the compared period, by id. */
export function useEarlierPatterns(query: ExploreQuery, comparison: Comparison | undefined, isOn: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['earlier patterns', query.datasets, query.where, query.range, query.refreshCount, comparison],
    enabled: isOn && comparison !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, Pattern>> => {
      const rows = await countPatterns(client, { ...query, range: earlierRange(query.range, comparison ?? 'previous', Date.now()) }, signal)
      return new Map(mergePatterns(rows).map((one) => [one.id, one]))
    },
  })
}

/** Measures the same groups in the compared period. */
export function useEarlierGroups(
  query: ExploreQuery,
  by: readonly string[],
  measure: string,
  now: Groups | undefined,
  comparison?: Comparison,
) {
  const client = useClient()
  const grid = now && { fromMs: now.fromMs, toMs: now.fromMs + now.slices * now.stepMs, stepMs: now.stepMs, slices: now.slices }
  return useQuery({
    queryKey: ['earlier groups', query.datasets, query.where, grid, by, measure, comparison],
    enabled: comparison !== undefined && grid !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Groups | undefined> => {
      if (!grid || !now || comparison === undefined) return undefined
      const { stepMs } = grid
      const shiftMs = Math.max(1, Math.round(shiftOf(comparison, now.lengthMs) / stepMs)) * stepMs
      const earlier = { ...grid, fromMs: grid.fromMs - shiftMs, toMs: grid.toMs - shiftMs }
      return measureGroups(client, query, { by, measure, grid: earlier, lengthMs: now.lengthMs }, signal)
    },
  })
}
