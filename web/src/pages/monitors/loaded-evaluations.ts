import type { MonitorEvaluation } from '@dendro/api'

/** LOOKS_MAX are as many as the service tells at once. */
export const LOOKS_MAX = 1_000

/** LooksKept are the looks that were read, newest first; isEnd says that there are no older ones. */
export type LooksKept = { looks: readonly MonitorEvaluation[]; isEnd: boolean }

/** withLatest puts the latest looks before those that were read earlier, unless there would be a gap between them. */
export function withLatest(kept: LooksKept | undefined, latest: readonly MonitorEvaluation[]): LooksKept {
  const isEnd = latest.length < LOOKS_MAX
  const oldest = latest.at(-1)
  if (isEnd || !kept || !oldest || !kept.looks.some(({ time }) => time >= oldest.time)) return { looks: latest, isEnd }
  return { looks: [...latest, ...kept.looks.filter(({ time }) => time < oldest.time)], isEnd: kept.isEnd }
}

/** withOlder puts looks behind those that are there. */
export function withOlder({ looks }: LooksKept, older: readonly MonitorEvaluation[]): LooksKept {
  const oldestMs = looks.at(-1)?.time ?? Number.POSITIVE_INFINITY
  return { looks: [...looks, ...older.filter(({ time }) => time < oldestMs)], isEnd: older.length < LOOKS_MAX }
}
