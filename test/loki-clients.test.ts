import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSenders, type Senders } from './support/senders.ts'

/** What logcli 3.7.8, and the data source of Grafana and its screens for drilling down send, with the times and selectors of this test. */

/** The path of a logcli; without it only its recorded requests are replayed. */
const logcli = process.env.DENDRO_LOGCLI
let senders: Senders
let startNs: string
let endNs: string

beforeAll(async () => {
  senders = await openSenders()
  const baseMs = senders.app.clock.nowMs() - 60_000
  startNs = `${baseMs - 1_000}000000`
  endNs = `${baseMs + 30_000}000000`
  const values = Array.from({ length: 4 }, (_, index) => [`${baseMs + index * 1_000}000000`, `GET /p${index} ${index === 3 ? 500 : 200}`])
  const push = { streams: [{ stream: { app: 'web', env: 'prod' }, values }] }
  const sent = await senders.post(JSON.stringify(push), { path: '/loki/api/v1/push', headers: { 'content-type': 'application/json' } })
  expect(sent.status).toBe(204)
})
afterAll(() => senders?.close())

const basic = () => `Basic ${Buffer.from(`any:${senders.org.key}`).toString('base64')}`
const withTimes = (path: string): string => path.replaceAll('START', startNs).replaceAll('END', endNs)

describe('the requests of', () => {
  const web = { app: 'web', env: 'prod', collection: 'default', dataset: 'web', level: 'info' }
  const streams = (lines: number) => ({
    data: { resultType: 'streams', result: [{ values: expect.toSatisfy((all: unknown[]) => all.length === lines) }] },
  })
  const [logcliAgent, grafanaAgent] = ['loki-logcli/v3.7.8', 'Grafana/12.2.0']
  test.each<[string, string, unknown]>([
    [logcliAgent, '/loki/api/v1/labels?end=END&start=START', { data: Object.keys(web).sort() }],
    [logcliAgent, '/loki/api/v1/label/app/values?end=END&start=START', { data: ['web'] }],
    [logcliAgent, '/loki/api/v1/query_range?direction=BACKWARD&end=END&limit=3&query=%7Bapp%3D%22web%22%7D&start=START', streams(3)],
    [
      logcliAgent,
      '/loki/api/v1/query?direction=BACKWARD&limit=30&query=vector%281%29&time=END',
      { data: { result: [{ metric: {}, value: [expect.any(Number), '1'] }] } },
    ],
    [
      logcliAgent,
      '/loki/api/v1/query_range?direction=BACKWARD&end=END&limit=30&query=rate%28%7Bapp%3D%22web%22%7D%5B1m%5D%29&start=START&step=60',
      { data: { resultType: 'matrix' } },
    ],
    [logcliAgent, '/loki/api/v1/series?end=END&match=%7Benv%3D%22prod%22%7D&start=START', { data: [web] }],
    [logcliAgent, '/loki/api/v1/index/stats?end=END&query=%7Benv%3D%22prod%22%7D&start=START', { streams: 1, entries: 4 }],
    [
      logcliAgent,
      '/loki/api/v1/index/volume?end=END&limit=30&query=%7Benv%3D%22prod%22%7D&start=START',
      { data: { result: [{ metric: { env: 'prod' } }] } },
    ],
    [
      logcliAgent,
      '/loki/api/v1/index/volume_range?end=END&limit=30&query=%7Bapp%3D%22web%22%7D&start=START&step=60',
      { data: { resultType: 'matrix' } },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/query?direction=backward&query=vector%281%29%2Bvector%281%29&time=4000000000',
      { data: { resultType: 'vector', result: [{ value: [4_000_000_000, '2'] }] } },
    ],
    [grafanaAgent, '/loki/api/v1/labels?start=START&end=END', { data: Object.keys(web).sort() }],
    [grafanaAgent, '/loki/api/v1/label/app/values?start=START&end=END&query=%7Benv%3D%22prod%22%7D', { data: ['web'] }],
    [grafanaAgent, '/loki/api/v1/series?match%5B%5D=%7Bapp%3D%22web%22%7D&start=START&end=END', { data: [web] }],
    [
      grafanaAgent,
      '/loki/api/v1/index/stats?query=%7Bapp%3D%22web%22%7D&start=START&end=END',
      { bytes: 44, chunks: 0, entries: 4, streams: 1 },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/query_range?direction=backward&end=END&limit=1000&query=%7Bapp%3D%22web%22%7D+%7C%3D+%60500%60&start=START&step=15000ms',
      {
        data: {
          encodingFlags: ['categorize-labels'],
          result: [{ stream: web, values: [[expect.any(String), 'GET /p3 500', { structuredMetadata: { detected_level: 'info' } }]] }],
        },
      },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/query_range?direction=forward&end=END&limit=2&query=%7Bapp%3D%22web%22%7D&start=START&step=1ms',
      {
        data: {
          result: [
            {
              values: [
                [expect.any(String), 'GET /p0 200', {}],
                [expect.any(String), 'GET /p1 200', {}],
              ],
            },
          ],
        },
      },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/query?direction=backward&query=topk%283%2C+sum+by+%28app%29+%28rate%28%7Benv%3D%22prod%22%7D%5B5m%5D%29%29%29&time=END',
      { data: { resultType: 'vector', result: [{ metric: { app: 'web' } }] } },
    ],
    [grafanaAgent, '/loki/api/v1/labels?start=START&end=END&query=%7Bapp%3D%22web%22%7D', { data: Object.keys(web).sort() }],
    [
      grafanaAgent,
      '/loki/api/v1/index/volume?query=%7Bapp%3D%7E%22.%2B%22%7D&start=START&end=END&limit=100&targetLabels=app&aggregateBy=series',
      { data: { result: [{ metric: { app: 'web' } }] } },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/query_range?direction=backward&end=END&query=sum+by+%28level%2C+detected_level%29+%28count_over_time%28%7Bapp%3D%22web%22%7D+%7C+json+%7C+drop+__error__%5B60s%5D%29%29&start=START&step=60000ms',
      { data: { resultType: 'matrix' } },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/detected_labels?start=START&end=END&query=',
      { detectedLabels: expect.arrayContaining([{ label: 'app', cardinality: 1 }]) },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/detected_fields?start=START&end=END&limit=1000&query=%7Bapp%3D%22web%22%7D',
      { fields: [{ label: 'detected_level', type: 'string', cardinality: 1, parsers: null }], limit: 1_000 },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/detected_field/detected_level/values?start=START&end=END&limit=1000&query=%7Bapp%3D%22web%22%7D',
      { values: ['info'] },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/patterns?start=START&end=END&step=15s&query=%7Bapp%3D%60web%60%7D',
      { data: [{ pattern: expect.stringContaining('GET'), level: 'info' }] },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/index/volume?end=END&limit=5000&query=%7Bapp%3D~%60.%2B%60%7D&start=START',
      { data: { result: [{ metric: { app: 'web' } }] } },
    ],
    [
      grafanaAgent,
      '/loki/api/v1/query_range?direction=backward&end=END&limit=1000&query=%7Bapp%3D%60web%60%7D+%7C%3E+%60GET+%3C_%3E+200%60+%7C+json+%7C+logfmt+%7C+drop+__error__%2C+__error_details__&start=START&step=15000ms',
      streams(3),
    ],
  ])('%s: GET %s', async (agent, path, expected) => {
    const headers = {
      authorization: basic(),
      'user-agent': agent,
      ...(agent === grafanaAgent ? { 'x-loki-response-encoding-flags': 'categorize-labels' } : {}),
    }
    const reply = await senders.app.ask('GET', withTimes(path), { headers })
    expect([reply.status, reply.body]).toEqual([200, expect.objectContaining({})])
    expect(reply.body).toMatchObject(expected as object)
  })

  // Grafana takes a 400 of the newer tail for a sign that it exists.
  test.each(['/loki/api/v1/rules', '/loki/api/v1/format_query?query=%7Bapp%3D%22web%22%7D', '/loki/api/v2alpha/tail'])(
    'clients get 404 for GET %s, which is not there',
    async (path) => {
      const reply = await senders.app.ask('GET', withTimes(path), { headers: { authorization: basic() } })
      expect(reply.status).toBe(404)
    },
  )

  test.each([
    ['query_range?query=%7Bapp%3D%22web%22&start=START&end=END', 'line 1, col 11'],
    ['query_range?query=%7Bapp%3D%22web%22%7D&direction=scan&start=START&end=END', 'direction must be forward or backward'],
    ['query_range?query=%7Bapp%3D%22web%22%7D&limit=0&start=START&end=END', 'limit must be a whole number from 1'],
    ['query?query=%7Bapp%3D%22web%22%7D&time=END', 'query'],
    ['index/volume?query=%7Bapp%3D%22web%22%7D&aggregateBy=labels&start=START&end=END', 'aggregateBy must be series'],
  ])('a request that cannot be answered is a 400 with a reason: %s', async (path, reason) => {
    const reply = await senders.app.ask<string>('GET', withTimes(`/loki/api/v1/${path}`), { headers: { authorization: basic() } })
    expect([reply.status, String(reply.body)]).toEqual([400, expect.stringContaining(reason)])
  })
})

describe('the steps of Grafana from a span to its logs', () => {
  const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const tags = '{service_name="checkout", service_namespace="eu"}'
  const containing = (name: string, id: string, or: string) =>
    ` | label_format log_line_contains_${name}=\`{{ contains "${id}" __line__  }}\` | log_line_contains_${name}="true" ${or} ${name}="${id}"`

  beforeAll(async () => {
    const stream = { service_name: 'checkout', service_namespace: 'eu' }
    const timeNs = `${Number(startNs.slice(0, -6)) + 2_000}000000`
    const values = [
      [timeNs, 'by metadata', { trace_id: trace, span_id: span }],
      [timeNs, `by line trace=${trace} span=${span}`, {}],
      [timeNs, 'of another trace', { trace_id: 'f'.repeat(32) }],
    ]
    const headers = { 'content-type': 'application/json' }
    const sent = await senders.post(JSON.stringify({ streams: [{ stream, values }] }), { path: '/loki/api/v1/push', headers })
    expect(sent.status).toBe(204)
  })

  test.each<[string, string, string[]]>([
    ['before 13, a trace', tags + containing('trace_id', trace, 'OR'), ['by line', 'by metadata']],
    ['13.1, a trace', tags + containing('trace_id', trace, 'or'), ['by line', 'by metadata']],
    ['13.1, a span', tags + containing('trace_id', trace, 'or') + containing('span_id', span, 'or'), ['by line', 'by metadata']],
    ['13.1, by a field', `${tags} | logfmt | json | drop __error__ | trace_id="${trace}" | span_id="${span}"`, ['by metadata']],
    ['13.1, by the line', `${tags} |= "${trace}" |= "${span}"`, ['by line']],
    ['by the query of docs/traces.md', `{dataset=~".+"} | trace_id="${trace}"`, ['by metadata']],
  ])('%s', async (_version, query, lines) => {
    const parameters = new URLSearchParams({ query, start: startNs, end: endNs, limit: '1000', direction: 'backward' })
    const reply = await senders.app.ask<{ data: { result: { values: [string, string][] }[] } }>(
      'GET',
      `/loki/api/v1/query_range?${parameters}`,
      {
        headers: { authorization: basic(), 'user-agent': 'Grafana/13.1.0', 'x-loki-response-encoding-flags': 'categorize-labels' },
      },
    )
    expect([reply.status, reply.status === 200 ? '' : reply.body]).toEqual([200, ''])
    const found = reply.body.data.result.flatMap(({ values }) => values.map(([, line]) => line.split(' ').slice(0, 2).join(' ')))
    expect(found.sort()).toEqual(lines)
  })
})

describe.skipIf(!logcli)('logcli', () => {
  const run = async (...args: string[]): Promise<string> => {
    const env = { LOKI_ADDR: senders.app.url, LOKI_USERNAME: 'any', LOKI_PASSWORD: senders.org.key }
    const { stdout } = await promisify(execFile)(logcli ?? '', [...args, '--quiet'], { env })
    return stdout
  }
  const range = () => [`--from=${timeOf(startNs)}`, `--to=${timeOf(endNs)}`]
  const timeOf = (ns: string): string => new Date(Number(BigInt(ns) / 1_000_000n)).toISOString()

  test('prints labels, lines, values and streams', async () => {
    expect(await run('labels', 'app', ...range())).toBe('web\n')
    expect((await run('query', '--output=raw', '--forward', ...range(), '{app="web"} |= "200"')).split('\n').filter(Boolean)).toEqual([
      'GET /p0 200',
      'GET /p1 200',
      'GET /p2 200',
    ])
    expect(JSON.parse(await run('instant-query', `--now=${timeOf(endNs)}`, 'sum(count_over_time({app="web"}[5m]))'))).toMatchObject([
      { metric: {}, value: [expect.any(Number), '4'] },
    ])
    expect(await run('series', ...range(), '{app="web"}')).toContain('env="prod"')
  })

  test('prints statistics, volumes and fields', async () => {
    expect(await run('stats', ...range(), '{app="web"}')).toContain('entries: 4')
    expect(JSON.parse(await run('volume', ...range(), '{app="web"}'))).toMatchObject([
      { metric: { app: 'web' }, value: [expect.any(Number), '44'] },
    ])
    expect(JSON.parse(await run('volume_range', '--step=60s', ...range(), '{app="web"}'))).toMatchObject([{ metric: { app: 'web' } }])
    expect(await run('detected-fields', ...range(), '{app="web"}')).toMatch(/label: detected_level\s+type: string\s+cardinality: 1\s/)
  })
})
