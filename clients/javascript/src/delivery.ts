/** What to do with a batch after an attempt to send it. */
export type AttemptOutcome =
  | { readonly kind: 'stored' }
  | { readonly kind: 'retry'; readonly error: string; readonly afterMs?: number }
  /** The body is too large: its halves may fit. */
  | { readonly kind: 'split' }
  /** No retry can help. */
  | { readonly kind: 'refused'; readonly error: string }

const BACKOFF_MS = 500
const BACKOFF_MAX_MS = 30_000
/** A longer Retry-After is cut: the service may be back earlier, and another attempt costs little. */
const RETRY_AFTER_MAX_MS = 300_000
const REFUSALS: readonly number[] = [400, 405, 415, 422]

/**
 * Decides by the status of a response. Failures of credentials and unknown paths are retried, because a key may be repaired while the queue keeps
 * the events.
 */
export function outcomeOf(status: number, retryAfter: string | null, nowMs: number, text = ''): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'stored' }
  if (status === 413) return { kind: 'split' }
  const error = `the service answered ${status}${text === '' ? '' : `: ${text.slice(0, 500)}`}`
  if (REFUSALS.includes(status)) return { kind: 'refused', error }
  const afterMs = retryAfterMs(retryAfter, nowMs)
  return afterMs === undefined ? { kind: 'retry', error } : { kind: 'retry', error, afterMs }
}

/** Reads Retry-After, which is a number of seconds or a date. */
function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined
  const seconds = Number(header)
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - nowMs
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), RETRY_AFTER_MAX_MS) : undefined
}

/** The pause before attempt `attempt + 1`: it doubles, and half of it is random, so that senders spread. A Retry-After is a minimum. */
export function pauseMs(attempt: number, random: number, afterMs = 0): number {
  const full = Math.min(BACKOFF_MS * 2 ** Math.min(attempt - 1, 10), BACKOFF_MAX_MS)
  return afterMs + full / 2 + (full / 2) * random
}
