import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { SearchResponse } from '@dendro/api'
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest'
import { openTestApp, type TestApp } from '../../../../../test/support/world.ts'
import type { Actor } from '../../../http/actor.ts'
import { StreamedJson } from '../../../http/json-stream.ts'
import type { Failure } from '../../../kernel/errors.ts'
import { makeServiceDatabase, type TestDatabase } from '../../../meta/database.fixture.ts'
import { sql } from '../../../meta/sql.ts'
import { emptyAnswer } from './empty-answer.ts'
import { openSearches, type Searches, type SearchReply, type SearchWork } from './running.ts'

const TIMES = { quickMs: 40, beatMs: 20 }
/** Waits for quick work as long as a slow machine may take. */
const PATIENT = { ...TIMES, quickMs: 60_000 }
const WAIT_MS = 240_000

/** This test removes old searches of the whole deployment by a clock that moves, so the database is its own. */
let database: TestDatabase
let app: TestApp
let actor: Actor
const opened: Searches[] = []
beforeAll(async () => {
  database = await makeServiceDatabase(inject('stores'))
  app = await openTestApp({ DENDRO_POSTGRES_URL: database.url })
  const { orgId } = await app.newOrganization()
  actor = {
    orgId,
    orgNumber: 1,
    identity: { type: 'API_KEY_ID', id: randomUUID() },
    name: 'a key',
    roles: ['SearchApi'],
    permissions: new Set(),
    facts: { correlationId: 'c', action: 'search.run', address: '', userAgent: '', accept: '', baseUrl: 'http://here' },
  }
})
afterEach(async () => {
  for (const searches of opened.splice(0)) await searches.close()
})
afterAll(async () => {
  await app?.close()
  await database?.drop()
})

function open(times = TIMES): Searches {
  const searches = openSearches(app.app.world, times)
  opened.push(searches)
  return searches
}

const empty = (): SearchResponse => emptyAnswer(actor, { selected: ['*'], warnings: [] })
const whole = (): SearchResponse => ({
  ...empty(),
  totals: { count: 9_007_199_254_740_993n },
  links: [{ rel: 'next', href: 'http://next' }],
})
function bodyOf({ status, headers, body }: SearchReply) {
  if (body instanceof StreamedJson) throw new Error('the result is a long one')
  return { http: status, headers, json: body.json, ...JSON.parse(body.json) }
}
const lastSearch = (orgId: string) => sql`select id from searches where org_id = ${orgId} order by started_at desc, id limit 1`
const idOf = (reply: SearchReply): string => bodyOf(reply).links[0].href.split('/').at(-1)

/** Work that lasts until it is released or aborted. */
function lasting(): {
  work: SearchWork
  letGo: () => void
  progress: (share: number, bytes?: number) => void
  part: (answer: SearchResponse) => void
  isStopped: () => boolean
} {
  const released = Promise.withResolvers<SearchResponse>()
  let control: Parameters<SearchWork>[0] | undefined
  return {
    work: (given) => {
      control = given
      given.signal.addEventListener('abort', () => released.reject(given.signal.reason))
      return released.promise
    },
    letGo: () => released.resolve(whole()),
    progress: (share, bytes = 0) => control?.onProgress({ rows: 0, bytes, elapsedMs: 0, share }),
    part: (answer) => control?.onPartial(answer),
    isStopped: () => control?.signal.aborted ?? false,
  }
}

const untilItIs = async (searches: Searches, id: string, status: string) =>
  vi.waitFor(async () => {
    const reply = bodyOf(await searches.status(actor, id))
    expect(reply.status).toBe(status)
    return reply
  }, WAIT_MS)

const failureOf = (promise: Promise<unknown>): Promise<Failure> =>
  promise.then(
    () => Promise.reject(new Error('it succeeded')),
    (thrown) => thrown,
  )

test('a quick search is answered at once and completely, with exact numbers and its own links', async () => {
  const reply = bodyOf(await open(PATIENT).start(actor, [], empty(), async () => whole()))
  expect(reply).toMatchObject({ http: 201, status: 'COMPLETED', progress: 100, links: [{ rel: 'next' }, { rel: 'status' }] })
  expect(reply.json).toContain('"count":9007199254740993')
})

test('a long result is unpacked while it is sent, and is the same', async () => {
  const warnings = Array.from({ length: 10_000 }, () => ({ code: 'UNKNOWN_KEY', field: 'where', message: randomUUID() }))
  const { body } = await open(PATIENT).start(actor, [], empty(), async () => ({ ...whole(), warnings }))
  if (!(body instanceof StreamedJson)) throw new Error('the result is not a long one')
  const json = await text(Readable.from(body.pieces))
  expect(JSON.parse(json)).toMatchObject({ status: 'COMPLETED', progress: 100, links: [{ rel: 'next' }, { rel: 'status' }], warnings })
  expect(json).toContain('"count":9007199254740993')
})

test('a longer search returns a status link, its progress and partial results, also through another process', async () => {
  const [here, there] = [open(), open()]
  const { work, letGo, progress, part } = lasting()
  const started = await here.start(actor, [], empty(), work)
  const id = idOf(started)
  expect(bodyOf(started)).toMatchObject({
    http: 202,
    headers: { 'retry-after': '5' },
    status: 'IN_PROGRESS',
    progress: 0,
    start_time: expect.stringMatching(/^\w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}$/),
    links: [{ rel: 'status', href: `http://here/search/status/${id}` }],
    metadata: { select: ['*'] },
    events: [],
  })
  progress(0.42, 1_234)
  part({ ...whole(), totals: { count: 7 } })
  await vi.waitFor(
    async () =>
      expect(bodyOf(await there.status(actor, id))).toMatchObject({
        http: 202,
        progress: 42,
        totals: { count: 7 },
        explain: { 'Bytes searched': '1234' },
      }),
    WAIT_MS,
  )
  letGo()
  expect(await untilItIs(there, id, 'COMPLETED')).toMatchObject({ http: 201, progress: 100, links: [{ rel: 'next' }, { rel: 'status' }] })
})

test('a cancelled search stops, by any process, and stays cancelled', async () => {
  const [here, there] = [open(), open()]
  for (const canceller of [here, there]) {
    const { work, isStopped } = lasting()
    const id = idOf(await here.start(actor, [], empty(), work))
    await canceller.cancel(actor, id)
    await vi.waitFor(() => expect(isStopped()).toBe(true), WAIT_MS)
    expect(bodyOf(await here.status(actor, id))).toMatchObject({ http: 201, status: 'CANCELLED_BY_USER', events: [], links: [] })
    await canceller.cancel(actor, id)
    expect(bodyOf(await here.status(actor, id)).status).toBe('CANCELLED_BY_USER')
  }
})

test('a search that is not polled for a minute stops', async () => {
  const searches = open()
  const { work, isStopped } = lasting()
  const id = idOf(await searches.start(actor, [], empty(), work))
  app.clock.advance(61_000)
  await vi.waitFor(() => expect(isStopped()).toBe(true), WAIT_MS)
  await untilItIs(searches, id, 'TIMED_OUT')
})

test('a failed search reports its error', async () => {
  const reply = await open(PATIENT).start(actor, [], empty(), () => Promise.reject(new Error('lost')))
  expect(bodyOf(reply)).toMatchObject({ http: 201, status: 'INTERNAL_SERVER_ERROR', events: [] })
})

test('a search does not stay running when its process stops or dies', async () => {
  const [stopping, there] = [open(), open()]
  const id = idOf(await stopping.start(actor, [], empty(), lasting().work))
  await stopping.close()
  expect(bodyOf(await there.status(actor, id)).status).toBe('INTERNAL_SERVER_ERROR')

  const world = app.app.world
  const died = openSearches({ ...world, clock: { ...world.clock, sleep: () => new Promise(() => undefined) } }, TIMES)
  const silent = died.start(actor, [], empty(), () => new Promise(() => undefined))
  silent.catch(() => undefined)
  const { id: silentId } = await vi.waitFor(async () => {
    const row = await world.meta.one<{ id: string }>(lastSearch(actor.orgId))
    expect(row?.id).not.toBe(id)
    return row ?? { id: '' }
  }, WAIT_MS)
  expect(bodyOf(await there.status(actor, silentId)).status).toBe('IN_PROGRESS')
  app.clock.advance(16_000)
  expect(bodyOf(await there.status(actor, silentId))).toMatchObject({ http: 201, status: 'INTERNAL_SERVER_ERROR' })
})

test('only the creator of a search and administrators may read or cancel it', async () => {
  const searches = open()
  const id = idOf(await searches.start(actor, [], empty(), lasting().work))
  const stranger = { ...actor, identity: { ...actor.identity, id: randomUUID() } }
  expect((await failureOf(searches.status(stranger, id))).status).toBe(404)
  expect((await failureOf(searches.cancel(stranger, id))).status).toBe(404)
  expect((await failureOf(searches.status({ ...actor, orgId: randomUUID() }, id))).status).toBe(404)
  expect(bodyOf(await searches.status({ ...stranger, roles: ['AdminApi'] }, id)).status).toBe('IN_PROGRESS')
})

test('a result is kept for an hour, reported as expired for a week, and then not found', async () => {
  const searches = open()
  const { work, letGo } = lasting()
  const id = idOf(await searches.start(actor, [], empty(), work))
  letGo()
  await untilItIs(searches, id, 'COMPLETED')
  app.clock.advance(3_540_000)
  await searches.forget()
  expect(bodyOf(await searches.status(actor, id)).totals).toBeDefined()
  app.clock.advance(120_000)
  await searches.forget()
  expect((await failureOf(searches.status(actor, id))).status).toBe(410)
  expect((await failureOf(searches.cancel(actor, id))).status).toBe(410)
  app.clock.advance(8 * 24 * 3_600_000)
  await searches.forget()
  expect((await failureOf(searches.status(actor, id))).status).toBe(404)
})
