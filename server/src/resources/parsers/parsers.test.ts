import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../test/world.ts'

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
  test('makes a parser that is not enabled, and tells the language from the pattern', async () => {
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

  test('needs a log that there is, in the same organisation', async () => {
    expect((await create({ log_id: undefined })).status).toBe(400)
    expect((await create({ log_id: await newDataset(other) })).status).toBe(404)
  })
})

test('the list has the built-in parsers first, and only those of the organisation', async () => {
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

  test('is refused for built-in ones, and there is nothing to change in another organisation', async () => {
    const [builtIn] = await list()
    for (const method of ['PATCH', 'DELETE']) {
      expect((await org.ask(method, `/parsers/${builtIn?.id}`, method === 'PATCH' ? { body: {} } : {})).status).toBe(403)
      const { id } = (await create({}, other)).body
      expect((await org.ask(method, `/parsers/${id}`, method === 'PATCH' ? { body: {} } : {})).status).toBe(404)
    }
  })
})

describe('the parser of a dataset', () => {
  test('is there once it is assigned, and goes when it is taken away', async () => {
    const [dataset, { id }] = [await newDataset(), (await create({ name: 'Edge proxy' })).body]
    expect((await assigned(dataset)).status).toBe(404)
    expect((await assign(dataset, id)).status).toBe(204)
    expect((await assigned(dataset)).body).toEqual({ parser_id: id, parser_name: 'Edge proxy' })
    expect((await org.ask<{ parser_id: string }>('GET', `/datasets/${dataset}`)).body.parser_id).toBe(id)
    for (let time = 0; time < 2; time += 1) expect((await org.ask('DELETE', `/datasets/${dataset}/parser`)).status).toBe(204)
    expect((await assigned(dataset)).status).toBe(404)
    expect((await org.ask<{ parser_id: string }>('GET', `/datasets/${dataset}`)).body.parser_id).toBe('')
  })

  test('goes with the parser', async () => {
    const [dataset, { id }] = [await newDataset(), (await create()).body]
    await assign(dataset, id)
    expect((await org.ask('DELETE', `/parsers/${id}`)).status).toBe(204)
    expect((await assigned(dataset)).status).toBe(404)
    expect((await org.ask<{ parser_id: string }>('GET', `/datasets/${dataset}`)).body.parser_id).toBe('')
  })

  test('may be a built-in one, but none that is unknown or of another organisation', async () => {
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

  test('tells of each line what came of it', async () => {
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

  test("recommends the organisation's own parser where nothing else fits", async () => {
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

test('whoever may only read changes nothing', async () => {
  const key = await org.newKey(['SearchApi'])
  const dataset = await newDataset()
  const { id } = (await create()).body
  expect((await org.ask('GET', '/parsers', { key })).status).toBe(200)
  expect((await org.ask('POST', '/parsers', { key, body: { log_id: dataset, pattern: PATTERN } })).status).toBe(403)
  expect((await org.ask('PATCH', `/parsers/${id}`, { key, body: {} })).status).toBe(403)
  expect((await org.ask('DELETE', `/parsers/${id}`, { key })).status).toBe(403)
  expect((await org.ask('PUT', `/datasets/${dataset}/parser`, { key, body: { parser_id: id } })).status).toBe(403)
})
