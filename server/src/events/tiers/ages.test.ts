import { expect, test } from 'vitest'
import { longerAges, partsToMove, type StoredPart } from './ages.ts'

const DAY_MS = 86_400_000
const part = (name: string, day: number, more: Partial<StoredPart> = {}): StoredPart => ({
  node: 'a',
  table: 'events_s',
  name,
  day,
  isCold: false,
  bytes: 1,
  ageS: 60,
  ...more,
})
const names = (parts: readonly StoredPart[]): string[] => parts.map(({ name }) => name)

test('a day moves when its last moment has the age, the oldest first', () => {
  const parts = [part('young', 91), part('due', 90), part('old', 10), part('there', 5, { isCold: true })]
  expect(names(partsToMove(parts, 9 * DAY_MS, 100 * DAY_MS))).toEqual(['old', 'due'])
  expect(names(partsToMove(parts, 9 * DAY_MS, 100 * DAY_MS - 1))).toEqual(['old'])
})

test('a late part of a day with many cold parts of its table waits until it is a day old', () => {
  const cold = Array.from({ length: 8 }, (_, n) => part(`c${n}`, 5, { isCold: true }))
  const late = [
    part('late', 5),
    part('settled', 5, { ageS: 86_400 }),
    part('elsewhere', 5, { table: 'events_m' }),
    part('b', 5, { node: 'b' }),
  ]
  expect(names(partsToMove([...cold, ...late], DAY_MS, 100 * DAY_MS))).toEqual(['settled', 'elsewhere', 'b'])
  expect(names(partsToMove([...cold.slice(1), ...late], DAY_MS, 100 * DAY_MS))).toContain('late')
})

test('an age of a dataset counts before that of its organization', () => {
  const byId = new Map([
    ['one', 90 * DAY_MS],
    ['org', 60 * DAY_MS],
  ])
  const datasets = ['one', 'two', 'three'].map((id) => ({ id, org_id: id === 'three' ? 'other' : 'org' }))
  expect([...longerAges({ otherwiseMs: DAY_MS, byId }, datasets)]).toEqual([
    [90 * DAY_MS, ['one']],
    [60 * DAY_MS, ['two']],
  ])
})
