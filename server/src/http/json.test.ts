import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Failure } from '../kernel/errors.ts'
import { toJson } from '../kernel/exact-json.ts'
import { parseJson } from './json.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

test('whole numbers of any length go through unchanged, others as JSON numbers do', () => {
  const text = '{"a":9007199254740993,"b":[-123456789012345678901234567890],"c":9007199254740991,"d":1.5,"e":"9007199254740993","f":1e3}'
  const value = parseJson(bytes(text))
  expect(value).toEqual({
    a: 9007199254740993n,
    b: [-123456789012345678901234567890n],
    c: 9007199254740991,
    d: 1.5,
    e: '9007199254740993',
    f: 1000,
  })
  expect(toJson(value)).toBe(text.replace('1e3', '1000'))
})

test('any value survives a round trip', () => {
  const integer = fc
    .bigInt({ min: -(2n ** 70n), max: 2n ** 70n })
    .map((value) => (value >= -(2n ** 53n) + 1n && value < 2n ** 53n ? Number(value) : value))
  const leaf = fc.oneof(
    integer,
    fc.string(),
    fc.boolean(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
  )
  const key = fc.string().filter((name) => !['__proto__', 'constructor', 'prototype'].includes(name))
  const tree = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('node'), { maxLength: 4 }),
      fc.dictionary(key, tie('node'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))
  fc.assert(
    fc.property(tree.node, (value) => {
      expect(parseJson(bytes(toJson(value)))).toEqual(value)
    }),
    { numRuns: 300 },
  )
})

test('nesting is bounded; brackets within texts are not nesting', () => {
  const nested = (depth: number) => bytes('['.repeat(depth) + ']'.repeat(depth))
  expect(() => parseJson(nested(200))).not.toThrow()
  expect(() => parseJson(nested(201))).toThrow('nests more than 200')
  expect(() => parseJson(nested(1_000_000))).toThrow('nests more than 200')
  expect(parseJson(bytes(`["${'['.repeat(1_000)}", "a\\"${'{'.repeat(1_000)}", "\\\\", {}]`))).toHaveLength(4)
})

test('invalid JSON and prototype keys are rejected, and the error quotes none of the body', () => {
  for (const text of [
    '',
    '{',
    '{"a":1}}',
    "{'a':1}",
    'secret',
    '{"__proto__":1}',
    '{"constructor":{"prototype":1}}',
    '[1,]',
    '01',
    '\ud800',
  ]) {
    expect(() => parseJson(bytes(text)), text).toThrow(Failure)
  }
  expect(() => parseJson(bytes('{"password": secret}'))).toThrow(/^(?!.*secret)/)
})

test('the number of values is bounded; commas within texts part no values', () => {
  const values = (count: number) => bytes(`[${Array(count).fill(0).join()}]`)
  expect(parseJson(values(100_000))).toHaveLength(100_000)
  expect(() => parseJson(values(100_001))).toThrow('the body has more than 100000 values')
  expect(() => parseJson(bytes(`{${Array.from({ length: 100_001 }, (_, n) => `"${n}":0`).join()}}`))).toThrow('more than 100000 values')
  expect(parseJson(bytes(`["${','.repeat(200_000)}"]`))).toHaveLength(1)
})

test('lone surrogates become U+FFFD, in names too; complete pairs and large numbers are unchanged', () => {
  const text = '{"a\\ud800":"\\uDC00b","pair":"\\ud83c\\udf33","list":["\\ud83d",9007199254740993]}'
  expect(parseJson(bytes(text))).toEqual({ 'a\ufffd': '\ufffdb', pair: '🌳', list: ['\ufffd', 9007199254740993n] })
  expect(() => parseJson(bytes('{"\\u005f_proto__":"\\ud800"}'))).toThrow(Failure)
})
