import { expect, test } from 'vitest'
import { keptReading } from './kept-reading.ts'

test('a reading is shared for its time, also when it fails, and is then read again', async () => {
  let nowMs = 0
  let reads = 0
  const read = keptReading(5_000, { monotonicMs: () => nowMs }, async () => {
    reads += 1
    if (reads === 2) throw new Error('away')
    return reads
  })
  expect([await read(), await read()]).toEqual([1, 1])
  nowMs = 5_000
  expect(await read()).toBe(1)
  nowMs = 5_001
  for (let again = 0; again < 2; again += 1) await expect(read()).rejects.toThrow('away')
  nowMs = 10_002
  expect([await read(), reads]).toEqual([3, 3])
})
