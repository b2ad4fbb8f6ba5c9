import type { Dataset } from '@dendro/api'
import { parseText } from '@dendro/language/completions'
import { expect, test } from 'vitest'
import { selectorContext } from './selector-context.ts'
import { suggestionsAt } from './suggestions.ts'

const datasetOf = (collection: string, dataset: string, tags: Record<string, string>) =>
  ({ collection, dataset, tags, is_system_generated: collection.startsWith('.') }) as Dataset
const known = selectorContext([
  datasetOf('prod', 'web', { environment: 'production', team: 'shop' }),
  datasetOf('prod', 'billing', { environment: 'production', 'cost center': "o'dd" }),
  datasetOf('lab', 'web', { environment: 'dev', log: 'shadow' }),
  datasetOf('.traces', 'checkout', { owner: 'the system' }),
])
const suggested = (text: string) => suggestionsAt(text, text.length, known).map(({ label }) => label)
const taken = (text: string, label: string) => {
  const one = suggestionsAt(text, text.length, known).find((suggestion) => suggestion.label === label)
  return one && text.slice(0, one.from) + one.insert + text.slice(one.to)
}

test('names of datasets, tags and what else is built in are suggested where a condition begins', () => {
  expect(suggested('')).toEqual(['dataset', 'collection', 'cost center', 'environment', 'tag.log', 'team', 'log', 'logset', 'log_id'])
  expect(suggested('env')).toEqual(['environment'])
  expect(taken("team = 'shop' AND cost", 'cost center')).toBe(`team = 'shop' AND "cost center" `)
  expect(suggestionsAt('envi', 4, known)).toMatchObject([{ label: 'environment', note: '3' }])
})

test('the operators of selectors are suggested, with what they mean there', () => {
  expect(suggested('environment ')).toEqual(['=', '!=', 'IS NULL', 'IS NOT NULL', 'IN (', 'LIKE', 'ILIKE'])
  expect(suggestionsAt('environment !', 13, known)).toMatchObject([{ label: '!=', note: 'is not, or is absent' }])
  expect(suggested('environment n')).toEqual(['NOT IN (', 'NOT LIKE'])
})

test('values that datasets have are suggested, the most frequent first', () => {
  expect(suggested('environment = ')).toEqual(['production', 'dev'])
  expect(suggested('log != ')).toEqual(['web', 'billing'])
  expect(suggested('logset IN (')).toEqual(['prod', '.traces', 'lab'])
  expect(suggested('tag.log = ')).toEqual(['shadow'])
  expect(suggested('tag.environment = ')).toEqual(['production', 'dev'])
  expect(taken('"cost center" = ', "o'dd")).toBe(`"cost center" = 'o''dd' `)
  expect(suggested("environment = 'production' ")).toEqual(['AND', 'OR'])
})

test('whatever is taken is whole or can be gone on with', () => {
  for (const text of ['', 'e', 'environment ', 'environment n', 'environment = ', 'log IN (', 'NOT (', 'EXISTS ', "team = 'a' "]) {
    const suggestions = suggestionsAt(text, text.length, known)
    expect(suggestions.length, text).toBeGreaterThan(0)
    for (const { label, insert, from, to } of suggestions) {
      const { problem, isOpen } = parseText(known.read, text.slice(0, from) + insert + text.slice(to))
      expect(problem === undefined || isOpen, `${text} by ${label}`).toBe(true)
    }
  }
})
