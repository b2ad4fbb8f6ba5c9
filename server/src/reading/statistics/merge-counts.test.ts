import { expect, test } from 'vitest'
import { BinaryRows } from '../run/row-binary.ts'
import { mergeGroupCounts, needCountsOnly } from './merge-counts.ts'

const calls = [{ name: 'count' }, { name: 'rate' }] as const

/** Rows as the store returns them: a text and a number. */
function rowsOf(...rows: readonly (readonly [string, number])[]): BinaryRows {
  const parts = rows.flatMap(([text, count]) => {
    const bytes = Buffer.from(text)
    const number = Buffer.alloc(8)
    number.writeBigUInt64LE(BigInt(count))
    return [Buffer.of(bytes.length), bytes, number]
  })
  return new BinaryRows(Buffer.concat(parts), rows.length)
}

const merged = (rows: BinaryRows | undefined, limit = 100) => {
  const { groups, total, whole } = mergeGroupCounts(rows ? [rows] : [], { calls, limit, widthMs: 2_000 })
  return { groups: groups.map(({ stored, whole: { count } }) => [stored, count]), total, whole }
}

test('counts of several reads add up, the largest group first', () => {
  expect(merged(rowsOf(['a', 1], ['b', 5], ['a', 7], ['', 2]))).toEqual({
    groups: [
      ['a', 8],
      ['b', 5],
      ['', 2],
    ],
    total: 3,
    whole: { count: 15, stats: [{ value: 15 }, { value: 7.5 }] },
  })
})

test('counts of several statements add up', () => {
  const read = [rowsOf(['a', 1], ['b', 2]), rowsOf(), rowsOf(['a', 3])]
  const { groups, whole } = mergeGroupCounts(read, { calls, limit: 10, widthMs: 1_000 })
  expect(groups.map(({ stored, whole: { count } }) => [stored, count])).toEqual([
    ['a', 4],
    ['b', 2],
  ])
  expect(whole.count).toBe(6)
})

test('groups of the same size come in the order of their bytes, events without the key as null', () => {
  const values = ['z', '\u{1f600}', '\uff5e', 'nuo', '', 'null', 'nul', 'B']
  const { groups } = merged(rowsOf(...values.map((text) => [text, 3] as const)))
  expect(groups.map(([text]) => text)).toEqual(['B', 'nul', '', 'null', 'nuo', 'z', '\uff5e', '\u{1f600}'])
})

test('the total includes groups beyond the limit', () => {
  expect(merged(rowsOf(['a', 1], ['b', 2], ['c', 3]), 1)).toMatchObject({ groups: [['c', 3]], total: 3, whole: { count: 6 } })
})

test('a group without events is none', () => {
  const none = { groups: [], total: 0, whole: { count: 0, stats: [{ value: 0 }, { value: 0 }] } }
  expect([merged(rowsOf(['', 0])), merged(undefined)]).toEqual([none, none])
})

test('other functions need more than counts', () => {
  expect([needCountsOnly(calls), needCountsOnly([]), needCountsOnly([{ name: 'count', key: 'x' }])]).toEqual([true, true, false])
})
