import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { inferPattern } from './infer.ts'
import { compilePattern } from './parsers.ts'

/** The fields that the pattern inferred from the lines finds in the first of them. */
function readBy(lines: readonly string[]): Record<string, string> | undefined {
  const pattern = inferPattern(lines)
  if (pattern === undefined) return undefined
  const read = compilePattern('GROK', pattern).read(lines[0] ?? '', { steps: 1_000_000 })
  return read.kind === 'match' ? Object.fromEntries(read.pairs) : undefined
}

describe('a pattern is inferred from the common parts of lines', () => {
  test.each([
    [
      'kinds of values, and the words that are always the same',
      ['10.0.0.1 paid 12.50 for shoes in London', '10.0.0.2 paid 7 for three green hats', '10.0.0.2 paid 70 for a cat'],
      { ip: '10.0.0.1', value: '12.50', message: 'shoes in London' },
    ],
    [
      'a message after a program',
      ['Nov 21 10:00:00 web-1 sshd[42]: Failed password for root', 'Nov 21 10:00:00 web-2 cron[7]: job done well'],
      { timestamp: 'Nov 21 10:00:00', word: 'web-1', word2: 'sshd', value: '42', message: 'Failed password for root' },
    ],
    [
      'columns, to the end of the last',
      ['192.0.2.7|GET|/index.html|200|done', '192.0.2.9|POST|/x|404|failed'],
      { ip: '192.0.2.7', word: 'GET', path: '/index.html', value: '200', word2: 'done' },
    ],
    [
      'names before signs, and texts in quotes',
      ['status: 200, agent="curl/8 x", took=12ms', 'status: 500, agent="wget", took=9ms'],
      { status: '200', agent: 'curl/8 x', took: '12' },
    ],
    ['what most lines have', ['a=1 b=2 c=3', 'a=4 b=5 c=6', 'a=7 b=8 c=9', 'another one'], { a: '1', b: '2', c: '3' }],
  ])('%s', (_, lines, expected) => {
    expect(readBy(lines)).toEqual(expected)
  })

  test.each([
    ['words', ['hello there my friend', 'what is this then']],
    ['nothing', []],
    ['blank lines', ['   ', '']],
    ['lines of different kinds', ['10.0.0.1 a', '[x] y', '"q" 7', '/p/q 1']],
  ])('but not of %s', (_, lines) => {
    expect(inferPattern(lines)).toBeUndefined()
  })

  test('and always compiles, for any lines', () => {
    const piece = fc.constantFrom(
      '10.0.0.1',
      '"',
      "'",
      '[',
      ']',
      '%{',
      '}',
      '(',
      '|',
      '\\',
      ' ',
      '  ',
      '=',
      ':',
      '7',
      '-1.5',
      'ms',
      'INFO',
      'user',
      '/a/b',
      'é🌳',
      '2026-11-21T10:00:00Z',
    )
    const line = fc.array(piece, { maxLength: 14 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 5 }), (lines) => {
        const pattern = inferPattern(lines)
        if (pattern !== undefined) expect(compilePattern('GROK', pattern).fields.length).toBeGreaterThan(1)
      }),
      { numRuns: 2_000 },
    )
  })
})
