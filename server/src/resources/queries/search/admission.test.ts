import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import type { QueryOwner, QueryTicket } from '../../../world.ts'

/** Longer than a search of one event takes, without which the test would not notice that a count is left behind. */
const COUNT_TAKES_MS = 500

let app: TestApp
let org: TestOrganization
let key: { id: string; key: string }
let logId: string
beforeAll(async () => {
  app = await openTestApp({ DENDRO_QUERY_RUNNING: '1', DENDRO_QUERY_WAITING: '0,SearchApi=1' })
  org = await app.newOrganization()
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'web', 'content-type': 'application/x-ndjson' }
  await org.ask('POST', '/ingest', { raw: '{"message":"one","level":"error"}', headers })
  key = await keyOf(['AdminApi'])
  const { body } = await org.ask<{ datasets: { id: string }[] }>('GET', '/datasets')
  logId = body.datasets[0]?.id ?? ''
})
afterAll(() => app?.close())

const keyOf = async (roles: readonly string[]) =>
  (await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body: { name: 'for queries', roles } })).body

const search = (more: object = {}) => ({ from_expr: '*', select: ['*'], time_range: 'Last 1 hour', ...more })

/** Occupies the only slot of a credential with a query that does not end. */
function occupy(credential: string, more: Partial<QueryOwner> = {}): () => void {
  const ticket = app.app.world.admission.ticket({ class: 'caller', orgId: org.orgId, credential, running: 1, waiting: 0, ...more })
  return ticket.hold().leave
}

/** Whether a credential runs one query and has another in line, which a slow machine may take a while to put there. */
function hasOneInLine(credential: string): boolean {
  try {
    occupy(credential, { waiting: 1 })()
    return false
  } catch {
    return true
  }
}

type Refused = { code: number; details: string }

describe('a credential that runs as many queries as it may and whose queries may not wait', () => {
  const inQuery = (): string => `from=${logId}&timestamp=${Date.now()}`
  const query = () => ({ name: 'a', from_expr: '*', where: '', select: ['count(*)'] })
  const monitor = () => ({
    name: 'many errors',
    queries: [query()],
    window: 'Last 5 minutes',
    comparison_operator: 'ABOVE',
    threshold: 10,
    days: 1,
  })
  const reads = (): [string, string, unknown?][] => [
    ['POST', '/search', search()],
    ['POST', '/search', search({ async_enabled: true })],
    ['POST', '/search', search({ select: ['count(*)'] })],
    ['POST', '/timeseries/search', { queries: [query()], time_range: { natural: 'Last 1 hour' } }],
    ['POST', '/patterns', { search_details: { from: [logId] } }],
    ['GET', `/context?${inQuery()}`],
    ['GET', `/top-keys?log_id=${logId}`],
    ['POST', '/datasets/resolve', { keys: ['message'], time_range: 'Last 1 hour' }],
    ['GET', '/analytics/errors'],
    ['POST', '/monitors/backtest', monitor()],
  ]

  test('gets 429 with Retry-After and the rule, whatever it reads, until its query ends', async () => {
    const all = reads()
    const refused = {
      status: 429,
      after: '2',
      details: 'too many queries: a credential may have 1 running and 0 waiting queries; try again in 2 s',
    }
    const leave = occupy(key.id)
    try {
      for (const [method, path, body] of all) {
        const { status, headers, body: failure } = await org.ask<Refused>(method, path, { key: key.key, body })
        expect({ path, status, after: headers.get('retry-after'), details: failure.details }).toEqual({ path, ...refused })
      }
      // Other credentials, and requests that read no events, are not affected.
      expect((await org.ask('POST', '/search', { body: search() })).status).toBe(200)
      expect((await org.ask('GET', '/datasets', { key: key.key })).status).toBe(200)
    } finally {
      leave()
    }
    // A search that is answered later may still run when the next request comes.
    for (const [method, path, body] of all) {
      const answer = () => org.ask(method, path, { key: key.key, body })
      await expect.poll(async () => ({ path, isAnswered: (await answer()).status < 300 })).toEqual({ path, isAnswered: true })
    }
  })

  test('can still read live tails', async () => {
    const leave = occupy(key.id)
    try {
      const tail = await org.ask<{ job_id: string }>('POST', '/live-tail', { key: key.key, body: { from: [logId] } })
      expect(tail.status).toBe(201)
      expect((await org.ask('GET', `/live-tail?job_id=${tail.body.job_id}`, { key: key.key })).status).toBe(200)
    } finally {
      leave()
    }
  })
})

test('a search has left its place when its answer arrives, also when the count of its events takes longer', async () => {
  const { key } = await keyOf(['SearchApi'])
  const { admission } = app.app.world
  const ticketOf = admission.ticket.bind(admission)
  const slow = vi.spyOn(admission, 'ticket').mockImplementation((owner) => {
    const ticket = ticketOf(owner)
    let statements = 0
    // The count comes first: it runs beside the statement for the page.
    const run: QueryTicket['run'] = (patience, work) => {
      statements += 1
      const isCount = statements === 1
      return ticket.run(patience, async (slot) => {
        const result = await work(slot)
        if (isCount) await setTimeout(COUNT_TAKES_MS)
        return result
      })
    }
    return { hold: () => ticket.hold(), run }
  })
  try {
    expect((await org.ask('POST', '/search', { key, body: search() })).status).toBe(200)
    expect(admission.running('caller')).toBe(0)
  } finally {
    slow.mockRestore()
  }
})

describe('a credential whose queries may wait', () => {
  test('gets its result in order, both by a waiting search and by an asynchronous one', async () => {
    const patient = await keyOf(['SearchApi'])
    const leave = occupy(patient.id)
    const waiting = org.ask('POST', '/search', { key: patient.key, body: search() })
    await expect.poll(() => hasOneInLine(patient.id)).toBe(true)
    expect((await org.ask('POST', '/search', { key: patient.key, body: search() })).status).toBe(429)
    leave()
    expect((await waiting).status).toBe(200)
    const again = occupy(patient.id)
    const started = await org.ask<{ links: { href: string }[] }>('POST', '/search', {
      key: patient.key,
      body: search({ async_enabled: true }),
    })
    expect(started.status).toBe(202)
    await expect.poll(() => hasOneInLine(patient.id)).toBe(true)
    expect((await org.ask('POST', '/search', { key: patient.key, body: search({ async_enabled: true }) })).status).toBe(429)
    again()
    const status = new URL(started.body.links[0]?.href ?? '').pathname
    await expect.poll(async () => (await org.ask('GET', status, { key: patient.key })).status).toBe(201)
  })

  test('has no place in line when its own budget has none', async () => {
    const body = { name: 'hasty', roles: ['SearchApi'], query_budget: { waiting: 0 } }
    const hasty = (await org.ask<{ id: string; key: string }>('POST', '/api-keys', { body })).body
    const leave = occupy(hasty.id)
    const { status, body: failure } = await org.ask<Refused>('POST', '/search', { key: hasty.key, body: search() })
    leave()
    expect([status, failure.details]).toEqual([429, expect.stringContaining('1 running and 0 waiting queries')])
  })

  test('leaves the queue when its caller disconnects', async () => {
    const patient = await keyOf(['SearchApi'])
    const leave = occupy(patient.id)
    const leaving = new AbortController()
    const url = `${app.url}/search`
    const headers = { 'x-service-api-key': patient.key, 'content-type': 'application/json' }
    const gone = fetch(url, { method: 'POST', headers, body: JSON.stringify(search()), signal: leaving.signal }).catch(() => 'gone')
    await expect.poll(() => hasOneInLine(patient.id)).toBe(true)
    expect((await org.ask('POST', '/search', { key: patient.key, body: search() })).status).toBe(429)
    leaving.abort()
    expect(await gone).toBe('gone')
    // The one that waits next waits in the place of the one that left.
    const started = () => org.ask('POST', '/search', { key: patient.key, body: search({ async_enabled: true }) })
    await expect.poll(async () => (await started()).status).toBe(202)
    leave()
  })
})

test('a stop of the process ends its asynchronous searches before it closes the stores', async () => {
  const stopped = await openTestApp({ DENDRO_QUERY_RUNNING: '1' })
  const leave = stopped.app.world.admission
    .ticket({ class: 'caller', orgId: org.orgId, credential: key.id, running: 1, waiting: 0 })
    .hold().leave
  const request = { key: key.key, body: search({ async_enabled: true }) }
  const started = await stopped.ask<{ links: { href: string }[] }>('POST', '/search', request)
  expect(started.status).toBe(202)
  await stopped.close()
  const status = new URL(started.body.links[0]?.href ?? '').pathname
  const { status: code, body } = await org.ask<{ status: string }>('GET', status, { key: key.key })
  expect({ code, status: body.status }).toEqual({ code: 201, status: 'INTERNAL_SERVER_ERROR' })
  leave()
})
