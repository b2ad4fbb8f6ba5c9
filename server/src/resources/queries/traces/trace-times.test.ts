import { contract, type FailureBody, type ReplyOf } from '@dendro/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestApp, type TestApp, type TestOrganization } from '../../../../../test/support/world.ts'
import { sendSpans } from './spans.fixture.ts'

type Answer = ReplyOf<typeof contract.traces.get> & FailureBody
const TRACE = '6b8efff798038103d269b633813fc60c'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let app: TestApp
let org: TestOrganization
let nowMs: number

beforeAll(async () => {
  app = await openTestApp()
  nowMs = app.clock.nowMs()
})
afterAll(() => app.close())

const read = async <T>(path: string): Promise<T> => {
  const { status, body } = await org.ask<T>('GET', path)
  expect([path, status]).toEqual([path, 200])
  return body
}
const get = (query = '') => read<Answer>(`/traces/${TRACE}${query}`)
const faults = (schema: { safeParse(value: unknown): { error?: { issues: unknown } | undefined } }, body: unknown) =>
  schema.safeParse(body).error?.issues ?? []

async function sendLog(atMs: number): Promise<void> {
  const raw = JSON.stringify({ timestamp: new Date(atMs).toISOString(), trace_id: TRACE, message: 'opened the trace' })
  const headers = { 'x-service-collection': 'shop', 'x-service-dataset': 'support', 'content-type': 'application/x-ndjson' }
  expect((await org.ask('POST', '/ingest', { raw, headers })).status).toBe(200)
}

test('a clock of 1970 and a length of centuries leave all numbers whole', async () => {
  org = await app.newOrganization()
  const startMs = nowMs - 60_000
  await sendSpans(org, startMs, TRACE, [
    { id: 'a', service: 'shop', from: 0, to: 100 },
    { id: 'b', parent: 'a', service: 'shop', from: 20 - startMs, to: 50 - startMs, error: 'unset clock' },
    { id: 'c', parent: 'a', service: 'shop', from: 10, to: 9_000_000_000_000 },
    // The clock is set while the span lasts.
    { id: 'd', parent: 'a', service: 'shop', from: 20 - startMs, to: 50 },
  ])
  const trace = await get()
  expect(faults(contract.traces.get.reply, trace)).toEqual([])
  expect(trace).toMatchObject({ spans_total: 4, start_time: startMs })
  const b = trace.spans.find(({ name }) => name === 'b')
  expect(b).toMatchObject({ duration_nano: 30e6, start_time_unix_nano: '20000000' })
  expect(b?.events[0]?.start_nano).toBe((b?.start_nano ?? 0) + 1e6)
  const list = await read<ReplyOf<typeof contract.traces.find>>('/traces')
  expect(faults(contract.traces.find.reply, list)).toEqual([])
  expect(list.traces[0]?.start_time).toBe(startMs)
  expect(faults(contract.traces.operations.reply, await read('/traces/operations'))).toEqual([])
  expect(faults(contract.traces.calls.reply, await read('/traces/calls'))).toEqual([])
  expect(await read(`/tempo/api/v2/traces/${TRACE}`)).toBeDefined()
  const { data } = await read<{ data: { spans: { operationName: string; startTime: number }[] }[] }>(`/jaeger/api/traces/${TRACE}`)
  expect(data[0]?.spans.every(({ startTime }) => startTime >= startMs * 1_000)).toBe(true)
})

test('a log event of today does not hide spans of last week', async () => {
  org = await app.newOrganization()
  await sendSpans(org, nowMs - 7 * DAY_MS, TRACE, [{ id: 'a', service: 'shop', from: 0, to: 100 }])
  await sendLog(nowMs)
  for (const query of ['', `?timestamp=${nowMs}`]) expect(await get(query)).toMatchObject({ spans_total: 1, logs_total: 1 })
})

test('a parent that began long before what it called is not missing', async () => {
  org = await app.newOrganization()
  await sendSpans(org, nowMs - 30 * HOUR_MS, TRACE, [
    { id: 'job', service: 'batch', from: 0, to: 30 * HOUR_MS },
    { id: 'step', parent: 'job', service: 'batch', from: 9 * HOUR_MS, to: 10 * HOUR_MS },
    { id: 'last', parent: 'job', service: 'batch', from: 29 * HOUR_MS, to: 30 * HOUR_MS },
  ])
  for (const query of ['', `?timestamp=${nowMs}`]) expect(await get(query)).toMatchObject({ spans_total: 3, missing_spans: [], root: 0 })
})
