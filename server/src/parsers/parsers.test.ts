import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ParserResult } from './compiled.ts'
import { grokNames } from './grok-names.ts'
import { compilePattern, LINE_CHARS_MAX, PATTERN_CHARS_MAX, ParseBudget, typeOfPattern } from './parsers.ts'

const file = readFileSync(join(import.meta.dirname, 'cases/patterns.txt'), 'utf8')
type Case = { name: string; type: 'GROK' | 'DISSECT'; pattern: string; rest: string }
const cases: Case[] = file
  .split(/^== /m)
  .slice(1)
  .map((text) => {
    const [name = '', written = '', ...rest] = text.replace(/\n+$/, '').split('\n')
    const isDissect = written.startsWith('DISSECT ')
    return { name, type: isDissect ? 'DISSECT' : 'GROK', pattern: isDissect ? written.slice(8) : written, rest: rest.join('\n') }
  })

const FUEL = 10_000_000
const fuel = (steps = FUEL) => ({ steps })
const written = (read: ParserResult): string[] =>
  read.kind === 'match' ? read.pairs.map(([name, text]) => `${name} = ${text}`) : [read.kind]

/** The result of a pattern for the lines of its case, in the notation of the cases. */
function outcome({ type, pattern, rest }: Case): string {
  const lines = rest.split('\n').filter((line) => line.startsWith('> '))
  try {
    const parser = compilePattern(type, pattern)
    return lines.flatMap((line) => [line, ...written(parser.read(line.slice(2).replaceAll('\\n', '\n'), fuel()))]).join('\n')
  } catch (thrown) {
    return `refused ${thrown instanceof Error ? thrown.message : thrown}`
  }
}

describe('patterns', () => {
  test.each(cases)('$name', (one) => {
    expect(outcome(one)).toBe(one.rest)
  })
})

test('every standard name can be read, alone', () => {
  for (const name of grokNames.keys()) {
    expect(() => compilePattern('GROK', `%{${name}:x}`), name).not.toThrow()
  }
})

test.each([
  ['INT', ['7', '-12', '+0'], ['x', '']],
  ['NUMBER', ['7', '-1.5', '.5'], ['.', 'x']],
  ['IPV4', ['0.0.0.0', '255.249.199.10'], ['256.1.1.1', '1.2.3']],
  [
    'IPV6',
    ['::', '::1', '1::', '2001:db8::1', '1:2:3:4:5:6:7:8', 'fe80::1%eth0', '::ffff:192.0.2.1', '64:ff9b::192.0.2.33'],
    ['1:2:3', '12345::', ':::'],
  ],
  ['MAC', ['00:1b:44:11:3a:b7', '00-1B-44-11-3A-B7', '001b.4411.3ab7'], ['00:1b:44:11:3a']],
  ['HOSTNAME', ['a', 'web-1', 'x.example.org'], ['-', '']],
  ['EMAILADDRESS', ['a.b+c@example.org'], ['@example.org', 'a@']],
  ['UUID', ['01234567-89ab-cdef-0123-456789abcdef'], ['01234567-89ab-cdef-0123-456789abcde']],
  ['URI', ['http://ada:pw@example.org:8080/a/b?c=d#e', 'file:///etc/x'], ['example.org', 'ftp://[x']],
  ['PATH', ['/', '/var/log/x.log', 'C:\\a\\b'], ['a/b']],
  ['QS', ['"a \\" b"', "'x'", '`y`'], ['"open', 'x']],
  ['MONTHDAY', ['1', '01', '31'], ['0', '32']],
  ['TIME', ['1:02:03', '23:59:60', '10:11:12,345'], ['24:00:00', '10:11']],
  [
    'TIMESTAMP_ISO8601',
    ['2026-11-21T10:11:12.3Z', '2026-11-21 10:11', '2026-11-21 10:11:12,345 +02:00'.replace(' +', '+')],
    ['2026-13-01T00:00'],
  ],
  ['HTTPDATE', ['10/Oct/2026:13:55:36 -0700'], ['10/10/2026:13:55:36 -0700']],
  ['SYSLOGTIMESTAMP', ['Nov  3 04:05:06', 'Nov 21 04:05:06.123'], ['November3 04:05:06']],
  ['LOGLEVEL', ['WARN', 'Warning', 'info', 'ERROR', 'FATAL'], ['wArN', 'loud']],
  ['BOOL', ['true', 'FALSE'], ['maybe']],
] as const)('%s matches what it should as a whole, and nothing else', (name, yes, no) => {
  const parser = compilePattern('GROK', `^(?:%{${name}:x})$`)
  for (const text of yes) expect(written(parser.read(text, fuel())), text).toEqual([`x = ${text}`])
  for (const text of no) expect(parser.read(text, fuel()).kind, text).toBe('no match')
})

test('the language of a pattern is detected', () => {
  expect(['%{IP:a} x', '(?<a>x)', '%{IP}%{GREEDYDATA:b:int}'].map(typeOfPattern)).toEqual(['GROK', 'GROK', 'GROK'])
  expect(['%{a} %{b}', '%{IP:a} %{rest}', '%{+A} %{A}', '%{}%{x->}'].map(typeOfPattern)).toEqual([
    'DISSECT',
    'DISSECT',
    'DISSECT',
    'DISSECT',
  ])
})

/**
 * Random expressions of kinds that JavaScript's engine also supports. Expressions that may be empty are not repeated: engines differ in
 * which of the many empty matches comes first.
 */
const expressions = fc.letrec((tie) => ({
  char: fc.constantFrom('a', 'b', 'c', '.', '[ab]', '[^b]', '\\w', '\\d', '[é-ü]'),
  one: fc.oneof(tie('char'), fc.constantFrom('\\b', '\\B', '^', '$', '(?=a)', '(?!c|$)', '(?<!b)')),
  group: fc.tuple(fc.constantFrom('(?:', '('), tie('any')).map(([open, inner]) => `${open}${inner})`),
  solid: fc
    .tuple(tie('char'), tie('any'), fc.boolean())
    .map(([char, any, isFirst]) => (isFirst ? `(?:${char}(?:${any}))` : `(?:(?:${any})${char})`)),
  repeated: fc
    .tuple(fc.oneof(tie('char'), tie('solid')), fc.constantFrom('*', '+', '?', '*?', '+?', '??', '{2}', '{0,2}', '{1,}?'))
    .map(([item, sign]) => `${item}${sign}`),
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    tie('one'),
    fc.array(fc.oneof(tie('one'), tie('repeated'), tie('group')), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
    fc.tuple(tie('any'), tie('any')).map((parts) => parts.join('|')),
  ),
}))

test('matches like the regular expressions of JavaScript', () => {
  fc.assert(
    fc.property(
      expressions.any as fc.Arbitrary<string>,
      fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '1', ' '), maxLength: 12 }),
      (expression, text) => {
        const own = compilePattern('GROK', `(?<x>${expression})`).read(text, fuel())
        const found = new RegExp(`(?<x>${expression})`, 'u').exec(text)?.groups?.x
        // An empty capture is omitted.
        const expected = found === undefined ? 'no match' : found === '' ? '' : `x = ${found}`
        expect(own.kind === 'match' ? written(own).join('') : own.kind).toBe(expected)
      },
    ),
    { numRuns: 4_000 },
  )
})

test('any text is a pattern or is refused with a position', () => {
  const pieces = fc.constantFrom(
    '%{',
    '}',
    'INT',
    ':x',
    '(',
    ')',
    '(?<a>',
    '[',
    ']',
    '^',
    '-',
    '\\',
    '{2}',
    '*',
    '+?',
    '|',
    'a',
    '%',
    '->',
    '+',
    '/1',
    '&',
    '(?i)',
    '(?=',
    '[:',
  )
  const patterns = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.array(pieces, { maxLength: 20 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(patterns, fc.constantFrom('GROK' as const, 'DISSECT' as const), fc.string({ maxLength: 60 }), (pattern, type, line) => {
      try {
        const read = compilePattern(type, pattern).read(line, fuel())
        if (read.kind === 'match') for (const [, text] of read.pairs) expect(text).not.toBe('')
      } catch (thrown) {
        expect(thrown).toMatchObject({ status: 400, errors: [{ field: 'pattern', position: expect.any(Number) }] })
      }
    }),
    { numRuns: 4_000 },
  )
})

describe('hostile patterns and lines', () => {
  const long = 'a'.repeat(LINE_CHARS_MAX)

  test.each([
    '^(?<x>(a+)+)+$',
    '(?<x>(a*)*b)',
    '(?<x>(.*)(.*)(.*)(.*)(.*)[^a])',
    '%{DATA:a}%{DATA:b}%{DATA:c}%{DATA:d}z',
    '(?<x>(a|a|aa)*)!',
    '(?<x>[a-z]*(?:.{0,900}){2}!)',
  ])('%s takes a number of steps that its length and that of the line bound', (pattern) => {
    const parser = compilePattern('GROK', pattern)
    for (const chars of [100, 200]) {
      const tank = fuel()
      expect(parser.read(`${long.slice(0, chars)}\n`, tank).kind).not.toBe('given up')
      expect(FUEL - tank.steps).toBeLessThan(chars * 30_000)
    }
  })

  test('a line that costs too much is given up, and the next one is read', () => {
    const parser = compilePattern('GROK', '(?<x>(.*)(.*)(.*)(.*)(.*)[^a])')
    const allowance = new ParseBudget()
    expect(allowance.read(parser, long).kind).toBe('given up')
    expect(allowance.read(parser, 'aab')).toEqual({ kind: 'match', pairs: [['x', 'aab']] })
  })

  test('the lines of a post together cost a bounded number of steps', () => {
    const parser = compilePattern('GROK', '(?<x>(.*)(.*)(.*)(.*)(.*)[^a])')
    let steps = 0
    const counting = {
      fields: [],
      read: (text: string, tank: { steps: number }): ParserResult => {
        const before = tank.steps
        const read = parser.read(text, tank)
        steps += before - tank.steps
        return read
      },
    }
    const allowance = new ParseBudget()
    const lines = 2_000
    for (let line = 0; line < lines; line += 1) allowance.read(counting, long.slice(0, 200))
    expect(steps).toBeLessThan(2_000_000 + lines * 200 * 48)
  })

  test('a pattern that is too long is refused', () => {
    expect(() => compilePattern('GROK', `(?<a>x)${'y'.repeat(PATTERN_CHARS_MAX)}`)).toThrow('at most 2048 characters')
  })
})

test('the fields of DISSECT rebuild any line', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '🌳'), minLength: 1, maxLength: 6 })
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (words) => {
      const pattern = words.map((_, index) => `%{f${index}}`).join('|')
      const read = compilePattern('DISSECT', pattern).read(words.join('|'), fuel())
      expect(read).toEqual({ kind: 'match', pairs: words.map((text, index) => [`f${index}`, text]) })
    }),
  )
})
