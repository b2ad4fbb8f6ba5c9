import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AiEvent, type Event, type FailureBody } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

/** The model of these tests returns what a test sets; the service calls it like any other. */
let answers: (prompt: string) => string | undefined = () => ''
let prompts: (left: Promise<void>) => void = () => undefined
let model: Server
let plain: TestApp
let narrative: TestApp
let org: TestOrganization
let error: Event['metadata']
let log = ''

beforeAll(async () => {
  model = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { messages } = JSON.parse(body) as { messages: { content: string }[] }
      const content = answers(messages[1]?.content ?? '')
      prompts(new Promise((resolve) => response.once('close', resolve)))
      if (content === undefined) return
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ choices: [{ message: { content } }] }))
    })
  })
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
  const { port } = model.address() as AddressInfo
  plain = await openTestApp()
  narrative = await openTestApp({ DENDRO_LLM_URL: `http://127.0.0.1:${port}/v1` })
  org = await plain.newOrganization()
  const nowMs = plain.clock.nowMs() - 5 * 60_000
  const lines = Array.from({ length: 120 }, (_, index) => {
    const isBad = index % 4 === 0
    return JSON.stringify({
      '@timestamp': new Date(nowMs + index * 100).toISOString(),
      level: isBad ? 'error' : 'info',
      message: isBad ? `payment ${index} declined by the bank` : `payment ${index} taken`,
      region: isBad ? 'north' : 'south',
      request_id: `req-${index}`,
      duration_ms: 10 + index,
      method: index % 2 === 0 ? 'GET' : 'POST',
    })
  })
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'till', 'content-type': 'application/x-ndjson' }
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  const found = await org.ask<{ events: Event[] }>('POST', '/search', {
    body: { from_expr: "dataset = 'till'", select: ['*'], where: "@status = 'error'", time_range: 'Last 1 hour', limit: 1 },
  })
  const [event] = found.body.events
  if (!event) throw new Error('the test has no event to explain')
  error = event.metadata
  log = event.metadata.service_id
})
afterAll(async () => {
  await plain?.close()
  await narrative?.close()
  model?.close()
})

const place = (more = '') => `/explain-error?timestamp=${error.timestamp}&sequence=${sequenceOf(error)}&logId=${log}${more}`
/** The number exceeds the precision of JSON.parse, so it is read from the link of the event. */
const sequenceOf = ({ context }: Event['metadata']): string => new URL(context).searchParams.get('sequence') ?? ''

async function stream(app: TestApp, path: string): Promise<AiEvent[]> {
  const { status, headers, body } = await app.ask<string>('GET', path, { key: org.key })
  expect(status, JSON.stringify(body)).toBe(200)
  expect(headers.get('content-type')).toMatch(/^text\/event-stream/)
  expect(headers.get('cache-control')).toBe('no-cache')
  expect(headers.get('ratelimit-limit')).not.toBeNull()
  const events = body
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => AiEvent.parse(JSON.parse(part.replace(/^data: /, ''))))
  expect(events.at(-1)?.type, JSON.stringify(events)).toBe('RESPONSE_COMPLETED')
  return events
}

const textOf = (events: readonly AiEvent[]): string =>
  events
    .filter(({ type }) => type === 'AI_RESPONSE_DELTA')
    .map(({ message }) => message)
    .join('')
const answerOf = (events: readonly AiEvent[]): AiEvent | undefined => events.find(({ type }) => type === 'QUERY_RESPONSE')

test('an error is explained from the store alone: its pattern, its counts, its deviations, its neighbors, further queries', async () => {
  const events = await stream(plain, place('&zone_offset=%2B02:00'))
  const text = textOf(events)
  expect(text).toMatch(/\[1\] .*\+02:00, shop\/till, error: payment \d+ declined by the bank/)
  expect(text).toMatch(/\[2\] Its pattern is: payment .* declined by the bank/)
  expect(text).toContain('[3] 30 times in the hour around it')
  expect(text).toContain('region is north in 100 % of these events, and in 0 % of the others.')
  expect(text).toMatch(/> .* error payment \d+ declined/)
  expect(text).toMatch(/everything with the same request_id, in all datasets: .*req-\d+/)
  const query = answerOf(events)
  expect(query?.query).toContain('@pattern')
  expect(query?.totals?.timeseries.reduce((sum, { count }) => sum + Number(count), 0)).toBe(30)
})

test('with a model its words come first and cite the facts, which follow; without an answer of it they stand alone', async () => {
  answers = (prompt) => (prompt.includes('declined by the bank') ? 'The bank declined them [2], all in the north [5].' : '')
  expect(textOf(await stream(narrative, place()))).toMatch(/^The bank declined them \[2\][\s\S]*What is known:\n\[1\]/)
  answers = () => ''
  expect(textOf(await stream(narrative, place()))).toMatch(/^The model gave no answer in time[\s\S]*\[1\]/)
})

test('only events that are there and that the caller may see are explained', async () => {
  const elsewhere = place().replace(String(error.timestamp), String(error.timestamp - 1))
  const other = await plain.newOrganization()
  expect((await org.ask('GET', elsewhere)).status).toBe(404)
  expect((await other.ask('GET', place())).status).toBe(404)
  expect((await org.ask<FailureBody>('GET', `/explain-error?logId=${log}`)).body.details).toMatch(/timestamp is required/)
  expect((await org.ask('GET', place('&zone_offset=later'))).status).toBe(400)
  expect((await org.ask('GET', place(), { key: await org.newKey(['SearchApi']) })).status).toBe(403)
  const { token } = await org.newUser(['ReadOnly'])
  expect((await org.ask('GET', place(), { token })).status).toBe(200)
})

test('work stops when the caller disconnects', async () => {
  answers = () => undefined
  const waiting = new Promise<{ left: Promise<void> }>((resolve) => {
    prompts = (left) => resolve({ left })
  })
  const leaving = new AbortController()
  const response = await fetch(`${narrative.url}${place()}`, { headers: { 'x-service-api-key': org.key }, signal: leaving.signal })
  const reading = response.text().catch(() => 'left')
  const { left } = await waiting
  leaving.abort()
  expect(await reading).toBe('left')
  // The model request ends with the caller, long before its own timeout.
  await left
})

const propose = (app: TestApp, wish: string, session = '') =>
  stream(app, `/widget-creation-assistant?userRequest=${encodeURIComponent(wish)}${session === '' ? '' : `&session_id=${session}`}`)

test('a wish in words becomes a widget that can be made, with its data', async () => {
  const events = await propose(plain, 'p95 of duration ms by method for errors, as an area, last 2 hours')
  const { widget, groups_series, query } = answerOf(events) ?? {}
  expect(widget).toMatchObject({ type: 'area', time_range: 'last 2 hours' })
  expect(widget?.metric.queries).toMatchObject([{ select: ['p95(duration_ms)'], groups: ['method'], from: [log] }])
  expect(query).toMatch(/^p95\(duration_ms\) of shop\/till where .*error.* by method$/)
  expect(groups_series?.map(({ name }) => name)).toEqual(['GET'])
  const metric = await org.ask<{ id: string }>('POST', '/metrics/definitions', { body: widget?.metric })
  expect(metric.status).toBe(201)
  const made = await org.ask('POST', '/widgets', { body: { name: widget?.name, type: widget?.type, metric_ids: [metric.body.id] } })
  expect(made.status).toBe(201)
})

test('a chat goes on where it was, for the one who began it; what the new wish does not say stays', async () => {
  const first = await propose(plain, 'average duration ms by region')
  const session = first.at(-1)?.session_id ?? ''
  const next = answerOf(await propose(plain, 'as bars, last 3 hours', session))
  expect(next?.widget).toMatchObject({ type: 'bar', time_range: 'last 3 hours' })
  expect(next?.widget?.metric.queries[0]).toMatchObject({ select: ['avg(duration_ms)'], groups: ['region'] })
})

test('a wish that says nothing is answered by what the data suggests', async () => {
  const events = await propose(plain, 'something nice')
  expect(answerOf(events)?.widget?.metric.queries[0]?.select).toEqual(['p95(duration_ms)'])
  expect(textOf(events)).toContain('The data would also fill:')
  const empty = await plain.newOrganization()
  const nothing = await empty.ask<string>('GET', '/widget-creation-assistant?userRequest=errors')
  expect(nothing.body).toContain('send events first')
  expect((await org.ask('GET', '/widget-creation-assistant')).status).toBe(400)
})

test('a model chooses only what the service would take from a caller', async () => {
  answers = () => 'Here: {"type": "pie", "select": "count(*)", "groups": ["region"], "why": "regions differ"}'
  const chosen = await propose(narrative, 'how do regions compare')
  expect(answerOf(chosen)?.widget).toMatchObject({ type: 'pie', metric: { queries: [{ select: ['count(*)'], groups: ['region'] }] } })
  expect(textOf(chosen)).toContain('regions differ')
  answers = () => '{"type": "pie", "select": "drop table", "where": "((("}'
  expect(answerOf(await propose(narrative, 'count of events by region'))?.widget?.metric.queries[0]).toMatchObject({
    select: ['count(*)'],
    groups: ['region'],
  })
})

test('a model reads wishes for configurations too; an answer that the contract would not take leaves them to the vocabulary', async () => {
  const create = (prompt: string) =>
    narrative.ask<{ config: string; warnings: string[] }>('POST', '/config-assistant/configs', {
      key: org.key,
      body: { agent: 'vector', sources: [], dataset: 'till', prompt },
    })
  answers = () => '{"sources": [{"kind": "journald"}], "dataset": "ignored", "options": {"drop": ["^ok$"]}}'
  const read = await create('whatever the model makes of it')
  expect(read).toMatchObject({
    status: 201,
    body: { config: expect.stringMatching(/type: journald[\s\S]*\^ok\$\$[\s\S]*\/ingest\/default\/till/) },
  })
  answers = () => '{"sources": [{"kind": "crystal ball"}]}'
  expect((await create('read /srv/a.log')).body.config).toContain('- /srv/a.log')
  expect((await create('look into the future')).status).toBe(503)
})
