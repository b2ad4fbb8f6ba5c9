import type { EventStore } from '../store/events.ts'
import { pendingSpans, removeCancelled, rollSpan, UNIT_MS } from './rollup-rows.ts'

const DAY_MS = 86_400_000
/** MINUTES_MS and HOURS_MS are how long the ledger tells minutes, and then hours, apart; whole days of UTC change together. */
const MINUTES_MS = 3 * DAY_MS
const HOURS_MS = 90 * DAY_MS

/** rolledBefore are the times before which the ledger counts by whole hours and by whole days, once it has been rolled up. */
export const rolledBefore = (nowMs: number): { hoursMs: number; daysMs: number } => ({
  hoursMs: Math.floor((nowMs - MINUTES_MS) / DAY_MS) * DAY_MS,
  daysMs: Math.floor((nowMs - HOURS_MS) / DAY_MS) * DAY_MS,
})

/** unitAt is how finely the ledger counts at a time, at least. */
export function unitAt(ms: number, nowMs: number): number {
  const { hoursMs, daysMs } = rolledBefore(nowMs)
  if (ms < daysMs) return UNIT_MS.day
  return ms < hoursMs ? UNIT_MS.hour : UNIT_MS.minute
}

/**
 * rollUp puts the minutes of old days together to hours, and the hours of older ones to days, without a sum ever changing: what they become is
 * written at once with what cancels the rows that it came from. What comes for such a day afterwards is put together the next time. It gives
 * back how many rows were put together.
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
