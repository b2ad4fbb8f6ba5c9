import { redactedKinds } from '@dendro/api'
import { filtersOf, freeText } from '@dendro/language/filters.fixture'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hintOfFilter, hintOfRegex } from '../../ingest-rules/hints.ts'
import { Redactor } from '../../ingest-rules/redactor.ts'
import { SearchedText } from '../../ingest-rules/searched-text.ts'
import { readValues } from '../../lines/reference/reference.ts'
import { searchFor } from '../../lines/search/literal-search.ts'
import { toNs } from '../../lines/values/time-text.ts'
import { FOLDED_TO_ASCII, foldCase } from '../../query/like.ts'
import { matcherOf } from '../../query/matcher.ts'
import { messageReader } from '../detect/message-reader.ts'
import { detectedIn, isObject } from './arrivals.ts'

/** A hint must not be false for an event that its filter matches: its rule would not apply. */
const at = { ms: Date.UTC(2026, 10, 27), ns: 0 }
const arrival = { at, attributes: [], origin: '', post: 0n }

const values = [
  'debug',
  'warning',
  'a/b',
  '/metrics',
  'noisy',
  'x_y',
  'two words',
  'K',
  'info',
  '200',
  'a"b',
  'C:\\temp',
  'ü',
  'no\u{17f}e',
  '\u212a',
]
const keys = ['level', 'severity', 'path', 'message', 'a.b', 'hostname', 'appname', 'facility', 'stream', 'status']

const value = fc.constantFrom(...values)
/** Writes a value with any of the escapes of JSON. */
const written = fc.tuple(value, fc.array(fc.nat(3), { minLength: 12, maxLength: 12 })).map(([text, ways]) =>
  [...text]
    .map((char, place) => {
      if (ways[place] === 0) return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
      return char === '/' && ways[place] === 1 ? '\\/' : JSON.stringify(char).slice(1, -1)
    })
    .join(''),
)
const texts = fc.oneof(
  value,
  fc.tuple(value, value).map(([a, b]) => `level=${a} path="${b}" status=200`),
  fc.tuple(value, value).map(([a, b]) => `path="${a.replace(/./g, '\\$&')}" b=${b}`),
  value.map((text) => `<15>Nov 27 10:00:00 ${text} app[1]: D1127 ${text}`),
  value.map((text) => `W1127 10:00:00.123456    4711 server.go:42] ${text}`),
  value.map((text) => `11-27 10:00:00.123  4711  4712 D ${text}: text`),
  value.map((text) => `2026-11-27 10:00:00,123 ${text.toUpperCase()} [${text}]\t${text}`),
  value.map((text) => `10.0.0.1 - ${text} [27/Nov/2026:10:00:00 +0000] "GET ${text} HTTP/1.1" 200 5`),
)
const objects = fc
  .array(
    fc.tuple(
      fc.constantFrom(...keys, ...values),
      fc.oneof(
        written.map((text) => `"${text}"`),
        texts.map((text) => JSON.stringify(text)),
        fc.constantFrom('200', 'null', '["debug"]'),
      ),
    ),
    { maxLength: 4 },
  )
  .map((members) => `{${members.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`)
const lines = fc.oneof(
  texts,
  objects,
  objects.map((object) => `INFO 2026-11-27 ${object}`),
  objects.map((object) => JSON.stringify({ message: object })),
)

const filters = filtersOf({
  keys: fc.constantFrom(...keys),
  texts: value,
  numbers: fc.constantFrom('200', '1'),
  others: freeText(value),
})

test('only the known letters beyond ASCII equal an ASCII letter when case is ignored', () => {
  const all = Array.from({ length: 0x10000 - 0x80 }, (_, code) => String.fromCharCode(code + 0x80))
  const isAscii = (char: string): boolean => char < '\u0080'
  expect(all.filter((char) => isAscii(foldCase(char))).join('')).toBe(FOLDED_TO_ASCII)
  expect(all.filter((char) => /[a-z]/iu.test(char)).join('')).toBe(FOLDED_TO_ASCII)
})

test('a filter matches no event whose text its hint excludes', () => {
  fc.assert(
    fc.property(lines, filters, (line, filter) => {
      const hint = hintOfFilter(filter)
      if (!hint || hint.test(new SearchedText(line))) return
      const bytes = Buffer.from(line)
      const found = isObject(bytes) ? undefined : detectedIn(bytes, at)
      const { leaves, time, severity } = readValues(bytes, arrival, { found, messages: messageReader })
      const event = { raw: line, leaves, timeNs: toNs(time), seq: 0n, severity, origin: '', skeleton: 0n, collection: 'c', dataset: 'd' }
      expect(matcherOf(filter)(event)).toBe(false)
    }),
    { numRuns: 3_000 },
  )
})

test('a text for which a hint is true has one of its literals', () => {
  fc.assert(
    fc.property(lines, filters, (line, filter) => {
      const hint = hintOfFilter(filter)
      if (!hint?.literals || !hint.test(new SearchedText(line))) return
      const search = searchFor([hint.literals])
      expect(search?.lists(Buffer.from(line))).not.toBe(0)
    }),
    { numRuns: 5_000 },
  )
})

const redaction = fc.record({
  kinds: fc.subarray([...redactedKinds]),
  expressions: fc.array(
    fc.record({
      pattern: fc.constantFrom('pass ?word=\\w+', '^debug$', 'two\\s+words', 'a/b', 'x_y', 'noisy|info', '\\d{4}', 'ü'),
      ignore_case: fc.boolean(),
    }),
    { minLength: 1, maxLength: 2 },
  ),
})
const secrets = fc.constantFrom(
  'ann@example.org',
  'password=x',
  '4111 1111 1111 1111',
  'Bearer abcdefgh12',
  'AKIAABCDEFGHIJKLMNOP',
  '\\u0040',
  'two\\twords',
)

test('a line that a rule redacts has one of its literals', () => {
  fc.assert(
    fc.property(lines, secrets, redaction, (line, secret, action) => {
      const redactor = new Redactor({ type: 'REDACT', replacement: '***', ...action })
      const bytes = Buffer.from(line.replace('debug', secret))
      const { literals } = redactor.hint
      if (!literals || redactor.line(bytes).line === bytes) return
      const search = searchFor([literals])
      expect(search?.lists(bytes)).not.toBe(0)
    }),
    { numRuns: 3_000 },
  )
})

test.each<[string, boolean, string, boolean | undefined]>([
  ['password=[^ &"]+', true, 'a PASSWORD=x', true],
  ['password=[^ &"]+', true, 'nothing', false],
  ['ssn:? \\d{3}', false, 'SSN 123', false],
  ['ssn:? \\d{3}', false, 'ssn 123', true],
  ['abcd*', false, 'abc', true],
  ['abcd*', false, 'ab', false],
  ['a|bcd', false, '', undefined],
  ['(?i)secret', false, '', undefined],
  ['\\x41bcdef', false, '', undefined],
  ['a\\.bc', false, 'a.bc', true],
  ['[\\]]abc', false, '', undefined],
  ['[]x]yabc', false, 'yabc', true],
  ['x{2}abc', false, 'abc', true],
])('the hint of %s', (pattern, ignoreCase, text, expected) => {
  expect(hintOfRegex(pattern, ignoreCase)?.test(new SearchedText(text))).toBe(expected)
})
