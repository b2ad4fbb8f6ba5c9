import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ParsedBody, recordsOf } from '../../batch.ts'
import { parsedLines } from '../cases.fixture.ts'
import { MessageBody } from '../messages.ts'
import { forward } from './forward.ts'
import { forwardOptions } from './options.ts'
import { BrokenStream, ValueEnd } from './value-end.ts'

const source = { address: '192.0.2.1', attributes: [] }

/** Writes MessagePack; a Uint8Array stands for itself. */
function packed(value: unknown): Buffer {
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (value === null) return Buffer.of(0xc0)
  if (typeof value === 'boolean') return Buffer.of(value ? 0xc3 : 0xc2)
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= 0 && value < 128) return Buffer.of(value)
    const bytes = Buffer.alloc(9, 0xcb)
    bytes.writeDoubleBE(value, 1)
    return bytes
  }
  if (typeof value === 'bigint') {
    const bytes = Buffer.alloc(9, 0xcf)
    bytes.writeBigUInt64BE(value, 1)
    return bytes
  }
  if (typeof value === 'string') return Buffer.concat([Buffer.of(0xd9, Buffer.byteLength(value)), Buffer.from(value)])
  if (Array.isArray(value)) return Buffer.concat([Buffer.of(0xdc, 0, value.length), ...value.map(packed)])
  const members = Object.entries(value as object)
  return Buffer.concat([Buffer.of(0xdf, 0, 0, 0, members.length), ...members.flat().map(packed)])
}
const binary = (bytes: Uint8Array): Buffer => Buffer.concat([Buffer.of(0xc5, bytes.length >> 8, bytes.length & 0xff), bytes])
const seconds = Buffer.from([0xce, 0x6a, 0x90, 0, 0])
const eventTime = Buffer.from([0xd7, 0, 0x6a, 0x90, 0, 0, 0, 0, 0, 7])
const RECORDED = '2026-08-27T09:14:40.000000'

function parse(...messages: readonly Uint8Array[]): ParsedBody {
  const body = new MessageBody()
  for (const message of messages) body.add(message, source)
  return forward.parse({ path: '', query: {}, headers: {}, contentType: '', body: body.bytes() })
}
const linesOf = (...messages: readonly Uint8Array[]): string[] => parsedLines(parse(...messages))

test.each<[string, object, (string | undefined)[]]>([
  ['its service, as a member', { log: 'x', service: { name: 'pay', namespace: 'shop' } }, ['shop', 'pay']],
  ['its service, as a flat key', { log: 'x', 'service.name': 'pay' }, [undefined, 'pay']],
  ['its tag without a service that has a name', { log: 'x', 'service.name': 7 }, [undefined, 'a.b']],
  ['its service without a line', { 'service.name': 'pay' }, [undefined, 'pay']],
])('a record goes to %s', (_, record, place) => {
  const { batches } = parse(packed(['a.b.c', [packed([seconds, record])]]))
  expect(batches.map(({ collection, dataset }) => [collection, dataset])).toEqual([place])
})

describe('the forms of a message', () => {
  const record = { log: 'a line\n', n: 1 }
  const event = (ns: number) => `event {"raw":"a line","time":"${RECORDED}00${ns}Z","keys":{"n":"1"},"attributes":{"$fluent.tag":"a.b.c"}}`
  const entries = Buffer.concat([packed([seconds, record]), packed([eventTime, record]), packed([[eventTime, {}], record])])
  test.each([
    ['Message', packed(['a.b.c', seconds, record]), [event(0).replace('000Z', '000Z')]],
    ['Forward', packed(['a.b.c', [packed([seconds, record]), packed([eventTime, record])]]), [event(0), event(7)]],
    ['PackedForward', packed(['a.b.c', binary(entries)]), [event(0), event(7), event(7)]],
    [
      'PackedForward as text',
      packed(['a.b.c', Buffer.concat([Buffer.of(0xda, entries.length >> 8, entries.length & 0xff), entries])]),
      [event(0), event(7), event(7)],
    ],
    [
      'gzip in two members',
      packed(['a.b.c', binary(Buffer.concat([gzipSync(entries), gzipSync(entries)])), { compressed: 'gzip' }]),
      [event(0), event(7), event(7), event(0), event(7), event(7)],
    ],
    ['zstd', packed(['a.b.c', binary(zstdCompressSync(entries)), { compressed: 'zstd' }]), [event(0), event(7), event(7)]],
  ])('%s', (_, message, expected) => {
    expect(linesOf(message)).toEqual(['delivery {"dataset":"a.b"}', ...expected])
  })
})

test('values keep their digits, nested maps become keys, and metadata and sources become attributes', () => {
  const record = {
    big: 2n ** 63n + 1n,
    ratio: 0.1,
    none: null,
    yes: true,
    a: { b: { c: 'x' }, list: [1, 'y', { z: null }] },
    kubernetes: { container_name: 'cart' },
    message: 'text',
    log: 'other',
  }
  expect(linesOf(packed(['kube.var.log.x', [packed([[eventTime, { file: 'f' }], record])]]))).toEqual([
    'delivery {"dataset":"cart"}',
    `event {"raw":"text","time":"${RECORDED}007Z","keys":{"big":"9223372036854775809","ratio":"0.1","yes":"true","a.b.c":"x","a.list":"[1,\\"y\\",{\\"z\\":null}]","log":"other"},"attributes":{"$fluent.tag":"kube.var.log.x","$file":"f","$kubernetes.container_name":"cart"}}`,
  ])
})

test('a record without a line is a line of JSON', () => {
  expect(linesOf(packed(['t', seconds, { a: 1, b: { c: 'x' } }]))).toEqual([
    'delivery {"dataset":"t"}',
    `event {"raw":"{\\"a\\":1,\\"b\\":{\\"c\\":\\"x\\"}}","time":"${RECORDED}000Z","attributes":{"$fluent.tag":"t"}}`,
  ])
})

test('an unreadable message is rejected, and those around it are stored', () => {
  const good = packed(['t', seconds, { log: 'x' }])
  const bomb = packed(['t', binary(gzipSync(Buffer.alloc(2 ** 16)).subarray(0, 20))])
  const { total, rejected } = parse(good, packed(['t', [packed([seconds, 7])]]), bomb, good.subarray(0, 12), good)
  expect([total, rejected.map(({ index }) => index)]).toEqual([5, [1, 2, 3]])
})

test('an unreadable entry is rejected, and those behind it are stored', () => {
  const good = packed([seconds, { log: 'x' }])
  const entries = [
    good,
    packed(5),
    packed([seconds]),
    packed([seconds, 'a']),
    packed([seconds, [{ log: 'y' }]]),
    packed({ log: 'z' }),
    good,
  ]
  for (const message of [
    packed(['t', [...entries, good]]),
    packed(['t', binary(Buffer.concat([...entries, good]))]),
    packed(['t', binary(gzipSync(Buffer.concat([...entries, good])))]),
  ]) {
    const { total, rejected, batches } = parse(message, packed(['t', [good]]))
    expect([total, rejected.map(({ index }) => index)]).toEqual([9, [1, 2, 3, 4, 5]])
    expect(batches.flatMap(({ events }) => (events.kind === 'tables' ? events.tables : [])).map(({ count }) => count)).toEqual([4])
  }
  const brokenOff = parse(packed(['t', binary(Buffer.concat([good, packed(5), good.subarray(0, -1)]))]), packed(['t', [good]]))
  expect([brokenOff.total, brokenOff.rejected.map(({ index }) => index)]).toEqual([4, [1, 2]])
})

test('seconds with a fraction keep its microseconds', () => {
  const times = [1_787_822_080.123456, 1_787_822_080.5, 1_787_822_080.000001]
  const { batches } = parse(packed(['t', times.map((time) => packed([time, { log: 'x' }]))]))
  const instants = batches.flatMap(({ events }) => [...recordsOf(events)]).map(({ time }) => time)
  expect(instants).toEqual([
    { ms: 1_787_822_080_123, ns: 456_000 },
    { ms: 1_787_822_080_500, ns: 0 },
    { ms: 1_787_822_080_000, ns: 1_000 },
  ])
})

test('many small messages share one body', () => {
  const messages = Array.from({ length: 20_000 }, (_, n) => packed(['t', seconds, { log: `line ${n}`, level: 'info', n }]))
  expect(parse(...messages).total).toBe(20_000)
})

describe('the end of a value in a stream', () => {
  const messages = [
    packed(['t', seconds, { log: 'x', list: [1, [2, {}], null] }, { chunk: 'id' }]),
    packed(['t', []]),
    packed({ a: [] }),
    Buffer.of(0xc0),
  ]
  const stream = Buffer.concat(messages)
  test('is found wherever the stream is cut', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 40 }), (sizes) => {
        const values = new ValueEnd(1_000)
        const found: Buffer[] = []
        let [at, known] = [0, 0]
        for (let n = 0; at < stream.length; n += 1) {
          known = Math.min(stream.length, known + (sizes[n % sizes.length] ?? 1))
          for (let end = values.find(stream.subarray(at, known)); end !== undefined; end = values.find(stream.subarray(at, known))) {
            found.push(stream.subarray(at, at + end))
            at += end
            values.reset()
          }
        }
        expect(found).toEqual(messages)
      }),
    )
  })

  test('gives the place of the options', () => {
    const [message = Buffer.alloc(0)] = messages
    const values = new ValueEnd(1_000)
    const end = values.find(message) ?? 0
    const { chunk, isLogs } = forwardOptions(message, values.starts.at(-1) ?? 0, end, values.starts.length)
    expect([chunk && Buffer.from(chunk), isLogs]).toEqual([packed('id'), true])
  })

  test.each([
    ['a length beyond the limit', Buffer.from([0x91, 0xdb, 0xff, 0xff, 0xff, 0xff, 0])],
    ['a type that does not exist', Buffer.from([0x91, 0xc1])],
    ['too many levels', Buffer.alloc(500, 0x91)],
  ])('%s breaks the stream', (_, bytes) => {
    expect(() => new ValueEnd(1_000).find(bytes)).toThrow(BrokenStream)
  })
})
