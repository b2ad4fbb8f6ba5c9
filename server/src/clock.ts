import { setTimeout as sleep } from 'node:timers/promises'

/** A Clock tells wall time for records and monotonic time for durations; tests bring their own. */
export type Clock = {
  nowMs(): number
  monotonicMs(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal ? { signal } : {}),
}
