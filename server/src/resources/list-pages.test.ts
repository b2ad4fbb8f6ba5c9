import fc from 'fast-check'
import { expect, test } from 'vitest'
import { byName, type ListOrder, newest, pageOf, searched } from './list-pages.ts'

type Named = { id: string; created_at: number; name: string }

const NAMES = ['Ada', 'ada', 'Ädä', 'Grace', 'ada grace', 'a\u0000', '中文', '']
const record: fc.Arbitrary<Named> = fc.record({
  id: fc.uuid(),
  created_at: fc.integer({ min: 1, max: 5 }),
  name: fc.constantFrom(...NAMES),
})
const listOf = (records: readonly Named[]) => records.toSorted((a, b) => b.created_at - a.created_at || (a.id < b.id ? -1 : 1))
const lists = fc.uniqueArray(record, { selector: ({ id }) => id, maxLength: 30 }).map(listOf)
const orders: fc.Arbitrary<ListOrder<Named>> = fc.constantFrom<ListOrder<Named>>(
  newest,
  byName(({ name }) => [name]),
  { name: 'both', keysOf: ({ name, created_at }) => [created_at % 2, name, -created_at] },
)

/** All records of all pages; `between` changes the list after each page. */
function inPages(
  all: readonly Named[],
  { limit, order }: { limit: number; order: ListOrder<Named> },
  between: (list: readonly Named[]) => readonly Named[] = (list) => list,
): Named[] {
  let list = all
  const found: Named[] = []
  for (let cursor: string | undefined; ; ) {
    const { rows, next_cursor } = pageOf(list, { limit, cursor }, order)
    expect(rows.length).toBeLessThanOrEqual(limit)
    found.push(...rows)
    if (next_cursor === undefined) return found
    expect(rows).toHaveLength(limit)
    cursor = next_cursor
    list = between(list)
  }
}

test('the pages of a list are the list, in each order', () => {
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 10 }), orders, (list, limit, order) => {
      const { rows } = pageOf(list, {}, order)
      expect(inPages(list, { limit, order })).toEqual(rows)
      expect(new Set(rows)).toEqual(new Set(list))
      expect(pageOf(list, {}).rows).toBe(list)
    }),
  )
})

test('an order does not depend on how the list was sorted before', () => {
  fc.assert(
    fc.property(lists, orders, (list, order) => {
      expect(pageOf(list.toReversed(), {}, { ...order, name: 'any' }).rows).toEqual(pageOf(list, {}, { ...order, name: 'any' }).rows)
    }),
  )
})

test('names are sorted by the alphabet, those that only differ in case or marks beside each other', () => {
  const list = listOf(['b', 'B', 'a10', 'Ä', 'a', 'Z', 'a2'].map((name, at) => ({ id: `${at}`, created_at: at, name })))
  const { rows } = pageOf(
    list,
    {},
    byName<Named>(({ name }) => [name]),
  )
  expect(rows.map(({ name }) => name)).toEqual(['a', 'Ä', 'a10', 'a2', 'b', 'B', 'Z'])
})

test('records that are deleted or created between two pages move no other ones', () => {
  const changes = fc.record({ at: fc.nat(), created: fc.array(record, { maxLength: 3 }) })
  fc.assert(
    fc.property(lists, fc.integer({ min: 1, max: 5 }), orders, changes, (list, limit, order, { at, created }) => {
      const gone = list[at % Math.max(1, list.length)]
      const others = created.filter(({ id }) => list.every((one) => one.id !== id))
      const found = inPages(list, { limit, order }, (now) => listOf([...new Set([...now.filter((one) => one !== gone), ...others])]))
      const lasting = pageOf(list, {}, order).rows.filter((one) => one !== gone)
      expect(found.filter((one) => lasting.includes(one))).toEqual(lasting)
      expect(new Set(found).size).toBe(found.length)
    }),
  )
})

test('a search finds the records with all of its words, in any case', () => {
  const list = listOf(['Ada', 'Grace', 'ada GRACE'].map((name, at) => ({ id: `${at}`, created_at: 3 - at, name })))
  const found = (search: string) => searched(list, search, ({ name }) => name).map(({ name }) => name)
  expect(found('ada')).toEqual(['Ada', 'ada GRACE'])
  expect(found(' grace  ADA ')).toEqual(['ada GRACE'])
  expect(searched(list, ' ', ({ name }) => name)).toBe(list)
})

test.each([[{ cursor: '1.0' }], [{ cursor: 'x', limit: 3 }], [{ cursor: '', limit: 3 }], [{ cursor: 'W10', limit: 3 }]])(
  '%j is refused',
  (query) => {
    expect(() => pageOf([], query)).toThrow(/cursor/)
  },
)

test('the cursor of another order is refused', () => {
  const list = listOf(['a', 'b'].map((name, at) => ({ id: `${at}`, created_at: at, name })))
  const { next_cursor } = pageOf(list, { limit: 1 })
  expect(() =>
    pageOf(
      list,
      { limit: 1, cursor: next_cursor },
      byName<Named>(({ name }) => [name]),
    ),
  ).toThrow(/another order/)
})
