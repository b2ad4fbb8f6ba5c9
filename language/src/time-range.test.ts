import { describe, expect, test } from 'vitest'
import { LanguageError } from './language-error.ts'
import { parseTimeRange } from './time-range.ts'

/** A Thursday in the second quarter of a leap year. */
const NOW = '2024-05-16T10:20:30.456Z'
const nowMs = Date.parse(NOW)

describe('ranges seen from a Thursday in May', () => {
  test.each([
    ['', '1970-01-01T00:00:00.000Z', NOW],
    ['  ', '1970-01-01T00:00:00.000Z', NOW],
    ['last 15 minutes', '2024-05-16T10:05:30.456Z', NOW],
    ['15 min', '2024-05-16T10:05:30.456Z', NOW],
    ['15min', '2024-05-16T10:05:30.456Z', NOW],
    ['15 minutes ago', '2024-05-16T10:05:30.456Z', NOW],
    [' LAST\t15 \n Minutes ', '2024-05-16T10:05:30.456Z', NOW],
    ['15 m', '2024-05-16T10:05:30.456Z', NOW],
    ['last hour', '2024-05-16T09:20:30.456Z', NOW],
    ['hour', '2024-05-16T09:20:30.456Z', NOW],
    ['an', undefined, undefined],
    ['Last 1 hours', '2024-05-16T09:20:30.456Z', NOW],
    ['last two days', '2024-05-14T10:20:30.456Z', NOW],
    ['ten seconds ago', '2024-05-16T10:20:20.456Z', NOW],
    ['500 ms', '2024-05-16T10:20:29.956Z', NOW],
    ['last 2 weeks', '2024-05-02T10:20:30.456Z', NOW],
    ['last month', '2024-04-16T10:20:30.456Z', NOW],
    ['1 month', '2024-04-16T10:20:30.456Z', NOW],
    ['last week', '2024-05-09T10:20:30.456Z', NOW],
    ['Last quarter', '2024-02-16T10:20:30.456Z', NOW],
    ['last year', '2023-05-17T10:20:30.456Z', NOW],
    ['quarter', undefined, undefined],
    ['last 2 quarters', undefined, undefined],
    ['1 year', '2023-05-17T10:20:30.456Z', NOW],
    ['1000 years', '1970-01-01T00:00:00.000Z', NOW],
    ['today', '2024-05-16T00:00:00.000Z', NOW],
    ['yesterday', '2024-05-15T00:00:00.000Z', '2024-05-16T00:00:00.000Z'],
    ['day before yesterday', '2024-05-14T00:00:00.000Z', '2024-05-15T00:00:00.000Z'],
    ['This  Week', '2024-05-13T00:00:00.000Z', NOW],
    ['previous week', '2024-05-06T00:00:00.000Z', '2024-05-13T00:00:00.000Z'],
    ['this day last week', '2024-05-09T00:00:00.000Z', '2024-05-10T00:00:00.000Z'],
    ['this month', '2024-05-01T00:00:00.000Z', NOW],
    ['previous month', '2024-04-01T00:00:00.000Z', '2024-05-01T00:00:00.000Z'],
    ['this quarter', '2024-04-01T00:00:00.000Z', NOW],
    ['previous quarter', '2024-01-01T00:00:00.000Z', '2024-04-01T00:00:00.000Z'],
    ['this quarter last year', '2023-04-01T00:00:00.000Z', '2023-07-01T00:00:00.000Z'],
    ['this year', '2024-01-01T00:00:00.000Z', NOW],
    ['previous year', '2023-01-01T00:00:00.000Z', '2024-01-01T00:00:00.000Z'],
  ])('%j', (text, from, to) => {
    if (from === undefined) expect(() => parseTimeRange(text, nowMs)).toThrow(LanguageError)
    else expect(shown(text)).toEqual([from, to])
  })
})

test('a Sunday belongs to the week before it, the first of January to the new year', () => {
  expect(shown('this week', 'now', '2023-01-01T12:00:00.000Z')[0]).toBe('2022-12-26T00:00:00.000Z')
  expect(shown('previous quarter', 'now', '2023-01-01T12:00:00.000Z')).toEqual(['2022-10-01T00:00:00.000Z', '2023-01-01T00:00:00.000Z'])
  expect(shown('previous month', 'now', '2024-03-31T12:00:00.000Z')).toEqual(['2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z'])
})

test('periods that have not ended reach to their end for comparisons', () => {
  expect(shown('today', 'its end')[1]).toBe('2024-05-17T00:00:00.000Z')
  expect(shown('this quarter', 'its end')[1]).toBe('2024-07-01T00:00:00.000Z')
  expect(shown('last hour', 'its end')[1]).toBe(NOW)
})

test.each([
  ['5x', 1, 1, 'unknown unit x', 'for example 5 minutes'],
  ['next tuesday', 0, 12, "'next tuesday' is not a time range", 'use last N units, a calendar word, or from_ts and to_ts'],
  ['last 0 minutes', 5, 1, 'the count must be at least 1', 'for example last 20 minutes'],
  ['1h30m', 2, 2, 'one unit only', 'write 90 minutes'],
  ['1h 30m', 3, 2, 'one unit only', 'write 90 minutes'],
  ['last 2 days 12 hours', 12, 2, 'one unit only', 'write 60 hours'],
  ['1.5h', 0, 4, "'1.5h' is not a whole number", 'use a smaller unit, or from_ts and to_ts'],
  ['-5 minutes', 0, 2, "'-5' is not a whole number", 'use a smaller unit, or from_ts and to_ts'],
  ['last', 0, 4, 'expected a unit after last', 'for example last 20 minutes'],
  ['5', 1, 0, 'expected a unit', 'for example 5 minutes'],
  ['2024-05-01', 0, 10, 'dates are not part of a time range', 'use from_ts and to_ts'],
  ['15 minutes UTC', 11, 3, "unexpected 'utc'", 'use last N units, a calendar word, or from_ts and to_ts'],
  ['last 15 minutes ago', 16, 3, "unexpected 'ago'", 'use last N units, a calendar word, or from_ts and to_ts'],
  ['constructor', 0, 11, "'constructor' is not a time range", 'use last N units, a calendar word, or from_ts and to_ts'],
])('%j is refused where it goes wrong', (text, position, length, message, hint) => {
  expect(refusalOf(text)).toEqual([{ field: 'time_range', code: 'BAD_TIME_RANGE', position, length, message, hint }])
})

test('a long text is refused', () => {
  expect(refusalOf('9'.repeat(201))).toMatchObject([{ code: 'TOO_LONG', position: 200 }])
})

function shown(text: string, until: 'now' | 'its end' = 'now', now = NOW): string[] {
  const { fromMs, toMs } = parseTimeRange(text, Date.parse(now), 'time_range', until)
  return [fromMs, toMs].map((ms) => new Date(ms).toISOString())
}

function refusalOf(text: string): unknown {
  try {
    return parseTimeRange(text, nowMs)
  } catch (thrown) {
    if (thrown instanceof LanguageError) return [thrown.problem]
    throw thrown
  }
}
