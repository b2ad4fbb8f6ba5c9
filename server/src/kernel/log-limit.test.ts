import { expect, test } from 'vitest'
import { LogLimit } from './log-limit.ts'

test('the first messages of a kind are written and the others counted, separately for each kind', () => {
  const limit = new LogLimit({ burst: 2, windowMs: 60_000 })
  const skipped: [string, number][] = []
  const note = (kind: string) => limit.note(kind, (count) => skipped.push([kind, count]))
  expect(Array.from({ length: 1_000 }, () => note('away')).slice(0, 4)).toEqual([0, 1, undefined, undefined])
  expect(note('other')).toBe(0)
  expect(skipped).toEqual([])
  limit.flush()
  expect(skipped).toEqual([['away', 998]])
  expect(note('away')).toBe(0)
})

test('the count is written at the end of the window', async () => {
  const limit = new LogLimit({ burst: 1, windowMs: 20 })
  const counted = Promise.withResolvers<number>()
  for (let lines = 0; lines < 5; lines += 1) limit.note('away', counted.resolve)
  expect(await counted.promise).toBe(4)
})

test('kinds without end share a count', () => {
  const limit = new LogLimit({ burst: 1, windowMs: 60_000 })
  const written = Array.from({ length: 10_000 }, (_, index) => limit.note(String(index), () => undefined)).filter((found) => found === 0)
  expect(written).toHaveLength(1_001)
})
