import { expect, test } from 'vitest'
import type { Pattern } from '../patterns/patterns.ts'
import { brushedTimes, otherSide, pairPatterns, partPlaces, placeOf, sharedTop, timeAt } from './sides.ts'

const query = { datasets: ['d'], where: 'level = 1', range: { fromMs: 10_000, toMs: 20_000 }, refreshCount: 0 }
const pattern = (id: string, count: number): Pattern => ({ id, template: id, datasets: [], count, bytes: 0, trend: undefined })

test('side B is the time before, the same time for another query, or what is chosen', () => {
  expect(otherSide({}, query, 0)).toEqual({ ...query, range: { fromMs: 0, toMs: 10_000 } })
  expect(otherSide({ bq: 'x' }, query, 0)).toEqual({ ...query, where: 'x' })
  expect(otherSide({ bq: '' }, query, 0)).toEqual({ ...query, where: '' })
  expect(otherSide({ br: 'yesterday' }, query, 0)).toEqual({ ...query, range: { words: 'yesterday' } })
  expect(otherSide({ bq: 'x', bf: 1, bt: 2 }, query, 0)).toEqual({ ...query, where: 'x', range: { fromMs: 1, toMs: 2 } })
})

test('patterns of both sides are paired, those first whose shares differ most', () => {
  const pairs = pairPatterns([pattern('same', 90), pattern('gone', 10)], [pattern('same', 9), pattern('new', 3)])
  expect(pairs.map(({ id, a, b }) => [id, a, b])).toEqual([
    ['new', 0, 3],
    ['same', 90, 9],
    ['gone', 10, 0],
  ])
  expect(pairPatterns([], [])).toEqual([])
})

test('both charts have the scale of the highest bar', () => {
  const bar = (info: number) => ({ fromMs: 0, info, warn: 1, error: 0 })
  expect(sharedTop([bar(1)], [bar(5), bar(2)])).toBe(6)
  expect(sharedTop([], [])).toBe(1)
})

test('places of the axis and times are one another', () => {
  const axis = { bars: [10, 20, 30, 40].map((fromMs) => ({ fromMs, info: 0, warn: 0, error: 0 })), stepMs: 10 }
  expect([timeAt(0, axis), timeAt(0.5, axis)]).toEqual([10, 30])
  expect([9, 10, 30, 49, 50].map((ms) => placeOf(ms, axis))).toEqual([undefined, 0, 0.5, 0.975, undefined])
  for (const part of [
    { fromMs: 10, toMs: 20 },
    { fromMs: 20, toMs: 40 },
    { fromMs: 10, toMs: 50 },
  ]) {
    const places = partPlaces(part, axis)
    expect(places && brushedTimes(places, axis)).toEqual(part)
  }
  expect(partPlaces({ fromMs: 0, toMs: 90 }, axis)).toEqual({ from: 0, to: expect.any(Number) })
  expect(partPlaces({ fromMs: 0, toMs: 10 }, axis)).toBeUndefined()
  expect(partPlaces({ fromMs: 50, toMs: 60 }, axis)).toBeUndefined()
})
