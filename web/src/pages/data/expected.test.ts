import { expect, test } from 'vitest'
import { expectedEvery } from './expected.ts'

test.each([
  ['every hour', [0, 5, 3, 2, 8, 0, 0], '1 hour'],
  ['with pauses of two hours', [1, 0, 1, 0, 1, 0, 0, 0], '2 hours'],
  ['with a pause of five hours', [1, 1, 0, 0, 0, 0, 1], '6 hours'],
  ['once a day', [1, ...Array(23).fill(0), 1, ...Array(23).fill(0), 1], '1 day'],
  ['with a pause over a day', [1, 1, ...Array(30).fill(0), 1], undefined],
  ['too rarely to know', [0, 4, 0, 4], undefined],
  ['never', [0, 0, 0], undefined],
])('events that arrive %s are expected every…', (_, counts, every) => expect(expectedEvery(counts)).toBe(every))
