import { setTimeout as sleep } from 'node:timers/promises'

/** A ClockReport says how far wall time can be relied on. */
export type ClockReport = {
  /** problem is a sentence while the clocks that this process knows disagree. */
  problem: string | undefined
  /** lastStep is the last time that wall time was set: `atMs` is the new time, `byMs` how far it moved. */
  lastStep: { atMs: number; byMs: number } | undefined
}

/** A Clock tells wall time for records and monotonic time for durations; tests bring their own. */
export type Clock = {
  nowMs(): number
  monotonicMs(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** report is there when something watches the clock (guarded-clock.ts). */
  report?(): ClockReport
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
}
