import { expect, test } from 'vitest'
import type { FoundEvent } from '../../../reading/query.ts'
import { COLUMN_KEYS_MAX, columnKeys, rowBytes } from './parquet-objects.ts'

const rowOf = (leaves: Record<string, string>, raw = ''): Pick<FoundEvent, 'raw' | 'leaves'> => ({
  raw: Buffer.from(raw),
  leaves: new Map(Object.entries(leaves)),
})

test('the keys of a file are in the order of their names, whatever the order of the events', () => {
  const rows = [rowOf({ n: '1', level: 'info' }), rowOf({ a: 'x', level: 'warn' })]
  expect(columnKeys(rows)).toEqual(['a', 'level', 'n'])
  expect(columnKeys(rows.toReversed())).toEqual(['a', 'level', 'n'])
})

test('where there are too many keys, those of most events have columns', () => {
  const rows = Array.from({ length: COLUMN_KEYS_MAX + 500 }, (_, n) => rowOf({ [`once.${n}`]: 'x', zz_often: 'y' }))
  const keys = columnKeys(rows)
  expect(keys).toHaveLength(COLUMN_KEYS_MAX)
  expect(keys.at(-1)).toBe('zz_often')
})

test('the size of a row has its line, its keys and their values', () => {
  const small = rowBytes(rowOf({}))
  expect(small).toBeGreaterThan(0)
  expect(rowBytes(rowOf({ key: 'value' }, 'a line')) - small).toBeGreaterThanOrEqual('key'.length + 'value'.length + 'a line'.length)
})
