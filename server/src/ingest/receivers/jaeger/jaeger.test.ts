import type { Trace } from '@dendro/api'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import { Failure } from '../../../kernel/errors.ts'
import { recordsOf } from '../../batch.ts'
import { binary, bool, double, i32, i64, list, protobufField, struct, type ThriftValue } from './encode.fixture.ts'
import { jaeger } from './jaeger.ts'

const TRACE = '5982fe77008310cc00000000000000aa'
const HIGH = 0x5982fe77008310ccn
const LOW = 0xaan
const THRIFT = 'application/x-thrift'

const textTag = (key: string, text: string): ThriftValue => struct({ 1: binary(key), 2: i32(0), 3: binary(text) })
const tags = [
  textTag('span.kind', 'client'),
  struct({ 1: binary('error'), 2: i32(2), 5: bool(true) }),
  textTag('otel.status_description', 'refused'),
  struct({ 1: binary('ratio'), 2: i32(1), 4: double(0.25) }),
  struct({ 1: binary('tries'), 2: i32(3), 6: i64(3n) }),
  struct({ 1: binary('id'), 2: i32(4), 7: binary(Buffer.from([1, 2])) }),
  textTag('otel.scope.name', 'pay-sdk'),
]
const childOf = (span: bigint, type = 0) => struct({ 1: i32(type), 2: i64(LOW), 3: i64(HIGH), 4: i64(span) })
function thriftBatch(startMicros: bigint, more: readonly ThriftValue[] = []): Buffer {
  const root = struct({
    1: i64(LOW),
    2: i64(HIGH),
    3: i64(1n),
    4: i64(0n),
    5: binary('get /cart'),
    7: i32(1),
    8: i64(startMicros),
    9: i64(9_000n),
  })
  const child = struct({
    1: i64(LOW),
    2: i64(HIGH),
    3: i64(-2n),
    4: i64(0n),
    5: binary('charge'),
    6: list([childOf(1n), childOf(7n, 1)]),
    7: i32(1),
    8: i64(startMicros + 1_000n),
    9: i64(5_000n),
    10: list(tags),
    11: list([struct({ 1: i64(startMicros + 2_000n), 2: list([textTag('event', 'retry'), textTag('why', 'slow')]) })]),
  })
  const process = struct({ 1: binary('shop'), 2: list([textTag('host.name', 'h1')]) })
  return struct({ 1: process, 2: list([root, child, ...more]), 3: i64(1n) })[1]
}

const otlpBatch = (startMicros: bigint) => {
  const nanos = (offset: bigint) => String((startMicros + offset) * 1_000n)
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } })
  const root = {
    traceId: TRACE,
    spanId: '0000000000000001',
    name: 'get /cart',
    startTimeUnixNano: nanos(0n),
    endTimeUnixNano: nanos(9_000n),
    flags: 1,
  }
  const child = {
    traceId: TRACE,
    spanId: 'fffffffffffffffe',
    parentSpanId: '0000000000000001',
    name: 'charge',
    kind: 3,
    startTimeUnixNano: nanos(1_000n),
    endTimeUnixNano: nanos(6_000n),
    attributes: [
      { key: 'ratio', value: { doubleValue: 0.25 } },
      { key: 'tries', value: { intValue: '3' } },
      { key: 'id', value: { bytesValue: 'AQI=' } },
    ],
    events: [{ timeUnixNano: nanos(2_000n), name: 'retry', attributes: [text('why', 'slow')] }],
    links: [{ traceId: TRACE, spanId: '0000000000000007', attributes: [text('opentracing.ref_type', 'follows_from')] }],
    status: { code: 2, message: 'refused' },
    flags: 1,
  }
  const resource = { attributes: [text('service.name', 'shop'), text('host.name', 'h1')] }
  const scopeSpans = [{ spans: [root] }, { scope: { name: 'pay-sdk' }, spans: [child] }]
  return { resourceSpans: [{ resource, scopeSpans }] }
}

function protobufBatch(startMicros: bigint): Buffer {
  const traceId = Buffer.from(TRACE, 'hex')
  const time = (offset: bigint) => {
    const nanos = (startMicros + offset) * 1_000n
    return Buffer.concat([protobufField(1, nanos / 1_000_000_000n), protobufField(2, nanos % 1_000_000_000n)])
  }
  const tag = (key: string, ...value: Buffer[]) => protobufField(8, Buffer.concat([protobufField(1, key), ...value]))
  const ratio = Buffer.alloc(9)
  ratio[0] = (6 << 3) | 1
  ratio.writeDoubleLE(0.25, 1)
  const textField = (key: string, text: string) => Buffer.concat([protobufField(1, key), protobufField(3, text)])
  const reference = (id: number, type: number) =>
    protobufField(
      4,
      Buffer.concat([protobufField(1, traceId), protobufField(2, Buffer.from([0, 0, 0, 0, 0, 0, 0, id])), protobufField(3, type)]),
    )
  const root = [
    protobufField(1, traceId),
    protobufField(2, Buffer.from('0000000000000001', 'hex')),
    protobufField(3, 'get /cart'),
    protobufField(5, 1),
    protobufField(6, time(0n)),
    protobufField(7, protobufField(2, 9_000_000)),
  ]
  const child = [
    protobufField(1, traceId),
    protobufField(2, Buffer.from('fffffffffffffffe', 'hex')),
    protobufField(3, 'charge'),
    reference(1, 0),
    reference(7, 1),
    protobufField(5, 1),
    protobufField(6, time(1_000n)),
    protobufField(7, protobufField(2, 5_000_000)),
    tag('span.kind', protobufField(3, 'client')),
    tag('error', protobufField(2, 1), protobufField(4, 1)),
    tag('otel.status_description', protobufField(3, 'refused')),
    tag('ratio', protobufField(2, 3), ratio),
    tag('tries', protobufField(2, 2), protobufField(5, 3)),
    tag('id', protobufField(2, 4), protobufField(7, Buffer.from([1, 2]))),
    tag('otel.scope.name', protobufField(3, 'pay-sdk')),
    protobufField(
      9,
      Buffer.concat([
        protobufField(1, time(2_000n)),
        protobufField(2, textField('event', 'retry')),
        protobufField(2, textField('why', 'slow')),
      ]),
    ),
  ]
  const process = Buffer.concat([protobufField(1, 'shop'), protobufField(2, textField('host.name', 'h1'))])
  const spans = [root, child].map((fields) => protobufField(1, Buffer.concat(fields)))
  return protobufField(1, Buffer.concat([...spans, protobufField(2, process)]))
}

const parse = (body: Uint8Array, contentType = THRIFT, query: Record<string, string> = {}) =>
  jaeger.parse({ path: '/api/traces', query, headers: {}, contentType, body })

function failureOf(body: Uint8Array, contentType = THRIFT, query: Record<string, string> = {}): Pick<Failure, 'status' | 'message'> {
  try {
    parse(body, contentType, query)
  } catch (thrown) {
    if (thrown instanceof Failure) return { status: thrown.status, message: thrown.message }
    throw thrown
  }
  throw new Error('read without a failure')
}

describe('over HTTP', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await openTestApp()
  })
  afterAll(() => app?.close())

  test('a trace in Thrift and in protobuf equals that of OpenTelemetry', async () => {
    const micros = BigInt(app.clock.nowMs() - 60_000) * 1_000n
    const shown = async (path: string, raw: Uint8Array | string, contentType: string) => {
      const org = await app.newOrganization()
      const reply = await org.ask('POST', path, { raw, headers: { 'content-type': contentType } })
      const { status, body } = await org.ask<Trace>('GET', `/traces/${TRACE}`)
      const spans = body.spans.map(({ log_id, sequence, ...span }) => span)
      return {
        posted: reply.status,
        status,
        trace: { spans, services: body.services, errors: body.errors, critical_path: body.critical_path },
      }
    }
    const { posted, ...wanted } = await shown('/v1/traces', JSON.stringify(otlpBatch(micros)), 'application/json')
    expect([posted, wanted.trace.spans.length]).toEqual([200, 2])
    const address = '/api/traces?format=jaeger.thrift'
    expect(await shown(address, thriftBatch(micros), THRIFT)).toEqual({ posted: 202, ...wanted })
    expect(await shown('/api/traces', protobufBatch(micros), 'application/x-protobuf')).toEqual({ posted: 202, ...wanted })
  })

  test('a repeated post is stored once, and the reply names spans without ids', async () => {
    const org = await app.newOrganization()
    const raw = thriftBatch(BigInt(app.clock.nowMs()) * 1_000n, [struct({ 5: binary('nameless') })])
    const post = () => org.ask<string>('POST', '/api/traces', { raw, headers: { 'content-type': THRIFT } })
    const [first, second] = [await post(), await post()]
    expect([first.status, first.body]).toEqual([202, '1 of 3 spans were rejected; span 2: the trace id must not be 0\n'])
    expect(second.status).toBe(202)
    const { body } = await org.ask<Trace>('GET', `/traces/${TRACE}`)
    expect([body.spans.length, body.duplicates]).toEqual([2, 0])
  })
})

describe('a body that is no batch is refused', () => {
  const whole = thriftBatch(1_714_521_600_000_000n)

  test('if it ends too early, with the byte', () => {
    for (let end = 1; end < whole.length; end += 1) {
      expect(failureOf(whole.subarray(0, end))).toEqual({
        status: 400,
        message: expect.stringMatching(/^not valid Thrift: .* at byte \d+$/),
      })
    }
    const protobuf = protobufBatch(1_714_521_600_000_000n)
    for (let end = 1; end < protobuf.length; end += 1) {
      const { status, message } = failureOf(protobuf.subarray(0, end), 'application/x-protobuf')
      expect([status, message]).toEqual([400, expect.stringMatching(/^not valid protobuf: .* at byte \d+$/)])
    }
  })

  test.each<[string, Buffer, string]>([
    ['bytes behind it', Buffer.concat([whole, Buffer.from([1])]), `there are bytes behind the batch at byte ${whole.length}`],
    ['an envelope of a call', Buffer.from([0x80, 1, 0, 1, 0]), 'there is no type 128 at byte 3'],
    ['a text of 2 GB', Buffer.from([12, 0, 1, 11, 0, 1, 0x7f, 0xff, 0xff, 0xff, 1]), 'it ends within a value at byte 10'],
    ['a negative length', Buffer.from([12, 0, 1, 11, 0, 1, 0xff, 0xff, 0xff, 0xff, 1]), 'a length is negative at byte 6'],
    [
      'a list of 2 billion spans',
      Buffer.from([15, 0, 2, 12, 0x7f, 0xff, 0xff, 0xff, 0]),
      'a list has more elements than bytes are left at byte 3',
    ],
    ['a list of texts for spans', Buffer.from([15, 0, 2, 11, 0, 0, 0, 1, 0, 0, 0, 0]), 'a list of structs has the type 11 at byte 3'],
    ['structs in structs', Buffer.alloc(3_000, Buffer.from([12, 0, 99])), 'values are nested more than 32 levels deep at byte 102'],
  ])('%s', (_, body, reason) => {
    expect(failureOf(body)).toEqual({ status: 400, message: `not valid Thrift: ${reason}` })
  })

  test('more spans or values than one post may have', () => {
    const count = (number: number) => [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255]
    const many = (number: number) => Buffer.from([15, 0, 2, 12, ...count(number)])
    expect(failureOf(Buffer.concat([many(200_001), Buffer.alloc(200_002)])).status).toBe(413)
    const fields = Buffer.alloc(5 * 1_100_000, Buffer.from([2, 0, 99, 1]).subarray(0, 4))
    expect(failureOf(Buffer.concat([many(1), fields])).status).toBe(413)
    expect(failureOf(Buffer.concat([Buffer.from([13, 0, 9, 2, 2, ...count(1_100_000)]), Buffer.alloc(2_200_001)])).status).toBe(413)
  })

  test('another type or format', () => {
    expect(failureOf(whole, 'application/vnd.apache.thrift.compact').status).toBe(415)
    expect(failureOf(whole, THRIFT, { format: 'zipkin.thrift' })).toEqual({ status: 400, message: 'format must be jaeger.thrift' })
  })

  test.each([
    ['Thrift', THRIFT, whole],
    ['protobuf', 'application/x-protobuf', protobufBatch(1_714_521_600_000_000n)],
  ] as const)('damaged bytes of %s are read or refused', (_, contentType, body) => {
    const isHandled = (bytes: Uint8Array) => {
      try {
        const { batches, rejected, total } = parse(bytes, contentType)
        return batches.reduce((sum, { events }) => sum + [...recordsOf(events)].length, rejected.length) === total
      } catch (thrown) {
        return thrown instanceof Failure && [400, 413].includes(thrown.status)
      }
    }
    const change = fc.tuple(fc.nat(body.length - 1), fc.nat(255))
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), (changes) => {
        const bytes = Buffer.from(body)
        for (const [at, byte] of changes) bytes[at] = byte
        return isHandled(bytes)
      }),
      { numRuns: 2_000 },
    )
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), isHandled), { numRuns: 1_000 })
  })
})
