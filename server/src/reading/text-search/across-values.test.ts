import fc from 'fast-check'
import { expect, test } from 'vitest'
import { toSlot } from '../../lines/reference/leaf-text.ts'
import { rebuildText, shapeReferences } from '../../lines/reference/shape.ts'
import { foldCase } from '../../query/like.ts'
import { hasTrait } from '../sql/sql.ts'
import { linesAcrossValues, occurrencesOf } from './across-values.ts'
import { lineContains, searchFor } from './text-search.ts'

const shapes = [
  '{"a":"\x01c0\x02","b":\x01s0\x02,"ab":"\x01s1\x02"}',
  '{"n":"\x01c0\x02" , "list":\x01s0\x02,"x":"\x01s1\x02","u00":null}',
  '{"o":{"a":"\x01c0\x02"},"":"\x01s1\x02","p":\x01s0\x02}',
]
/** Shapes of lines of text. */
const textShapes = ['a \x01c0\x02 \x01s1\x02: \x01w\x02', '[\x01s0\x02] \x01c0\x02\x01w\x02', '\x01s1\x02 "\x01c0\x02" 0']
/** Short texts of few characters, so that searches often cross borders and begin inside escape sequences. */
const piece = fc.constantFrom(
  'a',
  'A',
  'b',
  'n',
  'u',
  '0',
  '1',
  '"',
  ':',
  ',',
  '{',
  ' ',
  '\n',
  '\b',
  '\u0001',
  '\u001f',
  'ü',
  'Ü',
  '😀',
  '%',
  '_',
  '\\',
)
const text = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''))
const bare = fc.oneof(fc.constantFrom('1', '10', 'true', '["a","b"]', '["\\n"]'), fc.nat().map(String))

/** What the tests of an occurrence say about values as they are stored. */
function isMet(occurrences: ReturnType<typeof occurrencesOf>, values: readonly string[]): boolean {
  return (occurrences ?? []).some((tests) =>
    tests.every(({ place, kind, texts }) => {
      const value = foldCase(values[place] ?? '')
      return texts.map(foldCase).some((one) => {
        if (kind === 'is') return value === one
        if (kind === 'holds') return value.includes(one)
        return kind === 'ends' ? value.endsWith(one) : value.startsWith(one)
      })
    }),
  )
}

test('the occurrences of a text in a shape are those in the lines of the shape', () => {
  let found = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...shapes, ...textShapes),
      text,
      bare,
      text,
      fc.nat(),
      fc.integer({ min: 1, max: 14 }),
      fc.boolean(),
      (shape, c0, s0, s1, at, length, isLine) => {
        const values = { c0, s0, s1 }
        const stored = {
          time: { ms: 0, ns: 0 },
          slot: (slot: string) => toSlot(values[slot as 's0']),
          more: () => undefined,
          raw: s1 + s0,
        }
        const line = rebuildText(shape, stored)
        // Most needles are pieces of the line.
        const start = at % line.length
        const needle = isLine ? line.slice(start, start + length) : `${s1}${c0}"`
        fc.pre(needle !== '' && !/[\\\p{Cc}]/u.test(needle) && needle.isWellFormed())
        const inOrder = shapeReferences(shape).placeholders.map(({ reference }) =>
          reference.kind === 'slot' ? values[reference.slot as 's0'] : stored.raw,
        )
        const expected = foldCase(line).includes(foldCase(needle))
        expect([needle, line, isMet(occurrencesOf(needle, shape), inOrder)]).toEqual([needle, line, expected])
        if (expected) found += 1
      },
    ),
    { numRuns: 4_000, seed: 20_261_122 },
  )
  expect(found).toBeGreaterThan(500)
})

test('a time is searched only for what it may contain', () => {
  const shape = '\x01ti .3 UTC\x02 \x01s0\x02 \x01w\x02'
  expect((occurrencesOf('failed password', shape) ?? []).flat().some(({ place }) => place === 0)).toBe(false)
  expect((occurrencesOf('no such words', shape) ?? []).flat().some(({ place }) => place === 0)).toBe(false)
  expect((occurrencesOf('utc failed', shape) ?? []).flat().some(({ place }) => place === 0)).toBe(true)
  expect((occurrencesOf('07 UTC failed', shape) ?? []).flat().some(({ place }) => place === 0)).toBe(true)
})

test('lines of text with known shapes are searched without being rebuilt', () => {
  const { condition, others } = linesAcrossValues(searchFor('failed password'), textShapes)
  expect(others).toEqual([])
  expect(hasTrait(condition, 'lineRebuild')).toBe(false)
})

test('lines with known shapes are searched without being rebuilt', () => {
  const { condition, others } = linesAcrossValues(searchFor('"b":10,"ab'), shapes.slice(0, 2))
  expect(others).toEqual([])
  expect(hasTrait(condition, 'lineRebuild')).toBe(false)
})

test('lines of known shapes are not rebuilt for a text in a value of the overflow map', () => {
  const shapes = ['{"a":"\x01m\x02","b":\x01m\x02}', '{"b":\x01m\x02,"c":"\x01c0\x02"}']
  const contains = (text: string) => lineContains(text, { columns: ['c0'], hasParts: false, shapes })
  expect(hasTrait(contains('security'), 'lineRebuild')).toBe(false)
  // It may begin inside the escape sequence of a character, which only a value between quotes has.
  expect(hasTrait(contains('error'), 'lineRebuild')).toBe(false)
  // In an array it may stand behind a line break, which looks the same once it is stored.
  expect(hasTrait(contains('n1'), 'lineRebuild')).toBe(true)
})

test('letters and digits do not cross the border between a level and the words of a text line', () => {
  const [, shape = ''] = textShapes
  const kindsOf = (text: string) => (occurrencesOf(text, shape, ['c0']) ?? []).flat().map(({ kind }) => kind)
  expect(new Set(kindsOf('f00d'))).toEqual(new Set(['holds']))
  expect(kindsOf('info: f00d')).toContain('ends')
  expect((occurrencesOf('f00d', shape) ?? []).flat().some(({ kind }) => kind === 'ends')).toBe(true)
})
