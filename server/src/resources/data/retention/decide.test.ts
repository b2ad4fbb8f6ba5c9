import { Retention } from '@dendro/api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ClockReport } from '../../../kernel/clock.ts'
import {
  type ClockReading,
  DAY_MS,
  daysOf,
  effectiveRetention,
  expiredBeforeDay,
  JUMP_MS,
  nextRemoval,
  type RetentionRules,
  readClock,
  retentionCutoffMs,
  STEADY_MS,
} from './decide.ts'

const MINUTE_MS = 60_000
const NOON = Date.UTC(2026, 10, 21, 12)

describe('the most specific rule wins', () => {
  const rules = (given: Partial<RetentionRules> = {}): RetentionRules => ({
    collections: new Map([['shop', 'DAYS_90']]),
    organisation: 'DAYS_180',
    deploymentDays: 7,
    ...given,
  })
  test.each([
    ['its own', { collection: 'shop', retention: 'DAYS_30' as const }, rules(), { days: 30, by: 'LOG' }],
    ['its collection', { collection: 'shop', retention: null }, rules(), { days: 90, by: 'LOG_SET' }],
    ['its organization', { collection: 'lab', retention: null }, rules(), { days: 180, by: 'ORGANISATION' }],
    ['the deployment', { collection: 'lab', retention: null }, rules({ organisation: undefined }), { days: 7, by: 'DEPLOYMENT' }],
    [
      'nothing',
      { collection: 'lab', retention: null },
      rules({ organisation: undefined, deploymentDays: undefined }),
      { days: undefined, by: 'DEPLOYMENT' },
    ],
    [
      'none for the audit trail',
      { collection: '.audit-trail', retention: 'DAYS_30' as const },
      rules(),
      { days: undefined, by: 'DEPLOYMENT' },
    ],
  ])('%s', (_, dataset, all, expected) => expect(effectiveRetention(dataset, all)).toEqual(expected))

  test('every retention of the contract is the number of days it names', () => {
    expect(Retention.options.map((name) => `DAYS_${daysOf[name]}`)).toEqual(Retention.options)
  })
})

test('removed events were already hidden, and visible events are never removed', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4e12 }),
      fc.constantFrom(1, 30, 365, 730),
      fc.integer({ min: -1e12, max: 4e12 }),
      (nowMs, days, ms) => {
        const cutoffMs = retentionCutoffMs({ days }, nowMs) ?? Number.NEGATIVE_INFINITY
        const isRemoved = ms < expiredBeforeDay(cutoffMs) * DAY_MS
        const isFound = ms >= cutoffMs
        expect(isRemoved && isFound).toBe(false)
        // An event that is a day older than the cutoff has gone with its day.
        if (ms < cutoffMs - DAY_MS) expect(isRemoved).toBe(true)
      },
    ),
  )
})

test('the foretold removal comes true at its moment and not a millisecond before', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 4e12 }), fc.constantFrom(1, 30, 365, 730), (oldestMs, days) => {
      const next = nextRemoval(oldestMs, { days })
      if (!next) throw new Error('an age that ends was taken for one that does not')
      const goesAt = (nowMs: number) => oldestMs < expiredBeforeDay(retentionCutoffMs({ days }, nowMs) ?? 0) * DAY_MS
      expect([goesAt(next.atMs - 1), goesAt(next.atMs)]).toEqual([false, true])
      expect(next.beforeMs).toBe(expiredBeforeDay(retentionCutoffMs({ days }, next.atMs) ?? 0) * DAY_MS)
    }),
  )
})

test('a dataset that is kept forever has no cutoff and no next removal', () => {
  expect([retentionCutoffMs({ days: undefined }, NOON), nextRemoval(NOON, { days: undefined })]).toEqual([undefined, undefined])
})

describe('the clock is trusted', () => {
  /** Reads the clock once a minute while the given steps move it. */
  function readings(steps: readonly number[], start: ClockReading | undefined = undefined): boolean[] {
    let nowMs = NOON
    let before = start
    return steps.map((stepMs) => {
      nowMs += stepMs
      const { reading, isTrusted } = readClock(before, nowMs)
      before = reading
      return isTrusted
    })
  }
  const minutes = (count: number) => Array.from({ length: count }, () => MINUTE_MS)

  test('never at first, and always after two steady hours', () => {
    expect(readings(minutes(121)).indexOf(true)).toBe(STEADY_MS / MINUTE_MS)
  })

  test('also after a stop of a day, since then it need not have jumped', () => {
    expect(readings([...minutes(121), JUMP_MS]).at(-1)).toBe(true)
  })

  test('not after a jump of more than a day forward, until it has gone on for a tenth of that', () => {
    const seen = readings([...minutes(121), 30 * DAY_MS, ...minutes(3 * 1_440)])
    expect([seen[120], seen[121], seen[121 + 120], seen[121 + 3 * 1_440 - 1], seen[121 + 3 * 1_440]]).toEqual([
      true,
      false,
      false,
      false,
      true,
    ])
  })

  test('after a jump of decades for a week, so that a clock that is wrong for hours removes nothing', () => {
    const seen = readings([...minutes(121), 24 * 365 * DAY_MS, ...minutes(7 * 1_440)])
    expect(seen.slice(121).indexOf(true)).toBe(7 * 1_440)
  })

  test('not while clocks disagree, and not within two hours after one was set', () => {
    const steady = { seenMs: 0, steadySinceMs: -STEADY_MS }
    const trusted = (report: ClockReport) => readClock(steady, MINUTE_MS, report)
    const fine = { problem: undefined, lastStep: undefined }
    expect(trusted(fine).isTrusted).toBe(true)
    expect(trusted({ ...fine, problem: 'the system clock is 7200 s ahead' }).isTrusted).toBe(false)
    expect(trusted({ ...fine, lastStep: { atMs: 1, byMs: 60_000 } })).toMatchObject({
      isTrusted: false,
      reading: { steadySinceMs: MINUTE_MS },
    })
    expect(trusted({ ...fine, lastStep: { atMs: -1, byMs: 60_000 } }).isTrusted).toBe(true)
  })

  test('not after a jump that is set right: nothing is removed at any time of it', () => {
    const seen = readings([...minutes(121), 400 * DAY_MS, ...minutes(90), -400 * DAY_MS, ...minutes(119)])
    expect(seen.slice(121)).not.toContain(true)
  })

  test('not after it went back by more than a minute', () => {
    expect(readings([...minutes(130), -30_000, -90_000]).slice(-3)).toEqual([true, true, false])
  })

  test('never within two hours after a jump of the clock', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant(MINUTE_MS), fc.integer({ min: -500 * DAY_MS, max: 500 * DAY_MS })), { maxLength: 300 }),
        (steps) => {
          const seen = readings(steps)
          seen.forEach((isTrusted, index) => {
            if (!isTrusted) return
            let passedMs = 0
            for (let back = index; passedMs < STEADY_MS; back -= 1) {
              const stepMs = steps[back] ?? Number.NaN
              expect(stepMs <= JUMP_MS && stepMs >= -MINUTE_MS && back > 0).toBe(true)
              passedMs += stepMs
            }
          })
        },
      ),
    )
  })
})
