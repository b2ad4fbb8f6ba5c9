import type { Target } from '../integrations/integrations.ts'
import type { Outcome } from './channels.ts'
import type { Settled } from './rows.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A Patience is how long after each try in vain the next one comes; `lasting` repeats at that distance until so long after the notification. */
type Patience = { readonly waitsMs: readonly number[]; readonly lasting?: { readonly everyMs: number; readonly untilMs: number } }

const quick: Patience = { waitsMs: [1_000, 10_000, 60_000] }
const patiences: Readonly<Record<Target['type'], Patience>> = {
  WEBHOOK: quick,
  SLACK: quick,
  // A relay that is down holds the mails of everybody, and comes back.
  EMAIL: { waitsMs: [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, HOUR_MS], lasting: { everyMs: HOUR_MS, untilMs: DAY_MS } },
}

export type Tried = { readonly type: Target['type']; readonly attempt: number; readonly timeMs: number; readonly nowMs: number }

/** settledBy decides what follows from a try: it is sent, it failed for good, or it comes again and when. */
export function settledBy(outcome: Outcome, { type, attempt, timeMs, nowMs }: Tried): Settled {
  const tried = { at: nowMs, status: outcome.status, failure: outcome.kind === 'sent' ? undefined : outcome.reason }
  if (outcome.kind === 'sent') return { state: 'SENT', failure_reason: null, next_try_at: null, tried }
  const waitMs = outcome.kind === 'again' ? waitAfter(patiences[type], attempt, nowMs - timeMs) : undefined
  if (outcome.kind === 'failed' || waitMs === undefined) {
    const tries = attempt > 1 ? `, after ${attempt} tries` : ''
    return { state: 'FAILED', failure_reason: `${outcome.reason}${tries}`, next_try_at: null, tried }
  }
  const dueMs = nowMs + Math.max(waitMs, outcome.retryAfterMs ?? 0)
  return { state: 'IN_PROGRESS', failure_reason: outcome.reason, next_try_at: dueMs, tried }
}

function waitAfter({ waitsMs, lasting }: Patience, attempt: number, ageMs: number): number | undefined {
  const waitMs = waitsMs[attempt - 1]
  if (waitMs !== undefined) return waitMs
  return lasting && ageMs + lasting.everyMs <= lasting.untilMs ? lasting.everyMs : undefined
}
