/** The states of a dataset by the age of its newest event: `waiting` before the first one. */
export const datasetFlows = ['receiving', 'quiet', 'silent', 'waiting'] as const
export type DatasetFlow = (typeof datasetFlows)[number]

const MINUTE_MS = 60_000
const RECEIVING_MS = 5 * MINUTE_MS
const QUIET_MS = 24 * 60 * MINUTE_MS

export function flowOf(lastMs: number | undefined, nowMs: number): DatasetFlow {
  if (lastMs === undefined) return 'waiting'
  if (nowMs - lastMs < RECEIVING_MS) return 'receiving'
  return nowMs - lastMs < QUIET_MS ? 'quiet' : 'silent'
}
