import { expect, test } from 'vitest'
import { sampleReads, sampleSize } from './sample-plan.ts'

test('few events are all sampled, a rare dataset keeps a share of its own', () => {
  expect(sampleSize(500, 500)).toBe(500)
  expect(sampleSize(900_000, 1_000_000)).toBe(461)
  expect(sampleSize(100, 1_000_000)).toBe(48)
  expect(sampleSize(3, 1_000_000)).toBe(3)
})

test('a range is read in parts with equally many events, whatever their distribution', () => {
  const bounds = { fromMs: 0, toMs: 1_000 }
  const even = sampleReads(bounds, [20, 20, 20, 20], 64)
  expect(even).toEqual([
    { bounds: { fromMs: 0, toMs: 500 }, limit: 32 },
    { bounds: { fromMs: 500, toMs: 1_000 }, limit: 32 },
  ])
  // Nine of ten events lie in the last quarter, and so do nine of ten parts.
  const late = sampleReads(bounds, [100, 0, 0, 900], 320)
  expect(late.map(({ bounds: { fromMs } }) => fromMs >= 750)).toEqual([false, ...Array(9).fill(true)])
  expect(late.reduce((sum, { limit }) => sum + limit, 0)).toBe(320)
  expect(sampleReads(bounds, [1, 0, 0, 2], 3)).toEqual([{ bounds, limit: 3 }])
})

test('events of one moment are sampled as many as those that are spread', () => {
  const bounds = { fromMs: 7, toMs: 8 }
  expect(sampleReads(bounds, [0, 800, 0, 0], 512)).toEqual([{ bounds, limit: 512 }])
  const half = sampleReads({ fromMs: 0, toMs: 1_000 }, [400, 0, 0, 400], 128)
  expect(half.reduce((sum, { limit }) => sum + limit, 0)).toBe(128)
  const last = sampleReads({ fromMs: 0, toMs: 2 }, [1, 999], 128)
  expect(last.reduce((sum, { limit }) => sum + limit, 0)).toBe(128)
})
