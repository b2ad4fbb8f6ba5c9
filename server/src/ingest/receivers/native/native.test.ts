import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../../kernel/errors.ts'
import { recordsOf } from '../../batch.ts'
import { splitLines } from '../../intake/lines.ts'
import { native } from './native.ts'

const JSON_TYPE = 'application/json'
const bytesOf = (body: string | Uint8Array): Uint8Array => (typeof body === 'string' ? new TextEncoder().encode(body) : body)

function eventsOf(body: string | Uint8Array, contentType = JSON_TYPE, path = '/'): string[] {
  const parsed = native.parse({ path, query: {}, headers: {}, contentType, body: bytesOf(body) })
  return parsed.batches.flatMap(({ events: arrivals }) => {
    const raws = arrivals.kind === 'lines' ? [...splitLines(arrivals.bytes)] : [...recordsOf(arrivals)].map(({ raw }) => raw)
    return raws.map((raw) => Buffer.from(raw).toString('utf8'))
  })
}

describe('the first byte decides the layout of a body', () => {
  test.each([
    ['one object', '{"a":1}', ['{"a":1}']],
    ['one a line', '{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
    ['one a line, as Windows ends lines', '{"a":1}\r\n\r\n{"b":2}\r\n', ['{"a":1}', '{"b":2}']],
    ['blank lines', '\n \n{"a":1}\n\t\n\n{"b":2}', ['{"a":1}', '{"b":2}']],
    ['in a row', '{"a":"}{"}{"b":2} {"c":3}', ['{"a":"}{"}', '{"b":2}', '{"c":3}']],
    ['in a row with commas', '{"a":1},\n{"b":2}', ['{"a":1}', '{"b":2}']],
    ['over several lines', '{\n  "a": 1,\n  "b": {"c": "x\\ny"}\n}\n', ['{\n  "a": 1,\n  "b": {"c": "x\\ny"}\n}']],
    ['several over several lines', '{\n"a":1\n}\n{\n"b":2\n}', ['{\n"a":1\n}', '{\n"b":2\n}']],
    ['an array', '[{"a":1}, {"b":[{"c":2}]} ]', ['{"a":1}', '{"b":[{"c":2}]}']],
    ['an array over several lines', '[\n  {"a":1},\n  {"b":2}\n]\n', ['{"a":1}', '{"b":2}']],
    ['an array of more than objects', '[{"a":1},"text",3,null,[4]]', ['{"a":1}', '"text"', '3', 'null', '[4]']],
    ['arrays in a row', '[{"a":1}]\n[{"b":2}]', ['{"a":1}', '{"b":2}']],
    ['an empty array', ' [ ] ', []],
    ['a line of text that begins with a bracket', '[INFO] hello\n[WARN] again', ['[INFO] hello', '[WARN] again']],
    ['lines of text', 'one\n  two\n', ['one', '  two']],
    ['a number', '17', ['17']],
    ['a broken line among good ones', '{"a":1}\n{"b":\n{"c":3}', ['{"a":1}', '{"b":', '{"c":3}']],
    ['a broken first line', '{"a":"x\n{"b":2}\n{"c":3}', ['{"a":"x', '{"b":2}', '{"c":3}']],
    ['words behind an object', '{"a":1} and more\nplain', ['{"a":1} and more', 'plain']],
    ['a mark of the byte order', '\ufeff{"a":1}', ['{"a":1}']],
    ['a check of a log push service', '{"content":"tests"}', []],
    ['more than that check', '{"content":"tests"}\n{"a":1}', ['{"content":"tests"}', '{"a":1}']],
  ])('%s', (_, body, events) => {
    expect(eventsOf(body)).toEqual(events)
  })
})

test('text is lines, whatever it looks like', () => {
  expect(eventsOf('[{"a":1},\n{"b":2}]', 'text/plain; charset=utf-8')).toEqual(['[{"a":1},', '{"b":2}]'])
  expect(eventsOf('{"a":1}{"b":2}', 'application/x-www-form-urlencoded')).toEqual(['{"a":1}{"b":2}'])
})

test('an array that ends too early is refused whole, and names no event of it', () => {
  for (const body of ['[{"a":1}', '[{"a":1},', '[{"a":1},{"b"', '[{"a":1} {"b":2}]', '[{"a":1},"x']) {
    expect(() => eventsOf(body), body).toThrow(Failure)
  }
})

test('UTF-16 is read, and refused when it is broken', () => {
  const text = '{"a":"Bäume"}\n{"b":2}'
  const little = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
  expect(eventsOf(little)).toEqual(text.split('\n'))
  expect(eventsOf(Buffer.from(little).swap16())).toEqual(text.split('\n'))
  expect(eventsOf(Buffer.from(text, 'utf16le'), 'application/json; charset="UTF-16LE"')).toEqual(text.split('\n'))
  expect(() => eventsOf(little.subarray(0, -1))).toThrow('not valid UTF-16LE')
})

test('an unreadable body is refused with 415, not stored as text', () => {
  for (const type of ['application/msgpack', 'application/x-msgpack']) {
    expect(() => eventsOf(new Uint8Array([0x81, 0xa1, 0x61, 0x01]), type)).toThrow(expect.objectContaining({ status: 415 }))
  }
})

test('the path names collection and dataset', () => {
  const parse = (path: string) => native.parse({ path, query: {}, headers: {}, contentType: '', body: bytesOf('x') }).batches[0]
  expect(parse('/ingest/shop/web%2Feu')).toMatchObject({ collection: 'shop', dataset: 'web/eu' })
  expect(parse('/ingest')).toMatchObject({ collection: undefined, dataset: undefined })
  expect(() => parse('/ingest/shop/%ff')).toThrow(expect.objectContaining({ status: 400 }))
})

test('objects come out byte for byte, however they stand behind one another', () => {
  const object = fc
    .dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true })
    .filter((value) => Object.keys(value).join() !== 'content')
  const written = fc.tuple(object, fc.constantFrom(undefined, 1, '\t')).map(([value, indent]) => JSON.stringify(value, undefined, indent))
  const between = fc.constantFrom('\n', '\r\n', '', ' ', '\n\n', ',\n')
  fc.assert(
    fc.property(fc.array(fc.tuple(written, between), { minLength: 1, maxLength: 8 }), (parts) => {
      const texts = parts.map(([text]) => text)
      expect(eventsOf(`[${texts.join(',')}]`)).toEqual(texts)
      expect(eventsOf(parts.map(([text, gap]) => text + gap).join('')).map((event) => event.trimEnd())).toEqual(texts)
    }),
    { numRuns: 500 },
  )
})

test('any bytes are either accepted or refused', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    fc
      .array(fc.constantFrom('[', ']', '{', '}', '"', ',', ':', '\\', '\n', '{"a":1}', ' ', 'x'), { maxLength: 30 })
      .map((parts) => bytesOf(parts.join(''))),
  )
  fc.assert(
    fc.property(bytes, fc.constantFrom('', JSON_TYPE, 'text/plain'), (body, type) => {
      try {
        eventsOf(body, type)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(Failure)
      }
    }),
    { numRuns: 3_000 },
  )
})

test('more objects than memory should hold are refused, and more lines than a worker should be kept busy with', () => {
  for (const body of [`[${'{},'.repeat(500_001)}{}]`, '{}{}'.repeat(250_001), 'x\n'.repeat(1_000_001)]) {
    expect(() => eventsOf(body)).toThrow(expect.objectContaining({ status: 413 }))
  }
  expect(eventsOf('{}\n'.repeat(600_000))).toHaveLength(600_000)
  expect(eventsOf(`x${'\n'.repeat(5_000_000)}y`)).toHaveLength(2)
})

test('objects that never end do not take a time that grows with the square of their number', () => {
  const body = `[{"a":1}]\n${'{"a":\n'.repeat(200_000)}`
  expect(eventsOf(body)).toHaveLength(200_001)
})
