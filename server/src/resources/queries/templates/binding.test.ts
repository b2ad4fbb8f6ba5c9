import { TemplateArgument, type TemplateArguments, type TemplateParameters } from '@dendro/api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../../kernel/errors.ts'
import { bindArguments, checkPlaceholders, checkReference, fillIn } from './binding.ts'

const field = 'template.arguments'
const bind = (parameters: TemplateParameters, given: TemplateArguments = {}) => bindArguments(parameters, given, { field })
const filled = (part: unknown, parameters: TemplateParameters, given: TemplateArguments) => fillIn(part, bind(parameters, given), '')

function refusalOf(run: () => unknown): string[] {
  try {
    run()
  } catch (failure) {
    if (failure instanceof Failure) return [String(failure.status), failure.errors?.[0]?.field ?? '', failure.errors?.[0]?.code ?? '']
    throw failure
  }
  return []
}

test.each([
  [{ literal: 'eu' }, { literal: 'eu' }],
  [{ input: 'region' }, { input: 'region' }],
  [{ value: { literal: 'eu' } }, { literal: 'eu' }],
  [{ value: { input: 'region' } }, { input: 'region' }],
  [{ value: { value: 'eu' } }, { literal: 'eu' }],
  [{ value: 'eu' }, { literal: 'eu' }],
  [{ value: ['a', 'b'] }, { literal: ['a', 'b'] }],
  [{ value: { value: [{ a: 1 }] } }, { literal: [{ a: 1 }] }],
  [{ literal: 2.5 }, { literal: '2.5' }],
  [{ value: true }, { literal: 'true' }],
])('%j is kept as %j', (given, kept) => {
  expect(TemplateArgument.parse(given)).toEqual(kept)
})

test.each([
  [{}],
  [{ literal: 'a', input: 'b' }],
  [{ literal: 'a', more: 1 }],
  [{ value: 'a', more: 1 }],
  ['eu'],
  [null],
  [{ literal: null }],
  [{ input: 1 }],
])('%j is no argument', (given) => {
  expect(TemplateArgument.safeParse(given).success).toBe(false)
})

test('each type of parameter is inserted into texts in its format', () => {
  const parameters: TemplateParameters = {
    s: { type: 'STRING' },
    d: { type: 'DOUBLE' },
    b: { type: 'BOOLEAN' },
    l: { type: 'STRING_LIST' },
    o: { type: 'OBJECT_LIST' },
  }
  const given = {
    s: { literal: "O'Brien" },
    d: { literal: '1.50' },
    b: { literal: 'TRUE' },
    l: { literal: ['a', "b'c"] },
    o: { literal: [{ k: 1 }] },
  }
  expect(filled({ text: '{{s}} {{ d }} {{b}} x IN ({{l}}) {{o}}' }, parameters, given)).toEqual({
    text: `O'Brien 1.50 true x IN ('a', 'b''c') [{"k":1}]`,
  })
})

test('an item of a list that is nothing but a list parameter becomes its items', () => {
  const parameters: TemplateParameters = { l: { type: 'STRING_LIST' }, o: { type: 'OBJECT_LIST' } }
  const given = { l: { literal: 'a, b' }, o: { literal: '[{"k":1},{"k":2}]' } }
  expect(filled({ from: ['x', '{{l}}', 'y {{l}}'], rules: ['{{ o }}'] }, parameters, given)).toEqual({
    from: ['x', 'a', 'b', "y 'a', 'b'"],
    rules: [{ k: 1 }, { k: 2 }],
  })
})

test('inserted values are not expanded again, and members, numbers and null stay as they are', () => {
  const given = { a: { literal: '{{b}}' }, b: { literal: 'x' } }
  const part = { '{{a}}': '{{a}}', n: 1, t: true, none: null, deep: [[{ v: '{{b}}{{b}}' }]] }
  expect(filled(part, { a: { type: 'STRING' }, b: { type: 'STRING' } }, given)).toEqual({
    ...part,
    '{{a}}': '{{b}}',
    deep: [[{ v: 'xx' }]],
  })
})

describe('refused is', () => {
  test.each<[string, TemplateParameters, TemplateArguments, string, string]>([
    ['an argument that no parameter has', {}, { a: { literal: 'x' } }, 'a', 'UNKNOWN_PARAMETER'],
    ['a parameter without an argument', { a: { type: 'STRING' } }, {}, 'a', 'MISSING_ARGUMENT'],
    ['a list for a text', { a: { type: 'STRING' } }, { a: { literal: ['x'] } }, 'a', 'BAD_ARGUMENT'],
    ['a word for a number', { a: { type: 'DOUBLE' } }, { a: { literal: 'many' } }, 'a', 'BAD_ARGUMENT'],
    ['a number that JSON has not', { a: { type: 'DOUBLE' } }, { a: { literal: 'NaN' } }, 'a', 'BAD_ARGUMENT'],
    ['a word for a truth', { a: { type: 'BOOLEAN' } }, { a: { literal: 'yes' } }, 'a', 'BAD_ARGUMENT'],
    ['objects for texts', { a: { type: 'STRING_LIST' } }, { a: { literal: [{}] } }, 'a', 'BAD_ARGUMENT'],
    ['texts for objects', { a: { type: 'OBJECT_LIST' } }, { a: { literal: ['x'] } }, 'a', 'BAD_ARGUMENT'],
    ['an input where nothing encloses', { a: { type: 'STRING' } }, { a: { input: 'b' } }, 'a.input', 'UNKNOWN_INPUT'],
  ])('%s', (_, parameters, given, at, code) => {
    expect(refusalOf(() => bind(parameters, given))).toEqual(['400', `${field}.${at}`, code])
  })

  test('a placeholder without a parameter, where it stands', () => {
    const refused = refusalOf(() => checkPlaceholders({ queries: [{ where: 'a = {{b}}' }] }, { a: { type: 'STRING' } }))
    expect(refused).toEqual(['400', 'queries.0.where', 'UNKNOWN_PARAMETER'])
    expect(refusalOf(() => checkPlaceholders({ queries: [{ where: 'a = {{ b }}' }] }, { b: { type: 'STRING' } }))).toEqual([])
  })

  test('a result that grows without bound', () => {
    const parts = { texts: Array.from({ length: 100 }, () => '{{a}}') }
    expect(refusalOf(() => filled(parts, { a: { type: 'STRING' } }, { a: { literal: 'x'.repeat(16_000) } }))[2]).toBe('TOO_LONG')
  })

  test.each<[string, TemplateArguments, string[]]>([
    ['an input that the outer template does not have', { x: { input: 'b' }, y: { literal: '1' } }, ['x.input', 'UNKNOWN_INPUT']],
    ['a parameter without an argument', { x: { input: 'a' } }, ['y', 'MISSING_ARGUMENT']],
    ['a literal of another type', { x: { input: 'a' }, y: { literal: 'b' } }, ['y', 'BAD_ARGUMENT']],
    ['an argument without a parameter', { x: { input: 'a' }, y: { literal: '1' }, z: { input: 'a' } }, ['z', 'UNKNOWN_PARAMETER']],
  ])('within a template %s', (_, given, [at, code]) => {
    const reference = {
      parameters: { x: { type: 'STRING' }, y: { type: 'DOUBLE' } },
      outer: { a: { type: 'STRING' } },
      field: 'metrics.0',
    } as const
    expect(refusalOf(() => checkReference(given, reference))).toEqual(['400', `metrics.0.${at}`, code])
    expect(refusalOf(() => checkReference({ x: { input: 'a' }, y: { literal: '1' } }, reference))).toEqual([])
  })
})

test('an input takes the value of the enclosing template, in the type of its own', () => {
  const enclosing = bind(
    { services: { type: 'STRING_LIST' }, limit: { type: 'DOUBLE' } },
    { services: { literal: 'a,b' }, limit: { literal: '7' } },
  )
  const within = (parameters: TemplateParameters, given: TemplateArguments) => bindArguments(parameters, given, { field, enclosing })
  const binding = within({ s: { type: 'STRING' }, n: { type: 'STRING' } }, { s: { input: 'services' }, n: { input: 'limit' } })
  expect(fillIn('{{s}} {{n}}', binding, '')).toBe('a,b 7')
  expect(refusalOf(() => within({ d: { type: 'DOUBLE' } }, { d: { input: 'services' } }))).toEqual(['400', `${field}.d`, 'BAD_ARGUMENT'])
  expect(refusalOf(() => within({ d: { type: 'DOUBLE' } }, { d: { input: 'other' } }))).toEqual([
    '400',
    `${field}.d.input`,
    'UNKNOWN_INPUT',
  ])
})

test('whatever the names and values, texts come back with exactly the values in the places of the names', () => {
  const name = fc
    .string({ minLength: 1, maxLength: 8 })
    .filter((text) => !/[{}]/.test(text) && text.trim() === text && text !== '__proto__')
  const piece = fc.oneof(
    fc.record({ name }),
    fc.string().filter((text) => !/[{}]/.test(text)),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.string(), (pieces, salt) => {
      const names = pieces.flatMap((one) => (typeof one === 'string' ? [] : [one.name]))
      const valueFor = (one: string) => `${salt}{{${one}}}$&$1`
      const parameters = Object.fromEntries(names.map((one) => [one, { type: 'STRING' as const }]))
      const given = Object.fromEntries(names.map((one) => [one, { literal: valueFor(one) }]))
      const template = pieces.map((one) => (typeof one === 'string' ? one : `{{${one.name}}}`)).join('')
      const expected = pieces.map((one) => (typeof one === 'string' ? one : valueFor(one.name))).join('')
      expect(filled({ template }, parameters, given)).toEqual({ template: expected })
    }),
    { numRuns: 1_000 },
  )
})

test.each([
  {},
  'web',
  null,
  ['web'],
  { literal: 'a', input: 'b' },
  { literal: 'a', more: 1 },
  { other: 'a' },
  { value: 'a', literal: 'b' },
])('%j is refused with the one rule that it breaks', (given) => {
  expect(TemplateArgument.safeParse(given).error?.issues.map(({ path, message }) => [path, message])).toEqual([
    [[], 'must be an object with exactly one of literal and input'],
  ])
})

test.each<[object, string]>([
  [{ literal: 'x'.repeat(16_385) }, 'at most 16384'],
  [{ input: '' }, '1 to 255'],
  [{ value: { input: '' } }, '1 to 255'],
])('%# the form is right and the value is not', (given, rule) => {
  expect(JSON.stringify(TemplateArgument.safeParse(given).error?.issues)).toContain(rule)
})
