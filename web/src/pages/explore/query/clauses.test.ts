import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  clausesOn,
  isAnyOf,
  isNotValue,
  isValue,
  joinClauses,
  negate,
  replaceClause,
  splitClauses,
  withClause,
  withoutClause,
} from './clauses.ts'

describe('a query is split into clauses', () => {
  test.each([
    ['', []],
    ['*', []],
    ['level = error', ['level = error']],
    ["level = 'error' AND status >= 500", ["level = 'error'", 'status >= 500']],
    ["a = 'x AND y' and b = 1", ["a = 'x AND y'", 'b = 1']],
    ["a = 'it''s AND' AND b = 1", ["a = 'it''s AND'", 'b = 1']],
    ['"k AND k" = 1 AND b = 2', ['"k AND k" = 1', 'b = 2']],
    ['a BETWEEN 1 AND 2 AND b = 3', ['a BETWEEN 1 AND 2', 'b = 3']],
    ['(a = 1 AND b = 2) AND c = 3', ['(a = 1 AND b = 2)', 'c = 3']],
    ['a = 1 OR b = 2 AND c = 3', ['a = 1 OR b = 2 AND c = 3']],
    ['(a = 1 OR b = 2) AND c = 3', ['(a = 1 OR b = 2)', 'c = 3']],
    ['brand.and = 1 AND sand = 2', ['brand.and = 1', 'sand = 2']],
    ["a = 'open AND b = 1", ["a = 'open AND b = 1"]],
    ['a = 1 AND', ['a = 1 AND']],
    ['timeout refused AND a = 1', ['timeout refused', 'a = 1']],
  ])('%s', (query, clauses) => expect(splitClauses(query)).toEqual(clauses))
})

test('clauses with OR keep their meaning when joined', () => {
  expect(withClause('a = 1 OR b = 2', 'c = 3')).toBe('(a = 1 OR b = 2) AND c = 3')
  expect(withClause('', 'c = 3 OR d = 4')).toBe('c = 3 OR d = 4')
})

test('a clause is added once, replaced and removed', () => {
  expect(withClause('a = 1', 'a = 1')).toBe('a = 1')
  expect(withoutClause('a = 1 AND b = 2', 'a = 1')).toBe('b = 2')
  expect(replaceClause('a = 1 AND b = 2', 'a = 1', 'a = 5')).toBe('a = 5 AND b = 2')
})

test('negation applies to the whole clause', () => {
  expect(negate('timeout refused')).toBe('NOT (timeout refused)')
  expect(negate('(a = 1 OR b = 2)')).toBe('NOT (a = 1 OR b = 2)')
})

test('negating twice gives the clause back', () => {
  for (const clause of ['a = 1', 'EXISTS b', 'a = 1 OR b = 2']) expect(negate(negate(clause))).toBe(clause)
})

test('any field and value make one clause', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (key, value) => {
      const clauses = [isValue(key, value), isNotValue(key, value), isAnyOf(key, [value, 'other']), 'z = 1']
      expect(splitClauses(joinClauses(clauses))).toEqual(clauses)
    }),
  )
})

test('the conditions of one field are found by its name', () => {
  const query =
    "region = 'eu' AND NOT region = 'us' AND region IN ('a', 'b') AND regional = 1 AND (region = 'x' OR level = 'y') AND \"a b\" = 'c'"
  expect(clausesOn(query, 'region')).toEqual(["region = 'eu'", "NOT region = 'us'", "region IN ('a', 'b')"])
  expect(clausesOn(query, 'a b')).toEqual(['"a b" = \'c\''])
  expect(clausesOn('', 'region')).toEqual([])
})
