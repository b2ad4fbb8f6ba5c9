import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NO_ITEMS, type NumberedItems, renumber } from './row-numbers.ts'

test('adding and removing items keeps the numbers of the others', () => {
  const first = renumber<string>(NO_ITEMS, ['b', 'c'])
  const further = renumber(first, ['b', 'c', 'd'])
  expect(further.numbers).toEqual([...first.numbers, 2])
  const newer = renumber(further, ['a', 'b', 'd'])
  expect(newer.numbers).toEqual([3, further.numbers[0], further.numbers[2]])
})

test('numbers are unique, and an item keeps its number while it is in the list', () => {
  const lists = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 30 })), { maxLength: 12 })
  fc.assert(
    fc.property(lists, (itemLists) => {
      let before: NumberedItems<number> = NO_ITEMS
      const used = new Set<number>()
      for (const items of itemLists) {
        const now = renumber(before, items)
        expect(now.numbers).toHaveLength(items.length)
        expect(new Set(now.numbers).size).toBe(items.length)
        for (const [at, item] of items.entries()) {
          const oldIndex = before.items.indexOf(item)
          if (oldIndex >= 0) expect(now.numbers[at]).toBe(before.numbers[oldIndex])
          else expect(used).not.toContain(now.numbers[at])
        }
        for (const number of now.numbers) used.add(number)
        before = now
      }
    }),
  )
})
