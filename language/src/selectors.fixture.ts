import fc from 'fast-check'
import { quoted } from './language-error.ts'
import type { Selector, SelectorSubject } from './selector.ts'

/** From a small set, so that ids match. */
export const datasetId = fc.constantFrom(
  '00000000-0000-4000-8000-000000000001',
  '00000000-0000-4000-8000-00000000000b',
  'a0000000-0000-4000-8000-00000000000b',
)
/** From a small set of texts that challenge quoting, case folding and LIKE. */
export const nastyWord = fc.oneof(
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
/** A tag key. */
export const nastyName = fc.oneof(
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
  nastyWord.filter((text) => text.length > 0),
)
const subject: fc.Arbitrary<SelectorSubject> = fc.oneof(
  fc.constantFrom('log_id' as const, 'dataset' as const, 'collection' as const, 'metric_name' as const).map((kind) => ({ kind })),
  nastyName.map((name) => ({ kind: 'tag' as const, key: name })),
)
const condition: fc.Arbitrary<Selector> = subject.chain((about) =>
  fc.oneof(
    fc
      .array(about.kind === 'log_id' ? datasetId : nastyWord, { minLength: 1, maxLength: 4 })
      .map((values) => ({ kind: 'in' as const, subject: about, values })),
    fc.record({ kind: fc.constant('like' as const), subject: fc.constant(about), pattern: nastyWord, ignoreCase: fc.boolean() }),
    fc.constant({ kind: 'present' as const, subject: about }),
  ),
)
/** A random selector, never the star. */
export const anySelector: fc.Arbitrary<Selector> = fc.letrec<{ tree: Selector }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    condition,
    tie('tree').map((of) => ({ kind: 'not' as const, of })),
    fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), of: fc.array(tie('tree'), { minLength: 2, maxLength: 4 }) }),
  ),
})).tree

/** Prints a selector so that it parses to the same tree. */
export function printSelector(selector: Selector): string {
  switch (selector.kind) {
    case 'all':
      return '*'
    case 'and':
    case 'or':
      return selector.of
        .map((part) => (part.kind === 'and' || part.kind === 'or' ? `(${printSelector(part)})` : printSelector(part)))
        .join(` ${selector.kind} `)
    case 'not':
      return selector.of.kind === 'and' || selector.of.kind === 'or'
        ? `NOT (${printSelector(selector.of)})`
        : `NOT ${printSelector(selector.of)}`
    case 'in':
      return selector.values.length === 1
        ? `${printSubject(selector.subject)} = ${quoted(selector.values[0] ?? '')}`
        : `${printSubject(selector.subject)} IN (${selector.values.map(quoted).join(', ')})`
    case 'like':
      return `${printSubject(selector.subject)} ${selector.ignoreCase ? 'ILIKE' : 'LIKE'} ${quoted(selector.pattern)}`
    case 'present':
      return `EXISTS ${printSubject(selector.subject)}`
  }
}

const printSubject = (about: SelectorSubject): string => (about.kind === 'tag' ? `"tag.${about.key.replaceAll('"', '""')}"` : about.kind)
