import { uptime } from 'node:os'
import { type Clock, type ClockReport, systemClock } from './clock.ts'
import type { Logger } from './log.ts'

/** Larger jumps of the system clock against monotonic time count as a step; time synchronization stays far below. */
export const STEP_MS = 10_000
/** How long a new system time must last before it is accepted without confirmation. */
export const CONFIRM_MS = 300_000
/** How long a reading of the reference clock is valid. */
const REFERENCE_FRESH_MS = 60_000
/** Slower readings are too imprecise. */
const ROUND_TRIP_MAX_MS = 2_000

/** A clock that keeps wall time steady through short errors of the system clock. */
export type GuardedClock = Clock & {
  report(): ClockReport
  /** Records a reading of a reference clock, such as the database's, that took `roundTripMs`. */
  observe(referenceMs: number, roundTripMs: number): void
}

/** The known facts when system clock and monotonic time disagree. All times are differences from steady time. */
export type ClockStep = {
  systemMs: number
  /** The age of the difference. */
  ageMs: number
  /** The time the machine was suspended, which monotonic time does not count. */
  suspendedMs: number
  /** Undefined without a fresh reading. */
  referenceMs: number | undefined
  /** False when the reference clock stepped as well: it may run on the same machine. */
  isReferenceSteady: boolean
}

export type ClockStepDecision = 'keep' | 'system' | 'reference' | 'resume'

const isSame = (aMs: number, bMs: number): boolean => Math.abs(aMs - bMs) <= STEP_MS

/**
 * Decides which time to follow. A reference that agrees with steady time outvotes the system clock. A reference that agrees with the system clock, and
 * did not step itself, confirms it. Without a reference the new time must last.
 */
export function decideStep({ systemMs, ageMs, suspendedMs, referenceMs, isReferenceSteady }: ClockStep): ClockStepDecision {
  if (suspendedMs > STEP_MS && isSame(systemMs, suspendedMs)) return 'resume'
  if (referenceMs !== undefined && isSame(referenceMs, 0)) return 'keep'
  if (referenceMs !== undefined && isSame(referenceMs, systemMs) && isReferenceSteady) return 'system'
  if (ageMs < CONFIRM_MS) return 'keep'
  return referenceMs === undefined || isSame(referenceMs, systemMs) ? 'system' : 'reference'
}

type Reference = { offsetMs: number; steadySinceMs: number; readAtMs: number }

/**
 * Wraps the system clock and follows a step only when it is confirmed, so that a briefly wrong clock schedules, expires and deletes nothing. `awakeMs`
 * also counts suspended time, where the platform has such a clock.
 */
export function guardClock(base: Clock, { log, awakeMs }: { log: Logger; awakeMs?: (() => number) | undefined }): GuardedClock {
  const elapsedMs = awakeMs ?? base.monotonicMs
  let offsetMs = base.nowMs() - base.monotonicMs()
  let suspendedBeforeMs = elapsedMs() - base.monotonicMs()
  let pending: { driftMs: number; sinceMs: number } | undefined
  let reference: Reference | undefined
  let lastStep: ClockReport['lastStep']
  let isReferenceOff = false

  const fresh = (monotonicMs: number): Reference | undefined =>
    reference && monotonicMs - reference.readAtMs <= REFERENCE_FRESH_MS ? reference : undefined

  function follow(systemMs: number, monotonicMs: number): void {
    offsetMs = systemMs - monotonicMs
    suspendedBeforeMs = elapsedMs() - monotonicMs
    pending = undefined
  }

  function nowMs(): number {
    const monotonicMs = base.monotonicMs()
    const systemMs = base.nowMs()
    // Wall time is whole milliseconds, as the system clock gives it.
    const steadyMs = Math.round(offsetMs + monotonicMs)
    const driftMs = systemMs - steadyMs
    if (isSame(driftMs, 0)) {
      if (pending) log.info({ was_off_by_ms: Math.round(pending.driftMs) }, 'the system clock is right again')
      // Only the wall clock is followed here: reading the uptime is a system call, and this runs for every request.
      offsetMs = systemMs - monotonicMs
      pending = undefined
      return systemMs
    }
    return stepped({ systemMs, monotonicMs, steadyMs, driftMs })
  }

  type Found = { systemMs: number; monotonicMs: number; steadyMs: number; driftMs: number }

  function stepped({ systemMs, monotonicMs, steadyMs, driftMs }: Found): number {
    const isNew = !pending || !isSame(pending.driftMs, driftMs)
    if (isNew) pending = { driftMs, sinceMs: monotonicMs }
    const known = fresh(monotonicMs)
    const decision = decideStep({
      systemMs: driftMs,
      ageMs: monotonicMs - (pending?.sinceMs ?? monotonicMs),
      suspendedMs: elapsedMs() - monotonicMs - suspendedBeforeMs,
      referenceMs: known && known.offsetMs - offsetMs,
      isReferenceSteady: known !== undefined && monotonicMs - known.steadySinceMs >= CONFIRM_MS,
    })
    const byMs = Math.round(driftMs)
    if (decision === 'keep') {
      if (isNew) log.warn({ off_by_ms: byMs }, 'the system clock was set; the previous time continues until the new one is confirmed')
      return steadyMs
    }
    if (decision === 'reference' && known) {
      const referenceNowMs = Math.round(known.offsetMs + monotonicMs)
      step(referenceNowMs, referenceNowMs - steadyMs)
      offsetMs = known.offsetMs
      log.error({ off_by_ms: byMs }, 'the system clock is wrong; the time of the database is used')
      return referenceNowMs
    }
    if (decision === 'resume') log.info({ suspended_ms: byMs }, 'the machine was suspended')
    else {
      step(systemMs, driftMs)
      log.warn({ by_ms: byMs }, 'the new time of the system clock is used from now on')
    }
    follow(systemMs, monotonicMs)
    return systemMs
  }

  function step(atMs: number, byMs: number): void {
    lastStep = { atMs, byMs }
  }

  function observe(referenceMs: number, roundTripMs: number): void {
    if (roundTripMs > ROUND_TRIP_MAX_MS) return
    const monotonicMs = base.monotonicMs()
    const seenMs = referenceMs + roundTripMs / 2 - monotonicMs
    const isFirst = reference === undefined
    const isSteady = reference !== undefined && isSame(reference.offsetMs, seenMs)
    reference = {
      offsetMs: seenMs,
      steadySinceMs: isSteady ? (reference?.steadySinceMs ?? monotonicMs) : monotonicMs,
      readAtMs: monotonicMs,
    }
    const steadyMs = nowMs()
    const offMs = seenMs + monotonicMs - steadyMs
    const isOff = !isSame(offMs, 0)
    if (isFirst && isOff) {
      // Nothing is known about either clock yet. All processes share the database, so its time keeps them together.
      offsetMs = seenMs
      log.error(
        { off_by_ms: Math.round(-offMs) },
        'the system clock and the clock of the database differ; the time of the database is used',
      )
    } else if (isOff && !isReferenceOff)
      log.warn({ off_by_ms: Math.round(offMs) }, 'the clock of the database differs from the system clock')
    isReferenceOff = isOff && !isFirst
  }

  function problem(): string | undefined {
    const steadyMs = nowMs()
    if (pending)
      return `the system clock is ${inWords(pending.driftMs)}; the service continues with the previous time until the new time is confirmed`
    const known = fresh(base.monotonicMs())
    const offMs = known ? known.offsetMs + base.monotonicMs() - steadyMs : 0
    return isSame(offMs, 0) ? undefined : `the clock of the metadata store is ${inWords(offMs)} against the system clock`
  }

  return { nowMs, monotonicMs: base.monotonicMs, sleep: base.sleep, observe, report: () => ({ problem: problem(), lastStep }) }
}

/** The clock of a running service. Only Linux has an uptime that counts suspensions and is never set. */
export const guardSystemClock = (log: Logger): GuardedClock =>
  guardClock(systemClock, { log, awakeMs: process.platform === 'linux' ? () => uptime() * 1_000 : undefined })

export const isGuarded = (clock: Clock): clock is GuardedClock => 'observe' in clock

const inWords = (ms: number): string => `${Math.round(Math.abs(ms) / 1_000)} s ${ms > 0 ? 'ahead' : 'behind'}`
