import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newKeyWithout } from '../../../../../test/support/limited-key.ts'
import { openSenders, type Senders } from '../../../../../test/support/senders.ts'
import type { Reply } from '../../../../../test/support/world.ts'

/** What a screen needs that shows the labels, fields and patterns of lines nobody knows yet. */
let senders: Senders
let baseMs: number

const nsText = (ms: number): string => `${ms}000000`

beforeAll(async () => {
  senders = await openSenders()
  baseMs = Math.floor(senders.app.clock.nowMs() / 60_000) * 60_000 - 600_000
  const at = (second: number) => nsText(baseMs + second * 1_000)
  const push = {
    streams: [
      {
        stream: { app: 'web', env: 'prod' },
        values: [
          [at(1), 'GET /cart took=12ms size=5KiB', { trace_id: 'abc' }],
          [at(2), 'GET /cart took=250ms size=1MB', { trace_id: 'def' }],
          [at(3), '<html> in  the\tanswer 7'],
        ],
      },
      {
        stream: { app: 'api', env: 'prod', level: 'error' },
        values: [
          [at(4), '{"message":"order 7 said \\"late\\" again","user":{"id":7},"ratio":0.5,"ok":true}'],
          [at(5), '{"message":"order 9 said \\"late\\" again","user":{"id":9},"ratio":1,"ok":false}'],
          [at(25), '{"message":"order 4 said \\"late\\" again","user":{"id":9},"ratio":2}'],
        ],
      },
      {
        stream: { app: 'api', env: 'test' },
        values: [
          [at(6), '{"order":1, "net":2}'],
          [at(7), '{"order":2, "net":3}'],
        ],
      },
    ],
  }
  const pushed = await senders.post(JSON.stringify(push), { path: '/loki/api/v1/push', headers: { 'content-type': 'application/json' } })
  expect(pushed.status).toBe(204)
})
afterAll(() => senders?.close())

const range = () => ({ start: nsText(baseMs), end: nsText(baseMs + 60_000) })
const ask = async <T>(path: string, parameters: Record<string, string> = {}, key = senders.org.key): Promise<Reply<T>> =>
  senders.app.ask<T>('GET', `/loki/api/v1/${path}?${new URLSearchParams({ ...range(), ...parameters })}`, {
    headers: { authorization: `Bearer ${key}` },
  })

type Labels = { detectedLabels: { label: string; cardinality: number }[] }
type Fields = { fields: { label: string; type: string; cardinality: number; parsers: string[] | null }[]; limit: number }
type Values = { values: string[]; limit: number }
type Patterns = { status: string; data: { pattern: string; level: string; samples: [number, number][] }[] }

test.each<[string, Record<string, number>]>([
  ['', { app: 2, collection: 1, dataset: 2, env: 2, level: 2 }],
  ['{}', { app: 2, collection: 1, dataset: 2, env: 2, level: 2 }],
  ['{app="web"}', { app: 1, collection: 1, dataset: 1, env: 1, level: 1 }],
  ['{absent="x"}', {}],
])('the labels of %j and how many values each has', async (query, expected) => {
  const { status, body } = await ask<Labels>('detected_labels', query === '' ? {} : { query })
  expect(status).toBe(200)
  expect(Object.fromEntries(body.detectedLabels.map(({ label, cardinality }) => [label, cardinality]))).toEqual(expected)
})

describe('fields', () => {
  test.each<[string, [string, string, number, string[] | null][]]>([
    [
      '{app="web"}',
      [
        ['detected_level', 'string', 1, null],
        ['size', 'bytes', 2, null],
        ['took', 'duration', 2, null],
        ['trace_id', 'string', 2, null],
      ],
    ],
    [
      '{app="api", env="prod"} |= "order"',
      [
        ['detected_level', 'string', 1, null],
        ['message', 'string', 3, null],
        ['ok', 'boolean', 2, null],
        ['ratio', 'float', 3, null],
        ['user_id', 'int', 2, null],
      ],
    ],
    [
      '{app="web"} | regexp "(?P<verb>GET) " | verb="GET" | line_format "kind={{.verb}}" | drop size, took',
      [
        ['detected_level', 'string', 1, null],
        ['kind', 'string', 1, ['logfmt']],
        ['trace_id', 'string', 2, null],
        ['verb', 'string', 1, null],
      ],
    ],
    [
      '{app="web"} | json | logfmt | drop __error__, __error_details__',
      [
        ['detected_level', 'string', 1, null],
        ['size', 'bytes', 2, null],
        ['took', 'duration', 2, null],
        ['trace_id', 'string', 2, null],
      ],
    ],
    [
      '{app="api", env="test"} | line_format "{\\"net\\":\\"{{.net}}\\",\\"of\\":{\\"order\\":{{.order}}}}"',
      [
        ['detected_level', 'string', 1, null],
        ['net', 'int', 2, null],
        ['of_order', 'int', 2, ['json']],
        ['order', 'int', 2, null],
      ],
    ],
    [
      '{app="api", env="prod"} | json',
      [
        ['detected_level', 'string', 1, null],
        ['message', 'string', 3, null],
        ['ok', 'boolean', 2, null],
        ['ratio', 'float', 3, null],
        ['user_id', 'int', 2, null],
      ],
    ],
    ['{absent="x"}', []],
  ])('of the lines of %s', async (query, expected) => {
    const { status, body } = await ask<Fields>('detected_fields', { query })
    expect(status).toBe(200)
    const found = body.fields.map(({ label, type, cardinality, parsers }) => [label, type, cardinality, parsers])
    // Further fields are those that the service keeps about the line.
    expect(found.filter(([label]) => !String(label).startsWith('ingest'))).toEqual(expected)
    expect(body.limit).toBe(1_000)
  })

  test('are those of the newest lines, the most frequent ones', async () => {
    const { body } = await ask<Fields>('detected_fields', { query: '{app="api", env="prod"}', line_limit: '1', limit: '3' })
    expect(body.fields).toHaveLength(3)
    expect(body.fields.every(({ cardinality }) => cardinality === 1)).toBe(true)
  })

  test.each<[string, string, string[]]>([
    ['user_id', '{app="api"}', ['7', '9']],
    ['trace_id', '{env="prod"}', ['abc', 'def']],
    ['detected_level', '{env="prod"}', ['error', 'info']],
    ['took', '{app="web"}', ['12ms', '250ms']],
    ['user_id', '{app="api"} | json | drop __error__ | user_id="7"', ['7']],
    ['absent', '{app="api"}', []],
  ])('the values of %s in %s', async (name, query, expected) => {
    const { status, body } = await ask<Values>(`detected_field/${name}/values`, { query })
    expect([status, { ...body, values: body.values.toSorted() }]).toEqual([200, { values: expected, limit: 1_000 }])
  })

  test('the most frequent values come first', async () => {
    const { body } = await ask<Values>('detected_field/user_id/values', { query: '{app="api"}', limit: '1' })
    expect(body).toEqual({ values: ['9'], limit: 1 })
  })
})

describe('patterns', () => {
  const expected = [
    { pattern: 'order <_> said \\"<_>\\" again<_>', level: 'error', counts: [2, 0, 1] },
    { pattern: 'GET <_> took=<_> size=<_>', level: 'info', counts: [2, 0, 0] },
    { pattern: '<_>"order"<_>"net"<_>', level: 'info', counts: [2, 0, 0] },
    { pattern: '<_>in<_>the<_>answer<_>', level: 'info', counts: [1, 0, 0] },
  ]

  test('count the lines of each step, by level', async () => {
    const { status, body } = await ask<Patterns>('patterns', { query: '{env=~".+"}', step: '10s', end: nsText(baseMs + 30_000) })
    expect([status, body.status]).toEqual([200, 'success'])
    const second = baseMs / 1_000
    const found = body.data.map(({ pattern, level, samples }) => ({
      pattern,
      level,
      counts: [0, 10, 20].map((offset) => samples.find(([at]) => at === second + offset)?.[1] ?? 0),
    }))
    const byPattern = (all: typeof expected) => all.toSorted((one, other) => (one.pattern < other.pattern ? -1 : 1))
    expect(byPattern(found)).toEqual(byPattern(expected))
  })

  test('find the lines that they stand for', async () => {
    const { body } = await ask<Patterns>('patterns', { query: '{env=~".+"}', step: '60s' })
    expect(body.data).toHaveLength(expected.length)
    for (const { pattern, samples } of body.data) {
      const quoted = JSON.stringify(pattern)
      const counted = await ask<{ data: { result: { value: [number, string] }[] } }>('query', {
        query: `sum(count_over_time({env=~".+"} |> ${quoted} [1m]))`,
        time: nsText(baseMs + 60_000),
      })
      expect([pattern, counted.body.data.result[0]?.value[1]]).toEqual([
        pattern,
        String(samples.reduce((sum, [, count]) => sum + count, 0)),
      ])
    }
  })

  test('of a level, within conditions on fields', async () => {
    const { body } = await ask<Patterns>('patterns', { query: '{app="api"} | detected_level="error" | user_id="9"', step: '1m' })
    expect(body.data.map(({ level, samples }) => [level, samples])).toEqual([['error', [[baseMs / 1_000, 2]]]])
  })
})

test('the limits of a screen are known', async () => {
  const { status, body } = await ask('drilldown-limits')
  expect([status, body]).toEqual([
    200,
    {
      limits: expect.objectContaining({ max_entries_limit_per_query: 5_000, volume_enabled: true, volume_max_series: 5_000 }),
      pattern_ingester_enabled: true,
      version: '3.0.0',
    },
  ])
  const volume = await ask<{ data: { result: { metric: object }[] } }>('index/volume', { query: '{app=~".+"}', limit: '5000' })
  expect(volume.body.data.result.map(({ metric }) => metric)).toEqual([{ app: 'api' }, { app: 'web' }])
})

test.each<[string, Record<string, string>, string]>([
  ['detected_labels', { query: '{app="web"' }, 'line 1, col 11'],
  ['detected_labels', { query: '{app="web"} |= "x"' }, 'query must be a selector without stages'],
  ['detected_labels', { start: 'soon' }, 'start must be a time'],
  ['detected_fields', {}, 'query is required'],
  ['detected_fields', { query: 'rate({app="web"}[1m])' }, 'line 1, col 1'],
  ['detected_fields', { query: '{app="web"}', line_limit: '0' }, 'line_limit must be a whole number from 1 to 5000'],
  ['detected_fields', { query: '{app="web"}', limit: '1001' }, 'limit must be a whole number from 1 to 1000'],
  ['detected_fields', { query: '{app="web"}', start: '2', end: '1' }, 'end must not be before start'],
  ['detected_field/a.b/values', { query: '{app="web"}' }, 'name must be the name of a label'],
  ['detected_field/a/values', {}, 'query is required'],
  ['patterns', {}, 'query is required'],
  ['patterns', { query: '{app="web"} | json' }, 'query must be a selector with conditions that need no parser'],
  ['patterns', { query: '{app="web"}', step: '0' }, 'step must be a positive length of time'],
  ['patterns', { query: '{app="web"}', start: '1', step: '1s' }, 'step is too small'],
])('%s with %j is a 400 with a reason', async (path, parameters, reason) => {
  const { status, body } = await ask<string>(path, parameters)
  expect([status, body]).toEqual([400, expect.stringContaining(reason)])
})

describe('a caller', () => {
  const paths = ['detected_labels', 'detected_fields', 'detected_field/user_id/values', 'patterns', 'drilldown-limits']

  test.each(paths)('a key for ingestion cannot read %s', async (path) => {
    const key = await senders.org.newKey(['IngestionApi'])
    expect((await ask(path, { query: '{app="api"}' }, key)).status).toBe(403)
    expect((await ask(path, { query: '{app="api"}' }, 'dk_wrong')).status).toBe(401)
  })

  test('sees nothing of datasets that a policy hides', async () => {
    const limited = await newKeyWithout(senders, 'api')
    const query = '{env=~".+"}'
    const { detectedLabels } = (await ask<Labels>('detected_labels', { query }, limited)).body
    expect(detectedLabels.find(({ label }) => label === 'app')?.cardinality).toBe(1)
    expect((await ask<Fields>('detected_fields', { query }, limited)).body.fields.some(({ label }) => label === 'user_id')).toBe(false)
    expect((await ask<Values>('detected_field/user_id/values', { query }, limited)).body.values).toEqual([])
    expect((await ask<Patterns>('patterns', { query }, limited)).body.data).toHaveLength(2)
  })
})
