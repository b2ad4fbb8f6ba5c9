import { afterAll, beforeAll, expect, test } from 'vitest'
import { lineOf, openReader, type Reader } from '../../../../test/support/reader.ts'
import { parseFilter } from '../../query/query.ts'
import { filterSql } from '../filter/filter.ts'
import { contextOf } from '../plan/table-read.ts'
import { tableReadsFor } from '../plan/table-reads.ts'
import { finalAggregate, measuresOf } from '../statistics/aggregates.ts'
import { eventsStatement } from './events-statement.ts'

let reader: Reader
const lines = ['{"items":[{"n":10}],"k":"a"}', '500', '{"items":[{"n":"x"}],"k":"b"}', '{"items":[{"n":9}],"k":"c"}', '{"k":"d"}', '70']
beforeAll(async () => {
  reader = await openReader()
  await reader.send('one', lines)
})
afterAll(() => reader?.close())

const sorted = async (key: string, descending: boolean) =>
  (await reader.events(['one'], '', { orderBy: { key, descending }, limit: 10 })).events.map(lineOf)

test('events are sorted by their lines', async () => {
  const texts = lines.filter((line) => line.startsWith('{')).sort()
  expect(await sorted('@raw', false)).toEqual(['70', '500', ...texts])
  expect(await sorted('@raw', true)).toEqual(['500', '70', ...texts.toReversed()])
})

test('events are sorted by values in arrays', async () => {
  const [ten, , text, nine] = lines
  expect((await sorted('items.0.n', false)).slice(0, 3)).toEqual([nine, ten, text])
  expect((await sorted('items.0.n', true)).slice(0, 3)).toEqual([ten, nine, text])
})

/** The store prepares every copy of such a text. With twenty copies, sorting 445 lines of 420 shapes took a minute. */
test('a statement that sorts, computes or compares by a line or a value in an array has its text once', async () => {
  const { sources, filter, bounds } = await reader.query(['one'])
  const reads = (key: string) => tableReadsFor(sources, [key])
  const usesOf = (key: string) => {
    const request = { orderBy: { key, descending: true }, newestFirst: true, limit: 10, keys: [], withRaw: false }
    return eventsStatement(reads(key), { filter }, request, bounds)?.whole.uses
  }
  expect(usesOf('@raw')?.lineRebuild).toBe(1)
  expect(usesOf('items.0.n')?.arrayElement).toBe(1)
  const [read] = reads('@raw')
  const [measure] = measuresOf({ name: 'sum', key: '@raw' })
  expect(read && measure && finalAggregate(measure, contextOf(read)).uses.lineRebuild).toBe(1)
  for (const where of ['@raw = 5', '@raw > 9007199254740993', '@raw IN (5, 6, true)', '@raw NOT BETWEEN 1 AND 500']) {
    expect([where, read && filterSql(parseFilter(where).filter, contextOf(read)).uses.lineRebuild]).toEqual([where, 1])
  }
})
