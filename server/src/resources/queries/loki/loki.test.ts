import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from '../../../../../test/senders.ts'
import type { Reply } from '../../../../../test/world.ts'

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
