import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFilter as parse } from './filter.ts'
import { filtersOf, freeText, keyOfAnyValue, nastyNumber, nastyText } from './filters.fixture.ts'
import { LanguageError } from './language-error.ts'
import { printFilter } from './print.ts'
import { regexProblem } from './regex.ts'
import type { Filter } from './tree.ts'

const parseFilter = (text: string) => parse(text, 'where', { regexProblem })

const filters = filtersOf({
  keys: keyOfAnyValue,
  texts: nastyText,
  numbers: nastyNumber,
  others: freeText(nastyText),
})

test('a printed filter reads back as the same tree', () => {
  fc.assert(
    fc.property(filters, (filter) => {
      const text = printFilter(filter)
      fc.pre(text.length <= 32_768)
      expect(placeless(parseFilter(text).filter)).toEqual(placeless(filter))
    }),
    { numRuns: 2_000 },
  )
})

test('any text is parsed, or rejected with a 400 whose position and fix are within the text', () => {
  const piece = fc.constantFrom(
    ...`' " ( ) , = != <> < <= > >= ~ !~* == AND OR NOT IN IS NULL EXISTS LIKE ESCAPE BETWEEN REGEXP team level: :x * -a @time @status`.split(
      ' ',
    ),
    ...[
      '‘',
      '’',
      '--',
      '/*',
      '\ud83e',
      '\udd8a',
      '5',
      '500ms',
      "'x'",
      '"x"',
      '{{x}}',
      ' ',
      ' ',
      ' ',
      '\n',
      '\u00a0',
      'SELECT ',
      'WHERE ',
      ' FROM ',
    ],
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(piece, { maxLength: 40 }).map((given) => given.join('')),
    fc.array(piece, { maxLength: 40 }).map((given) => given.join(' ')),
    filters.map(printFilter).map((whole) => whole.slice(1)),
    fc.tuple(filters.map(printFilter), fc.nat(200), piece).map(([whole, at, put]) => whole.slice(0, at) + put + whole.slice(at)),
  )
  fc.assert(
    fc.property(text, (given) => {
      for (const { position, length, fix } of problemsOf(given)) {
        expect(position).toBeGreaterThanOrEqual(0)
        expect((position ?? 0) + (length ?? 0)).toBeLessThanOrEqual(given.length)
        expect((fix?.position ?? 0) + (fix?.length ?? 0)).toBeLessThanOrEqual(given.length)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('the longest texts are parsed or rejected in linear time, even with deep repetition', () => {
  const hostile = [
    '(',
    'NOT ',
    '=',
    '~',
    '!',
    "'",
    '"',
    '""',
    "''",
    'a',
    'a ',
    'a:',
    'a:b ',
    ' ',
    '-',
    '*',
    '@',
    ',',
    '.',
    'a.',
    'a-',
    'x=1 OR ',
    'x=y OR z OR ',
    'x IN (1) AND ',
    "x LIKE '%a%' AND ",
    "x ~ '(a*)*b' OR ",
    'select ',
    'select a ',
    'order by ',
    '1e',
    '12:',
    'http://',
    '‘',
    '`',
    '“a',
    '{{',
    '\\',
    '🦊',
    '\ud83e',
    'x is y ',
    'x in y ',
    'x="y" ',
  ]
  const heads = ['', 'a = b ', 'SELECT ', "a LIKE '", "a ~ '", 'a = ', 'a IN (', 'a:(', 'http://', 'a is ', 'a between ']
  for (const unit of hostile) {
    for (const head of heads) {
      problemsOf(head + unit.repeat(Math.floor(32_700 / unit.length)))
    }
  }
})

function problemsOf(text: string) {
  try {
    return parseFilter(text).warnings
  } catch (thrown) {
    if (!(thrown instanceof LanguageError)) throw thrown
    return [thrown.problem]
  }
}

/** A filter without the positions of its conditions. */
function placeless(filter: Filter): unknown {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return { kind: filter.kind, of: filter.of.map(placeless) }
    case 'not':
      return { kind: filter.kind, of: placeless(filter.of) }
    case 'all':
      return filter
    default: {
      const { at: _at, ...rest } = filter
      return rest
    }
  }
}
