import { expect, test } from 'vitest'
import { seqAt } from '../../../events/writer/seq.ts'
import {
  advanced,
  datasetKeyOf,
  decodePosition,
  encodePosition,
  firstPosition,
  isNew,
  mustBeStored,
  readBackMs,
  WINDOW_MS,
} from './position.ts'

const nowMs = Date.UTC(2026, 5, 1)
const seqs = (count: number, fromMs = nowMs): bigint[] => Array.from({ length: count }, (_, at) => seqAt(fromMs) + BigInt(at * 7))

test('a position is decoded as it was encoded, and the encoding of another version is ignored', () => {
  const known = new Set(['0191', 'ffffffff', '00000000'].map(datasetKeyOf))
  const position = advanced(firstPosition(nowMs), { returned: seqs(1_000), waiting: undefined, known, nowMs })
  const bytes = encodePosition(position)
  expect(bytes.length).toBeLessThan(1_100)
  const read = decodePosition(bytes)
  expect({ ...read, shown: [...(read?.shown ?? [])] }).toEqual({ ...position, shown: [...position.shown] })
  expect(read?.shown.size).toBe(1_000)
  bytes[0] = 2
  expect(decodePosition(bytes)).toBeUndefined()
})

test('a shown event is never new again, an event that was not shown stays new while it waits, and the floor never falls', () => {
  const [one = 0n, two = 0n, three = 0n] = seqs(3)
  const known = new Set<number>()
  const first = advanced(firstPosition(nowMs), { returned: [one, three], waiting: two, known, nowMs })
  expect([one, two, three].map((seq) => isNew(first, seq))).toEqual([false, true, false])
  const later = nowMs + 10 * WINDOW_MS
  const waiting = advanced(first, { returned: [], waiting: two, known, nowMs: later })
  expect([one, two, three].map((seq) => isNew(waiting, seq))).toEqual([false, true, false])
  expect(readBackMs(waiting)).toBeLessThanOrEqual(nowMs)
  const done = advanced(waiting, { returned: [two], waiting: undefined, known, nowMs: later })
  expect([one, two, three].map((seq) => isNew(done, seq))).toEqual([false, false, false])
  expect(done.shown.size).toBe(0)
  const back = advanced(done, { returned: [], waiting: undefined, known, nowMs })
  expect(back.floor).toBe(done.floor)
})

test('a position is bounded, and events that it drops are not shown again', () => {
  const many = seqs(30_000)
  const position = advanced(firstPosition(nowMs), { returned: many, waiting: undefined, known: new Set(), nowMs })
  expect(position.shown.size).toBe(20_000)
  expect(many.some((seq) => isNew(position, seq))).toBe(false)
})

test('a position without new events is stored when its datasets changed or it has become old', () => {
  const first = firstPosition(nowMs)
  const none = { returned: [], waiting: undefined, known: first.known }
  expect(mustBeStored(first, advanced(first, { ...none, nowMs: nowMs + 1_000 }))).toBe(false)
  expect(mustBeStored(first, advanced(first, { ...none, nowMs: nowMs + WINDOW_MS }))).toBe(true)
  expect(mustBeStored(first, advanced(first, { ...none, known: new Set([1]), nowMs }))).toBe(true)
})
