import { describe, expect, test } from 'vitest'
import { type FieldDiagnostic, LanguageError } from './language-error.ts'
import { parseGroups, parseOrderBy, parseSelect } from './select.ts'

describe('items of a select', () => {
  test.each([
    ['*', { kind: 'everything', name: '*' }],
    ['@raw', { kind: 'key', key: '@raw', name: '@raw' }],
    ['level', { kind: 'key', key: 'level', name: 'level' }],
    ['"user name"', { kind: 'key', key: 'user name', name: '"user name"' }],
    ['level AS l', { kind: 'key', key: 'level', name: 'l' }],
    ['$service.name', { kind: 'key', key: '$service.name', name: '$service.name' }],
    ['as', { kind: 'key', key: 'as', name: 'as' }],
    ['count(*)', { kind: 'call', call: { name: 'count' }, name: 'count(*)' }],
    ['COUNT()', { kind: 'call', call: { name: 'count' }, name: 'COUNT()' }],
    ['count( level )', { kind: 'call', call: { name: 'count', key: 'level' }, name: 'count( level )' }],
    ['count(distinct user_id)', { kind: 'call', call: { name: 'unique', key: 'user_id' }, name: 'count(distinct user_id)' }],
    ['count(distinct)', { kind: 'call', call: { name: 'count', key: 'distinct' }, name: 'count(distinct)' }],
    ['unique("user id")', { kind: 'call', call: { name: 'unique', key: 'user id' }, name: 'unique("user id")' }],
    ['count_distinct(a)', { kind: 'call', call: { name: 'unique', key: 'a' }, name: 'count_distinct(a)' }],
    ['sum(a)', { kind: 'call', call: { name: 'sum', key: 'a' }, name: 'sum(a)' }],
    ['Mean(a)', { kind: 'call', call: { name: 'avg', key: 'a' }, name: 'Mean(a)' }],
    ['average(a)', { kind: 'call', call: { name: 'avg', key: 'a' }, name: 'average(a)' }],
    ['avg(latency_ms) AS ms', { kind: 'call', call: { name: 'avg', key: 'latency_ms' }, name: 'ms' }],
    ['avg("latency_ms") as "m s"', { kind: 'call', call: { name: 'avg', key: 'latency_ms' }, name: 'm s' }],
    ['median(a)', { kind: 'call', call: { name: 'percentile', key: 'a', percent: 50 }, name: 'median(a)' }],
    ['p1(a)', { kind: 'call', call: { name: 'percentile', key: 'a', percent: 1 }, name: 'p1(a)' }],
    ['p99(a)', { kind: 'call', call: { name: 'percentile', key: 'a', percent: 99 }, name: 'p99(a)' }],
    ['p999(a)', { kind: 'call', call: { name: 'percentile', key: 'a', percent: 99.9 }, name: 'p999(a)' }],
    ['p9999(a)', { kind: 'call', call: { name: 'percentile', key: 'a', percent: 99.99 }, name: 'p9999(a)' }],
    ['p99.9(a)', { kind: 'call', call: { name: 'percentile', key: 'a', percent: 99.9 }, name: 'p99.9(a)' }],
    ['p0.5(a)', { kind: 'call', call: { name: 'percentile', key: 'a', percent: 0.5 }, name: 'p0.5(a)' }],
    ['percentile(a, 97.5)', { kind: 'call', call: { name: 'percentile', key: 'a', percent: 97.5 }, name: 'percentile(a, 97.5)' }],
    [
      'Exact_Percentile(a, 50)',
      { kind: 'call', call: { name: 'percentile', key: 'a', percent: 50, isExact: true }, name: 'Exact_Percentile(a, 50)' },
    ],
    ['stddev(a)', { kind: 'call', call: { name: 'stddev', key: 'a' }, name: 'stddev(a)' }],
    ['variance(a)', { kind: 'call', call: { name: 'variance', key: 'a' }, name: 'variance(a)' }],
    ['rate(*)', { kind: 'call', call: { name: 'rate' }, name: 'rate(*)' }],
    ['first(@raw)', { kind: 'call', call: { name: 'first', key: '@raw' }, name: 'first(@raw)' }],
    ['max(@time)', { kind: 'call', call: { name: 'max', key: '@time' }, name: 'max(@time)' }],
  ])('%s', (text, item) => {
    expect(parseSelect([text])).toEqual([item])
  })

  test('blank items are left out', () => {
    expect(parseSelect(['', ' ', 'a'])).toEqual([{ kind: 'key', key: 'a', name: 'a' }])
  })

  test.each([
    [[], 'EMPTY_SELECT', 0, 'for events use *'],
    [['  '], 'EMPTY_SELECT', 0, 'for events use *'],
    [['sum(*)'], 'BAD_ARGUMENT', 4, 'only count and rate take *'],
    [['sum()'], 'BAD_ARGUMENT', 4, 'for example sum(latency_ms)'],
    [['count('], 'MISSING_PAREN', 5, "add ')'"],
    [['count(a'], 'MISSING_PAREN', 5, "add ')'"],
    [['count(a b)'], 'BAD_ARGUMENT', 8, 'quote a key that contains blanks'],
    [['p100(x)'], 'UNKNOWN_FUNCTION', 0, 'percentiles go from p1 to p99, p99.9, p999; use max(x)'],
    [['p0(x)'], 'UNKNOWN_FUNCTION', 0, 'percentiles go from p1 to p99, p99.9, p999; use min(x)'],
    [['p250(x)'], 'UNKNOWN_FUNCTION', 0, 'percentiles go from p1 to p99, p99.9, p999; use max(x)'],
    [['exact_percentile(x)'], 'BAD_ARGUMENT', 17, 'for example exact_percentile(latency_ms, 97.5)'],
    [['percentile(x)'], 'BAD_ARGUMENT', 11, 'for example percentile(latency_ms, 97.5)'],
    [['percentile(x, 100)'], 'BAD_ARGUMENT', 14, 'for example percentile(latency_ms, 97.5)'],
    [['percentile(x, y)'], 'BAD_ARGUMENT', 14, 'for example percentile(latency_ms, 97.5)'],
    [['medain(x)'], 'UNKNOWN_FUNCTION', 0, expect.stringMatching(/^did you mean median\?.*percentile/)],
    [['constructor(x)'], 'UNKNOWN_FUNCTION', 0, expect.stringMatching(/^the functions are count/)],
    [['avg(a, b)'], 'BAD_ARGUMENT', 5, 'write one item for each key'],
    [['avg(distinct a)'], 'BAD_ARGUMENT', 13, 'only count takes DISTINCT'],
    [['rate(a)'], 'BAD_ARGUMENT', 5, 'write rate(*)'],
    [['sum(a) / count(*)'], 'NO_EXPRESSIONS', 7, 'name the queries and add a formula'],
    [['a * 2'], 'NO_EXPRESSIONS', 2, 'name the queries and add a formula'],
    [['user name'], 'BAD_KEY', 0, 'write "user name"'],
    [['avg(lower(x))'], 'NO_FUNCTIONS', 4, 'write avg of a key'],
    [['sum(count(*))'], 'NO_FUNCTIONS', 4, 'write sum of a key'],
    [['a, b'], 'UNEXPECTED', 1, 'send one element for each item'],
    [['count(*) level'], 'UNEXPECTED', 9, 'only AS and a name can follow'],
    [['* AS x'], 'UNEXPECTED', 2, 'only AS and a name can follow'],
    [['avg(a) AS'], 'EXPECTED_KEY', 9, 'for example avg(latency_ms) AS ms'],
    [['avg(a) AS b c'], 'UNEXPECTED', 12, 'only AS and a name can follow'],
    [["'level'"], 'EXPECTED_KEY', 0, 'for example level or count(*)'],
    [['‘level’'], 'CURLY_QUOTE', 0, `use straight quotes: ' for text, " for a key`],
    [['500'], 'BAD_KEY', 0, expect.stringContaining('write "500"')],
    [Array.from({ length: 51 }, () => 'a'), 'TOO_COMPLEX', undefined, undefined],
    [Array.from({ length: 21 }, () => 'count(*)'), 'TOO_COMPLEX', undefined, undefined],
    [['x'.repeat(1_025)], 'TOO_LONG', 1_024, undefined],
  ])('%j fails with %s at %s', (items, code, position, hint) => {
    const problem = problemOf(() => parseSelect(items))
    expect([problem.field, problem.code, problem.position]).toEqual(['select', code, position])
    expect(problem.hint).toEqual(hint)
  })
})

describe('groups', () => {
  test.each([
    [[], []],
    [
      ['level', '@dataset'],
      ['level', '@dataset'],
    ],
    [['level,@dataset'], ['level', '@dataset']],
    [
      ['[a, "b,c"]', ''],
      ['a', 'b,c'],
    ],
    [['[]', ' ', '"a""b"'], ['a"b']],
    [['a,'], ['a']],
  ])('%j', (items, keys) => {
    expect(parseGroups(items)).toEqual(keys)
  })

  test.each([
    [['a', 'b', 'c', 'd', 'e', 'f'], 'TOO_MANY_GROUP_KEYS', undefined, undefined],
    [['a,b,c,d,e,f'], 'TOO_MANY_GROUP_KEYS', undefined, undefined],
    [['count(*)'], 'BAD_KEY', 0, 'groups takes keys; put count(*) into select'],
    [['a, count(*)'], 'BAD_KEY', 3, 'groups takes keys; put count(*) into select'],
    [['*'], 'BAD_KEY', 0, 'write "*"'],
    [['user name'], 'EXPECTED_COMMA', 5, 'put a key with a blank in double quotes'],
    [['[a b]'], 'EXPECTED_COMMA', 3, 'put a key with a blank in double quotes'],
    [['a,,b'], 'EXPECTED_KEY', 2, 'for example level'],
    [['"a'], 'UNTERMINATED', 0, expect.anything()],
  ])('%j fails with %s at %s', (items, code, position, hint) => {
    const problem = problemOf(() => parseGroups(items))
    expect([problem.field, problem.code, problem.position]).toEqual(['groups', code, position])
    expect(problem.hint).toEqual(hint)
  })
})

describe('an order', () => {
  test.each([
    ['latency_ms DESC', { key: 'latency_ms', descending: true }],
    ['"@timestamp" desc', { key: '@timestamp', descending: true }],
    ['"user name"', { key: 'user name', descending: false }],
    ['a ASC', { key: 'a', descending: false }],
    ['DESC', { key: 'DESC', descending: false }],
    ['desc desc', { key: 'desc', descending: true }],
  ])('%s', (text, order) => {
    expect(parseOrderBy(text)).toEqual(order)
  })

  test.each([
    ['a DESC, b', 'ONE_ORDER_KEY', 6],
    ['a, b', 'ONE_ORDER_KEY', 1],
    ['level DOWN', 'BAD_ORDER', 6],
    ['a DESC x', 'BAD_ORDER', 7],
    ['', 'EXPECTED_KEY', 0],
    ['count(*)', 'NO_FUNCTIONS', 0],
    ['a; b', 'BAD_CHAR', 1],
    ['5', 'BAD_KEY', 0],
  ])('%j fails with %s at %s', (text, code, position) => {
    const problem = problemOf(() => parseOrderBy(text))
    expect([problem.field, problem.code, problem.position]).toEqual(['order_by', code, position])
  })
})

function problemOf(parse: () => unknown): FieldDiagnostic {
  try {
    parse()
  } catch (thrown) {
    if (thrown instanceof LanguageError) return thrown.problem
    throw thrown
  }
  throw new Error('read without a failure')
}
