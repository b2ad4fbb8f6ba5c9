import type { NotificationTarget } from '../integrations/integrations.ts'
import type { DeliveryOutcome } from './channels.ts'
import type { TryResult } from './rows.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The delay after each failed try; then `lasting` repeats at an interval until the notification reaches an age. */
type RetrySchedule = { readonly waitsMs: readonly number[]; readonly lasting?: { readonly everyMs: number; readonly untilMs: number } }

const quick: RetrySchedule = { waitsMs: [1_000, 10_000, 60_000] }
const schedules: Readonly<Record<NotificationTarget['type'], RetrySchedule>> = {
  WEBHOOK: quick,
  SLACK: quick,
  // A failing relay delays the mails of all users and usually recovers.
  EMAIL: { waitsMs: [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS], lasting: { everyMs: HOUR_MS, untilMs: DAY_MS } },
}

export type DeliveryTry = {
  readonly type: NotificationTarget['type']
  readonly attempt: number
  readonly timeMs: number
  readonly nowMs: number
}

/** Decides what follows from a try: sent, failed for good, or a retry and when. */
export function resultOfTry(outcome: DeliveryOutcome, { type, attempt, timeMs, nowMs }: DeliveryTry): TryResult {
  const tried = { at: nowMs, status: outcome.status, failure: outcome.kind === 'sent' ? undefined : outcome.reason }
  if (outcome.kind === 'sent') return { state: 'SENT', failure_reason: null, next_try_at: null, tried }
  const waitMs = outcome.kind === 'again' ? waitAfter(schedules[type], attempt, nowMs - timeMs) : undefined
  if (outcome.kind === 'failed' || waitMs === undefined) {
    const tries = attempt > 1 ? `, after ${attempt} tries` : ''
    return { state: 'FAILED', failure_reason: `${outcome.reason}${tries}`, next_try_at: null, tried }
  }
  const dueMs = nowMs + Math.max(waitMs, outcome.retryAfterMs ?? 0)
  return { state: 'IN_PROGRESS', failure_reason: outcome.reason, next_try_at: dueMs, tried }
}

function waitAfter({ waitsMs, lasting }: RetrySchedule, attempt: number, ageMs: number): number | undefined {
  const waitMs = waitsMs[attempt - 1]
  if (waitMs !== undefined) return waitMs
  return lasting && ageMs + lasting.everyMs <= lasting.untilMs ? lasting.everyMs : undefined
}
