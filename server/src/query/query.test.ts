import { expect, test } from 'vitest'
import { Failure } from '../kernel/errors.ts'
import { parseFilter, parseFormula, parseGroups, parseOrderBy, parseSelect, parseSelector, parseTimeRange, refusal } from './query.ts'

function failureOf(read: () => unknown): unknown {
  try {
    return read()
  } catch (thrown) {
    return thrown
  }
}

test('every language error is a 400 with the same message as text and in parts', () => {
  const failure = failureOf(() => parseFilter('status =', 'queries[0].where'))
  const errors = [
    {
      field: 'queries[0].where',
      code: 'EXPECTED_VALUE',
      position: 8,
      length: 0,
      message: 'expected a value after =',
      hint: "for example 500 or 'text'",
    },
  ]
  expect(failure).toBeInstanceOf(Failure)
  expect(failure).toMatchObject({ status: 400, errors })
  expect(String(failure)).toContain("queries[0].where: expected a value after = (position 8): for example 500 or 'text'")
})

test('this holds for every text of a request', () => {
  const reads = [
    () => parseSelect(['median(']),
    () => parseGroups(['a b']),
    () => parseOrderBy('a b'),
    () => parseFormula('a +', ['a']),
    () => parseTimeRange('Last never', 0),
    () => parseSelector('environment ='),
    () => {
      throw refusal('from', { code: 'X', message: 'is wrong' })
    },
  ]
  for (const read of reads) expect(failureOf(read)).toMatchObject({ status: 400, errors: [{ code: expect.any(String) }] })
})

test('the service knows regular expressions', () => {
  expect(failureOf(() => parseFilter("host ~ '('"))).toMatchObject({ status: 400, errors: [{ code: 'BAD_REGEX' }] })
})
