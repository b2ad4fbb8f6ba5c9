import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { longestDelayMs, recordDelaysInto } from '../loop-delays.ts'
import { copyMadeStores, killServices, type Service, startService, stop, untilUp } from '../service.ts'

const EVENTS = 10_000
const WIDE_CHARS = 380
const CALLERS = 4
/** No caller keeps the others waiting for longer. Time of the CPU, so that a busy machine makes no difference. */
const WAIT_MS_MAX = 100
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

const grouped = (slices: number) => ({ ...range, select: ['count(*)'], groups: ['one', 'other'], limit: EVENTS, num_of_slices: slices })
const range = { from: ['default.wide'], from_ts: atMs - 60_000, to_ts: atMs + 60_000 }

const ask = (path: string, body: object): Promise<Response> =>
  fetch(`${service.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })

/** Reads an answer to its end without keeping it. */
async function bytesOf(answer: Response): Promise<number> {
  expect(answer.status).toBe(200)
  let bytes = 0
  for await (const chunk of answer.body ?? []) bytes += chunk.length
  return bytes
}

test('searches with large answers keep nobody waiting', async () => {
  const delays = join(dir, 'delays.json')
  await copyMadeStores(join(dir, 'data'))
  await start(delays)
  await send()
  // What happens once, such as compiling, is not what is measured.
  await bytesOf(await ask('/search', { ...grouped(1), limit: 100 }))
  const requests = { grouped: grouped(1), sliced: grouped(100), events: { ...range, select: ['*', '@raw'], limit: EVENTS } }
  const spans = new Map<string, readonly [fromMs: number, untilMs: number]>()
  for (const [name, request] of Object.entries(requests)) {
    const fromMs = Date.now()
    const bytes = await Promise.all(Array.from({ length: CALLERS }, async () => bytesOf(await ask('/search', request))))
    expect(Math.min(...bytes)).toBeGreaterThan(20_000_000)
    spans.set(name, [fromMs, Date.now()])
  }
  expect(await stop(service.child, 'SIGTERM')).toBe(0)
  const longest = [...spans].map(([name, [fromMs, untilMs]]) => [name, longestDelayMs(delays, fromMs, untilMs)] as const)
  expect(longest.filter(([, ms]) => !(ms < WAIT_MS_MAX))).toEqual([])
})
