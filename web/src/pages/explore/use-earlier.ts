import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useClient } from '../../parts/client.ts'
import { boundsOf, type Range } from '../../parts/time-range.ts'
import { type Comparison, shiftOf } from './compare.ts'
import { type Groups, measureGroups } from './groups.ts'
import { countPatterns, mergePatterns, type Pattern } from './patterns.ts'
import { type Bars, countBars, type Question } from './questions.ts'

/** useEarlierBars counts the same bars a while before; the shift is whole steps, so that each bar has its like. */
export function useEarlierBars(question: Question, bars: Bars | undefined, against: Comparison | undefined) {
  const client = useClient()
  const start = bars?.bars[0]?.fromMs
  const shape = bars && { start, stepMs: bars.stepMs, slices: bars.bars.length, lengthMs: bars.lengthMs }
  return useQuery({
    queryKey: ['earlier bars', question.datasets, question.where, shape, against],
    enabled: against !== undefined && start !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Bars | undefined> => {
      if (!shape || start === undefined || against === undefined) return undefined
      const { stepMs, slices } = shape
      const shiftMs = Math.max(1, Math.round(shiftOf(against, shape.lengthMs) / stepMs)) * stepMs
      const grid = { fromMs: start - shiftMs, toMs: start - shiftMs + slices * stepMs, stepMs, slices }
      return countBars(client, question, grid, signal)
    },
  })
}

/** useEarlierPatterns counts the patterns a while before, by their ids. */
export function useEarlierPatterns(question: Question, against: Comparison | undefined, isOn: boolean) {
  const client = useClient()
  return useQuery({
    queryKey: ['earlier patterns', question.datasets, question.where, question.range, question.turn, against],
    enabled: isOn && against !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, Pattern>> => {
      const found = await countPatterns(client, { ...question, range: earlierRange(question.range, against ?? 'previous') }, signal)
      return new Map(mergePatterns(found).map((one) => [one.id, one]))
    },
  })
}

/** useEarlierGroups measures the same groups a while before, in the same steps. */
export function useEarlierGroups(
  question: Question,
  by: readonly string[],
  measure: string,
  now: Groups | undefined,
  against?: Comparison,
) {
  const client = useClient()
  const grid = now && { fromMs: now.fromMs, toMs: now.fromMs + now.slices * now.stepMs, stepMs: now.stepMs, slices: now.slices }
  return useQuery({
    queryKey: ['earlier groups', question.datasets, question.where, grid, by, measure, against],
    enabled: against !== undefined && grid !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Groups | undefined> => {
      if (!grid || !now || against === undefined) return undefined
      const { stepMs } = grid
      const shiftMs = Math.max(1, Math.round(shiftOf(against, now.lengthMs) / stepMs)) * stepMs
      const earlier = { ...grid, fromMs: grid.fromMs - shiftMs, toMs: grid.toMs - shiftMs }
      return measureGroups(client, question, { by, measure, grid: earlier, lengthMs: now.lengthMs }, signal)
    },
  })
}

function earlierRange(range: Range, against: Comparison): Range {
  const { fromMs, toMs } = boundsOf(range, Date.now())
  const shiftMs = shiftOf(against, toMs - fromMs)
  return { fromMs: Math.max(0, fromMs - shiftMs), toMs: Math.max(1, toMs - shiftMs) }
}
