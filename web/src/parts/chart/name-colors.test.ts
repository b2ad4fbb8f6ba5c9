import { expect, test } from 'vitest'
import { assignColors, type NameColors, PALETTE, repeatsOf } from './name-colors.ts'

function colored(charts: readonly (readonly string[])[]): Record<string, number> {
  const colors: NameColors = new Map()
  for (const names of charts) assignColors(colors, names)
  return Object.fromEntries(colors)
}

const regions = ['eu', 'us', 'asia', 'moon', 'mars', 'africa', 'north', 'south']

test('the names of a chart have different colors, in any order the same', () => {
  const own = colored([regions])
  expect(new Set(Object.values(own)).size).toBe(regions.length)
  expect(colored([regions.toReversed()])).toEqual(own)
})

test('a name keeps its color in another chart, whatever names are there', () => {
  const own = colored([regions])
  const mixed = colored([regions, ['pay', 'eu', 'cart', 'mars', 'mail']])
  for (const name of regions) expect(mixed[name]).toBe(own[name])
  expect(new Set([mixed.pay, mixed.eu, mixed.cart, mixed.mars, mixed.mail]).size).toBe(5)
})

test('levels and a missing value have the colors of their meaning', () => {
  const own = colored([['error', 'warn', 'info', '(none)', 'eu']])
  expect([own.error, own.warn, own.info, own['(none)']]).toEqual([PALETTE, PALETTE + 1, PALETTE + 2, PALETTE + 3])
  expect(own.eu).toBeLessThan(PALETTE)
})

test('more names than colors repeat colors, which are counted', () => {
  const names = Array.from({ length: PALETTE + 3 }, (_, index) => `series ${index}`)
  const own = colored([names])
  expect(Math.max(...Object.values(own))).toBeLessThan(PALETTE)
  expect(repeatsOf([1, 2, 1, 1, 2])).toEqual([0, 0, 1, 2, 1])
})

test('the first names of a chart of many have different colors', () => {
  const names = Array.from({ length: 50 }, (_, index) => `host-${(index * 7919) % 50}`)
  const own = colored([names])
  expect(new Set(names.slice(0, PALETTE).map((name) => own[name])).size).toBe(PALETTE)
})
