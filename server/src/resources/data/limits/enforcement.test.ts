import type { FailureBody, Limit } from '@dendro/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSendersAlone, type Sent } from '../../../../../test/support/senders.ts'
import { openTestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { monthOf } from './month.ts'

type Usage = { value: number; used: number; window_start: number; window_end: number; crossed_at?: number }

let senders: Awaited<ReturnType<typeof openSendersAlone>>
beforeAll(async () => {
  senders = await openSendersAlone()
  // No month ends while these tests run.
  const { endMs } = monthOf(senders.app.clock.nowMs() + 86_400_000)
  if (endMs !== monthOf(senders.app.clock.nowMs()).endMs) senders.app.clock.advance(86_400_000)
})
afterAll(() => senders?.close())

/** Creates a new organization that may have limits; a line of n bytes counts n. */
async function newSender() {
  const owner = await senders.app.newOrganization()
  const send = (bytes: number, sent: Sent = {}) => senders.post('x'.repeat(bytes), { owner, ...sent })
  const limit = async (value: number, team?: string): Promise<string> => {
    const scope = { organisation: { id: owner.orgId }, ...(team === undefined ? {} : { tag: { team } }) }
    const target = team === undefined ? 'ORGANISATION' : 'TEAM'
    const body = { category: 'INGESTION_LIMITS', value, unit: 'BYTES', target, scope, time_window: 'PER_MONTH' }
    const reply = await owner.ask<Limit>('POST', '/limits', { body })
    expect(reply.status).toBe(201)
    return reply.body.id
  }
  const usage = async (id: string): Promise<Usage> => (await owner.ask<Usage>('GET', `/limits/${id}/usage`)).body
  return { owner, send, limit, usage }
}

const ofTeam = (team: string, dataset = team) => ({ headers: { 'x-service-dataset': dataset, 'x-service-tags': `team=${team}` } })
const storedIn = async (owner: TestOrganization): Promise<number> =>
  (await owner.ask<{ totals: { raw_bytes: number } }>('GET', '/ledger')).body.totals.raw_bytes

test('a cap is reached to the byte; the post that would cross it and every later one are refused whole, and nothing of them is stored', async () => {
  const { owner, send, limit, usage } = await newSender()
  const id = await limit(30)
  for (const bytes of [10, 10]) expect((await send(bytes)).status).toBe(200)
  const beyond = await send(11)
  expect(beyond.status).toBe(429)
  expect(beyond.body.details).toContain('the limit of the organization of 30 bytes a month does not let this in: 20 bytes are used')
  const { endMs } = monthOf(senders.app.clock.nowMs())
  expect(beyond.body.details).toContain(new Date(endMs).toISOString())
  const retryAfter = Number(beyond.headers.get('retry-after'))
  expect(retryAfter).toBeGreaterThan(0)
  expect(retryAfter).toBeLessThanOrEqual(Math.min(3_600, Math.ceil((endMs - senders.app.clock.nowMs()) / 1_000) + 60))
  expect((await send(1)).body.details).toContain('it was crossed at')
  expect(await senders.eventsIn('default', 'default', owner)).toHaveLength(2)
  expect(await usage(id)).toMatchObject({ value: 30, used: 20, window_end: endMs, crossed_at: expect.any(Number) })
  const { totals } = (await owner.ask<{ totals: object }>('GET', '/ledger')).body
  expect(totals).toMatchObject({ received: 4, stored: 2, rejected: 2, reasons: { limit: 2 }, balances: true })
})

test('a cap may be filled exactly', async () => {
  const { send, limit, usage } = await newSender()
  const id = await limit(10)
  expect((await send(10)).status).toBe(200)
  expect(await usage(id)).toEqual(expect.not.objectContaining({ crossed_at: expect.anything() }))
  expect((await send(1)).status).toBe(429)
})

test('a raised limit admits events again, a deleted one does not apply, and a cap of zero admits none', async () => {
  const { owner, send, limit } = await newSender()
  const id = await limit(0)
  expect((await send(1)).status).toBe(429)
  expect(await senders.datasets(owner)).toHaveLength(3)
  await owner.ask('PATCH', `/limits/${id}`, { body: { value: 5 } })
  expect((await send(5)).status).toBe(200)
  expect((await send(5)).status).toBe(429)
  await owner.ask('DELETE', `/limits/${id}`)
  expect((await send(5)).status).toBe(200)
})

test('events from before the limit was created count, and repeats of a post do not', async () => {
  const { send, limit, usage } = await newSender()
  const once = { headers: { 'idempotency-key': 'k' } }
  await send(10, once)
  const id = await limit(30)
  for (let n = 0; n < 5; n += 1) expect((await send(10, once)).status).toBe(200)
  expect((await usage(id)).used).toBe(10)
  expect((await send(10)).status).toBe(200)
  expect((await usage(id)).used).toBe(20)
})

test('concurrent senders never exceed the cap, and the usage equals the stored bytes', async () => {
  const { owner, send, limit, usage } = await newSender()
  const id = await limit(500)
  const replies = await Promise.all(
    Array.from({ length: 60 }, (_, n) => send(5 + (n % 13), { headers: { 'x-service-dataset': `d${n % 3}` } })),
  )
  const taken = replies.reduce((sum, { status }, n) => sum + (status === 200 ? 5 + (n % 13) : 0), 0)
  expect(replies.some(({ status }) => status === 429)).toBe(true)
  expect(taken).toBeLessThanOrEqual(500)
  expect(taken).toBeGreaterThan(500 - 18 - 17)
  expect([(await usage(id)).used, await storedIn(owner)]).toEqual([taken, taken])
})

describe('the limit of a team', () => {
  test('covers the datasets with its tag, from their first event on, and no others', async () => {
    const { owner, send, limit, usage } = await newSender()
    const id = await limit(20, 'payments')
    expect((await send(15, ofTeam('payments'))).status).toBe(200)
    expect((await send(15, ofTeam('payments', 'other'))).status).toBe(429)
    expect((await send(100, ofTeam('search'))).status).toBe(200)
    expect((await send(100)).status).toBe(200)
    expect((await usage(id)).used).toBe(15)
    const dataset = (await senders.datasets(owner)).find(({ dataset }) => dataset === 'search')
    await owner.ask('POST', '/tags', { body: { name: 'team', value: 'payments', entity: { type: 'dataset', id: dataset?.id } } })
  })

  test('applies next to that of the organization: the first one reached decides', async () => {
    const { send, limit } = await newSender()
    await limit(10, 'a')
    await limit(25)
    expect((await send(10, ofTeam('a'))).status).toBe(200)
    expect((await send(1, ofTeam('a'))).body.details).toContain('of the team a')
    expect((await send(15, ofTeam('b'))).status).toBe(200)
    expect((await send(1, ofTeam('b'))).body.details).toContain('of the organization')
  })
})

test('every receiver refuses in its own words and with Retry-After', async () => {
  const { owner, limit } = await newSender()
  await limit(0)
  const json = { 'content-type': 'application/json' }
  const record = { timeUnixNano: '1760000000000000000', body: { stringValue: 'x' } }
  const logs = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] })
  const otlp = await senders.app.ask<{ message: string }>('POST', '/v1/logs', { key: owner.key, raw: logs, headers: json })
  expect([otlp.status, otlp.body.message]).toEqual([429, expect.stringContaining('bytes a month')])
  const bulk = await senders.app.ask('POST', '/_bulk', {
    key: owner.key,
    raw: '{"index":{"_index":"a"}}\n{"message":"x"}\n',
    headers: json,
  })
  expect(bulk.status).toBe(429)
  const native = await senders.app.ask<FailureBody>('POST', '/ingest', { key: owner.key, raw: 'x' })
  expect(native.body).toMatchObject({ code: 429, type: 'Too Many Requests' })
  for (const reply of [otlp, bulk, native]) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('other processes see the usage within two seconds, and a restart keeps it', async () => {
  const { owner, send, limit } = await newSender()
  const id = await limit(100)
  const other = await openTestApp(senders.env)
  const sendThere = (bytes: number) =>
    other.ask<FailureBody>('POST', '/', { key: owner.key, raw: 'x'.repeat(bytes), headers: { 'content-type': 'text/plain' } })
  expect((await sendThere(20)).status).toBe(200)
  expect((await send(60)).status).toBe(200)
  await expect.poll(async () => (await other.ask<Usage>('GET', `/limits/${id}/usage`, { key: owner.key })).body.used).toBe(80)
  expect((await sendThere(30)).status).toBe(429)
  await expect.poll(async () => (await send(1)).status).toBe(429)
  await other.close()
  const again = await openTestApp(senders.env)
  expect((await again.ask<Usage>('GET', `/limits/${id}/usage`, { key: owner.key })).body).toMatchObject({ crossed_at: expect.any(Number) })
  expect((await again.ask('POST', '/', { key: owner.key, raw: 'x' })).status).toBe(429)
  await again.close()
})

test('the next month frees, and begins at nothing', async () => {
  const { owner, send, limit, usage } = await newSender()
  const id = await limit(10)
  expect((await send(10)).status).toBe(200)
  expect((await send(1)).status).toBe(429)
  const { endMs } = monthOf(senders.app.clock.nowMs())
  senders.app.clock.advance(endMs - senders.app.clock.nowMs() + 61_000)
  expect(await usage(id)).toMatchObject({ used: 0, window_start: endMs })
  expect((await send(7)).status).toBe(200)
  expect(await usage(id)).toMatchObject({ used: 7 })
  expect(await senders.eventsIn('default', 'default', owner)).toHaveLength(2)
})
