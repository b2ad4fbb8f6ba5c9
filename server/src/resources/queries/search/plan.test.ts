import { describe, expect, test } from 'vitest'
import { Failure } from '../../../kernel/errors.ts'
import { type EventsPlan, planSearch, type StatsPlan } from './plan.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12)

const refused = (ask: object) => {
  try {
    planSearch(ask, NOW_MS)
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.errors?.map(({ field, code }) => `${field} ${code}`)
    throw thrown
  }
  return undefined
}

describe('a plan', () => {
  test('of an empty query is the newest hundred events of the last twenty minutes', () => {
    expect(planSearch({ select: ['*'] }, NOW_MS)).toMatchObject({
      kind: 'events',
      bounds: { fromMs: NOW_MS - 20 * 60_000, toMs: NOW_MS },
      limit: 100,
      newestFirst: true,
      orderBy: undefined,
      filter: { kind: 'all' },
      warnings: [],
    } satisfies Partial<EventsPlan>)
  })

  test('of a select with an aggregate has ten slices', () => {
    expect(planSearch({ select: ['count(*)'], from_ts: 5, to_ts: 9 }, NOW_MS)).toMatchObject({
      kind: 'stats',
      calls: [{ name: 'count(*)' }],
      groups: [],
      slices: 10,
      bounds: { fromMs: 5, toMs: 9 },
    } satisfies Partial<Record<keyof StatsPlan, unknown>>)
  })

  test('of groups without an aggregate counts; the select may contain the group keys', () => {
    expect(planSearch({ select: ['level'], groups: ['level,@dataset', ''], limit: 3 }, NOW_MS)).toMatchObject({
      kind: 'stats',
      calls: [{ name: 'count(*)', call: { name: 'count' } }],
      groups: ['level', '@dataset'],
      limit: 3,
    })
  })

  test('carries the warnings of its filter', () => {
    expect(planSearch({ select: ['*'], where: 'a = "b"' }, NOW_MS).warnings).toMatchObject([{ field: 'where', code: 'DQ_VALUE' }])
  })
})

describe('requests that cannot be planned', () => {
  test.each<[object, string]>([
    [{}, 'select EMPTY_SELECT'],
    [{ select: ['', ' '] }, 'select EMPTY_SELECT'],
    [{ select: ['*'], time_range: 'Last 5 minutes', from_ts: 1, to_ts: 2 }, 'time_range CONFLICT'],
    [{ select: ['*'], from_ts: 1 }, 'from_ts MISSING_PAIR'],
    [{ select: ['*'], to_ts: 1 }, 'to_ts MISSING_PAIR'],
    [{ select: ['*'], from_ts: 2, to_ts: 1 }, 'from_ts OUT_OF_RANGE'],
    [{ select: ['*'], time_range: 'next tuesday' }, 'time_range BAD_TIME_RANGE'],
    [{ select: ['*'], from_sequence: 5n }, 'from_sequence MISSING_PAIR'],
    [{ select: ['count(*)'], from_sequence: 5n }, 'from_sequence MISSING_PAIR'],
    [{ select: ['level', 'count(*)'] }, 'select NOT_GROUPED'],
    [{ select: ['@raw', 'count(*)'], groups: ['level'] }, 'select NOT_GROUPED'],
    [{ select: ['*'], groups: ['level'] }, 'select NOT_GROUPED'],
    [{ select: ['count(*)'], order_by: 'a DESC' }, 'order_by ORDER_NOT_ALLOWED'],
    [{ select: ['sum(a) AS value'] }, 'select NAME_TAKEN'],
    [{ select: ['sum(a) AS x', 'count(*) AS x'] }, 'select NAME_TAKEN'],
    [{ select: ['level', 'status AS level'] }, 'select NAME_TAKEN'],
    [{ select: ['count(*)'], groups: ['a'], limit: 10_000, num_of_slices: 1_440 }, 'limit TOO_COMPLEX'],
    [{ select: ['*'], where: 'status =' }, 'where EXPECTED_VALUE'],
  ])('refuses %o as %s', (ask, problem) => {
    expect(refused(ask)).toEqual([problem])
  })

  test('is reported for each field at once', () => {
    expect(refused({ select: [], where: '(', time_range: '5x' })).toEqual([
      'where EXPECTED_CONDITION',
      'select EMPTY_SELECT',
      'time_range BAD_TIME_RANGE',
    ])
  })
})

test('an item may stand in select twice', () => {
  expect(planSearch({ select: ['level', 'level AS x', 'level', 'level AS x'] }, NOW_MS)).toMatchObject({ kind: 'events' })
})

test('a count may be called count', () => {
  expect(planSearch({ select: ['count(*) AS count'] }, NOW_MS)).toMatchObject({ calls: [{ name: 'count' }] })
})
