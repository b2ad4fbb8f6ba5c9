import { ParseTrace } from '@dendro/language/parse-trace'
import { expect, test } from 'vitest'
import { readItem, readWhere } from '../query/query-readers.ts'
import {
  isText,
  lineOf,
  listOf,
  placeholdersIn,
  placeholdersUsed,
  references,
  unsupportedMember,
  withPlaceholders,
} from './placeholders.ts'

test('placeholders of a text are listed once each', () => {
  expect(placeholdersIn("region = '{{region}}' AND host = '{{ host }}' OR zone = '{{region}}'")).toEqual(['region', 'host'])
  expect(placeholdersIn('{region} {{}')).toEqual([])
})

test('used parameters are found in texts and in the arguments of nested templates', () => {
  const content = {
    name: 'Of {{region}}',
    metric: { id: 'x', arguments: { a: { input: 'host' }, b: { literal: 'input' } } },
    parameters: { unused: { type: 'STRING', description: 'not {{used}}' } },
  }
  expect([...placeholdersUsed(content)]).toEqual(['region', 'host'])
})

test('a query with placeholders parses for every kind of value', () => {
  for (const text of ["region = '{{region}}'", 'status >= {{least}}', '{{key}} = 1']) {
    expect(() => withPlaceholders(readWhere)(text, new ParseTrace())).not.toThrow()
  }
  expect(() => withPlaceholders(readItem)('p95({{key}})', new ParseTrace())).not.toThrow()
  expect(() => withPlaceholders(readWhere)('status >>= {{least}}', new ParseTrace())).toThrow()
})

test('an unsupported member is named', () => {
  const shapes = { name: isText, groups: listOf(isText), metric: references.one }
  expect(unsupportedMember({ name: 'x', groups: ['a'], metric: { id: 'x', arguments: { a: { input: 'b' } } }, more: 1 }, shapes)).toBe(
    undefined,
  )
  expect(unsupportedMember({ groups: ['a', 1] }, shapes)).toBe('groups')
  expect(unsupportedMember({ metric: 'x' }, shapes)).toBe('metric')
})

test('an error is located in its line', () => {
  const json = JSON.stringify({ name: 'where', queries: [{ name: 'a', where: 'x' }] }, null, 2)
  expect(json.split('\n')[(lineOf(json, 'queries[0].where') ?? 0) - 1]).toContain('"where": "x"')
  expect(lineOf(json, 'window')).toBe(undefined)
})
