import { setTimeout as sleep } from 'node:timers/promises'

/** How reliable wall time is at the moment. */
export type ClockReport = {
  /** Describes a disagreement between clocks, if there is one. */
  problem: string | undefined
  /** The last adjustment of wall time: `atMs` is the new time, `byMs` the distance. */
  lastStep: { atMs: number; byMs: number } | undefined
}

/** Wall time for records, monotonic time for durations. Tests inject their own clock. */
export type Clock = {
  nowMs(): number
  monotonicMs(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Exists on guarded clocks only (guarded-clock.ts). */
  report?(): ClockReport
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
}
