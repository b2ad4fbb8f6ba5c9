import { expect, test } from 'vitest'
import { FairMemory } from './shared-values.ts'

test('the value that was not used for longest goes first', () => {
  const kept = new FairMemory<string>(100)
  for (const name of ['a', 'b', 'c', 'd']) kept.set(1, name, name, 25)
  expect(kept.get(1, 'a')).toBe('a')
  kept.set(1, 'e', 'e', 25)
  expect(['a', 'b', 'c', 'd', 'e'].map((name) => kept.get(1, name))).toEqual(['a', undefined, 'c', 'd', 'e'])
  kept.set(1, 'a', 'larger', 75)
  expect(['a', 'c', 'd', 'e'].map((name) => kept.get(1, name))).toEqual(['larger', undefined, undefined, 'e'])
  kept.delete(1, 'e')
  kept.set(1, 'f', 'f', 25)
  expect(kept.get(1, 'a')).toBe('larger')
})

test('an organization with many values drops its own, not those of others', () => {
  const kept = new FairMemory<number>(100)
  kept.set(1, 'small', 1, 30)
  for (let number = 0; number < 50; number += 1) kept.set(2, String(number), number, 10)
  expect(kept.get(1, 'small')).toBe(1)
  expect(kept.get(2, '49')).toBe(49)
  expect(kept.get(2, '0')).toBeUndefined()
  expect(kept.get(3, 'small')).toBeUndefined()
})

test('a value beyond the limit is not kept', () => {
  const kept = new FairMemory<string>(100)
  kept.set(1, 'fits', 'x', 90)
  kept.set(2, 'too large', 'x', 101)
  expect(kept.get(2, 'too large')).toBeUndefined()
})
