import { expect, test } from 'vitest'
import { splitClauses, withClause } from '../../query/clauses.ts'
import { hasBranch, sameValues } from './branch-clauses.ts'
import type { FieldBranch } from './field-node.ts'
import { fieldTree } from './field-tree.ts'

const branchOf = (...pairs: [string, string][]) => fieldTree(pairs)[0] as FieldBranch

test('a prefix is there where one of its fields is, an array and its elements by their own names', () => {
  expect(hasBranch(branchOf(['http.method', 'GET'], ['http.status', '200']))).toBe('http.method IS NOT NULL OR http.status IS NOT NULL')
  const items = branchOf(['items', '[{"sku":"a","n":1},null]'])
  expect(hasBranch(items)).toBe('items IS NOT NULL')
  expect(hasBranch(items.inner[0] as FieldBranch)).toBe('items.0 IS NOT NULL')
})

test('the same values are one condition each, without nulls', () => {
  const items = branchOf(['items', '[{"sku":"it\'s","n":1.50},null]'])
  expect(sameValues(items)).toEqual(["items.0.sku = 'it''s'", "items.0.n = '1.50'"])
  expect(splitClauses((sameValues(items) ?? []).reduce(withClause, 'level = 1'))).toHaveLength(3)
})

test('a branch with very many fields has neither', () => {
  const many = branchOf(...Array.from({ length: 21 }, (_, at): [string, string] => [`labels.k${at}`, 'x']))
  expect([sameValues(many), hasBranch(many)]).toEqual([undefined, undefined])
})
