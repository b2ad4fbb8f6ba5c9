import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Failure } from '../errors.ts'
import { matchDatasets, parseSelector, type Selectable, type Selector, type Subject } from './selector.ts'

const id = fc.constantFrom(
  '00000000-0000-4000-8000-000000000001',
  '00000000-0000-4000-8000-00000000000b',
  'a0000000-0000-4000-8000-00000000000b',
)
/** Texts that meet often and that quoting, folding and LIKE could get wrong. */
const word = fc.oneof(
  fc.constantFrom(
    'web',
    'WEB',
    'a',
    'ab',
    '.usage',
    "o'dd",
    'a"b',
    '100%',
    'a_b',
    'a\\%b',
    '\\',
    'ß',
    'SS',
    'Σσς',
    'é',
    '🦊',
    '🦊x',
    ' ',
    '\n',
    'NULL',
    'and',
    '5',
    'true',
  ),
  fc.string({ unit: fc.constantFrom('a', 'b', 'B', '%', '_', '\\', "'", '"', '🦊', 'é'), maxLength: 6 }),
  fc.string({ unit: 'grapheme', maxLength: 8 }),
)
const key = fc.oneof(
  fc.constantFrom(
    'environment',
    'team',
    'collection',
    'log_id',
    'tag.x',
    'x',
    'user name',
    'a"b',
    '__proto__',
    'in',
    'and',
    'grüße',
    '$a',
    '500',
  ),
  word.filter((text) => text.length > 0),
)
const subject: fc.Arbitrary<Subject> = fc.oneof(
  fc.constantFrom('log_id' as const, 'dataset' as const, 'collection' as const, 'metric_name' as const).map((kind) => ({ kind })),
  key.map((name) => ({ kind: 'tag' as const, key: name })),
)
const condition: fc.Arbitrary<Selector> = subject.chain((about) =>
  fc.oneof(
    fc
      .array(about.kind === 'log_id' ? id : word, { minLength: 1, maxLength: 4 })
      .map((values) => ({ kind: 'in' as const, subject: about, values })),
    fc.record({ kind: fc.constant('like' as const), subject: fc.constant(about), pattern: word, ignoreCase: fc.boolean() }),
    fc.constant({ kind: 'present' as const, subject: about }),
  ),
)
const tree: fc.Arbitrary<Selector> = fc.letrec<{ tree: Selector }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    condition,
    tie('tree').map((of) => ({ kind: 'not' as const, of })),
    fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), of: fc.array(tie('tree'), { minLength: 2, maxLength: 4 }) }),
  ),
})).tree

const dataset: fc.Arbitrary<Selectable> = fc
  .record({ id, collection: word, dataset: word, tags: fc.array(fc.tuple(key, word), { maxLength: 4 }) })
  .map((record) => ({ ...record, tags: Object.fromEntries(record.tags), is_system_generated: record.collection.startsWith('.') }))

test('a printed tree reads back as the same tree', () => {
  fc.assert(
    fc.property(tree, (selector) => {
      const text = print(selector)
      fc.pre(text.length <= 4_096)
      expect(parseSelector(text)).toEqual(selector)
    }),
  )
})

test('whatever the text, it is read or refused with a 400 whose position lies in it', () => {
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
    tree.map(print).map((whole) => whole.slice(1)),
  )
  fc.assert(
    fc.property(text, (given) => {
      try {
        parseSelector(given)
      } catch (thrown) {
        if (!(thrown instanceof Failure)) throw thrown
        const [problem] = thrown.errors ?? []
        expect(thrown.status).toBe(400)
        expect(problem?.position).toBeGreaterThanOrEqual(0)
        expect((problem?.position ?? 0) + (problem?.length ?? 0)).toBeLessThanOrEqual(given.length)
      }
    }),
    { numRuns: 1_000 },
  )
})

test('datasets are chosen as a plain reading of the tree says', () => {
  fc.assert(
    fc.property(tree, fc.array(dataset, { maxLength: 5 }), (selector, datasets) => {
      expect(matchDatasets(selector, datasets)).toEqual(datasets.filter((one) => plainlyChosen(selector, one)))
    }),
    { numRuns: 500 },
  )
})

test('the longest selectors are read and matched without a blow-up', () => {
  const hostile = [
    `a LIKE '${'%a'.repeat(499)}'`,
    `a IN (${"'',".repeat(900)}'')`,
    `${'('.repeat(64)}a = 1${')'.repeat(64)}`,
    `a = ${"''".repeat(2_000)}`,
    `a = ${'b '.repeat(2_000)}`,
    '='.repeat(4_096),
    '~'.repeat(4_096),
    'a'.repeat(4_096),
    `${' '.repeat(4_000)}a = 1`,
  ]
  const long: Selectable = { id: '', collection: '', dataset: '', tags: { a: 'a'.repeat(255) }, is_system_generated: false }
  for (const text of hostile) {
    try {
      matchDatasets(
        parseSelector(text),
        Array.from({ length: 100 }, () => long),
      )
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(Failure)
    }
  }
})

function print(selector: Selector): string {
  switch (selector.kind) {
    case 'all':
      return '*'
    case 'and':
    case 'or':
      return selector.of
        .map((part) => (part.kind === 'and' || part.kind === 'or' ? `(${print(part)})` : print(part)))
        .join(` ${selector.kind} `)
    case 'not':
      return selector.of.kind === 'and' || selector.of.kind === 'or' ? `NOT (${print(selector.of)})` : `NOT ${print(selector.of)}`
    case 'in':
      return selector.values.length === 1
        ? `${printSubject(selector.subject)} = ${printText(selector.values[0] ?? '')}`
        : `${printSubject(selector.subject)} IN (${selector.values.map(printText).join(', ')})`
    case 'like':
      return `${printSubject(selector.subject)} ${selector.ignoreCase ? 'ILIKE' : 'LIKE'} ${printText(selector.pattern)}`
    case 'present':
      return `EXISTS ${printSubject(selector.subject)}`
  }
}

const printText = (text: string): string => `'${text.replaceAll("'", "''")}'`

const printSubject = (about: Subject): string => (about.kind === 'tag' ? `"tag.${about.key.replaceAll('"', '""')}"` : about.kind)

function plainlyChosen(selector: Selector, one: Selectable): boolean {
  return plainly(selector, one) && (!one.is_system_generated || plainlyNamed(selector, one, true))
}

function plainly(selector: Selector, one: Selectable): boolean {
  switch (selector.kind) {
    case 'all':
      return true
    case 'and':
      return selector.of.every((part) => plainly(part, one))
    case 'or':
      return selector.of.some((part) => plainly(part, one))
    case 'not':
      return !plainly(selector.of, one)
    default: {
      const value = plainValue(selector.subject, one)
      if (value === undefined || selector.kind === 'present') return value !== undefined
      if (selector.kind === 'in') return selector.values.includes(value)
      const fold = (text: string) => (selector.ignoreCase ? [...text].map(foldOne) : [...text])
      return plainLike(fold(value), fold(selector.pattern))
    }
  }
}

function plainValue(about: Subject, one: Selectable): string | undefined {
  if (about.kind === 'tag') return new Map(Object.entries(one.tags)).get(about.key)
  return { log_id: one.id, dataset: one.dataset, collection: one.collection, metric_name: undefined }[about.kind]
}

function plainlyNamed(selector: Selector, one: Selectable, wanted: boolean): boolean {
  if (selector.kind === 'and' || selector.kind === 'or') return selector.of.some((part) => plainlyNamed(part, one, wanted))
  if (selector.kind === 'not') return plainlyNamed(selector.of, one, !wanted)
  if (selector.kind !== 'in' || !wanted) return false
  if (selector.subject.kind === 'log_id') return selector.values.includes(one.id)
  if (selector.subject.kind !== 'collection' && selector.subject.kind !== 'dataset') return false
  const name = one[selector.subject.kind]
  return name.startsWith('.') && selector.values.includes(name)
}

/** plainLike tries every way for each run, character by character. */
function plainLike(value: readonly string[], pattern: readonly string[]): boolean {
  const [mark, next] = pattern
  if (mark === undefined) return value.length === 0
  if (mark === '%') return plainLike(value, pattern.slice(1)) || (value.length > 0 && plainLike(value.slice(1), pattern))
  const escaped = mark === '\\' && (next === '%' || next === '_' || next === '\\')
  if (value.length === 0 || !(mark === '_' || value[0] === (escaped ? next : mark))) return false
  return plainLike(value.slice(1), pattern.slice(escaped ? 2 : 1))
}

function foldOne(character: string): string {
  const upper = character.toUpperCase()
  const same = (other: string) => other.length === character.length
  const base = same(upper) ? upper : character
  return same(base.toLowerCase()) ? base.toLowerCase() : base
}
