import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { coveragePage, notInContract } from './coverage.ts'
import { endpoints, shapeOf } from './endpoints.ts'

test('docs/api-coverage.md is what `node test/contract/coverage.ts` writes', () => {
  expect(readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/api-coverage.md'), 'utf8')).toBe(coveragePage())
})

test('endpoints listed as open are not in the contract', () => {
  const known = new Set(endpoints.map(({ endpoint }) => `${endpoint.method} ${shapeOf(endpoint.path)}`))
  expect(notInContract.filter((name) => known.has(shapeOf(name)))).toEqual([])
})
