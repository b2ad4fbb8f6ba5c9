import { expect, test } from 'vitest'
import { flowed, placementsOf, put, swapped } from './layout.ts'

const at = (id: string, x: number, y: number, w: number, h: number) => ({ id, x, y, w, h })

test('widgets without a placement are placed after the others', () => {
  expect(placementsOf(['a', 'b', 'c'], [at('b', 0, 0, 8, 4)])).toEqual([at('b', 0, 0, 8, 4), at('a', 0, 4, 6, 4), at('c', 6, 4, 6, 4)])
})

test('a layout is unchanged, in reading order, without deleted widgets', () => {
  expect(placementsOf(['a', 'b'], [at('b', 6, 0, 6, 4), at('a', 0, 0, 6, 4), at('gone', 0, 9, 1, 1)])).toEqual([
    at('a', 0, 0, 6, 4),
    at('b', 6, 0, 6, 4),
  ])
})

test('fractions are shares of the width, and overlapping widgets are placed side by side', () => {
  expect(placementsOf(['a', 'b'], [at('a', 0, 0, 0.5, 0.25), at('b', 0.5, 0, 0.5, 0.25)])).toEqual([
    at('a', 0, 0, 6, 3),
    at('b', 6, 0, 6, 3),
  ])
  expect(placementsOf(['a', 'b'], [at('a', 0, 0, 6, 4), at('b', 3, 1, 6, 4)])).toEqual([at('a', 0, 0, 6, 4), at('b', 6, 0, 6, 4)])
})

test('a moved widget is swapped with its neighbor, except at the ends', () => {
  const places = flowed([at('a', 0, 0, 6, 4), at('b', 0, 0, 6, 4), at('c', 0, 0, 12, 3)])
  expect(swapped(places, 'c', -1).map(({ id, y }) => `${id}${y}`)).toEqual(['a0', 'c4', 'b7'])
  expect(swapped(places, 'a', -1)).toEqual(places)
})

test('overlapped widgets move down, and free rows are closed', () => {
  const places = flowed([at('a', 0, 0, 6, 4), at('b', 0, 0, 6, 4), at('c', 0, 0, 12, 3)])
  expect(put(places, 'b', { x: 0, y: 0 })).toEqual([at('b', 0, 0, 6, 4), at('a', 0, 4, 6, 4), at('c', 0, 8, 12, 3)])
  expect(put(places, 'c', { y: 0 })).toEqual([at('c', 0, 0, 12, 3), at('a', 0, 3, 6, 4), at('b', 6, 3, 6, 4)])
  expect(put(places, 'c', { y: 30 })).toEqual(places)
})

test('a widget has a minimum size and fits the grid', () => {
  const places = [at('a', 4, 0, 6, 4)]
  expect(put(places, 'a', { w: 40, h: 90 })).toEqual([at('a', 0, 0, 12, 20)])
  expect(put(places, 'a', { w: -3, h: 0, x: 50 })).toEqual([at('a', 10, 0, 2, 2)])
})
