import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
let other: TestOrganization
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  other = await app.newOrganization()
})
afterAll(() => app?.close())

type Parser = { id: string; name: string; type: string; scope: string; enabled: boolean; pattern?: string; description?: string }
type Failure = { details: string; errors?: { field: string; position?: number; length?: number; code: string }[] }
type Metrics = { total_lines: number; matched_lines: number; error_lines: number; match_ratio: number }

const PATTERN = '%{IP:client} took %{NUMBER:ms}ms'
let names = 0
async function newDataset(owner = org): Promise<string> {
  names += 1
  return (await owner.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'parsed', dataset: `d${names}` } })).body.id
}
const create = async (body: Record<string, unknown> = {}, owner = org) =>
  owner.ask<Parser & Failure>('POST', '/parsers', { body: { log_id: await newDataset(owner), pattern: PATTERN, ...body } })
const list = async (owner = org) => (await owner.ask<{ parsers: Parser[] }>('GET', '/parsers')).body.parsers
const assigned = (datasetId: string, owner = org) =>
  owner.ask<{ parser_id: string; parser_name: string }>('GET', `/datasets/${datasetId}/parser`)
const assign = (datasetId: string, parserId: string, owner = org) =>
  owner.ask<Failure>('PUT', `/datasets/${datasetId}/parser`, { body: { parser_id: parserId } })

describe('registering a pattern', () => {
  test('creates a disabled parser, and derives the language from the pattern', async () => {
    const made = await create({ name: 'Proxy', description: 'The proxy at the edge' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      name: 'Proxy',
      pattern: PATTERN,
      type: 'GROK',
      scope: 'ORGANISATION',
      enabled: false,
      description: 'The proxy at the edge',
      metadata: { created_by: { type: 'API_KEY_ID' } },
    })
    expect((await create({ pattern: '%{client} %{rest}' })).body).toMatchObject({
      type: 'DISSECT',
      name: expect.stringMatching(/^parsed\/d/),
    })
    expect((await create({ pattern: '%{WORD} %{REST}', type: 'DISSECT' })).body.type).toBe('DISSECT')
  })

  test.each([
    ['%{NUMBR:n}', 0, 10, 'UNKNOWN_NAME'],
    ['ok %{INT:n} (x', 12, 1, 'PATTERN_SYNTAX'],
    ['(?<a>x)\\1', 7, 2, 'PATTERN_SYNTAX'],
    ['just words', 0, 10, 'NO_FIELDS'],
    ['(?<a>(?:(?:x{1000}){1000}))', 0, 1, 'PATTERN_TOO_LARGE'],
  ])('is refused for %s, with the place that is wrong', async (pattern, position, length, code) => {
    const { status, body } = await create({ pattern })
    expect([status, body.errors]).toMatchObject([400, [{ field: 'pattern', position, length, code }]])
  })

  test.each([
    ['name', 'x'.repeat(101)],
    ['name', ''],
    ['description', 'seven c'],
    ['description', 'x'.repeat(513)],
    ['pattern', `%{INT:n}${'x'.repeat(2_041)}`],
    ['type', 'JAVA'],
    ['log_id', 'no uuid'],
  ])('is refused for %s as %s', async (field, value) => {
    const { status, body } = await create({ [field]: value })
    expect([status, body.errors?.[0]?.field]).toEqual([400, field])
  })

  test('needs a log that there is, in the same organization', async () => {
    expect((await create({ log_id: undefined })).status).toBe(400)
    const log_id = await newDataset(other)
    expect((await create({ log_id })).body.errors).toMatchObject([{ field: 'log_id', code: 'UNKNOWN_DATASET' }])
    const { id } = (await create({})).body
    expect((await org.ask('PATCH', `/parsers/${id}`, { body: { log_id } })).status).toBe(400)
  })
})

test('the list has the built-in parsers first, then those of the organization', async () => {
  const id = (await create()).body.id
  const foreign = (await create({}, other)).body.id
  const all = await list()
  const builtIn = all.filter(({ scope }) => scope === 'SYSTEM')
  expect(builtIn.map(({ name, type, enabled }) => [name, type, enabled])).toEqual(
    ['JSON', 'Syslog', 'CEF', 'Access log', 'logfmt', 'Key=value text'].map((name) => [name, 'JAVA', true]),
  )
  expect(all.slice(0, builtIn.length)).toEqual(builtIn)
  expect(all.map((parser) => parser.id)).toContain(id)
  expect(all.map((parser) => parser.id)).not.toContain(foreign)
})

describe('changing a parser', () => {
  test('switches it on, and off again when that is not said', async () => {
    const { id } = (await create()).body
    const on = await org.ask<Parser>('PATCH', `/parsers/${id}`, { body: { enabled: true } })
    expect(on.body).toMatchObject({ id, enabled: true, pattern: PATTERN })
    const renamed = await org.ask<Parser>('PATCH', `/parsers/${id}`, { body: { name: 'Edge' } })
    expect(renamed.body).toMatchObject({ name: 'Edge', enabled: false, pattern: PATTERN })
  })

  test('takes a new pattern of either language, and no bad one', async () => {
    const { id } = (await create()).body
    const changed = await org.ask<Parser>('PATCH', `/parsers/${id}`, { body: { pattern: '%{a}|%{b}', log_id: await newDataset() } })
    expect(changed.body).toMatchObject({ type: 'DISSECT', pattern: '%{a}|%{b}' })
    const bad = await org.ask<Failure>('PATCH', `/parsers/${id}`, { body: { pattern: '(' } })
    expect([bad.status, bad.body.errors?.[0]?.field]).toEqual([400, 'pattern'])
    expect((await list()).find((parser) => parser.id === id)?.pattern).toBe('%{a}|%{b}')
  })

  test('is refused for built-in ones, and there is nothing to change in another organization', async () => {
    const [builtIn] = await list()
    for (const method of ['PATCH', 'DELETE']) {
      expect((await org.ask(method, `/parsers/${builtIn?.id}`, method === 'PATCH' ? { body: {} } : {})).status).toBe(403)
      const { id } = (await create({}, other)).body
      expect((await org.ask(method, `/parsers/${id}`, method === 'PATCH' ? { body: {} } : {})).status).toBe(404)
    }
  })
})

describe('the parser of a dataset', () => {
  test('is shown once it is assigned, and disappears when it is unassigned', async () => {
    const [dataset, { id }] = [await newDataset(), (await create({ name: 'Edge proxy' })).body]
    expect((await assigned(dataset)).status).toBe(404)
    expect((await assign(dataset, id)).status).toBe(204)
    expect((await assigned(dataset)).body).toEqual({ parser_id: id, parser_name: 'Edge proxy' })
    expect((await org.ask<{ parser_id: string }>('GET', `/datasets/${dataset}`)).body.parser_id).toBe(id)
    for (let time = 0; time < 2; time += 1) expect((await org.ask('DELETE', `/datasets/${dataset}/parser`)).status).toBe(204)
    expect((await assigned(dataset)).status).toBe(404)
    expect((await org.ask<{ parser_id: string }>('GET', `/datasets/${dataset}`)).body.parser_id).toBeUndefined()
  })

  test('is deleted with the parser', async () => {
    const [dataset, { id }] = [await newDataset(), (await create()).body]
    await assign(dataset, id)
    expect((await org.ask('DELETE', `/parsers/${id}`)).status).toBe(204)
    expect((await assigned(dataset)).status).toBe(404)
    expect((await org.ask<{ parser_id: string }>('GET', `/datasets/${dataset}`)).body.parser_id).toBeUndefined()
  })

  test('may be a built-in parser, but not an unknown one or one of another organization', async () => {
    const dataset = await newDataset()
    const syslog = (await list()).find(({ name }) => name === 'Syslog')
    expect((await assign(dataset, syslog?.id ?? '')).status).toBe(204)
    expect((await assigned(dataset)).body.parser_name).toBe('Syslog')
    expect((await assign(dataset, (await create({}, other)).body.id)).status).toBe(404)
    expect((await assign(await newDataset(other), syslog?.id ?? '')).status).toBe(404)
    expect((await org.ask('PUT', `/datasets/${dataset}/parser`, { body: {} })).status).toBe(400)
  })

  test('cannot be given to a dataset of the system', async () => {
    const { datasets } = (await org.ask<{ datasets: { id: string; is_system_generated: boolean }[] }>('GET', '/datasets')).body
    const own = datasets.find(({ is_system_generated }) => is_system_generated)
    expect((await assign(own?.id ?? '', (await list())[0]?.id ?? '')).status).toBe(403)
  })
})

describe('trying a pattern', () => {
  const ask = (body: unknown) =>
    org.ask<{ metrics: Metrics; results: { raw: string; matched: boolean; key_values: Record<string, string> }[] } & Failure>(
      'POST',
      '/parsers/test',
      { body },
    )

  test('returns the result of each line', async () => {
    const { body } = await ask({ pattern: PATTERN, lines: ['10.0.0.1 took 12.5ms', 'hello', ''] })
    expect(body.metrics).toEqual({ total_lines: 3, matched_lines: 1, error_lines: 0, match_ratio: 1 / 3 })
    expect(body.results).toEqual([
      { raw: '10.0.0.1 took 12.5ms', matched: true, key_values: { client: '10.0.0.1', ms: '12.5' } },
      { raw: 'hello', matched: false, key_values: {} },
      { raw: '', matched: false, key_values: {} },
    ])
  })

  test('counts lines that take too long as errors', async () => {
    const pattern = '(?<x>(.*)(.*)(.*)(.*)(.*)[^a])'
    const { body } = await ask({ pattern, lines: ['a'.repeat(20_000), 'ab'] })
    expect(body.metrics).toMatchObject({ matched_lines: 1, error_lines: 1 })
  })

  test('is bounded as a whole, and others are answered meanwhile', async () => {
    const slow = ask({ pattern: '(?<x>(.*)(.*)(.*)(.*)(.*)[^a])', lines: Array.from({ length: 120 }, () => 'a'.repeat(20_000)) })
    expect((await org.ask('GET', '/parsers')).status).toBe(200)
    expect((await slow).body.metrics).toMatchObject({ matched_lines: 0, error_lines: 120 })
  })

  test.each([
    [{ pattern: PATTERN, lines: [] }, 'lines'],
    [{ pattern: PATTERN, lines: Array.from({ length: 1_001 }, () => 'x') }, 'lines'],
    [{ pattern: '%{', lines: ['x'] }, 'pattern'],
    [{ lines: ['x'] }, 'pattern'],
  ])('is refused when the question is bad', async (body, field) => {
    const reply = await ask(body)
    expect([reply.status, reply.body.errors?.[0]?.field]).toEqual([400, field])
  })
})

describe('finding the parser that fits', () => {
  type Found = { recommended_parser_id: string; candidates: { parser_id: string; coverage: number; metrics: Metrics }[] }
  const detect = (body: unknown, owner = org) => owner.ask<Found & Failure>('POST', '/parsers/detect', { body })

  test.each([
    ['JSON', ['{"a":1,"b":{"c":"x"}}', '{"a":2}']],
    ['Syslog', ['<34>1 2026-10-11T22:14:15.003Z host su - ID47 - failed for lonvick', 'Oct 11 22:14:15 host su[12]: failed']],
    ['CEF', ['CEF:0|Vendor|Product|1.0|100|Worm stopped|10|src=10.0.0.1 dst=2.1.2.2']],
    ['Access log', ['203.0.113.7 - - [10/Oct/2026:13:55:36 +0000] "GET / HTTP/1.1" 200 12 "-" "curl/8"']],
    ['logfmt', ['level=info msg="it went well" took=12ms', 'level=warn msg=slow']],
    ['Key=value text', ['payment failed for user=7 amount=12.50 today']],
  ])('recognises %s', async (name, lines) => {
    const { body } = await detect({ lines }, other)
    const id = (await list(other)).find((parser) => parser.name === name)?.id
    expect(body.recommended_parser_id).toBe(id)
    expect(body.candidates[0]).toMatchObject({ parser_id: id, metrics: { matched_lines: lines.length, match_ratio: 1, error_lines: 0 } })
  })

  test("recommends the organization's own parser where nothing else fits", async () => {
    const { id } = (await create({ pattern: '%{WORD:verb} the %{WORD:noun} of %{GREEDYDATA:whom}' })).body
    const { body } = await detect({ lines: ['opened the door of perception', 'crossed the road of ruin', '(nothing)'] })
    expect(body.recommended_parser_id).toBe(id)
    expect(body.candidates[0]?.metrics).toEqual({ total_lines: 3, matched_lines: 2, error_lines: 0, match_ratio: 2 / 3 })
  })

  test('recommends nothing for words', async () => {
    expect((await detect({ lines: ['the quick brown fox'] }, other)).body).toEqual({ recommended_parser_id: '', candidates: [] })
  })

  test('wants either lines or a log', async () => {
    expect((await detect({})).status).toBe(400)
    expect((await detect({ lines: ['x'], log_id: await newDataset() })).status).toBe(400)
    expect((await detect({ log_id: await newDataset(other) })).status).toBe(404)
  })
})

describe('without a pattern', () => {
  const at = (secondsAgo: number): string =>
    new Date(Math.floor(Date.now() / 1_000 - secondsAgo) * 1_000).toISOString().replace('.000Z', 'Z')
  const FIRST = at(120)
  const LINES = [
    `${FIRST} INFO [main] user=ada took 12.5ms for /a/b`,
    `${at(119)} WARN [pool-1] user=bob took 7ms for /c?d=1`,
    `${at(118)} INFO [main] user=eve took 0.5ms for /`,
  ]

  async function withLines(lines: readonly string[]): Promise<string> {
    names += 1
    const dataset = `lines${names}`
    const headers = { 'content-type': 'text/plain', 'x-service-collection': 'parsed', 'x-service-dataset': dataset }
    expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
    const { datasets } = (await org.ask<{ datasets: { id: string; dataset: string }[] }>('GET', '/datasets')).body
    return datasets.find((one) => one.dataset === dataset)?.id ?? ''
  }

  test('a parser is inferred from what the recent lines of the log have in common', async () => {
    const log_id = await withLines(LINES)
    const made = await create({ log_id, pattern: undefined })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ type: 'GROK', enabled: false, ai_generated: false, log_lines: LINES.toReversed() })
    const parsed = (made.body as unknown as { parsed_lines: Record<string, string>[] }).parsed_lines
    expect(parsed.at(-1)).toEqual({
      timestamp: FIRST,
      level: 'INFO',
      word: 'main',
      user: 'ada',
      value: '12.5',
      path: '/a/b',
    })
  })

  test('no parser is inferred from lines without a common structure, from JSON, or without lines', async () => {
    const logs = [await withLines(['hello there my friend', 'what is this']), await newDataset(), await withLines(['{"a":1}', '{"b":2}'])]
    for (const log_id of logs) {
      const made = await create({ log_id, pattern: undefined })
      expect([made.status, made.body.errors?.[0]?.field]).toEqual([400, 'pattern'])
    }
  })

  test('the parser is detected from the recent lines of a log', async () => {
    const log_id = await withLines(LINES)
    const reply = await org.ask<{ candidates: { metrics: Metrics }[] }>('POST', '/parsers/detect', { body: { log_id } })
    expect(reply.status).toBe(200)
    expect(reply.body.candidates.every(({ metrics }) => metrics.total_lines === LINES.length)).toBe(true)
  })

  test('lines are hidden from callers without permission to search', async () => {
    const log_id = await withLines(LINES)
    const role = { role_type: 'API', display_name: `parses ${names}`, permissions: ['logs_read', 'parsers_read', 'parsers_write'] }
    const { role_id } = (await org.ask<{ role_id: string }>('POST', '/roles', { body: role })).body
    const key = await org.newKey([role_id])
    expect((await org.ask('POST', '/parsers/detect', { key, body: { log_id } })).status).toBe(403)
    expect((await org.ask('POST', '/parsers', { key, body: { log_id } })).status).toBe(403)
  })
})

describe('metrics of parsers', () => {
  type Figures = { log_id: string; match_ratio: Series[]; latency_ns: Series[] }
  type Series = {
    name: string
    count: number
    value: number
    timeseries: { count: number; value: number }[]
    delta?: { total_count: number }
  }

  test('is reported by log: how many lines matched, and the time they took', async () => {
    const [log_id, { id }] = [await newDataset(), (await create()).body]
    const { dataset } = (await org.ask<{ dataset: string }>('GET', `/datasets/${log_id}`)).body
    await org.ask('PATCH', `/parsers/${id}`, { body: { enabled: true } })
    await assign(log_id, id)
    const headers = { 'content-type': 'text/plain', 'x-service-collection': 'parsed', 'x-service-dataset': dataset }
    const raw = ['10.0.0.1 took 1ms', '10.0.0.2 took 2ms', 'nothing', '10.0.0.3 took 3ms'].join('\n')
    expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
    const ask = (query: string) => org.ask<Figures>('GET', `/parsers/metrics/${query}`)
    const figures = await vi.waitUntil(
      async () => {
        const { body } = await ask(`ratio?log_id=${log_id}&time_range=last 1 hour&delta=true`)
        return body.match_ratio.length > 0 ? body : undefined
      },
      { timeout: 240_000, interval: 200 },
    )
    expect(figures?.log_id).toBe(log_id)
    expect(figures?.match_ratio).toMatchObject([{ name: log_id, count: 4, value: 0.75, delta: { total_count: 0 } }])
    const [series] = figures?.match_ratio ?? []
    expect(series?.timeseries).toHaveLength(60)
    expect(series?.timeseries.filter(({ count }) => count > 0)).toMatchObject([{ count: 4, value: 0.75 }])
    expect(figures?.latency_ns[0]?.value).toBeGreaterThan(0)
    const all = await ask('usage?time_range=last 1 day&num_of_slices=3&limit=100')
    expect(all.body.match_ratio.find(({ name }) => name === log_id)?.timeseries).toHaveLength(3)
    expect((await other.ask<Figures>('GET', '/parsers/metrics/usage')).body).toEqual({ log_id: '', match_ratio: [], latency_ns: [] })
  })

  test.each(['from_ts=1', 'from_ts=2&to_ts=1', 'time_range=now&from_ts=1&to_ts=2', 'limit=101', 'num_of_slices=0', 'time_range=sometime'])(
    'is refused for %s',
    async (query) => {
      expect((await org.ask('GET', `/parsers/metrics/usage?${query}`)).status).toBe(400)
    },
  )
})

test('readers cannot change anything', async () => {
  const key = await org.newKey(['SearchApi'])
  const dataset = await newDataset()
  const { id } = (await create()).body
  expect((await org.ask('GET', '/parsers', { key })).status).toBe(200)
  expect((await org.ask('POST', '/parsers', { key, body: { log_id: dataset, pattern: PATTERN } })).status).toBe(403)
  expect((await org.ask('PATCH', `/parsers/${id}`, { key, body: {} })).status).toBe(403)
  expect((await org.ask('DELETE', `/parsers/${id}`, { key })).status).toBe(403)
  expect((await org.ask('PUT', `/datasets/${dataset}/parser`, { key, body: { parser_id: id } })).status).toBe(403)
})
