import { describe, expect, test } from 'vitest'
import type { Clock } from './clock.ts'
import { type ClockStep, CONFIRM_MS, decideStep, guardClock } from './guarded-clock.ts'
import { openLogger } from './log.ts'

const HOUR_MS = 3_600_000
const START_MS = Date.UTC(2026, 10, 22, 12)

/** A machine whose clocks a test controls: `pass` advances time, `set` sets the system clock, `suspend` stops monotonic time. */
function movable() {
  let [wallMs, monotonicMs, uptimeMs] = [START_MS, 5_000, 5_000]
  const base: Clock = { nowMs: () => wallMs, monotonicMs: () => monotonicMs, sleep: async () => undefined }
  const clock = guardClock(base, { log: openLogger('silent'), awakeMs: () => uptimeMs })
  return {
    clock,
    pass(ms: number) {
      wallMs += ms
      monotonicMs += ms
      uptimeMs += ms
      return clock.nowMs()
    },
    set(byMs: number) {
      wallMs += byMs
      return clock.nowMs()
    },
    suspend(ms: number) {
      wallMs += ms
      uptimeMs += ms
      return clock.nowMs()
    },
    reference: (aheadMs = 0) => clock.observe(START_MS + (monotonicMs - 5_000) + aheadMs, 4),
    wallMs: () => wallMs,
  }
}

describe('the system clock', () => {
  test('is followed through small corrections', () => {
    const { pass, set, wallMs, clock } = movable()
    pass(60_000)
    set(-3_000)
    expect(pass(60_000)).toBe(wallMs())
    expect(set(9_000)).toBe(wallMs())
    expect(clock.report()).toEqual({ problem: undefined, lastStep: undefined })
  })

  test.each([
    ['2 h ahead for 66 s', 2 * HOUR_MS, 66_000],
    ['25 h ahead for 5 s', 25 * HOUR_MS, 5_000],
    ['15 min behind for 2 min', -HOUR_MS / 4, 120_000],
  ])('that is %s changes no time', (_, byMs, forMs) => {
    const { clock, pass, set } = movable()
    expect(set(byMs)).toBe(START_MS)
    expect(clock.report().problem).toMatch(/^the system clock is \d+ s (ahead|behind)/)
    expect(pass(forMs)).toBe(START_MS + forMs)
    expect(set(-byMs)).toBe(START_MS + forMs)
    expect(clock.report()).toEqual({ problem: undefined, lastStep: undefined })
  })

  test('is accepted when its new time lasts', () => {
    const { clock, pass, set, wallMs } = movable()
    set(2 * HOUR_MS)
    expect(pass(CONFIRM_MS - 1)).toBe(START_MS + CONFIRM_MS - 1)
    expect(pass(1)).toBe(wallMs())
    expect(clock.report()).toEqual({ problem: undefined, lastStep: { atMs: wallMs(), byMs: 2 * HOUR_MS } })
  })

  test('that is set again must be confirmed again', () => {
    const { pass, set, wallMs } = movable()
    set(2 * HOUR_MS)
    pass(CONFIRM_MS - 1)
    set(HOUR_MS)
    expect(pass(CONFIRM_MS - 1)).toBe(START_MS + 2 * CONFIRM_MS - 2)
    expect(pass(1)).toBe(wallMs())
  })

  test('is followed at once after the machine was suspended', () => {
    const { clock, pass, suspend, wallMs } = movable()
    pass(60_000)
    expect(suspend(8 * HOUR_MS)).toBe(wallMs())
    expect(clock.report()).toEqual({ problem: undefined, lastStep: undefined })
  })
})

describe('the clock of the database', () => {
  test('that agrees with the time before keeps a step out for as long as it lasts', () => {
    const { clock, pass, set, reference } = movable()
    reference()
    set(2 * HOUR_MS)
    for (let minutes = 0; minutes < 30; minutes += 1) {
      pass(60_000)
      reference()
    }
    expect(clock.nowMs()).toBe(START_MS + 30 * 60_000)
    expect(clock.report().problem).toMatch('7200 s ahead')
  })

  test('decides at the start, so that processes agree, and a system clock that is then set right is followed', () => {
    const { clock, set, reference, wallMs } = movable()
    reference(-2 * HOUR_MS)
    expect(Math.abs(clock.nowMs() - (START_MS - 2 * HOUR_MS))).toBeLessThan(10)
    expect(clock.report().problem).toMatch('7200 s ahead')
    expect(set(-2 * HOUR_MS)).toBe(wallMs())
    expect(clock.report().problem).toBeUndefined()
  })

  test('that is wrong itself is reported and not followed', () => {
    const { clock, pass, reference, wallMs } = movable()
    reference()
    pass(60_000)
    reference(HOUR_MS)
    expect(clock.nowMs()).toBe(wallMs())
    expect(clock.report().problem).toMatch('the clock of the metadata store is 3600 s ahead')
  })
})

test('wall time is whole milliseconds, also where monotonic time is not', () => {
  let [wallMs, monotonicMs] = [START_MS, 5_000.25]
  const clock = guardClock(
    { nowMs: () => wallMs, monotonicMs: () => monotonicMs, sleep: async () => undefined },
    { log: openLogger('silent') },
  )
  wallMs += HOUR_MS
  monotonicMs += 0.3
  expect(clock.nowMs()).toBe(START_MS)
  clock.observe(START_MS + 0.5, 1.3)
  expect(Number.isInteger(clock.nowMs())).toBe(true)
})

describe('a step', () => {
  const step: ClockStep = { systemMs: HOUR_MS, ageMs: 0, suspendedMs: 0, referenceMs: undefined, isReferenceSteady: false }
  test.each<[string, Partial<ClockStep>, string]>([
    ['that is new waits', {}, 'keep'],
    ['that lasts is followed', { ageMs: CONFIRM_MS }, 'system'],
    ['that a steady reference confirms is followed at once', { referenceMs: HOUR_MS, isReferenceSteady: true }, 'system'],
    ['that a reference on the same machine makes too waits', { referenceMs: HOUR_MS }, 'keep'],
    ['that a reference denies is never followed', { referenceMs: 0, isReferenceSteady: true, ageMs: 10 * CONFIRM_MS }, 'keep'],
    ['where all three differ ends with the time of the reference', { referenceMs: -HOUR_MS, ageMs: CONFIRM_MS }, 'reference'],
    ['as long as a suspension is that', { suspendedMs: HOUR_MS }, 'resume'],
  ])('%s', (_, more, decision) => {
    expect(decideStep({ ...step, ...more })).toBe(decision)
  })
})
