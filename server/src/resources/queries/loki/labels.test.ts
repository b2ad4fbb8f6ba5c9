import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openSenders, type Senders } from '../../../../../test/support/senders.ts'
import type { Reply } from '../../../../../test/support/world.ts'

/** Which parts of an event are labels: few, and each with one meaning. */
let senders: Senders
let baseMs: number

type Labels = Record<string, string>
type Result = { stream: Labels; metric: Labels; values: [string | number, string, { structuredMetadata?: Labels }?][] }
type Answer = { data: { result: Result[] } }

const nsText = (ms: number): string => `${ms}000000`
const hex = (digits: number, index: number): string => (index + 1).toString(16).padStart(digits, '0')

/** More records than an answer may have series. */
const RECORDS = 1_200
const ERRORS = 300

beforeAll(async () => {
  senders = await openSenders()
  baseMs = Math.floor(senders.app.clock.nowMs() / 60_000) * 60_000 - 600_000
})
afterAll(() => senders?.close())

const json = { 'content-type': 'application/json' }
async function post(path: string, body: unknown, headers: Record<string, string> = json): Promise<void> {
  const raw = typeof body === 'string' ? body : JSON.stringify(body)
  const { status } = await senders.post(raw, { path, headers })
  expect(status).toBeLessThan(300)
}

async function ask<T = Answer>(path: string, parameters: Labels = {}): Promise<T> {
  const times = { start: nsText(baseMs), end: nsText(baseMs + 60_000), time: nsText(baseMs + 60_000) }
  const reply: Reply<T> = await senders.app.ask<T>('GET', `/loki/api/v1/${path}?${new URLSearchParams({ ...times, ...parameters })}`, {
    headers: { authorization: `Bearer ${senders.org.key}`, 'x-loki-response-encoding-flags': 'categorize-labels' },
  })
  expect([parameters, reply.status, reply.status === 200 ? '' : reply.body]).toEqual([parameters, 200, ''])
  return reply.body
}

const linesOf = async (query: string): Promise<Result[]> => (await ask('query_range', { query, limit: '5000' })).data.result
const countOf = async (query: string): Promise<number> => (await linesOf(query)).flatMap(({ values }) => values).length
/** The values of a metric query at the end of the range, by their labels. */
async function valuesOf(query: string): Promise<Record<string, number>> {
  const { data } = await ask<{ data: { result: { metric: Labels; value: [number, string] }[] } }>('query', { query })
  return Object.fromEntries(data.result.map(({ metric, value }) => [JSON.stringify(metric), Number(value[1])]))
}
const seriesOf = async (selector: string): Promise<Labels[]> => (await ask<{ data: Labels[] }>('series', { 'match[]': selector })).data
const totalOf = (values: Record<string, number>): number => Object.values(values).reduce((sum, value) => sum + value, 0)

const text = (key: string, value: string) => ({ key, value: { stringValue: value } })

describe('records of OpenTelemetry', () => {
  const stream = { collection: 'default', dataset: 'otel-shop', service_name: 'otel-shop', k8s_pod_name: 'shop-1' }
  const resource = { attributes: [text('service.name', 'otel-shop'), text('k8s.pod.name', 'shop-1')] }

  beforeAll(async () => {
    const logRecords = Array.from({ length: RECORDS }, (_, index) => ({
      timeUnixNano: nsText(baseMs + index),
      observedTimeUnixNano: nsText(baseMs + 1_000 + index),
      severityNumber: index < ERRORS ? 17 : 9,
      body: { stringValue: `request ${index}` },
      attributes: [text('request.id', `r${index}`)],
      traceId: hex(32, index),
      spanId: hex(16, index),
      flags: 1 + (index % 7),
      droppedAttributesCount: 1 + (index % 5),
    }))
    const scope = { name: 'http', version: '1' }
    await post('/v1/logs', { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] })
  })

  test('are streams by their resource and level, however many traces they belong to', async () => {
    const streams = [
      { ...stream, level: 'error' },
      { ...stream, level: 'info' },
    ]
    const byLevel = (one: Labels, other: Labels) => ((one.level ?? '') < (other.level ?? '') ? -1 : 1)
    expect((await seriesOf('{dataset="otel-shop"}')).sort(byLevel)).toEqual(streams)
    expect((await linesOf('{dataset="otel-shop"}')).map((one) => one.stream).sort(byLevel)).toEqual(streams)
    expect(await ask('index/stats', { query: '{dataset="otel-shop"}' })).toMatchObject({ streams: 2, entries: RECORDS })
    expect(await valuesOf('count_over_time({dataset="otel-shop"}[1m])')).toEqual({
      [JSON.stringify(sorted({ ...stream, level: 'error' }))]: ERRORS,
      [JSON.stringify(sorted({ ...stream, level: 'info' }))]: RECORDS - ERRORS,
    })
    const { data } = await ask<{ data: string[] }>('labels', { query: '{dataset="otel-shop"}' })
    expect(data).toEqual(['collection', 'dataset', 'k8s_pod_name', 'level', 'service_name'])
  })

  test('keep the rest as structured metadata, which conditions read', async () => {
    const [found] = await linesOf(`{dataset="otel-shop"} | trace_id="${hex(32, 5)}"`)
    expect(found?.values[0]?.[2]?.structuredMetadata).toMatchObject({
      trace_id: hex(32, 5),
      span_id: hex(16, 5),
      request_id: 'r5',
      otel_flags: '6',
      otel_observed_time: nsText(baseMs + 1_005),
      otel_scope_name: 'http',
    })
    expect(totalOf(await valuesOf('sum by (otel_flags) (count_over_time({dataset="otel-shop"}[1m]))'))).toBe(RECORDS)
  })

  test('are streams by their resource when they are spans', async () => {
    const spans = Array.from({ length: RECORDS }, (_, index) => ({
      traceId: hex(32, index),
      spanId: hex(16, index),
      name: 'GET /cart',
      kind: 2,
      startTimeUnixNano: nsText(baseMs + index),
      endTimeUnixNano: nsText(baseMs + index + 5),
      attributes: [text('url.path', `/cart/${index}`)],
    }))
    await post('/v1/traces', { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] })
    const selector = '{collection=".traces", dataset="otel-shop"}'
    expect(await seriesOf(selector)).toEqual([{ ...stream, collection: '.traces', level: 'info' }])
    expect((await linesOf(selector)).map((one) => one.stream)).toEqual([{ ...stream, collection: '.traces', level: 'info' }])
    expect(await countOf(`${selector} | span_name="GET /cart" | url_path="/cart/7"`)).toBe(1)
  })
})

const sorted = (labels: Labels): Labels => Object.fromEntries(Object.entries(labels).sort(([one], [other]) => (one < other ? -1 : 1)))

describe('events of other protocols', () => {
  const journal = (index: number): string =>
    [
      `__CURSOR=s=1;i=${index}`,
      `__REALTIME_TIMESTAMP=${baseMs + index}000`,
      `__MONOTONIC_TIMESTAMP=${index}`,
      `_SOURCE_REALTIME_TIMESTAMP=${baseMs + index}001`,
      `_PID=${index + 1}`,
      '_HOSTNAME=alpha',
      '_SYSTEMD_UNIT=cron.service',
      'SYSLOG_IDENTIFIER=unit-cron',
      `MESSAGE=run ${index}`,
    ].join('\n')
  const all = (of: (index: number) => unknown): unknown[] => Array.from({ length: RECORDS }, (_, index) => of(index))

  test.each<[string, () => Promise<void>, string, Labels]>([
    [
      'the HTTP event collector',
      () =>
        post(
          '/services/collector',
          all((index) =>
            JSON.stringify({
              time: (baseMs + index) / 1_000,
              host: 'alpha',
              sourcetype: 'unit-hec',
              event: `line ${index}`,
              fields: { request_id: `r${index}`, trace_id: hex(32, index), 'k8s.pod.name': 'shop-1' },
            }),
          ).join('\n'),
        ),
      'unit-hec',
      { host: 'alpha', sourcetype: 'unit-hec', k8s_pod_name: 'shop-1' },
    ],
    [
      'the system journal',
      () =>
        post('/upload', `${all((index) => journal(index as number)).join('\n\n')}\n\n`, { 'content-type': 'application/vnd.fdo.journal' }),
      'unit-cron',
      { host_name: 'alpha', systemd_unit: 'cron.service' },
    ],
    [
      'GELF',
      () =>
        post(
          '/gelf',
          all((index) => ({
            version: '1.1',
            host: 'alpha',
            timestamp: (baseMs + index) / 1_000,
            short_message: `line ${index}`,
            _service: 'unit-gelf',
            _request_id: `r${index}`,
          })),
        ),
      'unit-gelf',
      { host_name: 'alpha' },
    ],
    [
      'bulk requests',
      () =>
        post(
          '/unit-bulk/_bulk',
          `${all((index) => `{"create":{}}\n${JSON.stringify({ '@timestamp': baseMs + index, message: `line ${index}`, trace: { id: hex(32, index) }, log: { offset: index }, host: { name: 'alpha' } })}`).join('\n')}\n`,
          { 'content-type': 'application/x-ndjson' },
        ),
      'unit-bulk',
      { host_name: 'alpha' },
    ],
    [
      'JSON lines with names like attributes',
      () =>
        post(
          '/ingest/default/unit-json',
          all((index) => JSON.stringify({ timestamp: baseMs + index, message: `line ${index}`, $id: index })).join('\n'),
          { 'content-type': 'application/x-ndjson', 'x-service-tags': 'team=pay' },
        ),
      'unit-json',
      { team: 'pay' },
    ],
  ])('%s: one stream for one source', async (_, send, dataset, own) => {
    await send()
    const selector = `{dataset="${dataset}"}`
    expect(await countOf(selector)).toBe(RECORDS)
    const stream = sorted({ collection: 'default', dataset, level: 'info', ...own })
    expect(await seriesOf(selector)).toEqual([stream])
    expect((await linesOf(selector)).map((one) => one.stream)).toEqual([stream])
    expect(await valuesOf(`count_over_time(${selector}[1m])`)).toEqual({ [JSON.stringify(stream)]: RECORDS })
  })

  test('labels of a push stay labels where the events of another dataset have a field of the name', async () => {
    const values = [[nsText(baseMs), 'a line']]
    await post('/loki/api/v1/push', { streams: [{ stream: { app: 'unit-push', request_id: 'batch' }, values }] })
    const stream = { app: 'unit-push', collection: 'default', dataset: 'unit-push', level: 'info', request_id: 'batch' }
    expect(await seriesOf('{app="unit-push"}')).toEqual([stream])
    expect((await linesOf('{app="unit-push"}')).map((one) => one.stream)).toEqual([stream])
  })
})

describe('the level', () => {
  // The words of the sender are not those of the status.
  const words = ['WARNING', 'warning', 'ERR', 'debug', 'notice', 'fatal']
  const statuses = { error: 2, info: 2, warn: 2 }
  const selector = '{dataset="unit-level"}'

  beforeAll(async () => {
    const lines = words.map((level, index) =>
      JSON.stringify({ timestamp: baseMs + index, level, message: `line ${index}`, dataset: 'own', app: `field-${index}` }),
    )
    await post('/ingest/default/unit-level', lines.join('\n'), { 'content-type': 'application/x-ndjson' })
  })

  test('is the status in every kind of query', async () => {
    const named = (name: string) =>
      Object.fromEntries(Object.entries(statuses).map(([level, count]) => [JSON.stringify({ [name]: level }), count]))
    expect(await valuesOf(`sum by (level) (count_over_time(${selector}[1m]))`)).toEqual(named('level'))
    expect(await valuesOf(`sum by (level) (count_over_time(${selector} | line_format "x" | level != "none" [1m]))`)).toEqual(named('level'))
    expect(await valuesOf(`sum by (detected_level) (count_over_time(${selector}[1m]))`)).toEqual(named('detected_level'))
    expect(await valuesOf(`sum without (collection, dataset) (count_over_time(${selector}[1m]))`)).toEqual(named('level'))
    expect((await ask<{ data: string[] }>('label/level/values', { query: selector })).data).toEqual(['error', 'info', 'warn'])
    expect((await seriesOf(selector)).map(({ level }) => level).sort()).toEqual(['error', 'info', 'warn'])
    const volumes = await ask<{ data: { result: { metric: Labels }[] } }>('index/volume', { query: selector, targetLabels: 'level' })
    expect(volumes.data.result.map(({ metric }) => metric.level).sort()).toEqual(['error', 'info', 'warn'])
    const ranges = await ask('index/volume_range', { query: selector, targetLabels: 'level', step: '60' })
    expect(ranges.data.result.map(({ metric }) => metric.level).sort()).toEqual(['error', 'info', 'warn'])
    for (const { stream, values } of await linesOf(selector)) expect(values).toHaveLength(statuses[stream.level as keyof typeof statuses])
    for (const [level, count] of Object.entries(statuses)) {
      expect([level, await countOf(`{dataset="unit-level", level="${level}"}`)]).toEqual([level, count])
      expect([level, await countOf(`${selector} | level="${level}"`)]).toEqual([level, count])
      expect([level, await countOf(`${selector} | decolorize | drop nothing | level=~"${level}"`)]).toEqual([level, count])
      expect([level, await countOf(`${selector} | detected_level="${level}"`)]).toEqual([level, count])
      expect([level, await countOf(`${selector} | json | level="${level}"`)]).toEqual([level, count])
    }
    const fields = await ask<{ values: string[] }>('detected_field/level/values', { query: selector })
    expect(fields.values.sort()).toEqual(['error', 'info', 'warn'])
  })

  // The requests of the histogram of log volume above the lines, and of a click on one of its levels.
  test('of a bar in the volume of logs finds the lines of the bar', async () => {
    const query = `sum by (level, detected_level) (count_over_time(${selector} | json | drop __error__[60s]))`
    const { data } = await ask('query_range', { query, step: '60000ms', direction: 'backward' })
    expect(data.result).toHaveLength(3)
    for (const { metric, values } of data.result) {
      const bar = Math.max(...values.map(([, count]) => Number(count)))
      expect([metric, bar]).toEqual([{ level: expect.any(String), detected_level: metric.level }, 2])
      for (const clicked of [
        `{dataset="unit-level", level="${metric.level}"}`,
        `${selector} | level=\`${metric.level}\``,
        `${selector} | detected_level=\`${metric.detected_level}\``,
        `${selector} | json | logfmt | drop __error__, __error_details__ | level=\`${metric.level}\``,
      ])
        expect([clicked, await countOf(clicked)]).toEqual([clicked, bar])
    }
  })

  test('of the sender is kept beside it, as are other fields with the name of a label', async () => {
    expect(await countOf(`${selector} | level_extracted="WARNING"`)).toBe(1)
    expect(await countOf(`${selector} | drop nothing | level_extracted="WARNING"`)).toBe(1)
    const byWord = await valuesOf(`sum by (level_extracted) (count_over_time(${selector}[1m]))`)
    expect(byWord).toEqual(Object.fromEntries(words.map((word) => [JSON.stringify({ level_extracted: word }), 1])))
    const [found] = await linesOf(`${selector} |= "line 3"`)
    expect(found?.stream).toEqual({ collection: 'default', dataset: 'unit-level', level: 'info' })
    expect(found?.values[0]?.[2]?.structuredMetadata).toMatchObject({
      level_extracted: 'debug',
      dataset_extracted: 'own',
      app: 'field-3',
      detected_level: 'info',
    })
    expect(await valuesOf(`sum by (dataset) (count_over_time(${selector}[1m]))`)).toEqual({ '{"dataset":"unit-level"}': 6 })
    expect(await countOf(`${selector} | dataset="own"`)).toBe(0)
  })

  test('of a push is the label that it was pushed with, also beside the level of a line', async () => {
    const values = [[nsText(baseMs), '{"level":"debug","app":"inner","message":"a line"}']]
    await post('/loki/api/v1/push', { streams: [{ stream: { app: 'unit-outer', level: 'warning' }, values }] })
    const pushed = '{app="unit-outer"}'
    const names = { app: 'unit-outer', level: 'warning' }
    expect(await seriesOf('{app="unit-outer", level="warning"}')).toMatchObject([names])
    expect(await valuesOf(`sum by (app, level) (count_over_time(${pushed}[1m]))`)).toEqual({ [JSON.stringify(names)]: 1 })
    expect(await countOf(`${pushed} | app="unit-outer" | level="warning"`)).toBe(1)
    expect(await countOf(`${pushed} | app="inner"`)).toBe(0)
    expect(await countOf(`${pushed} | app_extracted="inner" | level_extracted="debug"`)).toBe(1)
    expect(await valuesOf(`sum by (app_extracted) (count_over_time(${pushed}[1m]))`)).toEqual({ '{"app_extracted":"inner"}': 1 })
  })
})

test('a tail has the streams of other reads', async () => {
  const parameters = new URLSearchParams({ query: '{dataset="unit-tail"} | level="error"', start: nsText(baseMs) })
  const socket = new WebSocket(`${senders.app.url.replace('http', 'ws')}/loki/api/v1/tail?${parameters}`, {
    headers: { authorization: `Bearer ${senders.org.key}` },
  })
  await once(socket, 'open')
  const message = once(socket, 'message')
  const atNs = nsText(senders.app.clock.nowMs())
  const logRecord = { timeUnixNano: atNs, observedTimeUnixNano: atNs, severityNumber: 17, body: { stringValue: 'a line' }, flags: 1 }
  const resource = { attributes: [text('service.name', 'unit-tail')] }
  await post('/v1/logs', { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [logRecord] }] }] })
  const { streams } = JSON.parse(String((await message)[0])) as { streams: { stream: Labels }[] }
  socket.close()
  await once(socket, 'close')
  expect(streams.map(({ stream }) => stream)).toEqual([
    { collection: 'default', dataset: 'unit-tail', level: 'error', service_name: 'unit-tail' },
  ])
})
