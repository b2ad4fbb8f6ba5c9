import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Export, ExportFormat, SearchResponse } from '@dendro/api'
import { afterAll, expect, test } from 'vitest'
import { longDelayMs, recordDelaysInto } from '../support/loop-delays.ts'
import { copyMadeStores, killServices, type Service, startService, stop, untilUp } from '../support/service.ts'

const EVENTS = 10_000
const WIDE_CHARS = 380
const CALLERS = 4
/** No caller keeps the others waiting for longer. Time of the CPU, so that a busy machine makes no difference. */
const WAIT_MS_MAX = 100
const LARGE_BYTES = 4_000_000
const POST_EVENTS = 1_000

const dir = await mkdtemp(join(tmpdir(), 'dendro-isolation-'))
afterAll(async () => {
  await killServices()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

/** Differs from the others in its first characters, as ids and messages do. */
const wideText = (number: number): string => `${((number * 7_919) % 1_000_003).toString(36)} `.repeat(WIDE_CHARS).slice(0, WIDE_CHARS)

let service: Service
let headers: Record<string, string>
const atMs = Date.now() - 600_000

async function start(delays: string): Promise<void> {
  service = await untilUp(startService(join(dir, 'data'), { DENDRO_RATE_LIMIT: 'off', ...recordDelaysInto(delays) }))
  headers ??= { 'x-service-api-key': /dk_[\w-]+/.exec(service.said())?.[0] ?? '', 'content-type': 'application/json' }
}

async function send(): Promise<void> {
  for (let from = 0; from < EVENTS; from += POST_EVENTS) {
    const events = Array.from({ length: POST_EVENTS }, (_, index) => ({
      timestamp: atMs + from + index,
      one: wideText(from + index),
      other: wideText(from + index + EVENTS),
    }))
    const sent = await fetch(`${service.url}/ingest`, {
      method: 'POST',
      headers: { ...headers, 'x-service-dataset': 'wide' },
      body: JSON.stringify(events),
    })
    expect(sent.status).toBe(200)
  }
}

const range = { from_ts: atMs - 60_000, to_ts: atMs + 60_000 }
const searched = { ...range, from: ['default.wide'] }
const grouped = (slices: number) => ({ ...searched, select: ['count(*)'], groups: ['one', 'other'], limit: EVENTS, num_of_slices: slices })

type Request = { readonly method?: string; readonly body?: object; readonly headers?: Record<string, string> }
const ask = (path: string, { method = 'POST', body, headers: more }: Request): Promise<Response> =>
  fetch(`${service.url}${path}`, {
    method,
    headers: { ...headers, 'accept-encoding': 'identity', ...more },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })

/** Reads an answer to its end without keeping it. */
async function bytesOf(answer: Response): Promise<number> {
  if (!answer.ok) throw new Error(await answer.text())
  let bytes = 0
  for await (const chunk of answer.body ?? []) bytes += chunk.length
  return bytes
}

/** Waits for the result of an asynchronous search. */
async function waitFor(started: Response): Promise<number> {
  let answer = started
  let body = (await answer.json()) as SearchResponse
  const { pathname } = new URL(body.links.find(({ rel }) => rel === 'status')?.href ?? '')
  while (answer.status === 202) {
    await new Promise((done) => setTimeout(done, 200))
    answer = await ask(pathname, { method: 'GET' })
    if (answer.status === 202) body = (await answer.json()) as SearchResponse
  }
  return answer.bodyUsed ? JSON.stringify(body).length : bytesOf(answer)
}

/** Makes an export and downloads it. */
async function exported(format: ExportFormat): Promise<number> {
  const search_details = { from_expr: "dataset = 'wide'", ...range }
  let made = (await (await ask('/exports', { body: { search_details, format, compression: 'none' } })).json()) as Export
  while (made.status !== 'COMPLETE') {
    if (made.status === 'FAILED') throw new Error(made.failure_detail)
    await new Promise((done) => setTimeout(done, 200))
    made = (await (await ask(`/exports/${made.export_id}`, { method: 'GET' })).json()) as Export
  }
  return bytesOf(await fetch(made.location))
}

const search = (body: object) => async () => bytesOf(await ask('/search', { body }))
const loki = new URLSearchParams({
  query: '{dataset="wide"}',
  start: String(range.from_ts * 1e6),
  end: String(range.to_ts * 1e6),
  limit: '5000',
})
const reads: Readonly<Record<string, () => Promise<number>>> = {
  groups: search(grouped(1)),
  'groups in slices': search(grouped(50)),
  'compressed groups': async () => bytesOf(await ask('/search', { body: grouped(10), headers: { 'accept-encoding': 'br' } })),
  events: search({ ...searched, select: ['*', '@raw'], limit: EVENTS }),
  'an asynchronous search': async () => waitFor(await ask('/search', { body: { ...grouped(10), async_enabled: true } })),
  'a time series': async () =>
    bytesOf(
      await ask('/timeseries/search', {
        body: {
          queries: [{ name: 'a', select: ['count(*)'], from_expr: "dataset = 'wide'", groups: ['one', 'other'] }],
          time_range: range,
          limit: EVENTS,
          num_of_slices: 50,
        },
      }),
    ),
  'exports of JSON': () => exported('ndjson'),
  'exports of CSV': () => exported('csv'),
  'exports of Parquet': () => exported('parquet'),
  'lines by the Loki protocol': async () => bytesOf(await ask(`/loki/api/v1/query_range?${loki}`, { method: 'GET' })),
}

test('large answers keep nobody waiting', async () => {
  const delays = join(dir, 'delays.json')
  await copyMadeStores(join(dir, 'data'))
  await start(delays)
  await send()
  // What happens once, such as compiling, is not what is measured.
  await bytesOf(await ask('/search', { body: { ...grouped(1), limit: 100 } }))
  const spans: (readonly [read: string, fromMs: number, untilMs: number])[] = []
  for (const [name, read] of Object.entries(reads)) {
    const fromMs = Date.now()
    const bytes = await Promise.all(Array.from({ length: CALLERS }, read))
    expect(Math.min(...bytes)).toBeGreaterThan(LARGE_BYTES)
    spans.push([name, fromMs, Date.now()])
  }
  expect(await stop(service.child, 'SIGTERM')).toBe(0)
  // A garbage collection may fall into one iteration. Work that is not divided is long for every caller.
  const longest = spans.map(([name, fromMs, untilMs]) => [name, longDelayMs(delays, fromMs, untilMs, 1)] as const)
  expect(longest.filter(([, ms]) => !(ms < WAIT_MS_MAX))).toEqual([])
})
