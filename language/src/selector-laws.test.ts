import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LanguageError } from './language-error.ts'
import { parseSelector } from './selector.ts'
import { anySelector, printSelector } from './selectors.fixture.ts'

test('a printed tree reads back as the same tree', () => {
  fc.assert(
    fc.property(anySelector, (selector) => {
      const text = printSelector(selector)
      fc.pre(text.length <= 4_096)
      expect(parseSelector(text)).toEqual(selector)
    }),
  )
})

test('any text is parsed, or rejected at a position within the text', () => {
  const piece = fc.constantFrom(
    "'",
    '"',
    '(',
    ')',
    ',',
    '=',
    '!=',
    ' AND ',
    ' OR ',
    ' NOT ',
    ' IN ',
    ' IS ',
    ' NULL ',
    'EXISTS ',
    ' LIKE ',
    'team',
    '*',
    ' ',
    ' ',
    '‘',
    '--',
    '\ud83e',
    '5',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
    anySelector.map(printSelector).map((whole) => whole.slice(1)),
  )
  fc.assert(
    fc.property(text, (given) => {
      try {
        parseSelector(given)
      } catch (thrown) {
        if (!(thrown instanceof LanguageError)) throw thrown
        const { position = -1, length = 0 } = thrown.problem
        expect(position).toBeGreaterThanOrEqual(0)
        expect(position + length).toBeLessThanOrEqual(given.length)
      }
    }),
    { numRuns: 1_000 },
  )
})
