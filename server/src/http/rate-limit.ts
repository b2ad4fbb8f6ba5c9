import type { Clock } from '../kernel/clock.ts'
import { Failure } from '../kernel/errors.ts'

export type RateLimit = {
  requests: number
  windowMs: number
  enforced: boolean /** Separates the counts of two rules. */
  scope?: string
}

/** How many times more requests a sender of events may make than other callers. */
const SENDER_FACTOR = 10

/** The rate limit for sending events: larger, and counted separately. */
export const senderRule = (rule: RateLimit): RateLimit => ({ ...rule, requests: rule.requests * SENDER_FACTOR, scope: 'events' })

/** Counts the grants of all processes together and never exceeds the limit. */
export type WindowStore = {
  take(ask: { subject: string; windowStartMs: number; take: number; limit: number }): Promise<{ granted: number; used: number }>
  giveBack(ask: { subject: string; windowStartMs: number; count: number }): Promise<void>
}

export type Quota = { limit: number; remaining: number; resetS: number; granted: boolean }

/** The failure of a request beyond the limit. */
export const quotaExceeded = ({ limit, resetS }: Quota): Failure =>
  new Failure(429, `more than ${limit} requests in this window; try again in ${resetS} s`, { headers: { 'retry-after': String(resetS) } })

type Lease = {
  windowStartMs: number
  unused: number
  /** Counts the grants of all processes in this window, including our unused ones. */
  used: number
  refilling: Promise<void> | undefined
  touchedMs: number
  /** Until then the window is known to be spent, and the store is not called again. */
  spentUntilMs: number
}

const SUBJECTS_MAX = 10_000
/** A lease takes at most this share of the rest, so that the last requests of a window are counted one by one. */
const LEASE_SHARE = 200
const LEASE_MAX = 1_000
const IDLE_MS = 1_000
/** Other processes may return grants, so a spent window is checked again after this time. */
const SPENT_MS = 250

/**
 * Counts requests per credential in fixed windows. Processes take small leases from the shared store and count inside them, so that a
 * request rarely costs a round trip; unused leases go back after a second of silence.
 */
export class RateLimiter {
  readonly #rule: RateLimit
  readonly #store: WindowStore
  readonly #clock: Clock
  readonly #leases = new Map<string, Lease>()

  constructor(rule: RateLimit, store: WindowStore, clock: Clock) {
    this.#rule = rule
    this.#store = store
    this.#clock = clock
  }

  /** Counts a request of the caller: from the lease at once, or through the store. */
  take(caller: string): Quota | Promise<Quota> {
    const { requests, windowMs, enforced, scope: of } = this.#rule
    const nowMs = this.#clock.nowMs()
    const windowStartMs = nowMs - (nowMs % windowMs)
    const resetS = Math.max(1, Math.ceil((windowStartMs + windowMs - nowMs) / 1000))
    if (!enforced) return { limit: requests, remaining: requests, resetS, granted: true }
    const subject = of === undefined ? caller : `${caller}/${of}`
    const lease = this.#leaseOf(subject, windowStartMs)
    lease.touchedMs = nowMs
    if (lease.unused > 0) return this.#grant(lease, resetS)
    if (nowMs < lease.spentUntilMs) return this.#refuse(resetS)
    return this.#takeOfStore(subject, lease, resetS)
  }

  async #takeOfStore(subject: string, lease: Lease, resetS: number): Promise<Quota> {
    while (lease.unused === 0) {
      lease.refilling ??= this.#refill(subject, lease).finally(() => {
        lease.refilling = undefined
      })
      await lease.refilling
      if (lease.unused === 0 && lease.spentUntilMs > 0) return this.#refuse(resetS)
    }
    return this.#grant(lease, resetS)
  }

  #grant(lease: Lease, resetS: number): Quota {
    const { requests } = this.#rule
    lease.unused -= 1
    return { limit: requests, remaining: Math.max(0, requests - lease.used + lease.unused), resetS, granted: true }
  }

  #refuse(resetS: number): Quota {
    return { limit: this.#rule.requests, remaining: 0, resetS, granted: false }
  }

  /** Returns unused grants of idle credentials. It runs on a timer and at stop. */
  async giveBackIdle(idleMs = IDLE_MS): Promise<void> {
    const nowMs = this.#clock.nowMs()
    for (const [subject, lease] of this.#leases) {
      if (nowMs - lease.touchedMs < idleMs || lease.refilling) continue
      this.#leases.delete(subject)
      const current = nowMs - lease.windowStartMs < this.#rule.windowMs
      if (current && lease.unused > 0) await this.#store.giveBack({ subject, windowStartMs: lease.windowStartMs, count: lease.unused })
    }
  }

  #leaseOf(subject: string, windowStartMs: number): Lease {
    const known = this.#leases.get(subject)
    if (known && known.windowStartMs === windowStartMs) return known
    if (this.#leases.size >= SUBJECTS_MAX) this.#leases.clear()
    const fresh: Lease = { windowStartMs, unused: 0, used: 0, refilling: undefined, touchedMs: 0, spentUntilMs: 0 }
    this.#leases.set(subject, fresh)
    return fresh
  }

  async #refill(subject: string, lease: Lease): Promise<void> {
    const take = Math.max(1, Math.min(LEASE_MAX, Math.floor((this.#rule.requests - lease.used) / LEASE_SHARE)))
    const taken = await this.#store
      .take({ subject, windowStartMs: lease.windowStartMs, take, limit: this.#rule.requests })
      // While the store is down, each process grants leases itself: serving requests matters more than exact counts.
      .catch(() => ({ granted: take, used: lease.used }))
    lease.unused += taken.granted
    lease.used = taken.used
    if (taken.granted === 0) lease.spentUntilMs = this.#clock.nowMs() + SPENT_MS
  }
}
