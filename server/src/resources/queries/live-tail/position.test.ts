import { expect, test } from 'vitest'
import { seqAt } from '../../../events/writer/seq.ts'
import {
  advanced,
  decodePosition,
  encodePosition,
  firstPosition,
  isNew,
  isWorthKeeping,
  knownBy,
  readBackMs,
  WINDOW_MS,
} from './position.ts'

const nowMs = Date.UTC(2026, 5, 1)
const seqs = (count: number, fromMs = nowMs): bigint[] => Array.from({ length: count }, (_, at) => seqAt(fromMs) + BigInt(at * 7))

test('a position comes back as it was written, and what another version wrote is not believed', () => {
  const known = new Set(['0191', 'ffffffff', '00000000'].map(knownBy))
  const position = advanced(firstPosition(nowMs), { given: seqs(1_000), waiting: undefined, known, nowMs })
  const bytes = encodePosition(position)
  expect(bytes.length).toBeLessThan(1_100)
  const read = decodePosition(bytes)
  expect({ ...read, shown: [...(read?.shown ?? [])] }).toEqual({ ...position, shown: [...position.shown] })
  expect(read?.shown.size).toBe(1_000)
  bytes[0] = 2
  expect(decodePosition(bytes)).toBeUndefined()
})

test('what was shown is never new again, what was not stays new while it waits, and the floor never sinks', () => {
  const [one = 0n, two = 0n, three = 0n] = seqs(3)
  const known = new Set<number>()
  const first = advanced(firstPosition(nowMs), { given: [one, three], waiting: two, known, nowMs })
  expect([one, two, three].map((seq) => isNew(first, seq))).toEqual([false, true, false])
  const later = nowMs + 10 * WINDOW_MS
  const waiting = advanced(first, { given: [], waiting: two, known, nowMs: later })
  expect([one, two, three].map((seq) => isNew(waiting, seq))).toEqual([false, true, false])
  expect(readBackMs(waiting)).toBeLessThanOrEqual(nowMs)
  const done = advanced(waiting, { given: [two], waiting: undefined, known, nowMs: later })
  expect([one, two, three].map((seq) => isNew(done, seq))).toEqual([false, false, false])
  expect(done.shown.size).toBe(0)
  const back = advanced(done, { given: [], waiting: undefined, known, nowMs })
  expect(back.floor).toBe(done.floor)
})

test('a position is bounded, and what it gives up is not shown again either', () => {
  const many = seqs(30_000)
  const position = advanced(firstPosition(nowMs), { given: many, waiting: undefined, known: new Set(), nowMs })
  expect(position.shown.size).toBe(20_000)
  expect(many.some((seq) => isNew(position, seq))).toBe(false)
})

test('a position after which nothing was given is worth keeping when the datasets are others, or it has grown old', () => {
  const first = firstPosition(nowMs)
  const none = { given: [], waiting: undefined, known: first.known }
  expect(isWorthKeeping(first, advanced(first, { ...none, nowMs: nowMs + 1_000 }))).toBe(false)
  expect(isWorthKeeping(first, advanced(first, { ...none, nowMs: nowMs + WINDOW_MS }))).toBe(true)
  expect(isWorthKeeping(first, advanced(first, { ...none, known: new Set([1]), nowMs }))).toBe(true)
})
