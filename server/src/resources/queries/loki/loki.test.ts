import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { newKeyWithout } from '../../../../../test/support/limited-key.ts'
import { openSenders, type Senders } from '../../../../../test/support/senders.ts'
import type { Reply } from '../../../../../test/support/world.ts'

/** One service with events of two senders: pushed streams with labels, and JSON lines without. */
let senders: Senders
let baseMs: number

type Stream = { stream: Record<string, string>; values: [string, string, unknown?][] }
type Sample = { metric: Record<string, string>; value?: [number, string]; values?: [number, string][] }
type Answer = { status: string; data: { resultType: string; result: (Stream & Sample)[]; encodingFlags?: string[]; stats: unknown } }

const nsText = (ms: number, ns = 0): string => `${ms}${String(ns).padStart(6, '0')}`

beforeAll(async () => {
  senders = await openSenders()
  baseMs = Math.floor(senders.app.clock.nowMs() / 60_000) * 60_000 - 600_000
  const line = (second: number, text: string, metadata?: Record<string, string>) =>
    metadata ? [nsText(baseMs + second * 1_000, second), text, metadata] : [nsText(baseMs + second * 1_000, second), text]
  const push = {
    streams: [
      {
        stream: { app: 'web', env: 'prod', level: 'warn' },
        values: [
          line(1, 'GET /cart 200 took=12ms'),
          line(2, 'GET /pay 500 took=250ms', { trace_id: 'abc' }),
          line(3, 'get /CART 200 took=7ms'),
        ],
      },
      {
        stream: { app: 'api', env: 'prod' },
        values: [line(4, '{"method":"GET","status":200,"ms":5}'), line(5, '{"method":"PUT","status":503,"ms":80.5}')],
      },
      { stream: { app: 'api', env: 'test' }, values: [line(6, 'level=info msg="100% done" user_id=7')] },
    ],
  }
  const pushed = await senders.post(JSON.stringify(push), { path: '/loki/api/v1/push', headers: { 'content-type': 'application/json' } })
  expect(pushed.status).toBe(204)
  const lines = [10, 11, 12, 13].map((second) =>
    JSON.stringify({
      timestamp: new Date(baseMs + second * 1_000).toISOString(),
      level: second === 12 ? 'error' : 'info',
      'user.id': second,
      path: '/a',
    }),
  )
  const sent = await senders.post(lines.join('\n'), { headers: { 'x-service-dataset': 'shop', 'x-service-collection': 'store' } })
  expect(sent.status).toBe(200)
})
afterAll(() => senders?.close())

const ask = async <T = Answer>(
  path: string,
  parameters: Record<string, string> | [string, string][] = {},
  headers: Record<string, string> = {},
): Promise<Reply<T>> =>
  senders.app.ask<T>('GET', `/loki/api/v1/${path}?${new URLSearchParams(parameters)}`, {
    headers: { authorization: `Basic ${Buffer.from(`anyone:${senders.org.key}`).toString('base64')}`, ...headers },
  })

const range = () => ({ start: nsText(baseMs), end: nsText(baseMs + 60_000) })
const queryRange = (query: string, more: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  ask('query_range', { query, ...range(), ...more }, headers)

/** The lines of an answer in order of time. */
const linesOf = ({ body }: Reply<Answer>): string[] =>
  body.data.result
    .flatMap(({ values }) => values)
    .sort(([one], [other]) => (BigInt(one) < BigInt(other) ? -1 : 1))
    .map(([, line]) => line)

describe('labels', () => {
  test('are the collection, the dataset, the level and the attributes', async () => {
    const { body } = await ask<{ status: string; data: string[] }>('labels', range())
    expect(body).toEqual({ status: 'success', data: ['app', 'collection', 'dataset', 'env', 'level'] })
    expect((await ask('label', range())).body).toEqual(body)
  })

  test.each([
    ['app', ['api', 'web']],
    ['dataset', ['api', 'shop', 'web']],
    ['collection', ['default', 'store']],
    ['level', ['error', 'info', 'warn']],
    ['absent', []],
  ])('the values of %s', async (name, data) => {
    expect((await ask(`label/${name}/values`, range())).body).toEqual({ status: 'success', data })
  })

  test('values within a selector', async () => {
    expect((await ask('label/dataset/values', { ...range(), query: '{app="web"}' })).body).toEqual({ status: 'success', data: ['web'] })
  })
})

describe('a log query', () => {
  test.each([
    ['{app="web"}', 3],
    ['{app=~"we.*"} |= "GET"', 2],
    ['{app="web"} |~ "(?i)get /cart"', 2],
    ['{app="web"} != "500"', 2],
    ['{app="web"} |= "500" or "took=7"', 2],
    ['{app="web"} != "500" or "took=7"', 1],
    ['{app="api",env!="prod"} |= "100%"', 1],
    ['{app="web"} |> "GET <_> took=<_>"', 2],
    ['{app="web"} !> "GET <_> took=<_>"', 1],
    ['{app="web"} |> "GET <_>"', 2],
    ['{app="web"} |> "<_> 200 <_>" or "<_> 500 <_>"', 3],
    ['{app="api"} |> "<_>method<_>GET<_>"', 1],
    ['{app="api"} |> "100% <_>"', 1],
    ['{env!=""}', 6],
    ['{env=""}', 4],
    ['{level="error"}', 2],
    ['{dataset="shop",level=~"info|error"}', 4],
    ['{dataset="shop"} | user_id >= 12', 2],
    ['{dataset="shop"} | user_id != 12', 3],
    ['{dataset="shop"} | user_id = "12" or level="info"', 4],
    ['{dataset="shop"} | detected_level="error"', 1],
    ['{app="api"} | json | status >= 500', 2],
    ['{app="api"} | json | __error__="" | status >= 500', 1],
    ['{app="api"} | json | __error__!=""', 1],
    ['{app="api"} | json | __error__="" | ms > 5 and method=~"P.."', 1],
    ['{app="web"} | regexp "took=(?P<took>.*)" | took > 10ms', 2],
    ['{app="web"} | pattern "<method> <path> <status> <_>" | status = 200', 2],
    ['{app="api"} | logfmt | msg="100% done"', 1],
    ['{app="web"} | trace_id="abc"', 1],
    ['{collection="store"}', 4],
    ['{absent="x"}', 0],
  ])('%s finds %i lines', async (query, count) => {
    const reply = await queryRange(query)
    expect([reply.status, linesOf(reply).length]).toEqual([200, count])
  })

  test('returns streams with nanoseconds and the line as it was sent', async () => {
    const { body } = await queryRange('{app="web"} |= "/pay"')
    expect(body.data).toMatchObject({
      resultType: 'streams',
      result: [
        {
          stream: { app: 'web', collection: 'default', dataset: 'web', env: 'prod', level: 'warn' },
          values: [[nsText(baseMs + 2_000, 2), 'GET /pay 500 took=250ms']],
        },
      ],
    })
  })

  test('returns labels by their origin to clients that request it', async () => {
    const { body } = await queryRange('{app="web"} |= "/pay" | logfmt', {}, { 'X-Loki-Response-Encoding-Flags': 'categorize-labels' })
    expect(body.data.encodingFlags).toEqual(['categorize-labels'])
    // Clients read the answer as it arrives, and need to know the form of the entries before them.
    expect(Object.keys(body.data)).toEqual(['resultType', 'encodingFlags', 'result', 'stats'])
    expect(body.data.result[0]?.values[0]?.[2]).toEqual({
      structuredMetadata: { detected_level: 'warn', trace_id: 'abc' },
      parsed: { took: '250ms' },
    })
  })

  test('returns the newest or the oldest lines', async () => {
    expect(linesOf(await queryRange('{app="web"}', { limit: '1' }))).toEqual(['get /CART 200 took=7ms'])
    expect(linesOf(await queryRange('{app="web"}', { limit: '1', direction: 'FORWARD' }))).toEqual(['GET /cart 200 took=12ms'])
    expect(linesOf(await queryRange('{app="api"} | json | method="GET"', { limit: '1' }))).toHaveLength(1)
  })

  test('changes lines and labels', async () => {
    const reply = await queryRange(
      '{app="api"} | json | status="503" | line_format "{{.method}} took {{.ms}}" | label_format code=status | keep app, code',
    )
    expect(linesOf(reply)).toEqual(['PUT took 80.5'])
    expect(reply.body.data.result[0]?.stream).toEqual({ app: 'api', code: '503' })
  })

  test('includes the start and excludes the end, to the nanosecond', async () => {
    const at = nsText(baseMs + 1_000, 1)
    expect(linesOf(await queryRange('{app="web"}', { start: at, end: String(BigInt(at) + 1n) }))).toHaveLength(1)
    expect(linesOf(await queryRange('{app="web"}', { start: nsText(baseMs), end: at }))).toHaveLength(0)
  })
})

describe('a metric query', () => {
  const instant = async (query: string): Promise<Record<string, string>> => {
    const { status, body } = await ask('query', { query, time: nsText(baseMs + 60_000) })
    expect([status, body.data?.resultType]).toEqual([200, 'vector'])
    return Object.fromEntries(body.data.result.map(({ metric, value }) => [JSON.stringify(metric), value?.[1] ?? '']))
  }

  test.each<[string, Record<string, string>]>([
    ['sum by (app) (count_over_time({env="prod"}[1m]))', { '{"app":"web"}': '3', '{"app":"api"}': '2' }],
    ['sum(count_over_time({env="prod"} |= "GET" [1m]))', { '{}': '3' }],
    ['sum(rate({app="web"}[1m]))', { '{}': '0.05' }],
    ['sum by (user_id) (count_over_time({dataset="shop"} | user_id > 11 [1m]))', { '{"user_id":"12"}': '1', '{"user_id":"13"}': '1' }],
    ['sum(bytes_over_time({app="web"}[1m]))', { '{}': '68' }],
    ['max(max_over_time({dataset="shop"} | unwrap user_id [1m]))', { '{}': '13' }],
    ['sum(sum_over_time({dataset="shop"} | unwrap user_id [1m]))', { '{}': '46' }],
    ['avg_over_time({dataset="shop"} | unwrap user_id [1m]) by (collection)', { '{"collection":"store"}': '11.5' }],
    ['quantile_over_time(0.5, {dataset="shop"} | unwrap user_id [1m]) by (dataset)', { '{"dataset":"shop"}': '11.5' }],
    ['sum by (method) (count_over_time({app="api",env="prod"} | json [1m]))', { '{"method":"GET"}': '1', '{"method":"PUT"}': '1' }],
    ['sum(sum_over_time({app="web"} | logfmt | unwrap duration(took) [1m])) * 1000', { '{}': '269' }],
    ['sum by (level, detected_level) (count_over_time({app="api"} | json | drop __error__ [1m]))', expect.anything()],
    ['topk(1, sum by (dataset) (count_over_time({collection=~".+"}[1m])))', { '{"dataset":"shop"}': '4' }],
    ['count(count by (dataset) (count_over_time({collection=~".+"}[1m])))', { '{}': '3' }],
    ['sum(count_over_time({app="web"} | level="warn" [1m])) / sum(count_over_time({app="web"}[1m]))', { '{}': '1' }],
    ['sum by (app) (count_over_time({env="prod"}[1m])) > 2', { '{"app":"web"}': '3' }],
    ['vector(1)+vector(1)', { '{}': '2' }],
    ['1 + 2 * 3 ^ 2 + vector(0)', { '{}': '19' }],
    ['count_over_time({absent="x"}[1m])', {}],
    ['count_over_time({app="web"}[1m])', { '{"app":"web","collection":"default","dataset":"web","env":"prod","level":"warn"}': '3' }],
    ['count_over_time({app="web"}[1m] offset 1h)', {}],
  ])('%s', async (query, expected) => {
    expect(await instant(query)).toEqual(expected)
  })

  test('has a value for each step', async () => {
    const query = 'sum(count_over_time({app="web"}[2s]))'
    const { body } = await ask('query_range', { query, start: nsText(baseMs + 2_000), end: nsText(baseMs + 6_000), step: '1' })
    const at = baseMs / 1_000
    expect(body.data).toMatchObject({
      resultType: 'matrix',
      result: [
        {
          metric: {},
          values: [
            [at + 2, '1'],
            [at + 3, '2'],
            [at + 4, '2'],
            [at + 5, '1'],
          ],
        },
      ],
    })
  })

  test('fails where a parser cannot read a line, and says how to leave it out', async () => {
    const { status, body } = await ask<string>('query', {
      query: 'sum(count_over_time({app="api"} | json [1m]))',
      time: nsText(baseMs + 60_000),
    })
    expect([status, body]).toEqual([400, expect.stringContaining('JSONParserErr')])
  })

  test('of two numbers is a number', async () => {
    const { body } = await ask('query', { query: '2 * 3', time: '100' })
    expect(body.data).toMatchObject({ resultType: 'scalar', result: [100, '6'] })
  })
})

describe('streams', () => {
  const web = { app: 'web', collection: 'default', dataset: 'web', env: 'prod', level: 'warn' }

  test('are listed by their labels, by GET and by a form', async () => {
    const expected = { status: 'success', data: [web] }
    expect((await ask('series', { ...range(), 'match[]': '{app="web"}' })).body).toEqual(expected)
    const parameters = new URLSearchParams({ ...range() })
    parameters.append('match[]', '{app="web"}')
    parameters.append('match[]', '{app="web",env="prod"}')
    const reply = await senders.org.ask('POST', '/loki/api/v1/series', {
      raw: parameters.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', authorization: `Bearer ${senders.org.key}` },
    })
    expect([reply.status, reply.body]).toEqual([200, expected])
  })

  test('have statistics and volumes', async () => {
    const query = '{app="web"}'
    expect((await ask('index/stats', { ...range(), query })).body).toEqual({ streams: 1, chunks: 0, bytes: 68, entries: 3 })
    const volume = await ask('index/volume', { ...range(), query: '{env="prod"}', targetLabels: 'app', limit: '1' })
    expect(volume.body.data).toMatchObject({
      resultType: 'vector',
      result: [{ metric: { app: 'api' }, value: [baseMs / 1_000 + 60, '75'] }],
    })
  })

  // Buckets begin at multiples of the step; the first and the last one are cut to the range. Each has the time of its end.
  test.each<[string, number, number, string, [number, string][]]>([
    [
      'step',
      0,
      4,
      '2',
      [
        [2, '23'],
        [4, '45'],
      ],
    ],
    [
      'cut start',
      2,
      4,
      '3',
      [
        [3, '23'],
        [4, '22'],
      ],
    ],
    [
      'cut end',
      0,
      3,
      '2',
      [
        [2, '23'],
        [3, '23'],
      ],
    ],
    ['longer step than the range', 1, 3, '60', [[3, '46']]],
    [
      'bucket without lines',
      0,
      4,
      '1',
      [
        [2, '23'],
        [3, '23'],
        [4, '22'],
      ],
    ],
  ])('have volumes of all lines of a range, and of no others, with a %s', async (_, from, to, step, expected) => {
    const range = { start: nsText(baseMs + from * 1_000), end: nsText(baseMs + to * 1_000) }
    const { status, body } = await ask('index/volume_range', { ...range, step, query: '{app="web"}' })
    const values = expected.map(([second, bytes]) => [baseMs / 1_000 + second, bytes])
    expect([status, body.data]).toMatchObject([200, { resultType: 'matrix', result: [{ metric: { app: 'web' }, values }] }])
  })

  test('need a range for volumes', async () => {
    const range = { start: nsText(baseMs), end: nsText(baseMs) }
    expect((await ask('index/volume_range', { ...range, query: '{app="web"}' })).status).toBe(400)
  })
})

describe('credentials and refusals', () => {
  test.each([
    ['', 'query is required'],
    ['{app="web"', "parse error at line 1, col 11: expected '}', found the end of the query"],
    ['{app="web"} | json | foo', "col 22: 'foo' is no stage"],
    ['{app="web"} |> "<ip> a"', 'col 16: a line filter names no part of the line; write <_> instead of <ip>'],
    ['{app="web"} !> "a <_><_>"', 'col 16: the pattern has two <_> without text between them'],
    ['{app="web"} | line_format "{{ .a | lower }}"', "col 27: the template action '{{ .a | lower }}' is not supported"],
    ['label_replace(rate({app="web"}[1m]), "a", "b", "c", "d")', "col 1: the function 'label_replace' is not supported"],
    ['rate({app="web"}[1m]) / on(app) group_left rate({app="web"}[1m])', 'group_left is not supported'],
    ['{app=~"("}', 'col 7: invalid regular expression'],
    ['sum({app="web"})', 'col 5: sum aggregates series'],
    ['sum_over_time({app="web"}[1m])', 'col 15: sum_over_time needs a value'],
    ['{service.name="web"}', 'labels are written with underscores'],
    ['{app="web"}\n  |= 5', 'line 2, col 6: expected a string'],
  ])('%s is a 400', async (query, message) => {
    const { status, body, headers } = await ask<string>('query_range', { query, ...range() })
    expect([status, headers.get('content-type'), body]).toEqual([400, 'text/plain; charset=utf-8', expect.stringContaining(message)])
  })

  test.each([
    [{ limit: '0' }, 'limit'],
    [{ limit: '5001' }, 'limit'],
    [{ start: 'yesterday' }, 'start'],
    [{ step: '-1' }, 'step'],
    [{ direction: 'up' }, 'direction'],
    [{ interval: '5' }, 'interval'],
    [{ start: '20', end: '10' }, 'end'],
  ])('%j is a 400 that names the parameter', async (more, name) => {
    const { status, body } = await ask<string>('query_range', { query: '{app="web"}', ...range(), ...more })
    expect([status, body]).toEqual([400, expect.stringMatching(new RegExp(`^${name} `))])
  })

  test.each([
    ['seconds', () => ({ start: String(baseMs / 1_000), end: String(baseMs / 1_000 + 60) })],
    ['fractions of seconds', () => ({ start: `${baseMs / 1_000}.000`, end: `${baseMs / 1_000 + 60}.5` })],
    [
      'RFC 3339',
      () => ({ start: new Date(baseMs).toISOString(), end: new Date(baseMs + 60_000).toISOString().replace('Z', '000000+00:00') }),
    ],
    ['a length before the end', () => ({ since: '1m', end: nsText(baseMs + 60_000) })],
  ])('times may be %s', async (_, times) => {
    expect(linesOf(await ask('query_range', { query: '{app="web"}', ...times() }))).toHaveLength(3)
  })

  test('a key that may only send sees no labels and can read nothing', async () => {
    const key = await senders.org.newKey(['IngestionApi'])
    const headers = { authorization: `Bearer ${key}` }
    expect((await ask('labels', range(), headers)).body).toEqual({ status: 'success', data: [] })
    expect((await ask('status/buildinfo', {}, headers)).status).toBe(200)
    expect((await queryRange('{app="web"}', {}, headers)).status).toBe(403)
    expect((await ask('labels', range(), { authorization: 'Bearer dk_wrong' })).status).toBe(401)
  })

  test('a tenant in a header changes nothing', async () => {
    expect(linesOf(await queryRange('{app="web"}', {}, { 'X-Scope-OrgID': 'another' }))).toHaveLength(3)
  })

  test('a dataset that a policy hides is missing everywhere', async () => {
    const key = await newKeyWithout(senders, 'web')
    const headers = { authorization: `Bearer ${key}` }
    expect(linesOf(await queryRange('{env="prod"} |= "GET"', {}, headers))).toEqual(['{"method":"GET","status":200,"ms":5}'])
    expect((await ask('label/app/values', range(), headers)).body).toEqual({ status: 'success', data: ['api'] })
    expect((await ask('series', { ...range(), 'match[]': '{app="web"}' }, headers)).body).toEqual({ status: 'success', data: [] })
    const counted = await ask('query', { query: 'sum(count_over_time({env="prod"}[1m]))', time: nsText(baseMs + 60_000) }, headers)
    expect(counted.body.data.result[0]?.value?.[1]).toBe('2')
  })

  test('another organization sees nothing', async () => {
    const other = await senders.app.newOrganization()
    expect(linesOf(await queryRange('{app="web"}', {}, { authorization: `Bearer ${other.key}` }))).toEqual([])
  })
})

describe('a tail', () => {
  const open = (parameters: Record<string, string>, key: string, headers: Record<string, string> = {}) =>
    new WebSocket(`${senders.app.url.replace('http', 'ws')}/loki/api/v1/tail?${new URLSearchParams(parameters)}`, {
      headers: { authorization: `Bearer ${key}`, ...headers },
    })
  type TailMessage = { streams: Stream[] }
  const push = async (text: string, app: string): Promise<void> => {
    const at = nsText(senders.app.clock.nowMs())
    const raw = JSON.stringify({ streams: [{ stream: { app }, values: [[at, text]] }] })
    expect((await senders.post(raw, { path: '/loki/api/v1/push', headers: { 'content-type': 'application/json' } })).status).toBe(204)
  }

  test('sends past lines, then new ones of its selector, also of new datasets', async () => {
    const socket = open(
      { query: '{app=~"web|tailed"} |~ "cart|tail" | line_format "{{.app}}: {{__line__}}"', start: nsText(baseMs) },
      senders.org.key,
    )
    const lines: string[] = []
    const enough = Promise.withResolvers<void>()
    socket.on('message', (data) => {
      const { streams } = JSON.parse(String(data)) as TailMessage
      for (const { values } of streams) for (const [, line] of values) lines.push(line)
      if (lines.length === 1) void push('to another', 'web').then(() => push('to tail', 'tailed'))
      if (lines.length >= 2) enough.resolve()
    })
    await enough.promise
    socket.close()
    await once(socket, 'close')
    expect(lines).toEqual(['web: GET /cart 200 took=12ms', 'tailed: to tail'])
  })

  test.each([
    ['an unknown key', {}, 'dk_wrong', 401],
    ['no query', {}, '', 400],
    ['a metric query', { query: 'rate({app="web"}[1m])' }, '', 400],
  ] as const)('refuses %s as any other request', async (_, parameters, key, status) => {
    const socket = open(parameters, key || senders.org.key)
    socket.on('error', () => undefined)
    const [, response] = await once(socket, 'unexpected-response')
    expect(response.statusCode).toBe(status)
    response.destroy()
  })

  test('is the only thing that the header Upgrade changes', async () => {
    const request = get(`${senders.app.url}/ready`, { headers: { connection: 'Upgrade', upgrade: 'websocket' } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    expect(response.statusCode).toBe(200)
  })

  test('needs a WebSocket', async () => {
    expect((await ask<string>('tail', { query: '{app="web"}' })).status).toBe(400)
  })

  test.each([
    ['', () => ({})],
    [', also beside the key of another', () => ({ 'x-service-api-key': senders.org.key })],
  ] as const)('ends when the caller loses access%s', async (_, headers) => {
    const created = await senders.org.ask<{ id: string; key: string }>('POST', '/api-keys', {
      body: { name: 'tail', roles: ['SearchApi'] },
    })
    const socket = open({ query: '{app="web"}' }, created.body.key, headers())
    await once(socket, 'open')
    const closed = once(socket, 'close')
    await senders.org.ask('DELETE', `/api-keys/${created.body.id}`)
    expect((await closed)[0]).toBe(1_008)
  })
})
