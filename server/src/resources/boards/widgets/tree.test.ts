import { expect, test } from 'vitest'
import { leftAlone, within } from './tree.ts'

const holders = Object.entries({ frame: 'a inner', inner: 'b', a: '', b: '', other: 'b', loop: 'loop2', loop2: 'loop' }).map(
  ([id, children]) => ({
    id,
    widget_ids: children.split(' ').filter((child) => child !== ''),
  }),
)

test('everything within is found once, and what lies in itself ends too', () => {
  expect([...within(['frame', 'a'], holders)]).toEqual(['frame', 'a', 'inner', 'b'])
  expect([...within(['loop', 'gone'], holders)]).toEqual(['loop', 'gone', 'loop2'])
})

test('left alone is what no other list and no widget that stays holds', () => {
  expect([...leftAlone(['frame'], [], holders)]).toEqual(['frame', 'a', 'inner'])
  expect([...leftAlone(['frame'], [['inner']], holders)]).toEqual(['frame', 'a'])
  expect([...leftAlone(['a', 'b'], [], holders)]).toEqual([])
  expect([...leftAlone(['frame', 'other'], [['other']], holders)]).toEqual(['frame', 'a', 'inner'])
})
