import { expect, test } from 'vitest'
import { type ConnectionTimes, overdue, timesAfter, timesAfterPause } from './connection-times.ts'

const bounds = { messageMs: 60_000, idleMs: 1_800_000 }

/** The times after bytes arrived every ten seconds, of which each left this message incomplete. */
function arriving(numbers: readonly (number | undefined)[]): { times: ConnectionTimes; nowMs: number } {
  let times = timesAfter(undefined, undefined, 0)
  for (const [index, number] of numbers.entries()) {
    times = timesAfter(times, number === undefined ? undefined : { number, bytes: 5 }, index * 10_000)
  }
  return { times, nowMs: (numbers.length - 1) * 10_000 }
}

test('a message that does not become complete is too slow, however often bytes of it arrive', () => {
  const { times, nowMs } = arriving([1, 1, 1, 1, 1, 1, 1, 1])
  expect(overdue(times, bounds, nowMs)).toBe('too_slow')
})

test('a sender whose messages become complete is not too slow, although its packets never end with one', () => {
  const { times, nowMs } = arriving([1, 2, 3, 4, 5, 6, 7, 8, 9])
  expect(overdue(times, bounds, nowMs)).toBe(undefined)
  expect(overdue(times, bounds, nowMs + 60_001)).toBe('too_slow')
})

test('time in which a connection is not read counts neither as slow nor as idle', () => {
  const { times, nowMs } = arriving([1, 1])
  const readAgain = timesAfterPause(times, nowMs + bounds.idleMs)
  expect(overdue(readAgain, bounds, nowMs + bounds.idleMs + 60_000)).toBe(undefined)
  expect(overdue(readAgain, bounds, nowMs + bounds.idleMs + 60_001)).toBe('too_slow')
})

test('a connection between messages is closed only when it is idle', () => {
  const { times, nowMs } = arriving([1, undefined])
  expect(overdue(times, bounds, nowMs + bounds.idleMs)).toBe(undefined)
  expect(overdue(times, bounds, nowMs + bounds.idleMs + 1)).toBe('idle')
})
