import type { EventStore } from '../store/events.ts'
import { pendingSpans, removeCancelled, rollSpan, UNIT_MS } from './rollup-rows.ts'

const DAY_MS = 86_400_000
/** How long the ledger keeps minutes, and then hours. Whole UTC days change together. */
const MINUTES_MS = 3 * DAY_MS
const HOURS_MS = 90 * DAY_MS

/** The times before which the ledger counts by whole hours and by whole days, once it is rolled up. */
export const rolledBefore = (nowMs: number): { hoursMs: number; daysMs: number } => ({
  hoursMs: Math.floor((nowMs - MINUTES_MS) / DAY_MS) * DAY_MS,
  daysMs: Math.floor((nowMs - HOURS_MS) / DAY_MS) * DAY_MS,
})

/** The resolution of the ledger at a time. */
export function unitAt(ms: number, nowMs: number): number {
  const { hoursMs, daysMs } = rolledBefore(nowMs)
  if (ms < daysMs) return UNIT_MS.day
  return ms < hoursMs ? UNIT_MS.hour : UNIT_MS.minute
}

/**
 * Rolls the minutes of old days up to hours, and the hours of older days up to days. Sums never change: a sum is written together with the
 * rows that cancel its parts. Later counts of such a day are rolled up the next time. Returns the number of rows rolled up.
 */
export async function rollUp(store: EventStore, nowMs: number, signal: AbortSignal): Promise<number> {
  const spans = await pendingSpans(store, rolledBefore(nowMs))
  for (const span of spans) {
    signal.throwIfAborted()
    await rollSpan(store, span)
  }
  for (const month of new Set(spans.map((span) => span.month))) await removeCancelled(store, month, signal)
  return spans.reduce((sum, { rows }) => sum + rows, 0)
}
