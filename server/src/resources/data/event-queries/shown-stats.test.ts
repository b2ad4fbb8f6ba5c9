import { describe, expect, test } from 'vitest'
import { parseSelect } from '../../../query/query.ts'
import type { StatsGroup, StatsResult, StatsRow } from '../../../reading/query.ts'
import { type CallItem, groupRows, type StatsFrame, seriesTree, sliceRows, totalsOf } from './shown-stats.ts'

const calls = parseSelect(['COUNT(*)', 'avg(ms) AS mean']) as CallItem[]
const frame: StatsFrame = { calls, bounds: { fromMs: 0, toMs: 10 }, slices: 3, groups: [] }
const measured = (count: number, mean: number | null): StatsRow => ({ count, stats: [{ value: count }, { value: mean }] })
const found: StatsResult = {
  whole: measured(5, 2.5),
  slices: [measured(5, 2.5), measured(0, null), measured(0, null)],
  groups: [],
  groupsTotal: 0,
  isExact: true,
  cost: { rows: 0, bytes: 0, elapsedMs: 0, share: 1 },
}

describe('an aggregate', () => {
  test('has its values over the range as numbers, under the text of the item, and the slices of the first', () => {
    expect(totalsOf(found, frame)).toEqual({
      count: 5,
      'COUNT(*)': 5,
      mean: 2.5,
      timeseries: [
        { '@timestamp': '0', count: 5, value: 5, quantiles: {} },
        { '@timestamp': '4', count: 0, value: 0, quantiles: {} },
        { '@timestamp': '7', count: 0, value: 0, quantiles: {} },
      ],
    })
  })

  test('has a row for each slice, with numbers as text', () => {
    expect(sliceRows(found, frame)).toEqual([
      { 'COUNT(*)': '5.0', mean: '2.5', '@time': 'Thu Jan 01 00:00:00 UTC 1970', '@timestamp': '0' },
      { 'COUNT(*)': '0.0', mean: '0.0', '@time': 'Thu Jan 01 00:00:00 UTC 1970', '@timestamp': '4' },
      { 'COUNT(*)': '0.0', mean: '0.0', '@time': 'Thu Jan 01 00:00:00 UTC 1970', '@timestamp': '7' },
    ])
  })

  test('says null where there was nothing to measure, but never in a slice', () => {
    expect(totalsOf({ ...found, whole: measured(0, null) }, frame)).toMatchObject({ count: 0, mean: null })
  })
})

const group = (values: (string | null)[], count: number): StatsGroup => ({ values, whole: measured(count, 1), slices: found.slices })

describe('groups', () => {
  const grouped = { ...frame, groups: ['a', 'b'] }
  const leaves = [group(['x', 'one'], 3), group(['y', null], 2), group(['x', 'two'], 1)]

  test('are rows with their values in brackets', async () => {
    const rows = await groupRows({ ...found, groups: leaves, groupsTotal: 7 }, grouped)
    expect(rows.result).toEqual([
      { group: '[x, one]', count: 3, 'COUNT(*)': 3, mean: 1 },
      { group: '[y, null]', count: 2, 'COUNT(*)': 2, mean: 1 },
      { group: '[x, two]', count: 1, 'COUNT(*)': 1, mean: 1 },
    ])
    expect(rows.groups[0]).toMatchObject({ group: '[x, one]', count: 3, stat: 'COUNT(*)', value: 3, mean: 1 })
    expect(totalsOf({ ...found, groups: leaves, groupsTotal: 7 }, grouped)).toMatchObject({ total_groups: 7, retrieved_groups: 3 })
  })

  test('are nested one level a key, the levels above measured by themselves', async () => {
    const tree = await seriesTree([[group(['x'], 4), group(['y'], 2)], leaves], grouped)
    expect(tree).toMatchObject([
      {
        key: 'a',
        name: 'x',
        count: 4,
        stat: 'COUNT(*)',
        value: 4,
        series_resolution_ms: 3,
        aggregates: [
          { function: 'COUNT(*)', value: 4 },
          { function: 'mean', value: 1 },
        ],
        groups_series: [
          { key: 'b', name: 'one', count: 3 },
          { key: 'b', name: 'two', count: 1 },
        ],
      },
      { key: 'a', name: 'y', groups_series: [{ key: 'b', name: 'null', count: 2 }] },
    ])
    expect(tree[0]?.groups_series?.[0]).not.toHaveProperty('groups_series')
  })
})
