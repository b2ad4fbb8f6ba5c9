import fc from 'fast-check'
import { expect, test } from 'vitest'
import { pageOf } from './list-pages.ts'

type Named = { id: string; created_at: number; name: string }

const record: fc.Arbitrary<Named> = fc.record({
  id: fc.uuid(),
  created_at: fc.integer({ min: 1, max: 5 }),
  name: fc.constantFrom('Ada', 'Grace', 'ada grace'),
})
const listOf = (records: readonly Named[]) => records.toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1))
const lists = fc.uniqueArray(record, { selector: ({ id }) => id, maxLength: 30 }).map(listOf)
const nameOf = ({ name }: Named) => name

/** All records of all pages; `between` changes the list after each page. */
function inPages(all: readonly Named[], limit: number, between: (list: readonly Named[]) => readonly Named[] = (list) => list): Named[] {
  let list = all
  const found: Named[] = []
  for (let cursor: string | undefined; ; ) {
    const { rows, next_cursor } = pageOf(list, { limit, cursor }, nameOf)
    expect(rows.length).toBeLessThanOrEqual(limit)
    found.push(...rows)
    if (next_cursor === undefined) return found
    cursor = next_cursor
    list = between(list)
  }
}

test('the pages of a list are the list', () => {
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 10 }), (list, limit) => {
      expect(inPages(list, limit)).toEqual(list)
      expect(pageOf(list, {}, nameOf)).toEqual({ rows: list })
    }),
  )
})

test('records that are deleted or created between two pages move no other ones', () => {
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 5 }), fc.nat(), fc.array(record, { maxLength: 3 }), (list, limit, at, created) => {
      const gone = list[at % Math.max(1, list.length)]
      const others = created.filter(({ id }) => list.every((one) => one.id !== id))
      const found = inPages(list, limit, (now) => listOf([...new Set([...now.filter((one) => one !== gone), ...others])]))
      const lasting = list.filter((one) => one !== gone)
      expect(found.filter((one) => lasting.includes(one))).toEqual(lasting)
      expect(new Set(found).size).toBe(found.length)
    }),
  )
})

test('a search finds the records with all of its words, in any case', () => {
  const list = listOf(['Ada', 'Grace', 'ada GRACE'].map((name, at) => ({ id: `${at}`, created_at: 3 - at, name })))
  const found = (search: string) => pageOf(list, { search }, nameOf).rows.map(nameOf)
  expect(found('ada')).toEqual(['Ada', 'ada GRACE'])
  expect(found(' grace  ADA ')).toEqual(['ada GRACE'])
  expect(found('')).toHaveLength(3)
  expect(pageOf(list, { search: 'ada', limit: 1 }, nameOf).next_cursor).toBeDefined()
})

test.each([[{ cursor: '1.0' }], [{ cursor: 'x', limit: 3 }], [{ cursor: '', limit: 3 }]])('%j is refused', (query) => {
  expect(() => pageOf([], query, nameOf)).toThrow(/cursor/)
})
