import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../../kernel/errors.ts'
import { type IngestRequest, type ParsedBody, recordsOf as recordsOfEvents } from '../../batch.ts'
import { parsedLines, readCases, runCase } from '../cases.fixture.ts'
import { encodeProtobuf, varint } from './encode.fixture.ts'
import { RECORDS_MAX } from './export-request.ts'
import { VALUE_DEPTH_MAX, VALUES_MAX } from './message.ts'
import { otlp } from './otlp.ts'

const casesOf = (file: string) => readCases(readFileSync(new URL(`cases/${file}.txt`, import.meta.url), 'utf8'))

for (const file of ['logs', 'traces', 'odd-json', 'odd-protobuf']) {
  describe(`the cases of ${file}`, () => {
    test.each(casesOf(file))('$name', (one) => {
      expect(runCase(otlp, one)).toEqual(one.expected)
    })
  })
}

const bodyText = ({ body }: IngestRequest): string => Buffer.from(body).toString('utf8')
const protobufOf = (request: IngestRequest): Buffer =>
  encodeProtobuf(request.path.includes('traces') ? 'Traces' : 'Logs', JSON.parse(bodyText(request)))
const sameInBothFormats = [...casesOf('logs'), ...casesOf('traces')].filter(({ request }) =>
  /^\{"resource(Logs|Spans)"/.test(bodyText(request)),
)

describe('the same request in protobuf has the same result', () => {
  test.each(sameInBothFormats)('$name', ({ request, expected }) => {
    const inProtobuf = { ...request, body: protobufOf(request), contentType: 'application/x-protobuf' }
    expect(runCase(otlp, { method: 'POST', request: inProtobuf })).toEqual([
      ...expected.slice(0, -2),
      'answer 200 application/x-protobuf',
      'hex ',
    ])
  })
})

const parse = (body: Uint8Array, contentType: string, path = '/v1/logs'): ParsedBody =>
  otlp.parse({ path, query: {}, headers: {}, contentType, body })
const parseJson = (value: unknown): ParsedBody => parse(Buffer.from(JSON.stringify(value)), 'application/json')
const parseProtobuf = (value: unknown): ParsedBody => parse(encodeProtobuf('Logs', value), 'application/x-protobuf')
const bothParsers = [
  ['JSON', parseJson],
  ['protobuf', parseProtobuf],
] as const

const withRecords = (...logRecords: readonly unknown[]) => ({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })

function failureOf(read: () => unknown): Failure {
  try {
    read()
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown
    throw thrown
  }
  throw new Error('read without a failure')
}

describe('a body that is chopped at any byte', () => {
  const whole = casesOf('logs')[0]
  const json = whole?.request.body ?? new Uint8Array()
  const protobuf = encodeProtobuf('Logs', JSON.parse(Buffer.from(json).toString('utf8')))

  test('is refused as JSON', () => {
    for (let length = 1; length < json.length; length += 1) {
      expect(failureOf(() => parse(json.subarray(0, length), 'application/json')).status).toBe(400)
    }
  })

  test('is refused as protobuf, since its outermost field is longer than what is left', () => {
    for (let length = 1; length < protobuf.length; length += 1) {
      expect(failureOf(() => parse(protobuf.subarray(0, length), 'application/x-protobuf')).status).toBe(400)
    }
  })

  test('and whose lengths are made to agree loses at most the record', () => {
    const record = { body: { stringValue: 'x' }, attributes: [{ key: 'k', value: { kvlistValue: { values: [{ key: 'a', value: {} }] } } }] }
    const bytes = encodeProtobuf('LogRecord', record)
    for (let length = 0; length <= bytes.length; length += 1) {
      const field = (number: number, inner: Uint8Array) => Buffer.concat([Uint8Array.of((number << 3) | 2, inner.length), inner])
      const scope = Buffer.concat([
        field(2, bytes.subarray(0, length)),
        field(2, encodeProtobuf('LogRecord', { body: { stringValue: 'kept' } })),
      ])
      const parsed = parse(field(1, field(2, scope)), 'application/x-protobuf')
      expect(parsed.total).toBe(2)
      expect(parsedLines(parsed)).toContain('event {"raw":"kept"}')
    }
  })
})

describe('whatever the bytes, only a Failure is thrown', () => {
  const isHandled = (body: Uint8Array, contentType: string, path: string) => {
    try {
      const parsed = parse(body, contentType, path)
      const events = parsed.batches.reduce((sum, { events: arrivals }) => sum + [...recordsOfEvents(arrivals)].length, 0)
      return events + parsed.rejected.length === parsed.total
    } catch (thrown) {
      return thrown instanceof Failure && [400, 413].includes(thrown.status)
    }
  }
  const paths = fc.constantFrom('/v1/logs', '/v1/traces')
  const types = fc.constantFrom('application/json', 'application/x-protobuf')
  const seeds = [...casesOf('logs'), ...casesOf('odd-json'), ...casesOf('odd-protobuf'), ...casesOf('traces')].map(({ request }) => request)

  test('bytes at random', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), types, paths, isHandled), { numRuns: 2_000 })
  })

  test('requests with some bytes changed', () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 })
    const asProtobuf = sameInBothFormats.map(({ request }) => ({
      ...request,
      body: protobufOf(request),
      contentType: 'application/x-protobuf',
    }))
    const bodies = [...seeds, ...asProtobuf].filter(({ body, contentType }) => body.length > 0 && contentType !== 'text/plain')
    const damaged = fc.tuple(fc.constantFrom(...bodies), changes).map(([one, places]) => {
      const body = Buffer.from(one.body)
      for (const [at, byte] of places) body[at % body.length] = byte
      return { ...one, body }
    })
    fc.assert(
      fc.property(damaged, ({ body, contentType, path }) => isHandled(body, contentType, path)),
      { numRuns: 3_000 },
    )
  })
})

describe('values arrive as they were sent', () => {
  const leaf = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => ({ value: { stringValue: text }, plain: JSON.stringify(text) })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((int) => ({ value: { intValue: String(int) }, plain: String(int) })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((double) => ({
      value: { doubleValue: Object.is(double, -0) ? '-0' : String(double) },
      plain: Object.is(double, -0) ? '-0' : String(double),
    })),
    fc.boolean().map((bool) => ({ value: { boolValue: bool }, plain: String(bool) })),
    fc.uint8Array({ maxLength: 8 }).map((bytes) => {
      const base64 = Buffer.from(bytes).toString('base64')
      return { value: { bytesValue: base64 }, plain: JSON.stringify(base64) }
    }),
    fc.constant({ value: {}, plain: 'null' }),
  )
  type JsonSample = { value: unknown; plain: string }
  const { any } = fc.letrec<{ any: JsonSample }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      leaf,
      fc.array(tie('any'), { maxLength: 4 }).map((items) => ({
        value: { arrayValue: { values: items.map(({ value }) => value) } },
        plain: `[${items.map(({ plain }) => plain).join(',')}]`,
      })),
      fc.array(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 5 }), tie('any')), { maxLength: 4 }).map((pairs) => ({
        value: { kvlistValue: { values: pairs.map(([key, { value }]) => ({ key, value })) } },
        plain: `{${pairs.map(([key, { plain }]) => `${JSON.stringify(key)}:${plain}`).join(',')}}`,
      })),
    ),
  }))

  test.each(bothParsers)('in %s: a body within a list is written as JSON with each number in its own spelling', (_, read) => {
    fc.assert(
      fc.property(any, ({ value, plain }) => {
        const parsed = read(withRecords({ body: { arrayValue: { values: [value] } } }))
        const [record] = recordsOf(parsed)
        expect(Buffer.from(record?.raw ?? []).toString('utf8')).toBe(`[${plain}]`)
      }),
      { numRuns: 500 },
    )
  })

  test.each(bothParsers)('in %s: a text is its bytes', (_, read) => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const [record] = recordsOf(read(withRecords({ body: { stringValue: text } })))
        expect(Buffer.from(record?.raw ?? []).equals(Buffer.from(text))).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  test.each(bothParsers)('in %s: a time keeps its nanoseconds', (_, read) => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }), (nanos) => {
        const [record] = recordsOf(read(withRecords({ timeUnixNano: String(nanos), observedTimeUnixNano: String(nanos) })))
        expect(BigInt(record?.time?.ms ?? 0) * 1_000_000n + BigInt(record?.time?.ns ?? 0)).toBe(nanos)
        expect(record?.attributes).toEqual([['$otel.observed_time', String(nanos)]])
      }),
      { numRuns: 500 },
    )
  })
})

const recordsOf = ({ batches: deliveries }: ParsedBody) => deliveries.flatMap(({ events: arrivals }) => [...recordsOfEvents(arrivals)])

describe('the limits of a request', () => {
  const nested = (depth: number): unknown => {
    let value: unknown = { stringValue: 'deep' }
    for (let level = 0; level < depth; level += 1)
      value = level % 2 ? { kvlistValue: { values: [{ key: 'k', value }] } } : { arrayValue: { values: [value] } }
    return value
  }

  test.each(bothParsers)('in %s: values are read to their depth, and a record with deeper ones is rejected alone', (_, read) => {
    const parsed = read(
      withRecords({ body: nested(VALUE_DEPTH_MAX) }, { body: nested(VALUE_DEPTH_MAX + 1) }, { body: { stringValue: 'kept' } }),
    )
    expect(parsed.rejected).toEqual([{ index: 1, reason: 'values are nested more than 100 levels deep' }])
    expect(recordsOf(parsed)).toHaveLength(2)
  })

  test('a million levels of anything are read without a stack', () => {
    const levels = 1_000_000
    const value = `${'{"arrayValue":{"values":['.repeat(levels)}${']}}'.repeat(levels)}`
    const json = `{"resourceLogs":[{"x":${'['.repeat(levels)}${']'.repeat(levels)},"scopeLogs":[{"logRecords":[{"body":${value}},{"body":{"stringValue":"kept"}}]}]}]}`
    const parsed = parse(Buffer.from(json), 'application/json')
    expect(parsed.rejected).toHaveLength(1)
    expect(recordsOf(parsed)).toHaveLength(1)
    expect(failureOf(() => parse(new Uint8Array(levels).fill(0x0b), 'application/x-protobuf')).status).toBe(400)
  })

  test.each(bothParsers)('in %s: attributes beyond a thousand are counted as dropped', (_, read) => {
    const attributes = Array.from({ length: 1_003 }, (_unused, n) => ({ key: `k${n}`, value: { intValue: String(n) } }))
    const long = { key: 'k'.repeat(2_000), value: { stringValue: 'too long a name' } }
    const [record] = recordsOf(
      read(withRecords({ body: { stringValue: 'x' }, attributes: [long, ...attributes], droppedAttributesCount: 5 })),
    )
    expect(record?.keys).toHaveLength(1_000)
    expect(record?.attributes).toEqual([['$otel.dropped_attributes', '9']])
  })

  test('more records than a worker can hold are too large', () => {
    const records = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${'{},'.repeat(RECORDS_MAX)}{}]}]}]}`
    expect(failureOf(() => parse(Buffer.from(records), 'application/json')).status).toBe(413)
    const field = (bytes: Buffer) => Buffer.concat([Buffer.of(0x12), varint(bytes.length), bytes])
    const protobuf = field(field(Buffer.from('1200'.repeat(RECORDS_MAX + 1), 'hex')))
    protobuf[0] = 0x0a
    expect(failureOf(() => parse(protobuf, 'application/x-protobuf')).status).toBe(413)
  })

  const small = {
    attributes: ['{"attributes":[', '{"key":"k"}', ']}', '3200'],
    'values of a list': ['{"body":{"arrayValue":{"values":[', '{}', ']}}}', '0a00'],
    'pairs of a map': ['{"body":{"kvlistValue":{"values":[', '{}', ']}}}', '0a00'],
    'events of a span': ['{"events":[', '{}', ']}', '5a00'],
  } as const
  test.each(Object.entries(small))('more %s than a worker can hold are too large', (name, [before, one, after, hex]) => {
    const isSpan = name.endsWith('span')
    const [path, resources, scopes, records] = isSpan
      ? ['/v1/traces', 'resourceSpans', 'scopeSpans', 'spans']
      : ['/v1/logs', 'resourceLogs', 'scopeLogs', 'logRecords']
    const record = `${before}${`${one},`.repeat(VALUES_MAX)}${one}${after}`
    const json = `{"${resources}":[{"${scopes}":[{"${records}":[${record}]}]}]}`
    expect(failureOf(() => parse(Buffer.from(json), 'application/json', path)).status).toBe(413)
    const field = (tag: number, bytes: Buffer) => Buffer.concat([Buffer.of(tag), varint(bytes.length), bytes])
    const items = Buffer.from(hex.repeat(VALUES_MAX + 1), 'hex')
    const body = name.includes(' of a ') && !isSpan ? field(0x2a, field(name.includes('list') ? 0x2a : 0x32, items)) : items
    expect(failureOf(() => parse(field(0x0a, field(0x12, field(0x12, body))), 'application/x-protobuf', path)).status).toBe(413)
  })

  test('a resource that would be copied too often is too large', () => {
    const attributes = Array.from({ length: 1_000 }, (_, n) => ({ key: `k${n}`, value: { stringValue: 'v' } }))
    const logRecords = Array.from({ length: 9_000 }, () => ({ flags: 1 }))
    expect(failureOf(() => parseProtobuf({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] })).status).toBe(413)
  })
})

describe('failures in the format of the protocol', () => {
  const request = { path: '/v1/logs', query: {}, headers: {}, contentType: 'application/json' }
  const answered = (status: number, contentType = request.contentType) =>
    otlp.reply(
      { ...request, contentType },
      { kind: 'refused', failure: new Failure(status, 'why', { headers: { 'retry-after': '2' } }) },
      undefined,
    )

  test.each([
    [400, 3, 400],
    [401, 16, 401],
    [403, 7, 403],
    [413, 8, 413],
    [415, 3, 415],
    [429, 8, 429],
    [503, 14, 503],
    [409, 14, 503],
  ])('%i has the code %i and is answered %i', (status, code, answeredStatus) => {
    expect(answered(status)).toEqual({
      status: answeredStatus,
      headers: { 'content-type': 'application/json', 'retry-after': '2' },
      body: JSON.stringify({ code, message: 'why' }),
    })
    const bytes = answered(status, 'application/x-protobuf').body
    expect(bytes).toEqual(Buffer.from([0x08, code, 0x12, 3, ...Buffer.from('why')]))
  })

  test('records that the store rejects are reported with those that the parser rejected', () => {
    const parsed = { rejected: [{ index: 0, reason: 'a' }], total: 3, notes: undefined }
    const outcome = {
      kind: 'stored',
      accepted: 1,
      rejected: [
        { index: 0, reason: 'a' },
        { index: 2, reason: 'b' },
      ],
      total: 3,
      duplicates: [],
    } as const
    expect(otlp.reply(request, outcome, parsed).body).toBe(
      '{"partialSuccess":{"rejectedLogRecords":"2","errorMessage":"2 of 3 records were rejected; record 0: a; record 2: b"}}',
    )
  })
})
