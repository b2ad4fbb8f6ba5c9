import type { Event } from '@dendro/api'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { continueFold, EMPTY_FOLD, foldedRows, repeatKeyOf } from './repeats.ts'

const event = (message: string, sequence = 0): Event => ({
  '@raw': message,
  '@time': '',
  '@status': 'info',
  message_kvs: {},
  attributes: {},
  metadata: { service_id: '00000000-0000-4000-8000-000000000001', timestamp: 0, sequence: BigInt(sequence), context: '' },
  links: [],
})
const always = () => true

test('events that differ only in numbers and ids repeat each other', () => {
  expect(repeatKeyOf(event('order 12 placed in 3ms by a1-b2'))).toBe(repeatKeyOf(event('order 7 placed in 40ms by c3-d4')))
  expect(repeatKeyOf(event('order 12 placed'))).not.toBe(repeatKeyOf(event('order 12 refused')))
})

test('repeated neighbors take one row, and all rows when expanded', () => {
  const events = ['a 1', 'a 2', 'b', 'a 3', 'a 4', 'a 5'].map((text, at) => event(text, at))
  const folded = continueFold(EMPTY_FOLD, events, always)
  const rows = foldedRows(folded, new Set())
  expect(Array.from({ length: rows.size }, (_, row) => [rows.indexAt(row), rows.repeatsAt(row)])).toEqual([
    [0, 2],
    [2, 1],
    [3, 3],
  ])
  expect(rows.rowOf(5)).toBe(2)
  const expanded = foldedRows(folded, new Set([3]))
  expect(Array.from({ length: expanded.size }, (_, row) => expanded.indexAt(row))).toEqual([0, 2, 3, 4, 5])
  expect(expanded.repeatsAt(2)).toBe(3)
  expect(expanded.repeatsAt(3)).toBe(1)
})

test('folding in slices, or while events are appended, equals folding at once', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b 1', 'b 2'), { maxLength: 300 }), fc.nat(300), (texts, cut) => {
      const events = texts.map((text, at) => event(text, at))
      let folded = continueFold(EMPTY_FOLD, events.slice(0, cut), () => false)
      while (folded.reached < events.length) folded = continueFold(folded, events, () => false)
      expect(folded).toEqual(continueFold(EMPTY_FOLD, events, always))
    }),
  )
})
