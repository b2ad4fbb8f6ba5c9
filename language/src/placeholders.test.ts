import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseFilter } from './filter.ts'
import { LanguageError } from './language-error.ts'
import { checkTemplate, fillFilter, type PlaceholderArgument } from './placeholders.ts'
import { printFilter } from './print.ts'
import { regexProblem } from './regex.ts'

const given: ReadonlyMap<string, PlaceholderArgument> = new Map<string, PlaceholderArgument>([
  ['code', '500'],
  ['count', 3],
  ['cached', true],
  ['name', "O'Brien OR 1 = 1"],
  ['path', '/api/%'],
  ['codes', ['500', '50x', "it's"]],
  ['regex', '^a+$'],
  ['broken', '('],
  ['since', '2024-05-01'],
])

describe('arguments go into values', () => {
  test.each([
    ['status = {{code}}', 'status = 500'],
    ["status = '{{code}}'", "status = '500'"],
    ['status:{{code}}', 'status = 500'],
    ['status:>{{count}}', 'status > 3'],
    ['hit = {{cached}}', 'hit = true'],
    ['user = {{name}}', "user = 'O''Brien OR 1 = 1'"],
    ["user = 'Mr. {{name}}!'", "user = 'Mr. O''Brien OR 1 = 1!'"],
    ['user = "{{name}}"', "user = 'O''Brien OR 1 = 1'"],
    ["path LIKE '{{path}}'", "path LIKE '/api/%'"],
    ["path LIKE '%{{path}}{{path}}'", "path LIKE '%/api/%/api/%'"],
    ['status IN ({{codes}})', "status IN ('500', '50x', 'it''s')"],
    ['status IN (1, {{codes}}, {{code}})', "status IN (1, '500', '50x', 'it''s', 500)"],
    ['status BETWEEN {{count}} AND {{code}}', 'status BETWEEN 3 AND 500'],
    ["host ~ '{{regex}}'", "host ~ '^a+$'"],
    ['{{code}}', "'500'"],
    ["'about {{code}}'", "'about 500'"],
    ["error NOT '{{ count }}'", "'error' AND NOT '3'"],
    ['@time > {{since}}', "@time > '2024-05-01'"],
    ["a = '{{'", "a = '{{'"],
    ["a = '{x}}'", "a = '{x}}'"],
  ])('%s', (template, filled) => {
    expect(printFilter(fillFilter(template, given, 'where', regexProblem).filter)).toBe(filled)
  })
})

describe('placeholders that cannot be filled are refused with a position', () => {
  test.each([
    ['status = {{unknown}}', 'UNRESOLVED_PLACEHOLDER', 9],
    ["status = 'x {{unknown}}'", 'UNRESOLVED_PLACEHOLDER', 9],
    ["status = '{{}}'", 'BAD_PLACEHOLDER', 9],
    ['{{name}} = 5', 'PLACEHOLDER_IN_KEY', 0],
    ['"{{name}}" = 5', 'PLACEHOLDER_IN_KEY', 0],
    ['"x {{name}}":5', 'PLACEHOLDER_IN_KEY', 0],
    ['{{name}}:5', 'PLACEHOLDER_IN_KEY', 0],
    ['EXISTS {{name}}', 'PLACEHOLDER_IN_KEY', 7],
    ['a{{name}} IS NULL', 'PLACEHOLDER_IN_KEY', 0],
    ['status = {{codes}}', 'BAD_PLACEHOLDER', 9],
    ["status = '{{codes}}'", 'BAD_PLACEHOLDER', 9],
    ["status IN ('{{codes}}')", 'BAD_PLACEHOLDER', 11],
    ["a ~ '{{broken}}'", 'BAD_REGEX', 4],
    ['@time > {{name}}', 'BAD_TIME', 8],
    ['@sequence > {{name}}', 'BAD_NUMBER', 12],
  ])('%s', (template, code, position) => {
    expect(problemOf(() => fillFilter(template, given, 'where', regexProblem))).toMatchObject({ field: 'where', code, position })
  })
})

describe('a template is checked before its arguments are known', () => {
  test.each([
    ["status = {{a}} AND user = '{{b}} {{a}}' AND \"c\" LIKE '{{c.d}}'", ['a', 'b', 'c.d']],
    ["@time > {{t}} AND @sequence = {{s}} AND x ~ '{{r}}' AND y IN ({{l}}, 5)", ['t', 's', 'r', 'l']],
    ['level = error', []],
  ])('%s', (template, names) => {
    expect([...checkTemplate(template)]).toEqual(names)
  })

  test.each([
    ['status == {{a}}', 'BAD_OPERATOR'],
    ['{{a}} = 5', 'PLACEHOLDER_IN_KEY'],
    ["x ~ '('", 'BAD_REGEX'],
    ["x = '{{a b}}'", 'BAD_PLACEHOLDER'],
  ])('%s', (template, code) => {
    expect(problemOf(() => checkTemplate(template, 'where', regexProblem))).toMatchObject({ code })
  })
})

test('outside templates a placeholder is text like any other', () => {
  expect(printFilter(parseFilter("a = '{{b}}' AND c = {{d}} AND {{e}}").filter)).toBe("a = '{{b}}' AND c = '{{d}}' AND '{{e}}'")
})

test('no argument changes the structure of a template, only its values', () => {
  const shapeOf = (template: string, argument: string) =>
    JSON.stringify(fillFilter(template, new Map([['x', argument]])).filter, (name, value) =>
      /^(text|pattern|value|values)$/.test(name) ? 0 : value,
    )
  const templates = [
    "a = '{{x}}' OR b LIKE '%{{x}}%' AND NOT c:{{x}}",
    "'{{x}}' NOT d = '{{x}}-{{x}}'".replace('NOT d', 'AND d'),
    'e IN ({{x}}, 1)',
  ]
  fc.assert(
    fc.property(fc.constantFrom(...templates), fc.string({ unit: 'binary' }), (template, argument) => {
      expect(shapeOf(template, argument)).toBe(shapeOf(template, 'plain'))
    }),
  )
})

function problemOf(read: () => unknown) {
  try {
    read()
  } catch (thrown) {
    if (thrown instanceof LanguageError) return thrown.problem
    throw thrown
  }
  throw new Error('read without a failure')
}
