import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

export type Repetition = {
  clock: Clock
  log: Logger
  /** Ends the repetition. */
  signal: AbortSignal
  /** Whether the first run comes at once or after one interval. */
  first: 'now' | 'later'
  /** The log message for a failed run. */
  failed: string
  level?: 'debug' | 'warn'
}

/**
 * Runs the work at an interval until the signal ends, and resolves once the last run has ended. Runs never overlap. A failed run is logged
 * and does not end the repetition.
 */
export async function every(
  intervalMs: number,
  { clock, log, signal, first, failed, level = 'warn' }: Repetition,
  work: () => Promise<unknown>,
): Promise<void> {
  const pause = (): Promise<void> => clock.sleep(intervalMs, signal).catch(() => undefined)
  if (first === 'later') await pause()
  while (!signal.aborted) {
    await work().catch((err) => signal.aborted || log[level]({ err }, failed))
    await pause()
  }
}
