import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileSearch, SEARCH_MODULE } from './build.ts'
import { hasList, searchFor } from './literal-search.ts'
import { literalOf, type SearchedLiteral } from './literal-tables.ts'

test('the module is what its sources compile to', async () => {
  const compiled = await compileSearch()
  expect(Buffer.compare(compiled, readFileSync(SEARCH_MODULE)), 'run `npm run build-kernel`').toBe(0)
})

const wordByte = /[A-Za-z0-9_]/

/** The definition of what is searched. */
function isIn(text: Buffer, literal: SearchedLiteral): boolean {
  const chars = text.toString('latin1')
  switch (literal.kind) {
    case 'card':
      return [...chars.matchAll(/(?<=^|[^\w]|\\[nrt])(?<!\d\.)(?=[2-6])/g)].some(({ index }) => cardAt(chars.slice(index)))
    case 'escape':
      return false
    case 'address':
      return /[A-Za-z0-9_%+.\x80-\xff-]@[A-Za-z0-9.\x80-\xff-]*\.[A-Za-z\x80-\xff]/.test(chars)
    default: {
      const { bytes, ways, kind } = literal
      for (let at = 0; at + bytes.length <= text.length; at += 1) {
        const isHere = bytes.every((byte, place) => {
          const given = text[at + place] ?? 0
          if (ways[place] === 'digit') return given >= 0x30 && given <= 0x39
          return (ways[place] === 'any case' ? given | 0x20 : given) === byte
        })
        const isWanted = kind === 'bytes' || (kind === 'start' ? beginsWord(chars, at) : isWord(chars, at, at + bytes.length))
        if (isHere && isWanted) return true
      }
      return false
    }
  }
}

/** True for a text that begins with the number of a card of the first digits that the tests use. */
function cardAt(text: string): boolean {
  const groups = /^(?:(\d{13,19})|\d{4,6}([ -])(?:\d{4,6}\2){0,4}\d{1,19})(?!\w)/
  for (let end = text.length; end > 0; end -= 1) {
    const written = groups.exec(text.slice(0, end))?.[0]
    if (written?.length !== end || /\w/.test(text[end] ?? '')) continue
    const digits = written.replace(/[ -]/g, '')
    if (digits.length >= 13 && digits.length <= 19 && isIssued(digits) && isChecked(digits)) return true
  }
  return false
}

const isIssued = (digits: string): boolean =>
  /^4/.test(digits) || (/^5[1-5]/.test(digits) && digits.length === 16) || /^(?:50|5[6-9]|6)/.test(digits)

const isChecked = (digits: string): boolean =>
  [...digits].toReversed().reduce((sum, digit, at) => {
    const value = Number(digit) * (1 + (at % 2))
    return sum + (value > 9 ? value - 9 : value)
  }, 0) %
    10 ===
  0

function isWord(chars: string, start: number, end: number): boolean {
  if (wordByte.test(chars[end] ?? '') || /^\\*"[ \t\r]{0,4}:/.test(chars.slice(end))) return false
  return beginsWord(chars, start)
}

const beginsWord = (chars: string, start: number): boolean =>
  !wordByte.test(chars[start - 1] ?? '') || /\\[nrt]$/.test(chars.slice(0, start))

const piece = fc.constantFrom(
  'ann@example.org',
  'a@b',
  '.',
  'debug',
  'Debug',
  'sk-',
  '@',
  '\\u00e9',
  '\\n',
  '"',
  ':',
  ' ',
  '4111 1111 1111 1111',
  '-',
  '5500-000000-00000',
  '1',
  'é',
  'KEY',
  '\0',
  '_',
  'x',
)
const texts = fc.array(piece, { maxLength: 12 }).map((parts) => Buffer.from(parts.join('')))
const word = fc.constantFrom(
  'debug',
  'sk-',
  '@',
  'KEY',
  'x:',
  ' D ',
  '\0',
  '# ',
  'bug sk',
  'é',
  'a long literal of more than thirty-two bytes',
)
const literals = fc.array(
  fc.oneof(
    fc
      .tuple(word, fc.boolean(), fc.constantFrom({}, { isWord: true }, { isStart: true }))
      .map(([text, anyCase, place]) => literalOf(text, { anyCase, ...place, digits: text.includes('#') })),
    fc.constantFrom<SearchedLiteral>({ kind: 'card' }, { kind: 'escape' }, { kind: 'address' }),
  ),
  { minLength: 1, maxLength: 40 },
)

const withoutEscapes = (text: Buffer): boolean => !/\\[^nrt"\\/]/s.test(text.toString('latin1'))

test('a search finds a text exactly if it has one of the literals', () => {
  fc.assert(
    fc.property(texts, literals, fc.nat(40), (text, searched, shift) => {
      fc.pre(withoutEscapes(text))
      const search = searchFor([searched])
      // What lies behind the end of a text, or before it, does not matter.
      search?.lists(Buffer.from(`${' '.repeat(shift)}debug sk- @ KEY é 4111111111111111 \\u`))
      expect(search?.lists(text) !== 0).toBe(searched.some((literal) => isIn(text, literal)))
    }),
    { numRuns: 3_000 },
  )
})

test('the lines that are found are those that have a literal', () => {
  const search = searchFor([[literalOf('needle'), literalOf('@')], [literalOf('Other', { anyCase: true })]])
  const lines = Array.from(
    { length: 20_000 },
    (_, at) => `${'.'.repeat(at % 200)}${['needle', '@', 'OTHER', 'nothing', 'other @'][at % 5]}`,
  )
  const text = Buffer.from(lines.join('\n'))
  const found = search?.lines(text).map(({ start, end, found }) => [text.toString('latin1', start, end), found])
  expect(found).toEqual(lines.flatMap((line, at) => (at % 5 === 3 ? [] : [[line, [1, 1, 2, 0, 3][at % 5]]])))
})

test('a search says of which lists a text has a literal', () => {
  fc.assert(
    fc.property(fc.array(literals, { minLength: 1, maxLength: 40 }), texts, (lists, text) => {
      fc.pre(withoutEscapes(text))
      const search = searchFor(lists)
      if (!search) return
      const found = search.lists(text)
      const expected = lists.map((list) => list.some((literal) => isIn(text, literal)))
      // A list shares its bit with those 32 places before and behind.
      const shared = expected.map((_, at) => expected.some((is, other) => is && other % 32 === at % 32))
      expect(lists.map((_, at) => hasList(found, at))).toEqual(shared)
    }),
    { numRuns: 500 },
  )
})

const lineLiterals = fc.array(fc.constantFrom('de', 'ebug', 'sk-', '",', 'x"', '1 1', ': ', 'KEY'), { minLength: 1, maxLength: 5 })
const linePiece = fc.constantFrom('"', '\\"', 'debug', 'sk-', ',', ':', ' ', 'x', 'KEY', '1', '\\\\', 'a long text without any of them ')

test('the tokens with literals, and whether all literals lie within one', () => {
  fc.assert(
    fc.property(fc.array(linePiece, { maxLength: 30 }), lineLiterals, (pieces, words) => {
      const line = `{${pieces.join('')}`
      const tokens = [...line.matchAll(/"(?:[^"\\]|\\.)*(?:"|\\?$)|[\w+.-]+/g)].map(({ index, 0: text }) => {
        const isString = text.startsWith('"')
        const end = index + text.length - (isString && /^"(?:[^"\\]|\\.)*"$/.test(text) ? 1 : 0)
        return { start: isString ? index + 1 : index, end, isString }
      })
      const places = words.flatMap((text) =>
        Array.from({ length: line.length }, (_, start) => start)
          .filter((start) => line.startsWith(text, start))
          .map((start) => ({ start, end: start + text.length })),
      )
      const isIn = (place: { start: number; end: number }) => tokens.find(({ start, end }) => start <= place.start && place.end <= end)
      const { found, isWithin } = searchFor([words.map((text) => literalOf(text))])?.tokens(Buffer.from(line)) ?? { found: [] }
      for (const place of places) if (isIn(place)) expect(found).toContainEqual(isIn(place))
      expect(isWithin).toBe(places.every((place) => isIn(place) !== undefined))
    }),
    { numRuns: 5_000 },
  )
})

const hidingPiece = fc.constantFrom(
  'd',
  'e',
  'b',
  'u',
  'g',
  'n',
  't',
  ' ',
  '1',
  '"',
  '\\',
  '\\\\',
  '\\u0064',
  '\\u0065',
  'u0062',
  '\\u0075',
  '\\u004',
  '\\u00e9',
  '\\ud83d',
  '4111',
  '@',
  'x.y',
  '\\u0040',
  '\\u0034',
  '-',
  ':',
)

test('a search finds what is a literal once escapes are resolved, in every mixture of ways and depths', () => {
  const searched = [
    [literalOf('debug'), { kind: 'escape' } as const],
    [literalOf('nug', { anyCase: true }), { kind: 'escape' } as const],
    [literalOf('gé'), { kind: 'escape' } as const],
    [literalOf('bug', { isWord: true }), { kind: 'escape' } as const],
    [literalOf('bu', { isStart: true }), { kind: 'escape' } as const],
    [literalOf('# t', { digits: true }), { kind: 'escape' } as const],
    [literalOf('e\t'), { kind: 'escape' } as const],
    [{ kind: 'address' } as const, { kind: 'escape' } as const],
    [{ kind: 'card' } as const, { kind: 'escape' } as const],
  ]
  const search = searchFor(searched)
  const parts = fc.array(
    fc.oneof(
      { weight: 3, arbitrary: hidingPiece },
      { weight: 1, arbitrary: fc.constantFrom('de', 'bug', 'deb', 'ug', '4111 1111 1111 1111', '111111111') },
    ),
    { maxLength: 24 },
  )
  const ways = fc.array(fc.constantFrom<(text: string) => string>(withoutBackslashes, ofJson, ofAny), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(parts, ways, (given, order) => {
      const text = given.join('')
      fc.pre(!withoutEscapes(Buffer.from(text)))
      const resolved = order.reduce((form, way) => way(form), text)
      const found = search?.lists(Buffer.from(text)) ?? 0
      for (const [list, [literal]] of searched.entries()) {
        if (literal && isIn(Buffer.from(resolved), literal)) expect(hasList(found, list), `${text} ${resolved} ${list}`).toBe(true)
      }
    }),
    { numRuns: 5_000 },
  )
})

const SHORT: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' }
const withoutBackslashes = (text: string): string => text.replaceAll('\\', '')
const ofAny = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, char: string) =>
    hex === undefined ? (SHORT[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
const ofJson = (text: string): string =>
  text.replace(/\\(?:u([0-9a-fA-F]{4})|([bfnrt"\\/]))/g, (_, hex: string | undefined, char: string) =>
    hex === undefined ? (SHORT[char] ?? char) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
