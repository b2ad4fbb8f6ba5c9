import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Failure } from '../../../kernel/errors.ts'
import { type IngestRequestHead, type ParsedBody, type ReceivedRecord, recordsOf as recordsIn } from '../../batch.ts'
import { readCases, runCase } from '../cases.fixture.ts'
import { ACTIONS_MAX } from './bulk.ts'
import { VALUES_MAX } from './document.ts'
import { elasticsearch } from './elasticsearch.ts'
import { routeOfIndex } from './index-name.ts'

const casesOf = (file: string) => readCases(readFileSync(new URL(`cases/${file}.txt`, import.meta.url), 'utf8'))

for (const file of ['bulk', 'single', 'probes']) {
  describe(`the cases of ${file}`, () => {
    test.each(casesOf(file))('$name', (one) => {
      expect(runCase(elasticsearch, one)).toEqual(one.expected)
    })
  })
}

const head: IngestRequestHead = { path: '/_bulk', query: {}, headers: {}, contentType: 'application/x-ndjson' }
const parse = (body: Uint8Array | string): ParsedBody =>
  elasticsearch.parse({ ...head, body: typeof body === 'string' ? Buffer.from(body) : body })
const recordsOf = ({ batches }: ParsedBody): ReceivedRecord[] => batches.flatMap(({ events }) => [...recordsIn(events)])
const rawText = (record: ReceivedRecord | undefined): string => Buffer.from(record?.raw ?? []).toString('utf8')

describe('names of indexes', () => {
  test.each([
    ['web', undefined, 'web'],
    ['web-2024.05.01', undefined, 'web'],
    ['web-2024-05-01', undefined, 'web'],
    ['web-2024.05', undefined, 'web'],
    ['web-2024.05.01.13', undefined, 'web'],
    ['web-000001', undefined, 'web'],
    ['web-2024.05.01-000001', undefined, 'web'],
    ['.ds-logs-nginx.access-prod-2024.05.01-000002', 'prod', 'nginx.access'],
    ['logs-nginx-prod-eu', 'prod-eu', 'nginx'],
    ['metrics-system.cpu-default', 'default', 'system.cpu'],
    ['my-web-app', undefined, 'my-web-app'],
    ['filebeat-8.12.0-2024.05.01', undefined, 'filebeat-8.12.0'],
    ['<logstash-{now/d}>', undefined, 'logstash'],
    ['<web-{now/d{yyyy.MM.dd|+12:00}}>', undefined, 'web'],
    ['2024.05.01', undefined, '2024.05.01'],
    ['-2024.05.01', undefined, '-2024.05.01'],
    ['app-v2024', undefined, 'app-v2024'],
    ['', undefined, undefined],
  ])('%s', (index, collection, dataset) => {
    expect(routeOfIndex(index)).toEqual({ collection, dataset })
  })
})

describe('a body that is chopped at any byte', () => {
  const whole = casesOf('bulk').find(({ name }) => name.startsWith('escapes'))?.request.body ?? new Uint8Array()

  test('loses the last document or is refused, and never anything before it', () => {
    const all = recordsOf(parse(whole)).map(rawText)
    for (let length = 0; length < whole.length; length += 1) {
      const read = parseOrRefuse(whole.subarray(0, length))
      if (read === undefined) continue
      expect(recordsOf(read).map(rawText)).toEqual(all.slice(0, recordsOf(read).length))
      expect(recordsOf(read).length + read.rejected.length).toBe(read.total)
    }
  })
})

function parseOrRefuse(body: Uint8Array): ParsedBody | undefined {
  try {
    return parse(body)
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.status === 400) return undefined
    throw thrown
  }
}

describe('whatever the bytes', () => {
  test('nothing but a Failure is thrown, and each action has an item', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '{"index":{}}',
        '{"create":{"_id":"1"}}',
        '{"delete":{}}',
        '{"update":{"_index":"u"}}',
        '{"doc":{"a":1}}',
        '{}',
        '{"message":"m"}',
        '',
      ),
      fc.json(),
      fc.string(),
    )
    const body = fc.oneof(
      fc.array(line).map((lines) => Buffer.from(lines.join('\n'))),
      fc.uint8Array(),
    )
    fc.assert(
      fc.property(body, (bytes) => {
        const parsed = parseOrRefuse(bytes)
        if (parsed === undefined) return
        const outcome = { kind: 'stored', accepted: 0, rejected: parsed.rejected, total: parsed.total, duplicates: [] } as const
        const answer = JSON.parse(String(elasticsearch.reply(head, outcome, parsed).body))
        expect(answer.items).toHaveLength(parsed.total)
        expect(answer.errors).toBe(parsed.rejected.length > 0)
      }),
      { numRuns: 3_000 },
    )
  })

  test('a document without a message comes out byte for byte', () => {
    const documents = fc.array(
      fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify({ ...value, message: 0, log: null })),
    )
    fc.assert(
      fc.property(documents, (lines) => {
        expect(recordsOf(parse(lines.map((line) => `{"index":{}}\n${line}\n`).join(''))).map(rawText)).toEqual(lines)
      }),
    )
  })

  test('a message comes out as it was written', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', minLength: 1 })), (messages) => {
        const body = messages.map((message) => `{"index":{}}\n${JSON.stringify({ n: 1, message })}\n`).join('')
        expect(recordsOf(parse(body)).map(rawText)).toEqual(messages)
      }),
    )
  })
})

describe('the limits of a post', () => {
  const bulk = (document: string): ParsedBody => parse(`{"index":{}}\n${document}\n`)

  test('a million levels in a document are one value, and it is its own line', () => {
    const levels = 1_000_000
    const document = `{"a":${'['.repeat(levels)}${']'.repeat(levels)},"b":${'{"c":'.repeat(levels)}1${'}'.repeat(levels)}}`
    expect(rawText(recordsOf(bulk(document))[0])).toBe(document)
  })

  test('a document with more keys than an event can have beside its line is its own line', () => {
    const keys = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":${n}`).join(',')
    const [few] = recordsOf(bulk(`{"message":"m",${keys(1_000)},"@timestamp":1735689600}`))
    expect([rawText(few), few?.keys.length, few?.time?.ms]).toEqual(['m', 1_000, 1_735_689_600_000])
    const many = `{"message":"m",${keys(1_001)},"@timestamp":1735689600,"level":"warn"}`
    const [record] = recordsOf(bulk(many))
    expect([rawText(record), record?.keys.length, record?.time?.ms, record?.level]).toEqual([many, 0, 1_735_689_600_000, 'warn'])
    const long = `{"message":"m","${'k'.repeat(2_000)}":1}`
    expect(rawText(recordsOf(bulk(long))[0])).toBe(long)
  })

  test('more values or actions than a worker can hold are too large', () => {
    const document = `{"message":"m",${Array.from({ length: 1_000 }, (_, n) => `"k${n}":${n}`).join(',')}}`
    const values = `{"index":{}}\n${document}\n`.repeat(VALUES_MAX / 1_000 + 1)
    expect(() => parse(values)).toThrow(expect.objectContaining({ status: 413 }))
    expect(() => parse('{"delete":{}}\n'.repeat(ACTIONS_MAX + 1))).toThrow(expect.objectContaining({ status: 413 }))
  })
})

describe('failures in the format of the protocol', () => {
  test.each([
    [400, 'illegal_argument_exception'],
    [401, 'security_exception'],
    [403, 'security_exception'],
    [413, 'content_too_long_exception'],
    [429, 'too_many_requests_exception'],
    [503, 'service_unavailable_exception'],
  ])('%i is a %s', (status, type) => {
    const failure = new Failure(status, 'why', { headers: { 'retry-after': '2' } })
    expect(elasticsearch.reply(head, { kind: 'refused', failure }, undefined)).toEqual({
      status,
      headers: {
        'retry-after': '2',
        ...(status === 401 && { 'www-authenticate': 'Basic realm="dendro"' }),
        'content-type': 'application/json',
        'x-elastic-product': 'Elasticsearch',
      },
      body: Buffer.from(JSON.stringify({ error: { type, reason: 'why' }, status })),
    })
  })

  test('rejections of the store and of the parser are reported together', () => {
    const parsed = parse('{"index":{"_id":"a"}}\n{"a":1}\n{"create":{"_id":"b"}}\n{"a":1}\n{"index":{}}\nx\n')
    const outcome = { kind: 'stored', accepted: 1, rejected: [{ index: 1, reason: 'no' }], total: 3, duplicates: [0] } as const
    const answer = elasticsearch.reply(
      { ...head, query: { filter_path: 'errors,items.*.status,items.*._id' } },
      outcome,
      structuredClone(parsed),
    )
    expect(String(answer.body)).toBe(
      '{"errors":true,"items":[{"index":{"_id":"a","status":201}},{"create":{"_id":"b","status":400}},{"index":{"status":400}}]}',
    )
  })
})

test('filter paths and paths of any length are matched in bounded time', () => {
  const outcome = { kind: 'stored', accepted: 0, rejected: [], total: 1, duplicates: [] } as const
  const { notes, rejected, total } = parse('{"index":{}}\n{"a":1}\n')
  for (const filter_path of ['**.'.repeat(5_000), '*'.repeat(20_000), `${'*a'.repeat(900)},`.repeat(10), ',,-,.,-*']) {
    expect(() =>
      JSON.parse(String(elasticsearch.reply({ ...head, query: { filter_path } }, outcome, { notes, rejected, total }).body)),
    ).not.toThrow()
  }
  for (const path of ['/'.repeat(16_000), '/elastic'.repeat(2_000), '/_bulk'.repeat(2_500), '/_doc/'.repeat(2_500)]) {
    for (const { tail } of elasticsearch.routes) tail.test(`${path}x/`)
  }
})
