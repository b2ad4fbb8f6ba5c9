import { compileRegex } from '@dendro/language/regex'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rebuildText, shapeReferences } from '../../../lines/reference/shape.ts'
import { regexCharacters } from '../../../query/regex-items.ts'
import { occurrencesAcross } from './across-values.ts'
import { regexForms } from './sequences.ts'

const shapes = [
  'a \x01c0\x02 \x01s1\x02: \x01w\x02',
  '[\x01s0\x02] \x01c0\x02\x01w\x02',
  '\x01s1\x02 "\x01c0\x02" 0',
  '\x01c0\x02\x01s0\x02\x01s1\x02b',
  'ab1 \x01c0\x02é\x01s1\x02',
]
const atom = fc.constantFrom(
  'a',
  'b',
  '1',
  ' ',
  '"',
  ':',
  'é',
  '.',
  '[ab]',
  '[^a]',
  '\\d',
  '\\s',
  '\\w',
  '\\.',
  '(a|b )',
  '(?:b1)?',
  '(1|[ab]:)?',
  '|',
)
const repetition = fc.constantFrom('', '', '', '', '?', '*', '+', '{2}', '{1,2}', '{0,1}', '{2,}', '+?')
const expression = fc
  .array(fc.tuple(atom, repetition), { minLength: 1, maxLength: 5 })
  .map((atoms) => atoms.map(([one, often]) => (/[|)?]$/.test(one) ? one : one + often)).join(''))
const value = fc.string({ unit: fc.constantFrom('a', 'b', '1', ' ', '"', ':', 'é', '.', '\u0001', '\n'), maxLength: 4 })

/** Whether a match lies inside a value, or a way is met by the values. */
function isFound(pattern: string, ignoreCase: boolean, shape: string, values: readonly string[]): boolean | undefined {
  const regex = regexCharacters({ pattern, ignoreCase })
  const forms = regexForms(regex)
  const ways = forms?.map((form) => occurrencesAcross(regex, form, shape))
  if (!ways || ways.includes(undefined)) return undefined
  const matches = (own: string, text: string) => compileRegex({ pattern: own, ignoreCase }).test(text)
  if (values.some((text) => matches(pattern, text))) return true
  return ways.some((ofForm) =>
    ofForm?.some((way) =>
      way.every(({ place, kind, piece }) =>
        matches(`${regex.flags}${kind === 'ends' ? '' : '\\A'}(?:${piece})${kind === 'begins' ? '' : '\\z'}`, values[place] ?? ''),
      ),
    ),
  )
}

test('a match lies inside a value or in one of the ways, exactly where the line matches', () => {
  let [decided, found] = [0, 0]
  fc.assert(
    fc.property(fc.constantFrom(...shapes), expression, fc.boolean(), value, value, value, (shape, pattern, ignoreCase, c0, s0, s1) => {
      const own = { c0, s0, s1 }
      const raw = s1 + c0
      const line = rebuildText(shape, { time: { ms: 0, ns: 0 }, slot: (slot) => own[slot as 's0'], more: () => undefined, raw })
      const values = shapeReferences(shape).placeholders.map(({ reference }) =>
        reference.kind === 'slot' ? own[reference.slot as 's0'] : raw,
      )
      const met = isFound(pattern, ignoreCase, shape, values)
      if (met === undefined) return
      decided += 1
      const expected = compileRegex({ pattern, ignoreCase }).test(line)
      if (expected && !values.some((text) => compileRegex({ pattern, ignoreCase }).test(text))) found += 1
      expect([pattern, line, met]).toEqual([pattern, line, expected])
    }),
    { numRuns: 6_000, seed: 20_261_125 },
  )
  expect(decided).toBeGreaterThan(4_000)
  expect(found).toBeGreaterThan(500)
})

test.each([
  ['took [3-5][0-9]{2} ms', 1],
  ['a|b|cd', 3],
  ['(?i)refused (by|from)( all)? peer', 4],
  ['a{2,3}b+', 1],
  ['^a', undefined],
  ['a$', undefined],
  ['\\bword', undefined],
  ['(ab)+', undefined],
  ['((a|b)|c)d', 3],
  ['(?P<name>a)', undefined],
  ['(?:a', undefined],
  ['\\pL', undefined],
  ['\\Qa\\E', undefined],
  ['a{900}', undefined],
  ['(a|b)(a|b)(a|b)(a|b)', undefined],
])('%s has %j forms', (pattern, count) => {
  expect(regexForms(regexCharacters({ pattern, ignoreCase: false }))?.length).toBe(count)
})

test('a time or a level is no part of a match that it cannot contain', () => {
  const shape = '\x01ti .3 UTC\x02 \x01c0\x02\x01w\x02'
  const regex = regexCharacters({ pattern: 'took [0-9] ms', ignoreCase: false })
  const [form = []] = regexForms(regex) ?? []
  const placesOf = (levels: readonly 'c0'[]) =>
    new Set((occurrencesAcross(regex, form, shape, levels) ?? []).flat().map(({ place }) => place))
  expect(placesOf([])).toEqual(new Set([1, 2]))
  const ends = (occurrencesAcross(regex, form, shape, ['c0']) ?? []).flat().filter(({ kind }) => kind === 'ends')
  expect(ends.map(({ piece }) => piece).sort()).toEqual(['took', 'took ', 'took [0-9]'])
})
