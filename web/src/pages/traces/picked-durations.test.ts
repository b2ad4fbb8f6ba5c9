import { expect, test } from 'vitest'
import { between, durationsOf, pickedSteps, type Step, stepAt } from './picked-durations.ts'

const steps: Step[] = [
  { from_nano: 0, to_nano: 1_000, spans: 1, errors: 0 },
  { from_nano: 1_000, to_nano: 2_000, spans: 1, errors: 0 },
  { from_nano: 2_000, to_nano: 5_000, spans: 1, errors: 0 },
  { from_nano: 5_000, spans: 1, errors: 0 },
]

test.each([
  [
    { first: 1, last: 2 },
    { min: '1000ns', max: '4999ns' },
  ],
  [
    { first: 0, last: 0 },
    { min: undefined, max: '999ns' },
  ],
  [
    { first: 3, last: 3 },
    { min: '5000ns', max: undefined },
  ],
])('%s is a selection of durations, and back', (picked, durations) => {
  expect(durationsOf(steps, picked)).toEqual(durations)
  expect(pickedSteps(steps, durations.min, durations.max)).toEqual(picked)
})

test('a selection that covers a part of a step shows the step, and one beyond all shows none', () => {
  expect(pickedSteps(steps, '1500ns', '3us')).toEqual({ first: 1, last: 2 })
  expect(pickedSteps(steps.slice(0, 2), '1s', undefined)).toEqual({ first: -1, last: -1 })
  expect(pickedSteps(steps, undefined, undefined)).toBeUndefined()
})

test('a drag goes in both directions, and ends at the edges', () => {
  expect(between(3, 1)).toEqual({ first: 1, last: 3 })
  expect([-5, 0, 49, 50, 99, 300].map((place) => stepAt(4, place, 100))).toEqual([0, 0, 1, 2, 3, 3])
})
