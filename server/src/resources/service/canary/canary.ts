import type { Meter } from '../../../http/measure.ts'
import { keptReading } from '../../../kernel/kept-reading.ts'
import type { World } from '../../../world.ts'
import type { HealthChecks } from '../health/health.ts'
import { type CanaryRow, selectCanary } from './rows.ts'

export { isCanaryFound } from './find.ts'
export { saveCanary } from './rows.ts'

/** How long an event may take until a search finds it. */
export const FOUND_WITHIN_MS = 30_000
/** Without an event for this long, no process writes any. */
const SILENT_MS = 300_000
const READ_EVERY_MS = 5_000

/** What health and metrics say about the event that is written and searched each minute. */
export type CanaryWatch = {
  last(): Promise<CanaryRow | undefined>
  problems(): Promise<string[]>
}

/** Reads the state of the canary at most once in five seconds, and only where it is on. */
export function openCanaryWatch(
  { deployment, clock, meta, log }: Pick<World, 'deployment' | 'clock' | 'meta' | 'log'>,
  meter: Meter,
): CanaryWatch {
  const startedMs = clock.monotonicMs()
  const read = keptReading(READ_EVERY_MS, clock, () =>
    selectCanary(meta).catch((err) => {
      log.debug({ err }, 'the state of the canary could not be read')
      return undefined
    }),
  )
  const last = async () => (deployment.isCanaryOn ? read() : undefined)
  const each = (figureOf: (row: CanaryRow) => number | null) => async () => {
    const row = await last()
    const value = row && figureOf(row)
    return value === undefined || value === null ? [] : [{ labels: {}, value }]
  }
  meter.gauges(
    'dendro_canary_found_seconds',
    'Time from writing the event of each minute until a search found it; of the last one that was found',
    [],
    each(({ found_ms }) => found_ms && found_ms / 1_000),
  )
  meter.gauges(
    'dendro_canary_age_seconds',
    'Time since the last event was written that a search found',
    [],
    each(({ found_at }) => found_at && (clock.nowMs() - found_at) / 1_000),
  )
  return {
    last,
    problems: async () => {
      const row = await last()
      const problem = row && canaryProblem(row, { nowMs: clock.nowMs(), runningMs: clock.monotonicMs() - startedMs })
      return problem === undefined ? [] : [problem]
    },
  }
}

/** What is wrong. A process that has just started does not know yet whether events are written again. */
export function canaryProblem(
  { sent_at, failure }: CanaryRow,
  { nowMs, runningMs }: { nowMs: number; runningMs: number },
): string | undefined {
  const silentMs = nowMs - sent_at
  if (silentMs > SILENT_MS && runningMs > SILENT_MS) {
    return `no event was written and searched for ${Math.round(silentMs / 1_000)} s; a process with the role work does so each minute`
  }
  return failure === null ? undefined : `the event of the last minute ${failure}`
}

/** Adds an event that is not found to the problems of the service. */
export const withCanary = (health: HealthChecks, watch: CanaryWatch): HealthChecks => ({
  ...health,
  problems: async () => [...(await health.problems()), ...(await watch.problems())],
})
