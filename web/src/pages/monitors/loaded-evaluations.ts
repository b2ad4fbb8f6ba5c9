import type { MonitorEvaluation } from '@dendro/api'

/** The page size of the API. */
export const EVALUATIONS_MAX = 1_000

/** LoadedEvaluations are newest first; isEnd means that no older ones exist. */
export type LoadedEvaluations = { evaluations: readonly MonitorEvaluation[]; isEnd: boolean }

/** withLatest prepends the latest evaluations, or replaces all when there would be a gap. */
export function withLatest(kept: LoadedEvaluations | undefined, latest: readonly MonitorEvaluation[]): LoadedEvaluations {
  const isEnd = latest.length < EVALUATIONS_MAX
  const oldest = latest.at(-1)
  if (isEnd || !kept || !oldest || !kept.evaluations.some(({ time }) => time >= oldest.time)) return { evaluations: latest, isEnd }
  return { evaluations: [...latest, ...kept.evaluations.filter(({ time }) => time < oldest.time)], isEnd: kept.isEnd }
}

/** withOlder appends older evaluations. */
export function withOlder({ evaluations }: LoadedEvaluations, older: readonly MonitorEvaluation[]): LoadedEvaluations {
  const oldestMs = evaluations.at(-1)?.time ?? Number.POSITIVE_INFINITY
  return { evaluations: [...evaluations, ...older.filter(({ time }) => time < oldestMs)], isEnd: older.length < EVALUATIONS_MAX }
}
