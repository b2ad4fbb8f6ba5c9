import { ParseTrace } from '@dendro/language/parse-trace'
import { expect, test } from 'vitest'
import { isText, lineOf, listOf, openIn, openly, references, strangeIn, usedIn } from './open-texts.ts'
import { readItem, readWhere } from './reading.ts'

test('a text names what it leaves open, each once', () => {
  expect(openIn("region = '{{region}}' AND host = '{{ host }}' OR zone = '{{region}}'")).toEqual(['region', 'host'])
  expect(openIn('{region} {{}')).toEqual([])
})

test('what is used of a template stands in its texts and in the arguments of those within it', () => {
  const content = {
    name: 'Of {{region}}',
    metric: { id: 'x', arguments: { a: { input: 'host' }, b: { literal: 'input' } } },
    parameters: { unused: { type: 'STRING', description: 'not {{used}}' } },
  }
  expect([...usedIn(content)]).toEqual(['region', 'host'])
})

test('a query reads as one whatever its parameters stand for', () => {
  for (const text of ["region = '{{region}}'", 'status >= {{least}}', '{{key}} = 1']) {
    expect(() => openly(readWhere)(text, new ParseTrace())).not.toThrow()
  }
  expect(() => openly(readItem)('p95({{key}})', new ParseTrace())).not.toThrow()
  expect(() => openly(readWhere)('status >>= {{least}}', new ParseTrace())).toThrow()
})

test('what a form does not know is told by its name', () => {
  const shapes = { name: isText, groups: listOf(isText), metric: references.one }
  expect(strangeIn({ name: 'x', groups: ['a'], metric: { id: 'x', arguments: { a: { input: 'b' } } }, more: 1 }, shapes)).toBe(undefined)
  expect(strangeIn({ groups: ['a', 1] }, shapes)).toBe('groups')
  expect(strangeIn({ metric: 'x' }, shapes)).toBe('metric')
})

test('what is refused is found in its line', () => {
  const json = JSON.stringify({ name: 'where', queries: [{ name: 'a', where: 'x' }] }, null, 2)
  expect(json.split('\n')[(lineOf(json, 'queries[0].where') ?? 0) - 1]).toContain('"where": "x"')
  expect(lineOf(json, 'window')).toBe(undefined)
})
