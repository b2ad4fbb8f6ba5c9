import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../test/support/senders.ts'
import { afterBlank } from './intake/lines.ts'
import { postsOf } from './receivers/posts.fixture.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())

const DATASETS_OF_A_KEY = 50
let made = 0
let key = ''
/** Sends a body to a new dataset. It changes the API key from time to time, since new datasets per hour are limited. */
async function inNew(raw: string | Uint8Array, headers: Record<string, string> = {}) {
  if (made % DATASETS_OF_A_KEY === 0) key = await senders.org.newKey(['IngestionApi'])
  made += 1
  const dataset = `poison-${made}`
  const reply = await senders.post(raw, { key, headers: { 'x-service-dataset': dataset, ...headers } })
  return { reply, dataset, events: await senders.eventsIn(dataset) }
}

const bytes = (...parts: (string | number[])[]): Buffer => Buffer.concat(parts.map((part) => Buffer.from(part as string)))
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

/** Lines that have broken other stores; each must come back byte for byte. */
const lines: Record<string, Buffer> = {
  '10 000 keys': bytes(JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, key) => [`k${key}`, key])))),
  '10 000 levels': bytes(nested(10_000)),
  '10 000 levels of lists': bytes(`{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`),
  'levels that never end': bytes('{"a":'.repeat(10_000)),
  'invalid UTF-8': bytes('{"a":"', [0xff, 0xfe, 0xc0, 0x80], '","b":"fine"}'),
  'invalid UTF-8 in a key': bytes('{"', [0xed, 0xa0, 0x80], '":1}'),
  'invalid UTF-8 in text': bytes('text ', [0xf5, 0x80], ' more'),
  'half a character at the end': bytes('{"a":"x"}', [0xe2, 0x82]),
  'NUL in text': bytes('a', [0], 'b'),
  'NUL in JSON': bytes('{"a":"x', [0], 'y"}'),
  'NUL alone': bytes([0]),
  'control bytes': bytes([1, 2, 3, 0x1b], '[31mred', [7]),
  'the bytes that shapes are made of': bytes('{"a":"', [1], 'c0', [2], '"}'),
  'lone surrogates': bytes('{"a":"\\ud800","b":"\\udfff\\ud800x"}'),
  'a number of 400 digits': bytes(`{"n":${'9'.repeat(400)},"m":-${'1'.repeat(400)}.${'3'.repeat(400)}e+999}`),
  'numbers that are none': bytes('{"a":NaN,"b":-Infinity,"c":0x10,"d":1_000,"e":+1,"f":.5}'),
  'names that JavaScript knows': bytes('{"__proto__":{"admin":true},"constructor":1,"toString":2,"hasOwnProperty":3,"length":4}'),
  'names that are columns of ours': bytes(
    '{"org_id":"1","seq":"2","ts":"x","raw":"y","c0":"z","s0":"w","more":"v","shape":"u","post":"9"}',
  ),
  'the same key many times': bytes(`{${'"a":1,'.repeat(1_000)}"a":2}`),
  'a key and the same key as a path': bytes('{"a.b":1,"a":{"b":2}}'),
  'a key of 100 000 characters': bytes(`{"${'k'.repeat(100_000)}":1}`),
  'a value of a million characters': bytes(`{"v":"${'v'.repeat(1_000_000)}"}`),
  'escapes of every kind': bytes('{"a":"\\b\\f\\n\\r\\t\\/\\\\\\"\\u0000\\u001f\\u2028\\q"}'),
  'quotes that never close': bytes(`{"a":"${'x'.repeat(1_000)}`),
  SQL: bytes(`{"a":"'; DROP TABLE events_s; --","b":"\\\\N","c":"{x:UInt8}"}`),
  'tabs and returns within': bytes('{"a":\t1\r,"b":2}'),
  emoji: bytes('{"\u{1f332}":"\u{1f469}\u200d\u{1f469}\u200d\u{1f467}"}'),
  'times from 1900': bytes('{"timestamp":"1900-01-01T00:00:00Z"}'),
  'times from 3000': bytes('{"timestamp":"3000-01-01T00:00:00Z"}'),
  'times before Christ': bytes('{"timestamp":-99999999999999999999}'),
  'times of 400 digits': bytes(`{"timestamp":${'9'.repeat(400)}}`),
  'times that are lists': bytes('{"timestamp":[1],"time":{"a":1},"ts":null}'),
  'pairs without end': bytes('a="'.repeat(10_000)),
  'brackets without end': bytes('['.repeat(100_000)),
  'a syslog header without end': bytes(`<14>1 - - - - - ${'[a b="c"'.repeat(5_000)}`),
}

describe('a line that has broken other stores comes back byte for byte, alone and among good ones', () => {
  test.each(Object.entries(lines))('%s', async (_, line) => {
    const alone = await inNew(line)
    expect(alone.reply.body).toEqual({ accepted: 1, rejected: 0 })
    expect(alone.events[0]?.raw.equals(line)).toBe(true)
    const among = await inNew(bytes('{"before":1}\n', [...line], '\n{"after":2}'))
    expect(among.reply.status).toBe(200)
    const raws = among.events.map(({ raw }) => raw)
    expect(raws.some((raw) => raw.equals(line))).toBe(true)
    for (const good of ['{"before":1}', '{"after":2}']) expect(raws.some((raw) => raw.toString() === good)).toBe(true)
    expect(raws).toHaveLength(3)
  })
})

test.each(Object.entries(postsOf))('the same lines come back byte for byte through %s', async (name, postOf) => {
  const wanted = Object.values(lines)
  const { path, body, headers } = postOf(wanted)
  const collection = name.replaceAll(' ', '-')
  const reply = await senders.post(body, {
    path,
    headers: { ...headers, 'x-service-collection': collection, 'x-service-dataset': 'poison' },
  })
  expect(reply.status).toBeLessThan(300)
  const raws = (await senders.eventsIn('poison', collection)).map(({ raw }) => raw)
  expect(Object.entries(lines).filter(([, line]) => !raws.some((raw) => raw.equals(line)))).toEqual([])
  expect(raws).toHaveLength(wanted.length)
})

test('the readable keys of a hostile line can be queried', async () => {
  const poisoned = [
    'invalid UTF-8',
    'NUL in JSON',
    'lone surrogates',
    'a number of 400 digits',
    'names that JavaScript knows',
    '10 000 keys',
  ].map((name) => lines[name] ?? Buffer.alloc(0))
  const { events } = await inNew(bytes(...poisoned.flatMap((line) => [[...line], '\n'])))
  const keysOf = (name: string) => events.find(({ raw }) => raw.equals(lines[name] ?? Buffer.alloc(0)))?.keys ?? {}
  expect(keysOf('invalid UTF-8')).toMatchObject({ b: 'fine' })
  expect(keysOf('NUL in JSON')).toMatchObject({ a: 'xy' })
  expect(keysOf('lone surrogates')).toMatchObject({ a: '\ufffd' })
  expect(keysOf('a number of 400 digits')).toMatchObject({ n: '9'.repeat(400) })
  expect(Object.entries(keysOf('names that JavaScript knows'))).toEqual(
    expect.arrayContaining([
      ['__proto__.admin', 'true'],
      ['constructor', '1'],
    ]),
  )
  expect(Object.keys(keysOf('10 000 keys'))).toHaveLength(1_000)
})

/** It is compressed once for all receivers: that takes longer than what they do with it. */
const bombOf256Mib = gzipSync(Buffer.alloc(2 ** 28))

describe('bombs are stopped at the limit', () => {
  const bombs: Record<string, [string, () => Buffer]> = {
    gzip: ['gzip', () => bombOf256Mib],
    zstd: ['zstd', () => zstdCompressSync(Buffer.alloc(2 ** 30))],
    'gzip of lines': ['gzip', () => gzipSync('{"a":1}\n'.repeat(10_000_000), { level: 1 })],
  }
  test.each(Object.entries(bombs))('%s', async (_, [encoding, make]) => {
    const { reply, events } = await inNew(make(), { 'content-encoding': encoding })
    expect([reply.status, events]).toEqual([413, []])
  })
})

test.each(Object.entries(postsOf))('a bomb is stopped at the limit of %s', async (_, postOf) => {
  const { path, headers } = postOf([])
  const reply = await senders.post(bombOf256Mib, { path, headers: { ...headers, 'content-encoding': 'gzip' } })
  expect(reply.status).toBe(413)
})

test('a million blank lines are nothing, and a million short ones a million events', async () => {
  const headers = { 'x-service-dataset': 'million' }
  expect((await senders.post('\n'.repeat(1_000_000), { headers })).body).toEqual({ accepted: 0, rejected: 0 })
  expect((await senders.post('x\n'.repeat(1_000_000), { headers })).body).toEqual({ accepted: 1_000_000, rejected: 0 })
})

test('any bytes at all come back line by line', async () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array)),
    fc.json().map((text) => Buffer.from(text)),
    fc.constantFrom(...Object.values(lines).filter((line) => line.length < 2_000)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 40 }), async (pieces) => {
      // Text, since a first byte of JSON could turn the whole body into an array.
      const body = Buffer.concat(pieces.flatMap((one) => [one, Buffer.from('\n')]))
      const expected = body
        .toString('latin1')
        .split('\n')
        .map((line) => line.replace(/\r$/, ''))
        .filter((line) => afterBlank(Buffer.from(line, 'latin1'), 0) < line.length)
      fc.pre(!(body[0] === 0xef && body[1] === 0xbb) && !(body[0] === 0xff && body[1] === 0xfe) && !(body[0] === 0xfe && body[1] === 0xff))
      fc.pre(!(body[0] === 0x1f && body[1] === 0x8b) && !(body[0] === 0x28 && body[1] === 0xb5))
      const { reply, events } = await inNew(body, { 'content-type': 'text/plain' })
      expect(reply.body).toEqual({ accepted: expected.length, rejected: 0 })
      expect(events.map(({ raw }) => raw.toString('latin1')).sort()).toEqual(expected.sort())
    }),
    { numRuns: 40 },
  )
})
