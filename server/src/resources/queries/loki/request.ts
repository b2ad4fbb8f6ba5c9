import type { RequestHead } from '../../../http/raw-handler.ts'
import { recordSearch } from '../../data/event-queries/event-queries.ts'
import type { LokiCaller } from './loki-query.ts'
import type { LokiParameters } from './parameters.ts'

/** One read of the protocol. `segments` are the variable parts of the path. */
export type LokiRequest = LokiCaller & {
  readonly startedMs: number
  readonly parameters: LokiParameters
  readonly head: RequestHead
  readonly segments: readonly string[]
}

/** Counts the read as a search of its caller and returns its duration. */
export const recordRead = ({ world, actor, cost, startedMs }: LokiRequest): number =>
  recordSearch(world, actor, { datasets: [...cost.datasets.values()], bytes: cost.bytes, startedMs })
