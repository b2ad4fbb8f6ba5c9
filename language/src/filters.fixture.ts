import fc from 'fast-check'
import { canonicalPattern } from './like-pattern.ts'
import type { Condition, Filter, FilterOperator, Literal } from './tree.ts'

/** The ingredients of random filters for tests. */
export type FilterMaterial = {
  readonly keys: fc.Arbitrary<string>
  readonly texts: fc.Arbitrary<string>
  readonly numbers: fc.Arbitrary<string>
  /** Conditions other than those made of keys and values. */
  readonly others: fc.Arbitrary<Condition>
  /** The maximum nesting depth. */
  readonly depth?: number
}

export const freeText = (texts: fc.Arbitrary<string>): fc.Arbitrary<Condition> =>
  texts.map((text) => ({ kind: 'contains', text, at: { position: 0, length: 0 } }))

/** Texts that challenge quoting, case folding, numbers and patterns. */
const nasty = [
  '',
  ' ',
  'a',
  'ab',
  'AB',
  'a b',
  '500',
  '500.0',
  '5e2',
  '0500',
  '+500',
  '-1',
  '1e400',
  'nan',
  'NaN',
  'inf',
  '.5',
  '5.',
  ' 5',
  '1,000',
  '0x10',
  '9007199254740992',
  '9007199254740993',
  '1234567890123456789',
  'true',
  'TRUE',
  'False',
  'null',
  '100%',
  'a_b',
  'a\\b',
  'a\\%b',
  '\\',
  "it's",
  "''",
  '"',
  'line\nbreak',
  'tab\there',
  'straße',
  'STRASSE',
  'Ärger',
  'Σίσυφος',
  'ΣΊΣΥΦΟΣ',
  'İ',
  'ı',
  '🦊',
  '🦊x',
  '～',
  '[1,2]',
  '["a", "b"]',
  'AND',
  '--',
  ';',
  '{{x}}',
]
const pieces = ['a', 'b', 'B', '5', '%', '_', '\\', "'", '"', ' ', '\n', 'é', 'É', 'ß', '🦊', '.', '*', '(']

/** Mostly from a small set, so that conditions match something. */
export const nastyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...nasty) },
  { weight: 2, arbitrary: fc.string({ unit: fc.constantFrom(...pieces), maxLength: 5 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 6 }).filter((text) => !text.includes('\0')) },
)
export const nastyNumber: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('0', '-0', '5', '500', '500.0', '5e2', '+500', '-1', '0.5', '1e400', '9007199254740993', '1234567890123456789', '1.50'),
  fc.integer({ min: -600, max: 600 }).map(String),
)
const anyKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    'level',
    'user name',
    'a"b',
    'in',
    'and',
    'NOT',
    'select',
    '$service.name',
    '@raw',
    'tags.0',
    'grüße',
    '5',
    'x-y',
    'http://',
  ),
  nastyText.filter((text) => text !== '' && text.length < 200),
)

const validatedKeys: ReadonlySet<string> = new Set(['@time', '@timestamp', '@sequence', '@status', '@pattern', '$ingest.time'])
/** A key that accepts every value. Those that validate their values would reject random ones. */
export const keyOfAnyValue = anyKey.filter((key) => !validatedKeys.has(key))

const patterns = [
  'a',
  '^a',
  'b$',
  '5+',
  '[0-9]{2}',
  '(?i)AB',
  'a.b',
  '(?s)e.b',
  '\\.',
  'a|5',
  '',
  '\\bit',
  'ß',
  '[^a]',
  '^$',
  '\\p{Lu}',
  '(a*)*b',
  '🦊',
]

/** Generates random filters that are valid for their keys. */
export function filtersOf({ keys, texts, numbers, others, depth = 4 }: FilterMaterial): fc.Arbitrary<Filter> {
  const text = texts.map((value): Literal => ({ kind: 'text', text: value }))
  const literal: fc.Arbitrary<Literal> = fc.oneof(
    { weight: 3, arbitrary: text },
    { weight: 2, arbitrary: numbers.map((value): Literal => ({ kind: 'number', text: value })) },
    fc.constantFrom('true' as const, 'false' as const).map((value): Literal => ({ kind: 'boolean', text: value })),
  )
  const operator = fc.constantFrom<FilterOperator>('=', '!=', '<', '<=', '>', '>=')
  const likePattern = fc
    .oneof(
      texts,
      texts.map((value) => `%${value}%`),
      texts.map((value) => `${value}%`),
      fc.string({ unit: fc.constantFrom('a', 'b', '5', '0', '%', '_', '\\', '🦊', '.'), maxLength: 6 }),
    )
    .map((pattern) => canonicalPattern(pattern, '\\'))
  const at = fc.constant({ position: 0, length: 0 })
  const key = keys
  const negated = fc.boolean()
  const ignoreCase = fc.boolean()
  const kind = <K extends string>(name: K) => fc.constant(name)
  const condition: fc.Arbitrary<Condition> = fc.oneof(
    fc.record({ kind: kind('compare'), key, operator, value: literal, at }),
    fc.record({ kind: kind('in'), key, values: fc.array(literal, { minLength: 1, maxLength: 4 }), negated, at }),
    fc.record({ kind: kind('between'), key, low: literal, high: literal, negated, at }),
    fc.record({ kind: kind('like'), key, pattern: likePattern, ignoreCase, negated, at }),
    fc.record({ kind: kind('regex'), key, pattern: fc.constantFrom(...patterns), ignoreCase, negated, at }),
    fc.record({ kind: kind('exists'), key, negated, at }),
    others,
  )
  return fc.letrec<{ tree: Filter }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: depth, depthSize: depth > 4 ? 'medium' : 'small' },
      condition.map((one): Filter => one),
      tie('tree').map((of): Filter => ({ kind: 'not', of })),
      fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), of: fc.array(tie('tree'), { minLength: 2, maxLength: 4 }) }),
    ),
  })).tree
}
