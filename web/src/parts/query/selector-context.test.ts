import type { Dataset } from '@dendro/api'
import { parseText } from '@dendro/language/completions'
import { expect, test } from 'vitest'
import { lastWordOf, selectorContext } from './selector-context.ts'
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

test('dataset names, tags and built-in names are suggested at the start of a condition', () => {
  expect(suggested('')).toEqual(['dataset', 'collection', 'cost center', 'environment', 'tag.log', 'team', 'log', 'logset', 'log_id'])
  expect(suggested('env')).toEqual(['environment'])
  expect(taken("team = 'shop' AND cost", 'cost center')).toBe(`team = 'shop' AND "cost center" `)
  expect(suggestionsAt('envi', 4, known)).toMatchObject([{ label: 'environment', note: '3' }])
})

test('the operators of selectors are suggested with their meaning', () => {
  expect(suggested('environment ')).toEqual(['=', '!=', 'IS NULL', 'IS NOT NULL', 'IN (', 'LIKE', 'ILIKE'])
  expect(suggestionsAt('environment !', 13, known)).toMatchObject([{ label: '!=', note: 'is not, or is absent' }])
  expect(suggested('environment n')).toEqual(['NOT IN (', 'NOT LIKE'])
})

test('values of existing datasets are suggested, most frequent first', () => {
  expect(suggested('environment = ')).toEqual(['production', 'dev'])
  expect(suggested('log != ')).toEqual(['web', 'billing'])
  expect(suggested('logset IN (')).toEqual(['prod', '.traces', 'lab'])
  expect(suggested('tag.log = ')).toEqual(['shadow'])
  expect(suggested('tag.environment = ')).toEqual(['production', 'dev'])
  expect(taken('"cost center" = ', "o'dd")).toBe(`"cost center" = 'o''dd' `)
  expect(suggested("environment = 'production' ")).toEqual(['AND', 'OR'])
})

test('every accepted suggestion parses, or can be continued', () => {
  for (const text of ['', 'e', 'environment ', 'environment n', 'environment = ', 'log IN (', 'NOT (', 'EXISTS ', "team = 'a' "]) {
    const suggestions = suggestionsAt(text, text.length, known)
    expect(suggestions.length, text).toBeGreaterThan(0)
    for (const { label, insert, from, to } of suggestions) {
      const { problem, isOpen } = parseText(known.read, text.slice(0, from) + insert + text.slice(to))
      expect(problem === undefined || isOpen, `${text} by ${label}`).toBe(true)
    }
  }
})

test('the word being typed is the one after the last blank, quote, bracket or operator', () => {
  const texts = ['', 'env', "env = 'pro", "env IN ('a','b", 'env!=pro', "env = 'prod' ", 'NOT dataset = "web-1']
  expect(texts.map(lastWordOf)).toEqual(['', 'env', 'pro', 'b', 'pro', '', 'web-1'])
})
