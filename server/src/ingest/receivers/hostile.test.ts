import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../kernel/errors.ts'
import { type ParsedBody, recordsOf } from '../batch.ts'
import { decompressSnappy } from './loki/snappy.ts'
import { type ProtocolPost, postsOf, snappyOf } from './posts.fixture.ts'
import { receivers } from './receivers.ts'

const sample = ['GET /cart 200', '{"level":"error","n":1.50}', '', 'née "x" \\ \t'].map((line) => Buffer.from(line))

function parse({ path, headers }: Pick<ProtocolPost, 'path' | 'headers'>, body: Uint8Array): ParsedBody {
  const { pathname, searchParams } = new URL(path, 'http://ingest')
  const head = { path: pathname, query: Object.fromEntries(searchParams), headers }
  const receiver =
    receivers.find(({ claims }) => claims?.(head)) ??
    receivers.find(({ routes }) => routes.some(({ methods, tail }) => methods.includes('POST') && tail.test(pathname)))
  if (!receiver) throw new Error(`no receiver has the path ${path}`)
  return receiver.parse({ ...head, contentType: headers['content-type'] ?? '', body })
}

/** Anything but a Failure would be a bug. */
function isHandled(post: ProtocolPost, body: Uint8Array): void {
  try {
    parse(post, body)
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(Failure)
  }
}

describe.each(Object.entries(postsOf))('posts to %s', (_, postOf) => {
  const post = postOf(sample)

  test('cut at every byte are read or refused', () => {
    for (let end = 0; end < post.body.length; end += 1) isHandled(post, post.body.subarray(0, end))
  })

  test('with changed bytes are read or refused', () => {
    const change = fc.tuple(fc.nat(post.body.length - 1), fc.nat(255))
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        const body = Buffer.from(post.body)
        for (const [at, byte] of changes) body[at] = byte
        isHandled(post, body)
      }),
      { numRuns: 300 },
    )
  })

  test('of any bytes are read or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (body) => isHandled(post, body)),
      { numRuns: 300 },
    )
  })

  test('with values nested 100,000 levels deep are read or refused', () => {
    for (const nested of ['['.repeat(100_000), `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, `[${'{"event":['.repeat(50_000)}`]) {
      isHandled(post, Buffer.from(nested))
    }
  })
})

const push = (streams: string) =>
  parse({ path: '/loki/api/v1/push', headers: { 'content-type': 'application/json' } }, Buffer.from(streams))

test('100,000 labels of one stream are kept up to a limit, and the rest is counted', () => {
  const labels = Array.from({ length: 100_000 }, (_, index) => `"l${index}":"v"`).join()
  const { batches } = push(`{"streams":[{"stream":{${labels}},"values":[["1714521600000000000","line"]]}]}`)
  const [record] = batches.flatMap(({ events }) => [...recordsOf(events)])
  expect(record?.attributes).toHaveLength(1_001)
  expect(record?.attributes.at(-1)).toEqual(['$loki.dropped_labels', '99000'])
})

test('more streams, events or values than a worker should hold are refused', () => {
  const entry = '["1714521600000000000","x"]'
  const many = (count: number) => Array.from({ length: count }, () => entry).join()
  const labels = Array.from({ length: 1_000 }, (_, index) => `"l${index}":"v"`).join()
  for (const body of [
    `{"streams":[${Array.from({ length: 200_001 }, () => `{"stream":{},"values":[${entry}]}`).join()}]}`,
    `{"streams":[{"stream":{},"values":[${many(200_001)}]}]}`,
    `{"streams":[{"stream":{${labels}},"values":[${many(10_000)}]}]}`,
  ]) {
    expect(() => push(body)).toThrow(expect.objectContaining({ status: 413 }))
  }
})

/** An empty message of protobuf in a field. */
const empty = (field: number, times: number) => Buffer.alloc(2 * times, Buffer.from([field * 8 + 2, 0]))
const inField = (field: number, bytes: Buffer) => {
  const length: number[] = []
  for (let rest = bytes.length; rest > 0; rest = Math.floor(rest / 128)) length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
  return Buffer.concat([Buffer.from([field * 8 + 2, ...length]), bytes])
}
const base64 = (text: string) => Buffer.from(text).toString('base64')
const MANY = 1_100_000

test.each<[string, string, Record<string, string>, () => Buffer]>([
  ['empty streams', '/loki/api/v1/push', {}, () => snappyOf(empty(1, MANY))],
  ['empty entries', '/loki/api/v1/push', {}, () => snappyOf(inField(1, empty(2, MANY)))],
  ['empty metadata', '/loki/api/v1/push', {}, () => snappyOf(inField(1, inField(2, empty(3, MANY))))],
  [
    'empty streams in JSON',
    '/loki/api/v1/push',
    { 'content-type': 'application/json' },
    () => Buffer.from(`{"streams":[${'{},'.repeat(MANY)}{}]}`),
  ],
  ['objects without an event', '/services/collector', {}, () => Buffer.from('{}'.repeat(MANY))],
  ['empty logs', '/api/v2/logs', {}, () => Buffer.from('{}'.repeat(MANY))],
  ['blocks without logs', '/log/v1', {}, () => Buffer.from(`[${'{"logs":[]},'.repeat(MANY)}{}]`)],
  ['empty lines', '/logs/ingest?hostname=h', {}, () => Buffer.from(`{"lines":[${'{},'.repeat(MANY)}{}]}`)],
  ['empty messages', '/gelf', {}, () => Buffer.from('{}'.repeat(MANY))],
  ['empty entries of a drain', '/vercel', {}, () => Buffer.from('{}'.repeat(MANY))],
  ['empty records', '/firehose', {}, () => Buffer.from(`{"records":[${'{},'.repeat(MANY)}{}]}`)],
  [
    'empty log events',
    '/firehose',
    {},
    () => Buffer.from(`{"records":[{"data":"${base64(`{"messageType":"DATA_MESSAGE","logEvents":[${'{},'.repeat(MANY)}{}]}`)}"}]}`),
  ],
  ['empty messages of a drain', '/heroku', {}, () => Buffer.from('0 '.repeat(MANY))],
  ['empty journal entries', '/upload', { 'content-type': 'application/vnd.fdo.journal' }, () => Buffer.from('A=\n\n'.repeat(MANY))],
])('a million %s are too large for one post', (_, path, headers, body) => {
  expect(() => parse({ path, headers }, body())).toThrow(expect.objectContaining({ status: 413 }))
})

test('an event with a million members keeps as many as an event may have', () => {
  const members = Array.from({ length: 200_000 }, (_, index) => `"m${index}":1`).join()
  const repeated = '"source":"a",'.repeat(100_000)
  for (const [path, body] of [
    ['/services/collector', `{"event":"x",${members},"fields":{${members}}}`],
    ['/api/v2/logs', `{"message":"x",${members}}`],
    ['/log/v1', `{"message":"x","attributes":{${members}}}`],
    ['/log/v1', `{"common":{${members}},"logs":[{"message":"x"}]}`],
    ['/logs/ingest?hostname=h', `{"lines":[{"line":"x","meta":{${members}}}]}`],
    ['/vercel', `{"message":"x",${repeated}${members}}`],
    ['/gelf', `{"short_message":"x",${members}}`],
  ] as const) {
    const [record] = parse({ path, headers: {} }, Buffer.from(body)).batches.flatMap(({ events }) => [...recordsOf(events)])
    expect((record?.keys.length ?? 0) + (record?.attributes.length ?? 0), path).toBeLessThan(1_010)
    expect(record).toBeDefined()
  }
})

describe('snappy', () => {
  const bytes = Buffer.from('one two one two one two\n'.repeat(3_000))

  test.each([
    ['literals', snappyOf(bytes), bytes],
    ['nothing', Buffer.from([0]), Buffer.alloc(0)],
    ['a repetition that overlaps itself', Buffer.from([8, 0x04, 0x61, 0x62, 0x09, 0x02]), Buffer.from('abababab').subarray(0, 8)],
    ['a copy with a distance of two bytes', Buffer.from([5, 0x04, 0x61, 0x62, 0x0a, 0x02, 0x00]), Buffer.from('ababa')],
    ['a copy with a distance of four bytes', Buffer.from([5, 0x04, 0x61, 0x62, 0x0b, 0x02, 0x00, 0x00, 0x00]), Buffer.from('ababa')],
  ])('%s', (_, block, expected) => {
    expect(Buffer.from(decompressSnappy(block, 2 ** 20)).equals(expected)).toBe(true)
  })

  test.each([
    ['a length beyond the limit', [0xff, 0xff, 0xff, 0xff, 0x0f, 0x00], 413],
    ['no length', [], 400],
    ['a length without end', [0x80, 0x80, 0x80, 0x80, 0x80, 0x00], 400],
    ['fewer bytes than announced', [5, 0x00, 0x61], 400],
    ['more bytes than announced', [1, 0x04, 0x61, 0x62], 400],
    ['a copy from before the start', [5, 0x00, 0x61, 0x05, 0x02], 400],
    ['a copy from itself', [5, 0x00, 0x61, 0x05, 0x00], 400],
    ['a length of four bytes that would be negative', [16, 0xfc, 0xfa, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8], 400],
    ['a distance of four bytes that would be negative', [8, 0x00, 0x61, 0x0f, 0xff, 0xff, 0xff, 0xff], 400],
  ])('with %s is refused', (_, block, status) => {
    expect(() => decompressSnappy(Buffer.from(block), 2 ** 20)).toThrow(expect.objectContaining({ status }))
  })
})
