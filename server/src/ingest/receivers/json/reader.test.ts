import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isJson } from '../../../../../test/support/json-text.ts'
import { Failure } from '../../../kernel/errors.ts'
import { BROKEN, END, isNameless, NULL, STRING, unescapeText, Walk } from '../../../lines/reference/walk.ts'
import { BodyText } from '../body-text.ts'
import { KeyNames } from '../names.ts'
import { JsonLeaves } from './leaves.ts'
import { JsonReader } from './reader.ts'
import { unescapeBytes } from './unescape.ts'

function isReadable(text: string): boolean {
  const reader = new JsonReader(Buffer.from(text))
  try {
    reader.skip()
    reader.finish()
    return true
  } catch (thrown) {
    if (thrown instanceof Failure) return false
    throw thrown
  }
}

const spaced = fc
  .tuple(fc.json({ maxDepth: 4 }), fc.constantFrom(undefined, 1, '\t'))
  .map(([json, indent]) => JSON.stringify(JSON.parse(json), null, indent))

describe('the reader of JSON', () => {
  test('reads all valid JSON', () => {
    fc.assert(
      fc.property(spaced, (json) => isReadable(json)),
      { numRuns: 1_000 },
    )
  })

  test('reads every damaged text that JSON.parse still reads', () => {
    const damaged = fc.tuple(spaced, fc.nat(), fc.constantFrom(...'{}[]",:\\0a-. \n')).map(([json, at, char]) => {
      const place = at % (json.length + 1)
      return json.slice(0, place) + char + json.slice(place + 1)
    })
    fc.assert(
      fc.property(damaged, (text) => isReadable(text) || !isJson(text)),
      { numRuns: 3_000 },
    )
  })

  const broken = [
    '',
    ' ',
    '{',
    '[',
    '"',
    '"\\',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{,}',
    '[,]',
    '[1,]',
    '[1 2]',
    '{"a" 1}',
    '{"a":1]',
    '[1}',
  ]
  const words = [
    'nul',
    'tru',
    'True',
    'undefined',
    '1.',
    '.5',
    '-',
    '+1',
    '1e',
    '--1',
    '0x10',
    '1.2.3',
    '{} {}',
    '1 1',
    '"a""b"',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
  ]
  test.each([...broken, ...words])('refuses %j', (text) => {
    expect(isReadable(text)).toBe(false)
  })

  test.each(['NaN', '-Infinity', '007', '"\t"', '"\\x"'])('reads %j, which is not JSON but is sent by some writers', (text) => {
    expect(isReadable(text)).toBe(true)
  })

  test('keeps the notation of each number', () => {
    const number = fc.stringMatching(/^-?(0|[1-9]\d{0,40})(\.\d{1,40})?([eE][+-]?\d{1,4})?$/)
    fc.assert(
      fc.property(number, (text) => {
        const leaves = leavesOf(`{"n":${text}}`)
        expect(leaves).toEqual([['n', text]])
      }),
      { numRuns: 1_000 },
    )
  })
})

function leavesOf(json: string): [string, string][] {
  const bytes = Buffer.from(json)
  const text = new BodyText(bytes)
  const leaves = new JsonLeaves(new JsonReader(bytes), new KeyNames(bytes, text, () => undefined), text)
  const found: [string, string][] = []
  leaves.open()
  for (let name = leaves.next(); name !== undefined; name = leaves.next()) if (name.path !== '') found.push([name.path, leaves.text()])
  return found
}

/** Names values as the event store does. */
function walkOf(json: string): [string, string][] {
  const bytes = Buffer.from(json)
  const walk = new Walk(bytes, 0, bytes.length)
  const found: [string, string][] = []
  for (;;) {
    const step = walk.next()
    if (step === END || step === BROKEN) return found
    if (step === NULL || isNameless(walk.path)) continue
    const text = bytes.toString('utf8', walk.valueStart, walk.valueEnd)
    found.push([walk.path, step === STRING ? unescapeText(text).toWellFormed() : text])
  }
}

describe('the values of an object', () => {
  test('have the names and texts that the event store gives them', () => {
    const key = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
      fc.constantFrom('', 'a.b', '\\', '\u0000', 'a', 'b'),
    )
    const objects = fc.dictionary(key, fc.jsonValue({ maxDepth: 5 }), { maxKeys: 8 }).map((value) => JSON.stringify(value))
    fc.assert(
      fc.property(objects, (json) => {
        expect(leavesOf(json)).toEqual(walkOf(json))
      }),
      { numRuns: 2_000 },
    )
  })

  test('lie sixteen levels deep at most; what is deeper is one value', () => {
    const deep = `${'{"a":'.repeat(20)}1${'}'.repeat(20)}`
    expect(leavesOf(deep)).toEqual(walkOf(deep))
    expect(leavesOf(deep)).toEqual([[Array(16).fill('a').join('.'), '{"a":{"a":{"a":{"a":1}}}}']])
  })

  test('have names of a length that can be stored, or none', () => {
    const long = 'k'.repeat(1_000)
    expect(leavesOf(`{"${long}":1,"${long}${long}":2,"${long}":{"a":3,"${long}":4},"b":5}`)).toEqual([
      [long, '1'],
      [`${long}.a`, '3'],
      ['b', '5'],
    ])
  })

  test('take time in proportion to their bytes when long names have many values', () => {
    const values = Array.from({ length: 20_000 }, (_, n) => `"${n}":1`).join(',')
    const key = 'k'.repeat(1_000_000)
    expect(leavesOf(`{"${key}":{${values}}}`)).toEqual([])
  })

  test('are kept apart when there are 20,000 names', () => {
    const json = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`key${n}`, { v: n, [`key${n + 1}`]: n }])))
    expect(leavesOf(json)).toEqual(walkOf(json))
  })
})

describe('a decoded string', () => {
  test('is the bytes that it stands for', () => {
    const escaped = fc.array(
      fc.oneof(
        fc.string({ unit: 'grapheme', maxLength: 3 }),
        fc.constantFrom('\\n', '\\"', '\\\\', '\\u00e4', '\\ud83d\\ude00', '\\ud83d', '\\udc00', '\\u12', '\\x', '\\/', '\\b\\f\\r\\t'),
      ),
    )
    fc.assert(
      fc.property(escaped, (parts) => {
        const source = parts.join('').replace(/"/g, '\\"').replace(/\\$/, '')
        expect(Buffer.from(unescapeBytes(Buffer.from(source))).toString('utf8')).toBe(unescapeText(source).toWellFormed())
      }),
      { numRuns: 2_000 },
    )
  })

  test('keeps bytes that are not UTF-8', () => {
    const bytes = Uint8Array.of(0xff, 0x5c, 0x6e, 0x80, 0x5c)
    expect([...unescapeBytes(bytes)]).toEqual([0xff, 0x0a, 0x80, 0x5c])
  })
})

test('pieces of a body are texts, whatever their length and bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(40), fc.nat(40), (bytes, a, b) => {
      const [start, end] = [Math.min(a, b, bytes.length), Math.min(Math.max(a, b), bytes.length)]
      expect(new BodyText(bytes).text(start, end)).toBe(Buffer.from(bytes.subarray(start, end)).toString('utf8'))
    }),
    { numRuns: 1_000 },
  )
})
