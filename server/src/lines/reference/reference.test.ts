import fc from 'fast-check'
import { expect, test } from 'vitest'
import { emptySlotMap, type Slot, type SlotMap } from '../layout/slots.ts'
import { type Arrival, LEAVES_MAX, ORIGINAL_TIME } from './event.ts'
import { bigLine, hostileLine, type JsonTree, object, randomFrom, style, write } from './generated-lines.fixture.ts'
import { cleanText, fromSlot } from './leaf-text.ts'
import { rebuildRow, shred } from './reference.ts'
import { shapeReferences } from './shape.ts'
import { cleanName, DEPTH_MAX, KEY_BYTES_MAX } from './walk.ts'

const arrival: Arrival = { at: { ms: Date.UTC(2024, 4, 2), ns: 0 }, attributes: [], origin: '', post: 0n }
const map: SlotMap = {
  ...emptySlotMap('s'),
  slots: new Map<string, Slot>(
    Object.entries({ level: 'c0', a: 'c1', 'a.b': 's0', message: 's1', msg: 's2', x: 's3', timestamp: 's4' } as const),
  ),
}

const split = (line: string | Uint8Array, given: Partial<Arrival> = {}) => shred(Buffer.from(line), map, { ...arrival, ...given })

/** The values of a row by key, from any column, including the time text that the event time reproduces. */
function leavesOf(row: ReturnType<typeof split>): Map<string, string> {
  const bySlot = new Map([...map.slots].map(([path, slot]) => [slot, path]))
  const stored: [string, string][] = [...row.slots].map(([slot, text]) => [bySlot.get(slot) ?? slot, text])
  return new Map([...stored, ...row.more].map(([path, text]) => [path, fromSlot(text)]))
}

function flatten(
  value: JsonTree,
  writeItem: (value: JsonTree) => string,
  leaves = new Map<string, string>(),
  prefix = '',
  depth = 1,
): Map<string, string> {
  if (!('pairs' in value)) return leaves
  for (const [name, item] of value.pairs) {
    const path = prefix + cleanName(name)
    if ('pairs' in item && depth < DEPTH_MAX) flatten(item, writeItem, leaves, `${path}.`, depth + 1)
    else if ('word' in item && item.word === 'null') leaves.delete(path)
    else leaves.set(path, 'text' in item ? cleanText(item.text) : writeItem(item))
  }
  return leaves
}

test('every line is rebuilt byte for byte', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const line = hostileLine(randomFrom(seed))
      expect(Buffer.from(rebuildRow(split(line))).equals(line)).toBe(true)
    }),
    { numRuns: 10_000 },
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (line) => Buffer.from(rebuildRow(split(line))).equals(line)),
    { numRuns: 3_000 },
  )
})

test('the leaves of a JSON line match a JSON parser, and only unusual lines are stored raw', () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = randomFrom(seed)
      const value = object(random)
      const how = { ...style(random), space: () => '' }
      const line = write(value, how)
      expect(() => JSON.parse(line)).not.toThrow()
      const row = split(line)
      const seen = leavesOf(row)
      const expected = flatten(value, (item) => write(item, how))
      for (const { path, reference } of row.shape === '' ? [] : shapeReferences(row.shape).placeholders) {
        if (reference.kind === 'time') expect(seen.has(path)).toBe(false)
        if (reference.kind === 'time') expected.delete(path)
      }
      seen.delete(ORIGINAL_TIME)
      expected.delete(ORIGINAL_TIME)
      expect(seen).toEqual(expected)
    }),
    { numRuns: 5_000 },
  )
  fc.assert(
    fc.property(fc.json(), (json) => {
      const row = split(`{"x":${json}}`)
      expect(JSON.parse(Buffer.from(rebuildRow(row)).toString())).toEqual(JSON.parse(`{"x":${json}}`))
    }),
    { numRuns: 1_000 },
  )
})

test.each([
  [
    'nested objects, numbers and words',
    '{"level":"info","a":{"b":1.50},"x":true,"n":null,"o":{}}',
    { level: 'info', 'a.b': '1.50', x: 'true' },
  ],
  ['arrays as they are written', '{"a": [1, {"b": "\\u00e9"}] }', { a: '[1, {"b": "\\u00e9"}]' }],
  ['escapes', '{"message":"a\\n\\"b\\" \\\\ \\u001f"}', { message: 'a\n"b" \\ \x1f' }],
  ['escapes of a writer that stays in ASCII', '{"message":"h\\u00e9 \\ud83d\\ude00"}', { message: 'hé 😀' }],
  ['escapes of a writer that thinks of HTML', '{"message":"a\\u0026b \\u003c\\u2028"}', { message: 'a&b <\u2028' }],
  ['an empty text', '{"message":"","y":""}', { message: '', y: '' }],
  ['odd key names', '{"":1,"a\\nb":2,"c\\\\d":3}', { _: '1', a_b: '2', c_d: '3' }],
  ['words that are not JSON', '{"x":NaN,"y":-Infinity}', { x: 'NaN', y: '-Infinity' }],
  ['space around everything', ' { "x" : 1 ,\t"y" : "2" } \r', { x: '1', y: '2' }],
])('%s are split and not stored raw', (_, line, leaves) => {
  const row = split(line)
  expect(Object.fromEntries(leavesOf(row))).toEqual(leaves)
  expect([row.shape === '', row.raw.length]).toEqual([false, 0])
})

test.each([
  ['a repeated key', '{"a":1,"a":2}', { a: '2' }],
  ['a repeated key that is null at last', '{"a":1,"a":null}', {}],
  ['a dotted key beside a nested one', '{"a.b":1,"a":{"b":2}}', { 'a.b': '2' }],
  ['an escape that need not be', '{"x":"a\\/b"}', { x: 'a/b' }],
  ['upper-case escapes', '{"x":"\\u00E9"}', { x: 'é' }],
  ['two habits in one text', '{"x":"é \\u00e9"}', { x: 'é é' }],
  ['a lone surrogate', '{"x":"a\\ud800b"}', { x: 'a\ufffdb' }],
  ['NUL', '{"x":"a\\u0000b","y":"\0"}', { x: 'ab', y: '' }],
  ['a control character as it is', '{"x":"a\x01b\tc"}', { x: 'a\x01b\tc' }],
  ['a control character in a name', '{"x\x01":1}', { x_: '1' }],
  ['invalid UTF-8', Buffer.concat([Buffer.from('{"x":"a'), Buffer.of(0xff), Buffer.from('","y":1}')]), { x: 'a\ufffd', y: '1' }],
  ['an escape that JSON does not have', '{"x":"C:\\dir","y":1}', { x: 'C:\\dir', y: '1' }],
  ['a line that breaks off', '{"x":1,"y":"trunca', { x: '1' }],
  ['a second value', '{"x":1} {"x":2}', { x: '1' }],
  ['a missing comma', '{"x":1 "y":2}', { x: '1' }],
  ['a comma too many', '{"x":1,}', { x: '1' }],
  ['text', 'GET / 200', {}],
  ['an array', '[1,2]', {}],
  ['nothing', '', {}],
])('%s is stored raw with its readable leaves', (_, line, leaves) => {
  const row = split(line)
  expect([row.shape, Buffer.from(row.raw)]).toEqual(['', Buffer.from(line)])
  expect(Object.fromEntries(leavesOf(row))).toEqual(leaves)
})

test('huge lines are bounded: 10 000 keys, 10 000 levels, endless names', () => {
  const keys = split(`{${Array.from({ length: 10_000 }, (_, index) => `"k${index}":1`).join(',')}}`)
  expect([keys.shape, keys.more.size]).toEqual(['', LEAVES_MAX])
  const levels = split(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`)
  expect(levels.shape).not.toBe('')
  expect([...levels.more.keys()]).toEqual([Array(DEPTH_MAX).fill('a').join('.')])
  const name = 'k'.repeat(KEY_BYTES_MAX + 1)
  expect(leavesOf(split(`{"${name}":{"a":1},"x":2}`))).toEqual(new Map([['x', '2']]))
  for (let seed = 0; seed < 16; seed += 1) {
    const line = bigLine(randomFrom(seed), 3_000)
    expect(Buffer.from(rebuildRow(split(line))).toString()).toBe(line)
  }
})

test('a time is not stored when its format reproduces the text, and stored as written otherwise', () => {
  const given = split('{"timestamp":"2024-05-01T10:20:30.123456789+02:00"}')
  expect([given.time, given.shape, given.slots.size]).toEqual([
    { ms: Date.UTC(2024, 4, 1, 8, 20, 30, 123), ns: 456789 },
    '{"timestamp":"\x01tiT.9+02:00\x02"}',
    0,
  ])
  const odd = split('{"timestamp":"Wed, 01 May 2024 10:20:30 +0200"}')
  expect([odd.time.ms, leavesOf(odd).get('timestamp')]).toEqual([Date.UTC(2024, 4, 1, 8, 20, 30), 'Wed, 01 May 2024 10:20:30 +0200'])
})

test('the best time key with an acceptable time is used, else the protocol, else the arrival', () => {
  expect(split('{"ts":1714558830,"timestamp":1714558831}').time.ms).toBe(1714558831000)
  expect(split('{"ts":1714558830,"timestamp":"yesterday"}').time.ms).toBe(1714558830000)
  const none = split('{"timestamp":"yesterday"}')
  expect([none.time, none.more.get(ORIGINAL_TIME)]).toEqual([arrival.at, 'yesterday'])
  expect(split('{"timestamp":"1999-12-31T23:59:59Z"}').time).toEqual(arrival.at)
  expect(split(`{"timestamp":${arrival.at.ms + 25 * 3_600_000}}`).time).toEqual(arrival.at)
  const time = { ms: 1714558830123, ns: 5 }
  const told = split('{"timestamp":1714558831}', { time })
  expect([told.time, leavesOf(told).get('timestamp')]).toEqual([time, '1714558831'])
  expect(split('{"timestamp":1714558830123.000005}', { time }).shape).toBe('{"timestamp":\x01tnm6\x02}')
  expect(split('text', { time: { ms: 5, ns: 0 } })).toMatchObject({ time: arrival.at, more: new Map([[ORIGINAL_TIME, '5000000']]) })
})

test('attributes are leaves that the line does not have, and win where it has them', () => {
  const attributes = [
    { path: '$host', text: 'h1' },
    { path: 'x', text: 'outside' },
  ]
  expect(Object.fromEntries(leavesOf(split('{"level":"info"}', { attributes })))).toEqual({ $host: 'h1', x: 'outside', level: 'info' })
  const both = split('{"x":"inside"}', { attributes })
  expect([both.shape, leavesOf(both).get('x')]).toEqual(['', 'outside'])
})

test('events that differ only in numbers and names have one skeleton, with and without a message', () => {
  const skeleton = (line: string) => split(line).skeleton
  expect(skeleton('{"message":"took 12 ms","x":1}')).toEqual(skeleton('{"y":2,"msg":"took 7 ms"}'))
  expect(skeleton('took 12 ms')).toEqual(skeleton('{"message":"took 13 ms"}'))
  expect(skeleton('{"level":"info","n":1}')).toEqual(skeleton('{"level":"warn","n":22}'))
  expect(skeleton('{"level":"info","n":1}')).not.toEqual(skeleton('{"level":"info","m":1}'))
  expect(skeleton('{"message":""}')).toEqual({ high: 0, low: 0 })
})
