import { randomUUID } from 'node:crypto'
import { contract, type LedgerCounts, type LedgerEntry, type MetricItem } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSendersAlone, type Senders } from '../../../../../test/support/senders.ts'
import type { TestOrganization } from '../../../../../test/support/world.ts'
import type { JobRun } from '../../../jobs/job.ts'
import { ledgerRollup } from './rolling.ts'

type Ledger = { start_time: number; end_time: number; slice_ms: number; totals: LedgerCounts; is_complete: boolean; entries: LedgerEntry[] }

let senders: Senders
let org: TestOrganization
beforeAll(async () => {
  senders = await openSendersAlone()
  org = senders.org
})
afterAll(() => senders?.close())

const MINUTE_MS = 60_000

/** Creates a new organization with a sender and its ledger. */
async function newSender() {
  const owner = await senders.app.newOrganization()
  const post = (raw: string | Uint8Array, headers: Record<string, string> = {}, path = '/') => senders.post(raw, { owner, headers, path })
  const read = async (query = ''): Promise<Ledger> => {
    const reply = await owner.ask<Ledger>('GET', `/ledger${query}`)
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    return reply.body
  }
  return { owner, post, read }
}

const to = (dataset: string) => ({ 'x-service-dataset': dataset })
const idOf = async (owner: TestOrganization, dataset: string) => (await senders.datasets(owner)).find((one) => one.dataset === dataset)?.id

test('stored events are counted immediately by dataset and sender, with bytes on the wire and bytes of lines', async () => {
  const { owner, post, read } = await newSender()
  await post('{"n":1}\n\n{"n":22}\r\n', to('web'))
  await post('plain', to('web'))
  await post('x', to('mail'))
  const { entries, totals, is_complete } = await read()
  expect(is_complete).toBe(true)
  expect(totals).toMatchObject({ received: 4, stored: 4, duplicate: 0, rejected: 0, reasons: {}, missing: 0, balances: true })
  expect(totals).toMatchObject({ wire_bytes: 19 + 5 + 1, raw_bytes: 7 + 8 + 5 + 1 })
  const [webId, mailId] = [await idOf(owner, 'web'), await idOf(owner, 'mail')]
  expect(entries.find(({ log_id }) => log_id === webId)).toMatchObject({
    received: 3,
    raw_bytes: 20,
    protocol: 'native',
    identity: { type: 'API_KEY_ID' },
  })
  expect(entries.find(({ log_id }) => log_id === mailId)).toMatchObject({ received: 1, stored: 1, raw_bytes: 1 })
  expect(contract.ledger.get.reply.strict().parse(await read())).toBeDefined()
})

test('a repeated post is a duplicate, and another body with a used idempotency key is rejected', async () => {
  const { post, read } = await newSender()
  const headers = { 'idempotency-key': 'one' }
  await post('a\nb', headers)
  await post('a\nb', headers)
  expect((await post('a\nb\nc', headers)).status).toBe(422)
  const { totals } = await read()
  expect(totals).toMatchObject({ received: 7, stored: 2, duplicate: 2, rejected: 3, reasons: { identity: 3 }, balances: true })
  expect(totals).toMatchObject({ raw_bytes: 2 })
})

test('late and truncated events are counted', async () => {
  const { post, read } = await newSender()
  const at = (agoMs: number) => new Date(senders.app.clock.nowMs() - agoMs).toISOString()
  const lines = [at(0), at(59 * MINUTE_MS), at(61 * MINUTE_MS), at(3 * 24 * 60 * MINUTE_MS)].map((timestamp) =>
    JSON.stringify({ timestamp }),
  )
  await post([...lines, `"${'x'.repeat(2 ** 20)}"`].join('\n'))
  expect((await read()).totals).toMatchObject({ received: 5, stored: 5, late: 2, truncated: 1, balances: true })
})

describe('posts that are refused as a whole', () => {
  test('count as one event by reason if they were not parsed', async () => {
    const { owner, post, read } = await newSender()
    await post('x', { 'content-encoding': 'br' })
    await post('x', { 'content-encoding': 'gzip' })
    await post(new Uint8Array(11 * 2 ** 20))
    await senders.post('x', { key: await owner.newKey(['SearchApi']) })
    const { totals, entries } = await read()
    expect(totals).toMatchObject({ received: 4, stored: 0, rejected: 4, balances: true })
    expect(totals.reasons).toEqual({ encoding: 1, forbidden: 1, malformed: 1, too_large: 1 })
    expect(entries.every((entry) => entry.log_id === undefined && entry.identity?.type === 'API_KEY_ID')).toBe(true)
    expect(new Set(entries.map(({ identity }) => identity?.id)).size).toBe(2)
  })

  test('a request without credentials is not counted', async () => {
    const { read } = await newSender()
    expect((await senders.post('x', { key: 'dk_nobody' })).status).toBe(401)
    expect((await read()).totals.received).toBe(0)
  })

  test('a body without events counts only its bytes', async () => {
    const { post, read } = await newSender()
    await post('')
    await post('\n \n')
    expect((await read()).totals).toMatchObject({ received: 0, stored: 0, wire_bytes: 3, balances: true })
  })
})

describe('every receiver is counted', () => {
  test('OpenTelemetry: stored records, and records that are nested too deeply', async () => {
    const { owner, post, read } = await newSender()
    const timeUnixNano = `${senders.app.clock.nowMs()}000000`
    const deep = JSON.parse(`${'{"arrayValue":{"values":['.repeat(150)}{"intValue":1}${']}}'.repeat(150)}`)
    const records = [
      { timeUnixNano, body: { stringValue: 'one' } },
      { timeUnixNano, body: deep },
      { timeUnixNano, body: { stringValue: 'three' } },
    ]
    const body = { resourceLogs: [{ resource: { attributes: [] }, scopeLogs: [{ logRecords: records }] }] }
    const json = { 'content-type': 'application/json' }
    expect((await post(JSON.stringify(body), json, '/v1/logs')).status).toBe(200)
    expect((await read()).totals).toMatchObject({ received: 3, stored: 2, rejected: 1, reasons: { malformed: 1 }, balances: true })
    await post(JSON.stringify(body), json, '/v1/logs')
    expect((await read()).totals).toMatchObject({ received: 6, stored: 2, duplicate: 2, rejected: 2, balances: true })
    expect((await post('{', json, '/v1/logs')).status).toBe(400)
    const { entries, totals } = await read()
    expect(totals).toMatchObject({ received: 7, rejected: 3 })
    expect([...new Set(entries.map(({ protocol }) => protocol))]).toEqual(['otlp'])
    expect(await senders.datasets(owner)).not.toHaveLength(0)
  })

  test('bulk posts: each dataset of a post separately, and the bytes on the wire divided without a remainder', async () => {
    const { owner, post, read } = await newSender()
    const lines = [{ index: { _index: 'a' } }, { message: 'one' }, { index: { _index: 'b' } }, { message: 'two two two' }, { index: {} }]
    const body = `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"broken"\n`
    const reply = await post(body, { 'content-type': 'application/x-ndjson' }, '/_bulk')
    expect(reply.status).toBe(200)
    const { entries, totals } = await read()
    expect(totals).toMatchObject({ received: 3, stored: 2, rejected: 1, wire_bytes: body.length, balances: true })
    for (const dataset of ['a', 'b']) {
      const id = await idOf(owner, dataset)
      expect(entries.find(({ log_id }) => log_id === id)).toMatchObject({ received: 1, stored: 1, protocol: 'elasticsearch' })
    }
    expect(entries.find(({ log_id }) => log_id === undefined)).toMatchObject({ received: 1, rejected: 1, reasons: { malformed: 1 } })
  })

  test('a probe is not counted as an event', async () => {
    const { owner, read } = await newSender()
    await senders.app.ask('GET', '/_license', { key: owner.key })
    expect((await read()).entries).toEqual([])
  })
})

describe('reading', () => {
  test('slices of full minutes, each with the events that arrived in it', async () => {
    const { post, read } = await newSender()
    await post('a')
    senders.app.clock.advance(3 * MINUTE_MS)
    await post('a\nb')
    const nowMs = senders.app.clock.nowMs()
    const ledger = await read(`?from_ts=${nowMs - 10 * MINUTE_MS}&to_ts=${nowMs}&num_of_slices=1000`)
    expect(ledger.slice_ms).toBe(MINUTE_MS)
    expect(ledger.start_time % MINUTE_MS).toBe(0)
    expect(ledger.end_time).toBeGreaterThanOrEqual(nowMs)
    expect(ledger.entries.map(({ stored }) => stored)).toEqual([1, 2])
    const [first, second] = ledger.entries
    expect((second?.start_time ?? 0) - (first?.start_time ?? 0)).toBeGreaterThanOrEqual(2 * MINUTE_MS)
    expect((first?.end_time ?? 0) - (first?.start_time ?? 0)).toBe(MINUTE_MS)
    expect((await read(`?from_ts=${nowMs - 10 * MINUTE_MS}&to_ts=${nowMs}&limit=1`)).totals.stored).toBe(3)
  })

  test('filters by dataset or sender, limits the entries, and returns the totals of all', async () => {
    const { owner, post, read } = await newSender()
    for (const dataset of ['a', 'b', 'c']) await post('x\ny', to(dataset))
    const key = await owner.newKey(['IngestionApi'])
    await senders.post('z', { key, headers: to('a') })
    const a = await idOf(owner, 'a')
    expect((await read(`?from=${a}`)).totals).toMatchObject({ received: 3 })
    const cut = await read('?limit=2')
    expect([cut.entries.length, cut.is_complete, cut.totals.received]).toEqual([2, false, 7])
    const { api_keys } = (await owner.ask<{ api_keys: { id: string; roles: string[] }[] }>('GET', '/api-keys')).body
    const keyId = api_keys.find(({ roles }) => roles.includes('IngestionApi'))?.id
    expect((await read(`?identity_id=${keyId}`)).totals).toMatchObject({ received: 1, stored: 1 })
  })

  test('hides counts from other organizations, and counts of datasets that are hidden from the caller', async () => {
    const { owner, post, read } = await newSender()
    await post('x', to('seen'))
    await post('x\ny', to('hidden'))
    const hidden = await idOf(owner, 'hidden')
    const stranger = await newSender()
    expect((await stranger.read(`?from=${hidden}`)).totals.received).toBe(0)
    expect((await stranger.read()).totals.received).toBe(0)
    await owner.ask('POST', '/policies', {
      body: {
        policy_type: 'LOG_FORBID',
        resource: { resource_type: 'LOG', resource_id: hidden },
        actions: ['*'],
        principal: { principal_type: 'ROLE', principal_id: 'SearchApi' },
      },
    })
    const key = await owner.newKey(['SearchApi'])
    const narrow = (await owner.ask<Ledger>('GET', '/ledger', { key })).body
    expect(narrow.totals.received).toBe(1)
    expect((await owner.ask<Ledger>('GET', `/ledger?from=${hidden}`, { key })).body.totals.received).toBe(0)
    expect((await read()).totals.received).toBe(3)
  })

  test('keeps the counts of deleted datasets', async () => {
    const { owner, post, read } = await newSender()
    await post('x', to('short-lived'))
    await owner.ask('DELETE', `/datasets/${await idOf(owner, 'short-lived')}`)
    expect((await read()).totals).toMatchObject({ received: 1, stored: 1, balances: true })
  })

  test.each([
    ['?from_ts=2&to_ts=1', 'from_ts must not be later than to_ts'],
    ['?to_ts=9007199254740991', 'to_ts is too far in the future'],
    ['?limit=0', 'limit'],
    ['?from=web', 'from'],
    ['?num_of_slices=1441', 'num_of_slices'],
  ])('%s is refused', async (query, details) => {
    const reply = await org.ask<{ details: string }>('GET', `/ledger${query}`)
    expect([reply.status, reply.body.details]).toEqual([400, expect.stringContaining(details)])
  })

  test('requires the permission to read usage', async () => {
    expect((await org.ask('GET', '/ledger', { key: await org.newKey(['IngestionApi']) })).status).toBe(403)
  })
})

test('after days the ledger counts whole hours and then whole days: replies are widened to them and stay exact, and usage reports where it is not exact', async () => {
  const [HOUR_MS, DAY_MS] = [60 * MINUTE_MS, 24 * 60 * MINUTE_MS]
  const { clock, app } = senders.app
  // Sequence numbers may lag behind the clock by seconds, so avoid the beginning of the day.
  clock.advance(DAY_MS - (clock.nowMs() % DAY_MS) + 10 * MINUTE_MS)
  const { owner, post, read } = await newSender()
  const dayMs = Math.floor(clock.nowMs() / DAY_MS) * DAY_MS
  for (const line of ['one', 'two', 'three']) {
    await post(line, to('web'))
    clock.advance(40 * MINUTE_MS)
  }
  await app.world.ledger.flush()
  const rolled = async (days: number) => {
    clock.advance(days * DAY_MS)
    const signal = new AbortController().signal
    const run = async (payload: JobRun['payload']) =>
      (
        await ledgerRollup(app.world).run({
          id: randomUUID(),
          orgId: undefined,
          payload,
          attempt: 1,
          fence: 1,
          signal,
          hold: async () => undefined,
        })
      )?.payload ?? {}
    // A clock that was not observed is not trusted.
    const beforeMs = clock.nowMs()
    const { reading } = await run({})
    const { seenMs, steadySinceMs } = reading as { seenMs: number; steadySinceMs: number }
    expect(seenMs).toBeGreaterThanOrEqual(beforeMs)
    expect(seenMs).toBeLessThanOrEqual(clock.nowMs())
    expect(steadySinceMs).toBeGreaterThanOrEqual(beforeMs)
    await run({ reading: { seenMs: clock.nowMs(), steadySinceMs: clock.nowMs() - 3 * HOUR_MS } })
  }
  const counts = ({ totals: { received, stored, raw_bytes, balances } }: Ledger) => ({ received, stored, raw_bytes, balances })
  const usage = async (fromMs: number, toMs: number) => {
    const { body } = await owner.ask<MetricItem>('GET', `/usage?from_ts=${fromMs}&to_ts=${toMs}&num_of_slices=1`)
    return { bytes: body.total_value, isExact: body.is_exact }
  }
  const minutes = await read(`?from_ts=${dayMs}&to_ts=${dayMs + DAY_MS}`)
  expect(counts(minutes)).toEqual({ received: 3, stored: 3, raw_bytes: 11, balances: true })
  await rolled(5)
  expect(counts(await read(`?from_ts=${dayMs}&to_ts=${dayMs + DAY_MS}`))).toEqual(counts(minutes))
  const hour = await read(`?from_ts=${dayMs + 10 * MINUTE_MS}&to_ts=${dayMs + 50 * MINUTE_MS}&num_of_slices=10`)
  expect([hour.start_time, hour.end_time, hour.slice_ms]).toEqual([dayMs, dayMs + HOUR_MS, HOUR_MS])
  expect(counts(hour)).toMatchObject({ received: 2, stored: 2, raw_bytes: 6 })
  expect(await usage(dayMs, dayMs + HOUR_MS)).toEqual({ bytes: 6, isExact: true })
  expect(await usage(dayMs, dayMs + 10 * MINUTE_MS)).toEqual({ bytes: 6, isExact: false })
  await rolled(95)
  expect(await usage(dayMs, dayMs + DAY_MS)).toEqual({ bytes: 11, isExact: true })
  expect(await usage(dayMs, dayMs + HOUR_MS)).toEqual({ bytes: 11, isExact: false })
  const day = await read(`?from_ts=${dayMs + HOUR_MS}&to_ts=${dayMs + 2 * HOUR_MS}`)
  expect([day.start_time, day.end_time, counts(day)]).toEqual([dayMs, dayMs + DAY_MS, counts(minutes)])
})
