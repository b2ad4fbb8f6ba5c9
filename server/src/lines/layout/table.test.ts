import { expect, test } from 'vitest'
import { columns, localTable, slotColumns, tableClassNames, tokensOf } from './table.ts'

test('the table classes differ only in their slots', () => {
  const counts = tableClassNames.map((name) => slotColumns(name).length)
  expect(counts).toEqual([16, 48, 112])
  const fixed = tableClassNames.map((name) => columns(name).slice(0, -slotColumns(name).length))
  expect(fixed[1]).toEqual(fixed[0])
  expect(fixed[2]).toEqual(fixed[0])
})

test('the index covers every slot, the raw line and the keys without a slot', () => {
  for (const name of tableClassNames) {
    const expression = tokensOf(name)
    for (const column of [...slotColumns(name).map((slot) => slot.name), 'raw', 'mapValues(more)']) expect(expression).toContain(column)
  }
})

test('inserts go to the local table of a cluster', () => {
  expect([localTable('events_s', undefined), localTable('events_s', 'main')]).toEqual(['events_s', 'events_s_local'])
})
