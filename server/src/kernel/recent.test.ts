import { expect, test } from 'vitest'
import { Recent } from './recent.ts'

test('the values that were used last are kept', () => {
  const recent = new Recent<string, number>(2)
  recent.set('a', 1)
  recent.set('b', 2)
  expect(recent.get('a')).toBe(1)
  recent.set('c', 3)
  expect([recent.get('a'), recent.get('b'), recent.get('c')]).toEqual([1, undefined, 3])
})

test('a value is made once as long as it is kept', () => {
  const recent = new Recent<string, number>(2)
  let made = 0
  const next = () => {
    made += 1
    return made
  }
  expect([recent.of('a', next), recent.of('a', next), recent.of('b', next), recent.of('c', next), recent.of('a', next)]).toEqual([
    1, 1, 2, 3, 4,
  ])
})
