import { contract, type Event, type FailureBody, type PatternRow } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'

let app: TestApp
let org: TestOrganization
let logs: string[]
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  logs = [await dataset('web'), await dataset('api')]
})
afterAll(() => app.close())

const dataset = async (name: string): Promise<string> =>
  (await org.ask<{ id: string }>('POST', '/datasets', { body: { collection: 'shop', dataset: name } })).body.id

async function send(messages: readonly string[], name = 'web'): Promise<void> {
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': name, 'content-type': 'application/x-ndjson' }
  const lines = messages.map((message) => JSON.stringify({ message, level: message.includes('bad') ? 'error' : 'info' }))
  expect((await org.ask('POST', '/ingest', { raw: lines.join('\n'), headers })).status).toBe(200)
  app.clock.advance(600)
}

type Polled = { logs: { events: Event[] }[] } & FailureBody
const start = async (body: object = {}): Promise<string> => {
  const reply = await org.ask<{ job_id: string }>('POST', '/live-tail', { body: { from: logs, ...body } })
  expect(reply.status).toBe(201)
  app.clock.advance(600)
  return reply.body.job_id
}
const poll = async (id: string, more = ''): Promise<string[]> => {
  const { body } = await org.ask<Polled>('GET', `/live-tail?job_id=${id}&most_recent_first=false${more}`)
  expect(contract.liveTail.poll.reply.safeParse(body).error?.issues ?? []).toEqual([])
  return body.logs.flatMap(({ events }) => events.map((event) => event.message_kvs.message ?? ''))
}

describe('a live tail', () => {
  test('shows events that arrive after its start and match its condition, complete and once', async () => {
    await send(['before'])
    const [all, bad] = [await start(), await start({ where: "level = 'error'" })]
    expect(await poll(all)).toEqual([])
    await send(['one', 'two bad'])
    await send(['three'], 'api')
    expect(await poll(all)).toEqual(['one', 'two bad', 'three'])
    expect(await poll(bad)).toEqual(['two bad'])
    app.clock.advance(600)
    expect(await poll(all)).toEqual([])
    await send(['four bad'])
    expect([await poll(all), await poll(bad)]).toEqual([['four bad'], ['four bad']])
  })

  test('returns the newest first by default, and events beyond the limit with the next poll', async () => {
    const id = await start()
    await send(['a', 'b', 'c', 'd', 'e'])
    const { body } = await org.ask<Polled>('GET', `/live-tail?job_id=${id}&limit=2`)
    expect(body.logs[0]?.events.map((event) => [event.message_kvs.message, event['@raw'] !== null])).toEqual([
      ['b', true],
      ['a', true],
    ])
    expect(await poll(id, '&limit=2')).toEqual(['c', 'd'])
    expect(await poll(id)).toEqual(['e'])
  })

  test('follows a family of patterns, also the patterns that are new', async () => {
    await send(['mail to ada sent', 'mail to grace sent'])
    const details = { search_details: { from: logs } }
    const { patterns } = (await org.ask<{ patterns: PatternRow[] }>('POST', '/patterns', { body: details })).body
    const family = patterns.find(({ template }) => template === 'mail to <*> sent')?.id
    expect(family).toMatch(/^[\da-f]{16}$/)
    const [same, others] = [await start({ where: `@pattern = '${family}'` }), await start({ where: `@pattern != '${family}'` })]
    await send(['mail to linus sent', 'mail lost'])
    expect(await poll(same)).toEqual(['mail to linus sent'])
    expect(await poll(others)).toEqual(['mail lost'])
  })

  test('may follow a dataset without events', async () => {
    await dataset('new')
    const id = await start({ from: undefined, from_expr: "dataset = 'new'" })
    await send(['first'], 'new')
    expect(await poll(id)).toEqual(['first'])
  })

  test('includes datasets that are created after its start and match its selector, from their first event', async () => {
    const young = await app.newOrganization()
    const begin = async (body: object) => (await young.ask<{ job_id: string }>('POST', '/live-tail', { body })).body.job_id
    const sent = async (name: string, message: string) => {
      const headers = { 'x-service-collection': 'shop', 'x-service-dataset': name, 'content-type': 'application/x-ndjson' }
      expect((await young.ask('POST', '/ingest', { raw: JSON.stringify({ message }), headers })).status).toBe(200)
      app.clock.advance(600)
    }
    const shown = async (id: string) =>
      (await young.ask<Polled>('GET', `/live-tail?job_id=${id}&most_recent_first=false`)).body.logs.flatMap(({ events }) =>
        events.map((event) => event.message_kvs.message),
      )
    const sources = [
      { from_expr: '*' },
      { from_expr: "collection = 'shop' OR dataset = 'default'" },
      { from_expr: "NOT dataset LIKE 'web%'" },
    ]
    const [all, shop, other] = await Promise.all(sources.map(begin))
    app.clock.advance(600)
    await sent('web', 'first of web')
    // A later stream does not see earlier events.
    const late = await begin({ from_expr: '*' })
    app.clock.advance(600)
    await sent('api', 'first of api')
    await sent('web', 'second of web')
    const both = ['first of web', 'first of api', 'second of web']
    expect([await shown(all ?? ''), await shown(shop ?? ''), await shown(other ?? '')]).toEqual([both, both, ['first of api']])
    expect([await shown(late), await shown(all ?? '')]).toEqual([['first of api', 'second of web'], []])
  })

  test('shows no events of a dataset that is hidden from the caller, even if it is created later and other callers follow it', async () => {
    const watched = await app.newOrganization()
    const key = await watched.newKey(['SearchApi'])
    await watched.ask('POST', '/datasets', { body: { collection: 'hidden', dataset: 'old' } })
    const policy = {
      policy_type: 'LOG_FORBID',
      resource: { resource_type: 'COLLECTION', resource_id: 'hidden' },
      actions: ['*'],
      principal: { principal_type: 'ROLE', principal_id: 'SearchApi' },
    }
    expect((await watched.ask('POST', '/policies', { body: policy })).status).toBe(201)
    const begin = async (own: object) =>
      (await watched.ask<{ job_id: string }>('POST', '/live-tail', { body: { from_expr: '*' }, ...own })).body.job_id
    const [owner, limited] = [await begin({}), await begin({ key })]
    app.clock.advance(600)
    for (const collection of ['hidden', 'open']) {
      const headers = { 'x-service-collection': collection, 'x-service-dataset': 'new', 'content-type': 'application/x-ndjson' }
      expect((await watched.ask('POST', '/ingest', { raw: JSON.stringify({ message: collection }), headers })).status).toBe(200)
      app.clock.advance(600)
    }
    const shown = async (id: string, own: object) =>
      (await watched.ask<Polled>('GET', `/live-tail?job_id=${id}`, own)).body.logs.flatMap(({ events }) =>
        events.map((event) => event.message_kvs.message),
      )
    expect(await shown(owner, {})).toEqual(['open', 'hidden'])
    expect(await shown(limited, { key })).toEqual(['open'])
  })

  test('shows events that another process ingested, and can then be polled there', async () => {
    const other = await openTestApp()
    try {
      const id = await start()
      const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
      const sent = async (message: string) => other.ask('POST', '/ingest', { raw: JSON.stringify({ message }), headers, key: org.key })
      expect((await sent('from elsewhere')).status).toBe(200)
      app.clock.advance(600)
      expect(await poll(id)).toEqual(['from elsewhere'])
      const polledThere = await other.ask<Polled>('GET', `/live-tail?job_id=${id}`, { key: org.key })
      expect([polledThere.status, polledThere.body.logs]).toEqual([200, [{ events: [] }]])
    } finally {
      await other.close()
    }
  })

  test('ends after a minute without a poll, and belongs to its creator', async () => {
    const id = await start()
    const key = await org.newKey(['SearchApi'])
    expect((await org.ask('GET', `/live-tail?job_id=${id}`, { key })).status).toBe(404)
    expect((await (await app.newOrganization()).ask('GET', `/live-tail?job_id=${id}`)).status).toBe(404)
    expect(await poll(id)).toEqual([])
    app.clock.advance(61_000)
    expect((await org.ask('GET', `/live-tail?job_id=${id}`)).status).toBe(404)
    expect((await org.ask('GET', `/live-tail/stream?job_id=${id}`)).status).toBe(404)
  })

  test('is refused without datasets, with an invalid condition, and without a job', async () => {
    const refused = async (body: object) => (await org.ask<FailureBody>('POST', '/live-tail', { body })).body.errors?.[0]?.code
    expect([await refused({}), await refused({ from: logs, where: 'a =' })]).toEqual(['MISSING_SOURCE', 'EXPECTED_VALUE'])
    expect((await org.ask('GET', '/live-tail')).status).toBe(400)
    expect((await org.ask('GET', `/live-tail?job_id=${logs[0]}&limit=1001`)).status).toBe(400)
  })

  test('samples events evenly when they arrive too fast, and reports the sampling rate', async () => {
    await dataset('fast')
    const id = await start({ from: undefined, from_expr: "dataset = 'fast'" })
    const response = await fetch(`${app.url}/live-tail/stream?job_id=${id}&seconds=600`, { headers: { 'x-service-api-key': org.key } })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const until = async (end: string) => {
      while (!text.includes(end)) text += (await reader?.read())?.value ?? ''
    }
    await until(': watching\n\n')
    const sent = 12_000
    await send(
      Array.from({ length: sent }, (_, at) => `number ${at} of many`),
      'fast',
    )
    await until(': one of 2\n\n')
    // A sample of these is shown too. After them none of the others follow.
    await send(
      Array.from({ length: 64 }, (_, at) => `last ${at}`),
      'fast',
    )
    await until('"message":"last ')
    const numbers = [...text.matchAll(/"message":"number (\d+) of many"/g)].map((match) => Number(match[1]))
    const shown = new Set(numbers).size
    expect(shown).toBe(numbers.length)
    const [earlier, later] = [numbers.filter((at) => at < sent / 2).length, numbers.filter((at) => at >= sent / 2).length]
    for (const half of [earlier, later]) expect(half).toBeGreaterThan(sent / 8)
    await reader?.cancel()
  })

  test('streams new events until its time is over', async () => {
    const id = await start({ where: "level = 'error'" })
    const response = await fetch(`${app.url}/live-tail/stream?job_id=${id}&seconds=600`, { headers: { 'x-service-api-key': org.key } })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const until = async (end: string) => {
      while (!text.includes(end)) text += (await reader?.read())?.value ?? ''
    }
    await until(': watching\n\n')
    await send(['fine', 'bad one'])
    await until('bad one')
    await until('\n\n')
    const events = text.split('\n\n').filter((part) => part.startsWith('id: '))
    expect(events.map((part) => JSON.parse(part.slice(part.indexOf('{'))).message_kvs.message)).toEqual(['bad one'])
    app.clock.advance(601_000)
    // A keep-alive comment may have been in transit.
    let last = await reader?.read()
    while (last?.done === false) last = await reader?.read()
    expect(last?.done).toBe(true)
  })
})
