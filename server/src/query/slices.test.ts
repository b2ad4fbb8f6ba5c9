import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sliceOf, sliceStartMs } from './slices.ts'

test('ten parts of a second begin every hundred milliseconds', () => {
  const second = { fromMs: 1_000, toMs: 2_000 }
  expect(Array.from({ length: 10 }, (_, index) => sliceStartMs(second, 10, index))).toEqual([
    1_000, 1_100, 1_200, 1_300, 1_400, 1_500, 1_600, 1_700, 1_800, 1_900,
  ])
  expect([1_000, 1_099, 1_100, 1_999].map((ms) => sliceOf(second, 10, ms))).toEqual([0, 0, 1, 9])
})

test('for any range and number of slices, every millisecond is in the slice with the latest start not after it', () => {
  const instant = fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 8_640_000_000_000_000 }))
  fc.assert(
    fc.property(
      instant,
      fc.integer({ min: 1, max: 5_000_000_000 }),
      fc.integer({ min: 1, max: 1_440 }),
      fc.nat(),
      (fromMs, span, count, at) => {
        const range = { fromMs, toMs: fromMs + span }
        const ms = fromMs + (at % span)
        const slice = sliceOf(range, count, ms)
        expect(slice).toBeGreaterThanOrEqual(0)
        expect(slice).toBeLessThan(count)
        expect(sliceStartMs(range, count, slice)).toBeLessThanOrEqual(ms)
        expect(sliceStartMs(range, count, slice + 1)).toBeGreaterThan(ms)
        expect([sliceStartMs(range, count, 0), sliceStartMs(range, count, count)]).toEqual([fromMs, range.toMs])
      },
    ),
    { numRuns: 2_000 },
  )
})
