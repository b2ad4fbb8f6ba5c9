import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NOTHING_NUMBERED, type Numbered, numberedAnew } from './row-numbers.ts'

test('what is added at the end or the beginning, or goes, leaves the numbers of the others', () => {
  const first = numberedAnew<string>(NOTHING_NUMBERED, ['b', 'c'])
  const further = numberedAnew(first, ['b', 'c', 'd'])
  expect(further.numbers).toEqual([...first.numbers, 2])
  const newer = numberedAnew(further, ['a', 'b', 'd'])
  expect(newer.numbers).toEqual([3, further.numbers[0], further.numbers[2]])
})

test('whatever comes and goes, no two have the same number, and none gets another one while it is there', () => {
  const lists = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 30 })), { maxLength: 12 })
  fc.assert(
    fc.property(lists, (given) => {
      let before: Numbered<number> = NOTHING_NUMBERED
      const ever = new Set<number>()
      for (const things of given) {
        const now = numberedAnew(before, things)
        expect(now.numbers).toHaveLength(things.length)
        expect(new Set(now.numbers).size).toBe(things.length)
        for (const [at, thing] of things.entries()) {
          const was = before.things.indexOf(thing)
          if (was >= 0) expect(now.numbers[at]).toBe(before.numbers[was])
          else expect(ever).not.toContain(now.numbers[at])
        }
        for (const number of now.numbers) ever.add(number)
        before = now
      }
    }),
  )
})
