import { parseText, type TraceableParser } from '@dendro/language/completions'
import { expect, test } from 'vitest'
import { readFormula as formulaOver, readItem, readKeys, readWhere } from './query-readers.ts'
import { suggestionsAt } from './suggestions.ts'

const fields = [
  {
    name: 'status',
    count: 900,
    values: [
      { value: '200', count: 800 },
      { value: '500', count: 100 },
    ],
  },
  {
    name: 'level',
    count: 900,
    values: [
      { value: 'error', count: 10 },
      { value: "it's", count: 1 },
    ],
  },
  { name: 'odd key', count: 5, values: [{ value: 'x', count: 5 }] },
]
const readFormula = formulaOver(['a', 'errors'])
const at = (text: string, cursor: number, read: TraceableParser) => suggestionsAt(text, cursor, { read, fields, names: ['a', 'errors'] })
const suggested = (text: string, read = readWhere) => at(text, text.length, read).map(({ label }) => label)
const taken = (text: string, label: string, read = readWhere, cursor = text.length) => {
  const one = at(text, cursor, read).find((suggestion) => suggestion.label === label)
  return one && text.slice(0, one.from) + one.insert + text.slice(one.to)
}

test('keys are suggested at the start of a condition, prefix matches first, quoted where necessary', () => {
  expect(suggested('s').slice(0, 1)).toEqual(['status'])
  expect(suggested('stat')).toEqual(['status', '@status'])
  expect(suggested('level = 1 AND le')).toEqual(['level'])
  expect(taken('NOT (od', 'odd key')).toBe('NOT ("odd key" ')
  expect(taken('stat = 5', 'status', readWhere, 2)).toBe('status = 5')
})

test('after a search word, a key takes its value after a colon', () => {
  expect(taken('timeout le', 'level')).toBe('timeout level:')
  expect(suggested('timeout level:')).toEqual(['error', "it's"])
})

test('operators are suggested after a key', () => {
  expect(suggested('status >')).toEqual(['>=', '200', '500'])
  expect(suggested('status !')).toEqual(['!=', '!~', '!~*'])
  expect(taken('status i', 'IN (')).toBe('status IN (')
  expect(suggested('@pattern ')).toEqual(['=', '!=', 'IS NULL', 'IS NOT NULL', 'IN ('])
})

test('sampled values are suggested after an operator and in a list, with quotes', () => {
  expect(suggested('status = ')).toEqual(['200', '500'])
  expect(taken('status = 5', '500')).toBe('status = 500 ')
  expect(taken('level = ', "it's")).toBe("level = 'it''s' ")
  expect(taken("level != 'e", 'error')).toBe("level != 'error' ")
  expect(suggested('@status = ')).toEqual(['error', 'warn', 'info'])
  expect(taken('"odd key" = ', 'x')).toBe(`"odd key" = 'x' `)
  expect(taken('status IN (200, ', '500')).toBe('status IN (200, 500')
})

test('AND and OR are suggested after a condition', () => {
  expect(suggested("level = 'error' ")).toEqual(['AND', 'OR'])
  expect(suggested("(level = 'error' ")).toEqual(['AND', 'OR', ')'])
  expect(suggested('status BETWEEN 200 ')).toEqual(['AND'])
})

test('nothing is suggested inside a complete value', () => {
  expect(suggested("level = 'error'")).toEqual([])
})

test('functions with their keys, group keys and query names are suggested', () => {
  expect(suggested('p9', readItem)).toEqual(['p95(key)', 'p99(key)'])
  expect(taken('cou', 'count(*)', readItem)).toBe('count(*)')
  expect(taken('p95(st', 'status', readItem)).toBe('p95(status')
  expect(suggested('p95(status', readItem)).toEqual([])
  expect(taken('level, st', 'status', readKeys)).toBe('level, status')
  expect(taken('e', 'errors', readFormula)).toBe('errors ')
})

test('every accepted suggestion parses, or can be continued', () => {
  for (const [texts, read] of [
    [['', 's', 'level ', 'level NOT ', 'level n', 'level = ', 'a = 1 ', 'timeout le', 'a IN (', 'a IN (1 '], readWhere],
    [['', 'p', 'count(', 'sum(l'], readItem],
    [['', 'o', 'level, '], readKeys],
    [['', 'a ', 'a / e'], readFormula],
  ] as const) {
    for (const text of texts) {
      for (const { label, insert, from, to } of at(text, text.length, read)) {
        const next = text.slice(0, from) + insert + text.slice(to)
        const { problem, isOpen } = parseText(read, next)
        expect(problem === undefined || isOpen, `${next} by ${label}`).toBe(true)
      }
    }
  }
})
