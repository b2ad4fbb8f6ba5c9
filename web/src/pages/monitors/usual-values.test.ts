import { expect, test } from 'vitest'
import { beyondUsual } from './usual-values.ts'

test.each([
  ['ABOVE', 0, [3, null, 812, 40], { outermost: 812, threshold: 1_100 }],
  ['ABOVE_OR_EQUAL', 5, [0.02, 7], { outermost: 7, threshold: 8.8 }],
  ['ABOVE', 0, [0.004], { outermost: 0.004, threshold: 0.005 }],
  ['ABOVE', -20, [-10, -12], { outermost: -10, threshold: -8 }],
  ['BELOW', 100, [90, 40], { outermost: 40, threshold: 32 }],
  ['BELOW_OR_EQUAL', 0, [-4, 8], { outermost: -4, threshold: -5 }],
] as const)('%s %d over %j suggests a threshold that none of them crosses', (operator, threshold, values, wanted) => {
  expect(beyondUsual(operator, threshold, values)).toEqual(wanted)
})

test.each([
  ['ABOVE', 1_000, [3, 812]],
  ['BELOW', 10, [40]],
  ['EQUAL', 0, [1]],
  ['OUTSIDE', 3, [1]],
  ['ABOVE', 0, []],
  ['ABOVE', 0, [null, Number.POSITIVE_INFINITY]],
  ['ABOVE', 0, [0]],
] as const)('%s %d over %j suggests nothing', (operator, threshold, values) => {
  expect(beyondUsual(operator, threshold, values)).toBeUndefined()
})
