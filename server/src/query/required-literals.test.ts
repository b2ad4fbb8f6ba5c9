import { compileRegex } from '@dendro/language/regex'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openReader } from '../../../test/support/reader.ts'
import { openSendersAlone } from '../../../test/support/senders.ts'
import { neededTexts } from './required-literals.ts'

test.each([
  ['took [3-5][0-9]{2} ms', ['took ', ' ms']],
  ['Failed password for (invalid user )?root', ['Failed password for ', 'root']],
  ['^at org[.]example', ['example', 'at org']],
  ['a\\.b\\.c+d', ['a.b.c']],
  ['abcd?', ['abc']],
  ['abcd*ef', ['abc']],
  ['abcd{2}', ['abcd']],
  ['abcd{0}e', ['abc']],
  ['abcd{0,2}e', ['abc']],
  ['(?s)abc.def', ['abc', 'def']],
  ['abc|def', []],
  ['(abc|def)ghi', ['ghi']],
  ['(abc(d|e))fgh', []],
  ['\\Qabc|d\\E', []],
  ['\\x61bcdef', []],
  ['abc\\pLdef', []],
  ['abc\\PLdef', []],
  ['\\Qabc\\E', []],
  ['abc\\12def', []],
  ['(?i:x)abc', []],
  ['abc(?i)def', []],
  ['ab', []],
  ['[]abc]def', ['def']],
  ['[[:alpha:]]def', []],
  ['🦊🦊🦊?', ['🦊🦊']],
])('%s needs %j', (pattern, texts) => {
  expect(neededTexts(pattern, false)).toEqual(texts)
})

test('letters with a third form are not needed where case is ignored', () => {
  expect(neededTexts('connection refused', true)).toEqual(['connection refu'])
  expect(neededTexts('(?i)tickets', false)).toEqual(['tic'])
})

test('every match contains the texts', () => {
  const piece = fc.constantFrom(
    'abc',
    'de',
    'f',
    '.',
    '?',
    '*',
    '+',
    '{2}',
    '{0,1}',
    '(',
    ')',
    '|',
    '[ab]',
    '[^a]',
    '\\d',
    '\\.',
    '^',
    '$',
    '(?i)',
    '\\b',
    '1',
  )
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', '1', '.'), maxLength: 12 })
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 6 }),
      fc.boolean(),
      fc.array(text, { minLength: 20, maxLength: 20 }),
      (pieces, ignoreCase, texts) => {
        const pattern = pieces.join('')
        const rule = { kind: 'regex', pattern, ignoreCase } as unknown as Parameters<typeof compileRegex>[0]
        const needed = neededTexts(pattern, ignoreCase)
        if (needed.length === 0) return
        const regex = compileRegex(rule)
        for (const one of texts) if (regex.test(one)) for (const part of needed) expect(one.toLowerCase()).toContain(part.toLowerCase())
      },
    ),
    { numRuns: 3_000 },
  )
})

test('lines of many shapes are found by expressions that need a text', async () => {
  const headers = [...Array(24).keys()].map(
    (nth) => `2026-09-01 12:00:00 ${nth % 2 === 0 ? 'INFO' : 'ERROR'} [${'w'.repeat(nth + 1)}]${' -'.repeat(nth)}`,
  )
  const lines = headers.flatMap((header, nth) => [
    `${header} took ${250 + nth * 10} ms for "a\\b"`,
    `${header} Failed password for invalid user root`,
    `{"time":"2026-09-01T12:00:00Z","key${nth}":${nth},"message":"took ${300 + nth} ms\\nat org.example"}`,
  ])
  const reader = await openReader(await openSendersAlone())
  try {
    await reader.send('shapes', lines)
    const patterns = [
      'took [3-5][0-9]{2} ms',
      '(?i)FAILED PASSWORD for (invalid user )?root',
      'info. [[]w',
      '(?i)info [[]ww]',
      'ms.nat org',
      'key1[0-9]":1',
      'for "a.b"$',
    ]
    for (const pattern of patterns) {
      const regex = compileRegex({ pattern, ignoreCase: false })
      const expected = lines.filter((line) => regex.test(line))
      expect((await reader.lines(['shapes'], `@raw ~ '${pattern}'`, { limit: 1_000 })).sort(), pattern).toEqual(expected.sort())
    }
  } finally {
    await reader.close()
  }
})
