import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Formula, formulaValue, namesOf, parseFormula } from './formula.ts'
import { LanguageError } from './language-error.ts'

const numbers: Readonly<Record<string, number>> = { errors: 6, total: 24, zero: 0, 'slow ones': 3, 'a-b': 5, größe: 7 }
const names = [...Object.keys(numbers), 'missing']
const numberOf = (name: string): number | undefined => numbers[name]

test.each([
  ['errors / total * 100', 25],
  ['errors', 6],
  ['1.5e1', 15],
  ['2 + 3 * 4', 14],
  ['(2 + 3) * 4', 20],
  ['10 - 4 - 3', 3],
  ['48 / 4 / 2', 6],
  ['-errors + 10', 4],
  ['10 - -4', 14],
  ['-(errors - total)', 18],
  ['"slow ones" * 2', 6],
  ['"a-b" - 1', 4],
  ['errors-total', -18],
  ['größe+1', 8],
  ['errors / zero', undefined],
  ['zero / zero', undefined],
  ['missing + 1', undefined],
  ['0 * missing', undefined],
  ['1e308 * 10', undefined],
  ['1e308 * 10 - 1e308 * 10', undefined],
])('%s is %s', (text, value) => {
  expect(formulaValue(parseFormula(text, names), numberOf)).toBe(value)
})

test('a formula lists each query that it needs once', () => {
  expect(namesOf(parseFormula('(errors + total) / -errors * 2', names))).toEqual(['errors', 'total'])
})

describe('invalid formulas are refused with a position', () => {
  test.each([
    ['errors / totl', 'UNKNOWN_NAME', 9, 'no query of that name', 'did you mean total?'],
    ['x', 'UNKNOWN_NAME', 0, 'no query of that name', expect.stringContaining('the queries are errors, total')],
    ['"x y"', 'UNKNOWN_NAME', 0, 'no query of that name', expect.anything()],
    ['errors % total', 'BAD_CHAR', 7, "unexpected '%'", 'only + - * / and parentheses'],
    ['errors ^ 2', 'BAD_CHAR', 7, "unexpected '^'", 'only + - * / and parentheses'],
    ['errors total', 'EXPECTED_OPERATOR', 7, 'expected an operator', 'one of + - * /'],
    ['errors +', 'EXPECTED_VALUE', 8, 'expected the name of a query or a number', 'for example errors / total * 100'],
    ['', 'EXPECTED_VALUE', 0, 'expected the name of a query or a number', 'for example errors / total * 100'],
    ['()', 'EXPECTED_VALUE', 1, 'expected the name of a query or a number', 'for example errors / total * 100'],
    ['(errors', 'MISSING_PAREN', 0, "this '(' is not closed", "add ')'"],
    ['errors)', 'UNEXPECTED_PAREN', 6, "unexpected ')'", 'it has no matching ('],
    ['max(errors)', 'NO_FUNCTIONS', 0, 'formulas have no functions', 'put the function into select of a query'],
    ['"errors', 'UNTERMINATED', 0, 'the quoted name is not closed', 'add the closing "'],
    ['errors; total', 'BAD_CHAR', 6, "unexpected ';'", expect.anything()],
    ['--errors', 'EXPECTED_VALUE', 1, 'expected the name of a query or a number', 'for example errors / total * 100'],
    ['1x', 'EXPECTED_VALUE', 0, 'expected the name of a query or a number', 'for example errors / total * 100'],
    ['“errors”', 'CURLY_QUOTE', 0, 'typographic quote', expect.anything()],
    [`${'('.repeat(21)}1${')'.repeat(21)}`, 'TOO_DEEP', 20, 'a formula is nested at most 20 deep', undefined],
    ['1+'.repeat(51), 'TOO_LONG', 100, 'a formula has at most 100 characters', undefined],
  ])('%s', (text, code, position, message, hint) => {
    const problem = problemOf(text)
    expect([problem?.field, problem?.code, problem?.position, problem?.message]).toEqual(['expression', code, position, message])
    expect(problem?.hint).toEqual(hint)
  })

  test('twenty levels are read', () => {
    expect(formulaValue(parseFormula(`${'('.repeat(20)}1${')'.repeat(20)}`, []), () => undefined)).toBe(1)
  })
})

test('a formula is computed as its brackets say', () => {
  type Written = { text: string; value: number | undefined }
  const applied = (left: number, sign: string, right: number): number | undefined => {
    if (sign === '/') return right === 0 ? undefined : left / right
    return sign === '+' ? left + right : sign === '-' ? left - right : left * right
  }
  const { whole } = fc.letrec<{ whole: Written }>((tie) => ({
    whole: fc.oneof(
      { maxDepth: 3, depthSize: 'small' },
      fc.integer({ min: 0, max: 20 }).map((value) => ({ text: String(value), value })),
      fc.constantFrom({ text: 'errors', value: 6 }, { text: 'missing', value: undefined }),
      tie('whole').map(({ text, value }) => ({ text: `-(${text})`, value: value === undefined ? undefined : -value })),
      fc.tuple(tie('whole'), fc.constantFrom('+', '-', '*', '/'), tie('whole')).map(([left, sign, right]) => ({
        text: `(${left.text})${sign}(${right.text})`,
        value: left.value === undefined || right.value === undefined ? undefined : applied(left.value, sign, right.value),
      })),
    ),
  }))
  fc.assert(
    fc.property(whole, ({ text, value }) => {
      fc.pre(text.length <= 100)
      expect(formulaValue(parseFormula(text, names), numberOf)).toBe(value)
    }),
  )
})

test('any text is parsed, or rejected with a 400 whose position is within the text', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 120 }),
    fc
      .array(fc.constantFrom('errors', 'total', '1', '+', '-', '*', '/', '(', ')', ' ', '"', '%', '🦊'), { maxLength: 30 })
      .map((all) => all.join('')),
  )
  fc.assert(
    fc.property(text, (given) => {
      const problem = problemOf(given)
      expect((problem?.position ?? 0) + (problem?.length ?? 0)).toBeLessThanOrEqual(given.length)
    }),
    { numRuns: 1_000 },
  )
})

function problemOf(text: string) {
  try {
    const formula: Formula = parseFormula(text, names)
    formulaValue(formula, numberOf)
  } catch (thrown) {
    if (thrown instanceof LanguageError) return thrown.problem
    throw thrown
  }
  return undefined
}
