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
    ['words after an object', '{"a":1} and more\nplain', ['{"a":1} and more', 'plain']],
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
  for (const body of ['[{"a":1}', '[{"a":1},', '[{"a":1},{"b"', '[{"a":1},"x', '[{"a":1} ', '[{"a":1},7']) {
    expect(() => eventsOf(body), body).toThrow('ends before its closing bracket')
  }
  expect(() => eventsOf('[{"a":1} {"b":2}]')).toThrow('no comma between two elements')
})

test('UTF-16 is read, and refused when it is broken', () => {
  const text = '{"a":"Bäume"}\n{"b":2}'
  const little = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
  expect(eventsOf(little)).toEqual(text.split('\n'))
  expect(eventsOf(Buffer.from(little).swap16())).toEqual(text.split('\n'))
  expect(eventsOf(Buffer.from(text, 'utf16le'), 'application/json; charset="UTF-16LE"')).toEqual(text.split('\n'))
  expect(() => eventsOf(little.subarray(0, -1))).toThrow('not valid UTF-16LE')
})

describe('MessagePack', () => {
  const a = [0x81, 0xa1, 0x61, 0x01]
  const b = [0x81, 0xa1, 0x62, 0xa1, 0x79]
  const seconds = [0xce, 0x6a, 0x90, 0, 0]
  const eventTime = [0xd7, 0, 0x6a, 0x90, 0, 0, 0, 0, 0, 7]
  const recordsIn = (bytes: readonly number[], type = 'application/msgpack') => {
    const parsed = native.parse({ path: '/', query: {}, headers: {}, contentType: type, body: Uint8Array.from(bytes) })
    return parsed.batches.flatMap(({ events }) =>
      events.kind === 'records'
        ? events.records.map(({ raw, time, attributes }) => [Buffer.from(raw).toString(), time?.ms, time?.ns, attributes])
        : [],
    )
  }
  const at = 1_787_822_080_000
  test.each([
    [
      'maps one after another',
      [...a, ...b],
      [
        ['{"a":1}', undefined, undefined, []],
        ['{"b":"y"}', undefined, undefined, []],
      ],
    ],
    [
      'a list of maps',
      [0x92, ...a, ...b],
      [
        ['{"a":1}', undefined, undefined, []],
        ['{"b":"y"}', undefined, undefined, []],
      ],
    ],
    ['an empty list', [0x90], []],
    ['a time in seconds', [0x92, ...seconds, ...a], [['{"a":1}', at, 0, []]]],
    [
      'a time in nanoseconds',
      [0x92, ...eventTime, ...a, 0x92, ...seconds, ...b],
      [
        ['{"a":1}', at, 7, []],
        ['{"b":"y"}', at, 0, []],
      ],
    ],
    ['a time with metadata', [0x92, 0x92, ...eventTime, ...b, ...a], [['{"a":1}', at, 7, [['$b', 'y']]]]],
  ])('%s', (_, bytes, expected) => {
    expect(recordsIn(bytes)).toEqual(expected)
    expect(recordsIn(bytes, 'application/x-msgpack; charset=utf-8')).toEqual(expected)
  })

  test.each([
    ['is cut', [0x82, 0xa1, 0x61, 0x01]],
    ['is no map', [0x07]],
    ['has a third part', [0x93, ...seconds, ...a, ...a]],
    ['has no map', [0x92, ...seconds, 0x01]],
    ['is a list with a number', [0x92, ...a, 0x01]],
  ])('a body that %s is refused', (_, bytes) => {
    expect(() => recordsIn(bytes)).toThrow(expect.objectContaining({ status: 400 }))
  })

  test('any bytes are either accepted or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        try {
          recordsIn([...bytes])
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(Failure)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('lines that a container runtime wrote in parts', () => {
  const [t0, t1, late] = ['2026-11-20T10:00:00.000000001Z', '2026-11-20T10:00:01.5Z', '2026-11-20T10:00:06.1Z']
  const record = (log: string, stream: string, time: string) => `{"log":"${log}","stream":"${stream}","time":"${time}"}`
  test.each([
    ['become one', `${t0} stdout P one \n${t1} stdout P two \n${t1} stdout F three\n`, [`${t0} stdout F one two three`]],
    [
      'belong to the line of their own stream',
      `${t0} stdout P one \n${t0} stderr F bad\n${t0} stderr F worse\n${t1} stdout F two\n${t1} stdout F next\n`,
      [`${t0} stdout F one two`, `${t0} stderr F bad`, `${t0} stderr F worse`, `${t1} stdout F next`],
    ],
    ['stay apart after five seconds', `${t0} stdout P one\n${late} stdout F two`, [`${t0} stdout P one`, `${late} stdout F two`]],
    ['stay partial without a rest', `${t0} stdout P one \n${t1} stdout P two`, [`${t0} stdout P one two`]],
    [
      'of a body that begins with other lines stay',
      `hello\n${t0} stdout P one\n${t1} stdout F two`,
      ['hello', `${t0} stdout P one`, `${t1} stdout F two`],
    ],
    ['are recognized by their header only', `say stdout P one\n${t0} stdout F two`, ['say stdout P one', `${t0} stdout F two`]],
    [
      'as records become one',
      `${record('one \\"', 'stdout', t0)}\n${record('err\\n', 'stderr', t0)}\n${record('two\\n', 'stdout', t1)}\n`,
      [record('one \\"two\\n', 'stdout', t0), record('err\\n', 'stderr', t0)],
    ],
    [
      'as records of other programs stay',
      '{"log":"one","stream":"stdout"}\n{"log":"two","stream":"stdout"}',
      ['{"log":"one","stream":"stdout"}', '{"log":"two","stream":"stdout"}'],
    ],
  ])('%s', (_, body, expected) => {
    expect(eventsOf(body, '')).toEqual(expected)
  })
})

test('the path names collection and dataset', () => {
  const parse = (path: string) => native.parse({ path, query: {}, headers: {}, contentType: '', body: bytesOf('x') }).batches[0]
  expect(parse('/ingest/shop/web%2Feu')).toMatchObject({ collection: 'shop', dataset: 'web/eu' })
  expect(parse('/ingest')).toMatchObject({ collection: undefined, dataset: undefined })
  expect(() => parse('/ingest/shop/%ff')).toThrow(expect.objectContaining({ status: 400 }))
})

test('objects come out byte for byte, however they follow one another', () => {
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

test('a million lines are taken in any layout of lines, and one more is refused; blank lines do not count', () => {
  const parse = (line: string, lines: number) =>
    native.parse({ path: '/', query: {}, headers: {}, contentType: JSON_TYPE, body: bytesOf(`${line}\n`.repeat(lines)) })
  for (const line of ['{}', 'x', '[x', '{}\n']) {
    expect(parse(line, 1_000_000).batches, line).toHaveLength(1)
    expect(() => parse(line, 1_000_001), line).toThrow(expect.objectContaining({ status: 413 }))
  }
})
