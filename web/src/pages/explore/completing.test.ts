import { expect, test } from 'vitest'
import { completionsAt } from './completing.ts'

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
const offered = (text: string) => completionsAt(text, text.length, fields).map(({ label }) => label)
const taken = (text: string, label: string) => {
  const offer = completionsAt(text, text.length, fields).find((one) => one.label === label)
  return offer && text.slice(0, offer.from) + offer.insert + text.slice(offer.to)
}

test('keys are offered where a condition begins, those that begin so first, quoted when they must be', () => {
  expect(offered('s').slice(0, 1)).toEqual(['status'])
  expect(offered('stat')).toEqual(['status', '@status'])
  expect(offered('level = 1 AND le')).toEqual(['level'])
  expect(taken('NOT (od', 'odd key')).toBe('NOT ("odd key" ')
})

test('operators are offered after a key', () => {
  expect(offered('status >')).toEqual(['>='])
  expect(taken('status i', 'IN')).toBe('status IN ')
})

test('values that were seen are offered after an operator, with their quotes', () => {
  expect(offered('status = ')).toEqual(['200', '500'])
  expect(taken('status = 5', '500')).toBe('status = 500 ')
  expect(taken('level = ', "it's")).toBe("level = 'it''s' ")
  expect(taken("level != 'e", 'error')).toBe("level != 'error' ")
  expect(offered('@status = ')).toEqual(['error', 'warn', 'info'])
  expect(taken('"odd key" = ', 'x')).toBe(`"odd key" = 'x' `)
})

test('nothing is offered inside a value that is done', () => {
  expect(offered("level = 'error' ")).toEqual([])
})
