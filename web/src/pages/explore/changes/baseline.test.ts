import { expect, test } from 'vitest'
import { baselineName, baselineOf } from './baseline.ts'

const MINUTE = 60_000
const at = (from: number, to: number) => ({ fromMs: from * MINUTE, toMs: to * MINUTE })
const whole = at(10_000_000, 10_000_060)

test.each([
  ['before', at(10_000_030, 10_000_035), at(10_000_000, 10_000_030), 'the 30 min before'],
  ['before', at(10_000_002, 10_000_032), at(9_999_972, 10_000_002), 'the 30 min before'],
  ['before', whole, at(9_999_940, 10_000_000), 'the 1 h before'],
  ['before', at(0, 10), { fromMs: 0, toMs: 0 }, 'the 0 ms before'],
  ['rest', at(10_000_030, 10_000_035), whole, 'the rest of the range'],
  ['day', whole, at(9_998_560, 9_998_620), 'a day earlier'],
  ['week', whole, at(9_989_920, 9_989_980), 'a week earlier'],
] as const)('%s of %o is %o: %s', (baseline, selected, expected, name) => {
  expect(baselineOf(baseline, selected, whole)).toEqual(expected)
  expect(baselineName(baseline, selected, whole)).toBe(name)
})
