import fc from 'fast-check'
import { expect, test } from 'vitest'
import { foldCase, likeMatcher } from './like.ts'

const like = (value: string, pattern: string) => likeMatcher({ pattern, ignoreCase: false })(value)
const ilike = (value: string, pattern: string) => likeMatcher({ pattern, ignoreCase: true })(value)

test.each([
  ['', '', true],
  ['', '%', true],
  ['', '_', false],
  ['abc', 'abc', true],
  ['abc', 'ab', false],
  ['abc', 'a%', true],
  ['abc', '%c', true],
  ['abc', '%b%', true],
  ['abc', 'a_c', true],
  ['abc', '___', true],
  ['abc', '____', false],
  ['abc', '_%_%_', true],
  ['aab', '%ab', true],
  ['abab', 'ab%ab', true],
  ['aba', 'ab%ba', false],
  ['line one\nline two', 'line%two', true],
  ['a\nb', 'a_b', true],
  ['🦊', '_', true],
  ['🦊🦊', '%_🦊', true],
  ['x🦊y', '%x_y%', true],
  ['100%', '100\\%', true],
  ['1000', '100\\%', false],
  ['a_b', 'a\\_b', true],
  ['a\\b', 'a\\b', true],
  ['a\\b', 'a\\\\b', true],
  ['a\\', 'a\\', true],
  ['ABC', 'abc', false],
])('%j LIKE %j is %s', (value, pattern, fits) => {
  expect(like(value, pattern)).toBe(fits)
})

test.each([
  ['ÄRGER', 'ärg%', true],
  ['ΣΑΣ', 'σας', true],
  ['straße', 'STRASSE', false],
  ['ẞ', 'ß', true],
  ['İ', '_', true],
  ['K', 'k', true],
])('%j ILIKE %j is %s', (value, pattern, fits) => {
  expect(ilike(value, pattern)).toBe(fits)
})

test('folding keeps the number and the places of characters', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => foldCase(text).length === text.length))
})

test('long patterns with gaps match as in a dynamic-programming table', () => {
  const texts = (characters: string[], maxLength: number) => fc.string({ unit: fc.constantFrom(...characters), maxLength })
  const pattern = fc.oneof(
    texts(['a', 'b', '🦊', '_', '%'], 100),
    texts(['a', '_', '_', '_', '_', 'b'], 90).map((inner) => `%${inner}%`),
  )
  fc.assert(
    fc.property(texts(['a', 'a', 'b', '🦊'], 140), pattern, (value, given) => {
      expect(like(value, given)).toBe(byTable([...value], [...given]))
    }),
    { numRuns: 1_000 },
  )
})

/** Computes for each prefix of the value whether each prefix of the pattern matches it. */
function byTable(value: readonly string[], pattern: readonly string[]): boolean {
  let row = [true, ...value.map(() => false)]
  for (const mark of pattern) {
    const next = [mark === '%' && row[0] === true]
    for (const [index, character] of value.entries()) {
      const here = mark === '%' ? row[index + 1] || next[index] : row[index] && (mark === '_' || mark === character)
      next.push(here === true)
    }
    row = next
  }
  return row.at(-1) === true
}
