import { expect, test } from 'vitest'
import { Failure } from '../kernel/errors.ts'
import { matchDatasets, type SelectableDataset } from './selector.ts'
import { selectorOfTags } from './selector-tags.ts'

const tagged = (dataset: string, tags: Record<string, string>, collection = 'c'): SelectableDataset => ({
  id: dataset,
  collection,
  dataset,
  tags,
  is_system_generated: collection.startsWith('.'),
})
const datasets = [
  tagged('web', { env: 'prod', team: 'a' }),
  tagged('api', { env: 'dev', team: 'a' }),
  tagged('odd', { 'a:b': 'x=y', 'say "hi"': ' ', collection: 'c2' }),
  tagged('none', {}),
  tagged('usage', { env: 'prod' }, '.usage'),
]
const picks = (...items: string[]) => matchDatasets(selectorOfTags(items), datasets).map(({ dataset }) => dataset)

test('the same key means either value, different keys mean all of them', () => {
  expect(picks('env:prod')).toEqual(['web'])
  expect(picks('env:prod', 'env:dev')).toEqual(['web', 'api'])
  expect(picks('env:prod', 'team:a', 'env:dev')).toEqual(['web', 'api'])
  expect(picks('env:prod', 'team:b')).toEqual([])
})

test('parts may be quoted, and a key is always a tag', () => {
  expect(picks('"env":"prod"')).toEqual(['web'])
  expect(picks('"a:b":"x=y"')).toEqual(['odd'])
  expect(picks('"say ""hi""":" "')).toEqual(['odd'])
  expect(picks('collection:c2')).toEqual(['odd'])
  expect(picks(' env : prod ')).toEqual(['web'])
})

test.each([
  'env',
  'env:',
  ':prod',
  'env:a:b',
  'env=prod',
  '"env:prod',
  'a:b=c',
  ' : ',
  '"":a',
  `${' '.repeat(50_000)}x`,
  `""${'""'.repeat(50_000)}`,
  `${'x'.repeat(4_000)}`,
  `${'" '.repeat(2_000)}`,
])('%s is refused with a 400', (item) => {
  expect(() => selectorOfTags([item])).toThrow(Failure)
  expect(() => selectorOfTags([item])).toThrow(/^from_tags: '.{1,100}' is not of the form key:value/)
})
