import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createIdempotencyMemory } from './idempotency-memory.ts'

const HOUR_MS = 3_600_000

test('it is a map, also for colliding keys', () => {
  const key = fc.oneof(
    fc.bigInt(0n, 2n ** 64n - 1n),
    fc.bigInt(0n, 50n),
    fc.bigInt(0n, 50n).map((n) => n * 2n ** 32n + 5n),
  )
  const pair = fc.tuple(key, fc.bigInt(1n, 2n ** 64n - 1n))
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 3_000 }), (pairs) => {
      const memory = createIdempotencyMemory({ keepMs: HOUR_MS, keysMax: 1_000_000, nowMs: () => 0 })
      const truth = new Map<bigint, bigint>()
      for (const [name, value] of pairs) {
        memory.set(name, value)
        truth.set(name, value)
      }
      for (const [name, value] of truth) expect(memory.get(name)).toBe(value)
      expect(memory.size()).toBe(truth.size)
    }),
    { numRuns: 50 },
  )
})

test('a key is kept for its time and not for much longer, and a later value wins', () => {
  let nowMs = 0
  const memory = createIdempotencyMemory({ keepMs: HOUR_MS, keysMax: 1_000_000, nowMs: () => nowMs })
  const setAt = new Map<bigint, number>()
  for (let key = 1n; key < 2_000n; key += 1n) {
    nowMs += HOUR_MS / 400
    memory.set(key, key)
    setAt.set(key, nowMs)
    const kept = [...setAt].map(([old, ms]) => ({ ageMs: nowMs - ms, kept: memory.get(old) === old }))
    expect(kept.filter((each) => (each.kept ? each.ageMs > 1.3 * HOUR_MS : each.ageMs <= HOUR_MS))).toEqual([])
  }
  memory.set(1_999n, 5n)
  nowMs += HOUR_MS / 9
  memory.set(1_999n, 6n)
  expect(memory.get(1_999n)).toBe(6n)
  expect(memory.completeSinceMs()).toBe(Number.NEGATIVE_INFINITY)
})

test('beyond its limit the memory drops the oldest keys, and reports since when it is complete', () => {
  let nowMs = 0
  const memory = createIdempotencyMemory({ keepMs: HOUR_MS, keysMax: 1_000, nowMs: () => nowMs })
  const setAt: number[] = []
  for (let key = 0; key < 10_000; key += 1) {
    nowMs += 1
    memory.set(BigInt(key), 1n)
    setAt.push(nowMs)
    expect(memory.size()).toBeLessThanOrEqual(1_100)
  }
  expect(memory.completeSinceMs()).toBeGreaterThan(8_000)
  for (const [key, ms] of setAt.entries()) if (ms > memory.completeSinceMs()) expect(memory.get(BigInt(key))).toBe(1n)
  memory.forgot()
  expect(memory.completeSinceMs()).toBe(nowMs)
})

test('it refuses the value 0', () => {
  expect(() => createIdempotencyMemory({ keepMs: 1, keysMax: 1, nowMs: () => 0 }).set(1n, 0n)).toThrow('0 cannot be remembered')
})
