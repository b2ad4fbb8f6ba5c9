import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../test/support/senders.ts'
import type { Reply } from '../../../test/support/world.ts'
import { encodeProtobuf } from './receivers/otlp/encode.fixture.ts'

let senders: Senders
beforeAll(async () => {
  senders = await openSenders()
})
afterAll(() => senders?.close())

type Body = Record<string, unknown>
const send = (path: string, raw: string | Uint8Array, headers: Record<string, string> = {}): Promise<Reply<Body>> =>
  senders.app.ask('POST', path, { key: senders.org.key, raw, headers })

const JSON_TYPE = { 'content-type': 'application/json' }
const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } })
const logs = (service: string, text: string, namespace = 'shop') => ({
  resourceLogs: [
    {
      resource: { attributes: [attribute('service.name', service), attribute('service.namespace', namespace)] },
      scopeLogs: [
        {
          logRecords: [
            {
              timeUnixNano: '1795000000123456789',
              severityNumber: 17,
              severityText: 'Boom',
              body: { stringValue: text },
              attributes: [attribute('user', '7')],
            },
          ],
        },
      ],
    },
  ],
})

describe('OpenTelemetry', () => {
  test('a record in JSON and one in protobuf are stored alike, under any prefix', async () => {
    const packed = gzipSync(encodeProtobuf('Logs', logs('checkout', 'two')))
    const replies = [
      await send('/v1/logs', JSON.stringify(logs('checkout', 'one')), JSON_TYPE),
      await send('/some/prefix/v1/logs/', packed, { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' }),
    ]
    expect(replies.map(({ status, headers }) => [status, headers.get('content-type')?.split(';')[0]])).toEqual([
      [200, 'application/json'],
      [200, 'application/x-protobuf'],
    ])
    expect(replies[0]?.body).toEqual({})
    const events = await senders.eventsIn('checkout', 'shop')
    expect(events.map(({ line }) => line)).toEqual(['one', 'two'])
    for (const event of events) {
      expect(event).toMatchObject({ timeNs: 1_795_000_000_123_456_789n, severity: 'error' })
      expect(event.keys).toMatchObject({ level: 'Boom', user: '7', '$service.name': 'checkout' })
    }
  })

  test('the same body again is stored once', async () => {
    const body = JSON.stringify(logs('repeated', 'once'))
    for (let n = 0; n < 2; n += 1) expect((await send('/v1/logs', body, JSON_TYPE)).status).toBe(200)
    expect(await senders.eventsIn('repeated', 'shop')).toHaveLength(1)
  })

  test('headers override the resource, and several services in one post go to several datasets', async () => {
    await send('/v1/logs', JSON.stringify(logs('ignored', 'to the header')), {
      ...JSON_TYPE,
      'x-service-collection': 'h',
      'x-service-dataset': 'header',
    })
    expect(await senders.eventsIn('header', 'h')).toHaveLength(1)
    const both = { resourceLogs: [...logs('a', '1').resourceLogs, ...logs('b', '2').resourceLogs] }
    await send('/v1/logs', JSON.stringify(both), JSON_TYPE)
    for (const dataset of ['a', 'b']) expect(await senders.eventsIn(dataset, 'shop')).toHaveLength(1)
    await send('/v1/logs', JSON.stringify(both), { ...JSON_TYPE, 'x-service-dataset': 'both' })
    expect((await senders.eventsIn('both', 'shop')).map(({ line }) => line)).toEqual(['1', '2'])
  })

  test('a namespace that begins with a dot does not reach the collections of the system', async () => {
    await send('/v1/logs', JSON.stringify(logs('x', 'sneaky', '.usage')), JSON_TYPE)
    expect(await senders.eventsIn('x', 'usage')).toHaveLength(1)
    expect(await senders.found('.usage', 'x')).toBeUndefined()
  })

  test('spans go to the collection of the system, whatever the headers say', async () => {
    const span = {
      traceId: '5b8efff798038103d269b633813fc60c',
      spanId: 'eee19b7ec3c1b174',
      name: 'pay',
      startTimeUnixNano: '1795000000000000000',
      endTimeUnixNano: '1795000000000000500',
    }
    const body = { resourceSpans: [{ resource: { attributes: [attribute('service.name', 'tills')] }, scopeSpans: [{ spans: [span] }] }] }
    expect((await send('/v1/traces', JSON.stringify(body), { ...JSON_TYPE, 'x-service-collection': 'elsewhere' })).status).toBe(200)
    expect(await senders.found('.traces', 'tills')).toMatchObject({ is_system_generated: true })
    expect((await senders.eventsIn('tills', '.traces'))[0]?.keys).toMatchObject({ '$span.name': 'pay', '$span.duration_nano': '500' })
  })

  test('refusals are in its format and encoding', async () => {
    const refused = await senders.app.ask<Body>('POST', '/v1/logs', { key: 'dk_wrong', raw: '{}', headers: JSON_TYPE })
    expect([refused.status, refused.body.code]).toEqual([401, 16])
    const searcher = await senders.org.newKey(['SearchApi'])
    const forbidden = await senders.app.ask<Body>('POST', '/v1/logs', { key: searcher, raw: '{}', headers: JSON_TYPE })
    expect([forbidden.status, forbidden.body.code]).toEqual([403, 7])
    expect((await send('/v1/logs', '{"resourceLogs":', JSON_TYPE)).status).toBe(400)
    expect((await send('/v1/logs', 'x', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await send('/v1/logs', Buffer.alloc(20 * 2 ** 20 + 1), JSON_TYPE)).status).toBe(413)
  })

  test('a trace is found in its logs and its spans by one condition', async () => {
    const [traceId, spanId] = ['5b8efff798038103d269b633813fc60c', 'eee19b7ec3c1b174']
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'traced' } }] }
    const timeUnixNano = `${senders.app.clock.nowMs()}000000`
    const logRecords = [{ timeUnixNano, body: { stringValue: 'paid' }, traceId, spanId }]
    const spans = [{ traceId, spanId, name: 'pay', kind: 2, startTimeUnixNano: timeUnixNano, endTimeUnixNano: timeUnixNano }]
    await send('/v1/logs', JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] }), JSON_TYPE)
    await send('/v1/traces', JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] }), JSON_TYPE)
    const found = async (where: string) => {
      const body = {
        from_expr: "dataset = 'traced' OR (collection = '.traces' AND dataset = 'traced')",
        where,
        time_range: 'Last 1 hour',
        select: ['trace_id', 'span_id'],
      }
      const reply = await senders.org.ask<{ result: Record<string, string>[] }>('POST', '/search', { body })
      return reply.body.result.map((row) => [row.trace_id, row.span_id])
    }
    for (const where of [`trace_id = '${traceId}'`, `span_id = '${spanId}' AND trace_id IS NOT NULL`, `trace_id LIKE '5b8e%'`])
      expect(await found(where), where).toEqual([
        [traceId, spanId],
        [traceId, spanId],
      ])
    expect(await found(`trace_id != '${traceId}'`)).toEqual([])
  })

  test('metrics are not stored: their data points are counted in the reply and in the ledger', async () => {
    expect((await send('/v1/metrics', '{"resourceMetrics":[]}', JSON_TYPE)).body).toEqual({})
    const points = { dataPoints: [{ asInt: '1' }, { asInt: '2' }] }
    const metrics = [
      { name: 'a', gauge: points },
      { name: 'b', sum: points },
      { name: 'c', histogram: { dataPoints: [{ count: '1' }] } },
    ]
    const sent = await send('/v1/metrics', JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }), JSON_TYPE)
    const errorMessage = expect.stringContaining('metrics are not stored')
    expect([sent.status, sent.body]).toEqual([200, { partialSuccess: { rejectedDataPoints: '5', errorMessage } }])
    // A metric with a name and a gauge of two data points, each inside its resource and its scope.
    const gauge = [0x2a, 0x04, 0x0a, 0x00, 0x0a, 0x00]
    const wrap = (field: number, bytes: readonly number[]) => [field, bytes.length, ...bytes]
    const request = wrap(0x0a, wrap(0x12, wrap(0x12, [...gauge, 0x0a, 0x01, 0x61])))
    const binary = await send('/v1/metrics', Buffer.from(request), { 'content-type': 'application/x-protobuf' })
    expect([binary.status, JSON.stringify(binary.body)]).toEqual([200, expect.stringContaining('2 data points were rejected')])
    expect((await send('/v1/metrics', '{"resourceMetrics":', JSON_TYPE)).status).toBe(400)
    await expect
      .poll(async () => JSON.stringify((await senders.org.ask('GET', '/ledger?time_range=Last%201%20hour')).body))
      .toContain('"unsupported":7')
  })
})

describe('bulk posts', () => {
  const NDJSON = { 'content-type': 'application/x-ndjson' }
  const bulk = (...pairs: [object, string][]) => pairs.map(([action, document]) => `${JSON.stringify(action)}\n${document}\n`).join('')

  test('documents are stored under the name of their index, with their message as the line, and each gets its item', async () => {
    const documents = ['{"message":"a", "n":1.50}', '{"message":"b"}']
    const reply = await send(
      '/_bulk',
      bulk([{ create: { _index: 'web-2026.11.20' } }, documents[0] ?? ''], [{ index: { _index: 'web-2026.11.21' } }, documents[1] ?? '']),
      NDJSON,
    )
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-elastic-product')).toBe('Elasticsearch')
    expect(reply.body).toMatchObject({ errors: false, items: [{ create: { status: 201 } }, { index: { status: 201 } }] })
    expect((await senders.eventsIn('web')).map(({ line, keys }) => [line, keys.n])).toEqual([
      ['a', '1.50'],
      ['b', undefined],
    ])
  })

  test('repeated documents with ids are stored once', async () => {
    const body = bulk([{ create: { _id: '1' } }, '{"message":"one"}'], [{ create: { _id: '2' } }, '{"message":"two"}'])
    const replies = [await send('/repeated/_bulk', body, NDJSON), await send('/repeated/_bulk', body, NDJSON)]
    for (const { status, body: answer } of replies) {
      expect([status, answer]).toMatchObject([200, { errors: false, items: [{ create: { status: 201 } }, { create: { status: 201 } }] }])
    }
    expect((await senders.eventsIn('repeated')).map(({ line }) => line)).toEqual(['one', 'two'])
  })

  test('a single document is accepted; created under an id it is stored once', async () => {
    const single = await send('/single/_doc', '{"message":"alone"}', JSON_TYPE)
    expect([single.status, single.body]).toMatchObject([201, { _index: 'single', result: 'created' }])
    for (let time = 0; time < 2; time += 1) {
      const created = await senders.app.ask('PUT', '/single/_create/7', {
        key: senders.org.key,
        raw: '{"message":"once"}',
        headers: JSON_TYPE,
      })
      expect(created.status).toBe(201)
    }
    expect((await senders.eventsIn('single')).map(({ line }) => line)).toEqual(['alone', 'once'])
    expect((await send('/single/_doc', '{"broken', JSON_TYPE)).status).toBe(400)
  })

  test('a bad document is reported alone', async () => {
    const reply = await send(
      '/partly/_bulk',
      bulk([{ index: {} }, '{"ok":1}'], [{ index: {} }, '{"broken'], [{ index: {} }, '{"ok":2}']),
      NDJSON,
    )
    expect(reply.body).toMatchObject({
      errors: true,
      items: [{ index: { status: 201 } }, { index: { status: 400 } }, { index: { status: 201 } }],
    })
    expect(await senders.eventsIn('partly')).toHaveLength(2)
  })

  test('an index may have the name of an API path', async () => {
    expect((await send('/logs/_bulk', bulk([{ index: {} }, '{"n":1}']), NDJSON)).status).toBe(200)
    expect(await senders.eventsIn('logs')).toHaveLength(1)
    expect((await senders.org.ask('PUT', '/logs')).status).toBe(405)
  })

  test('its clients find their server at the root, browsers get the start page', async () => {
    const basic = { authorization: `Basic ${Buffer.from(`x:${senders.org.key}`).toString('base64')}` }
    const shipper = await senders.app.ask<Body>('GET', '/', { headers: { ...basic, 'user-agent': 'Elastic-filebeat/8.15.2' } })
    expect(shipper.body).toMatchObject({ version: { number: '8.15.2' }, tagline: 'You Know, for Search' })
    const person = await senders.app.ask('GET', '/', { headers: { accept: 'text/html,*/*' } })
    expect(person.headers.get('content-type')).toContain('text/html')
    const wrong = await senders.app.ask<Body>('GET', '/', { headers: { authorization: `Basic ${Buffer.from('x:y').toString('base64')}` } })
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([401, 'Basic realm="dendro"'])
    expect((await senders.app.ask<Body>('GET', '/_license', { headers: basic })).body).toMatchObject({ license: { status: 'active' } })
  })
})
