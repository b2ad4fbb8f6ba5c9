import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { killServices, type Service, startService, stop, until, untilUp } from '../service.ts'

const KEY = 'dk_kestrel-4-lanterns-and-a-wheel-of-cheese'
const EVENTS = 300_000
const POST_EVENTS = 10_000

let dir = ''
afterEach(async () => {
  await killServices()
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

type Export = { export_id: string; status: string; progress: number; bytes: number; events: number; location: string }

const start = async (): Promise<Service> => untilUp(await startService(dir, { DENDRO_BOOTSTRAP_API_KEY: KEY }))

async function ask<T>({ url }: Service, method: string, path: string, body?: string): Promise<T> {
  const headers = { 'x-service-api-key': KEY, 'content-type': path === '/' ? 'application/x-ndjson' : 'application/json' }
  const answer = await fetch(url + path, { method, headers, ...(body === undefined ? {} : { body }) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as T
}

/** lineOf is an event that tells its number; every third is a line of text and not JSON. */
const lineOf = (n: number): string => (n % 3 === 0 ? `event ${n} of the till` : `{"n": ${n}, "message": "sold", "till": "${n % 7}"}`)
const numberOf = (raw: string): number => Number(/^event (\d+) /.exec(raw)?.[1] ?? /"n": (\d+)/.exec(raw)?.[1])

test('an export whose service is killed and stopped in the middle of it is complete in the end, with every event once', async () => {
  dir = await mkdtemp(join(tmpdir(), 'dendro-exports-'))
  let service = await start()
  for (let first = 0; first < EVENTS; first += POST_EVENTS) {
    await ask(service, 'POST', '/', Array.from({ length: POST_EVENTS }, (_, index) => lineOf(first + index)).join('\n'))
  }
  const order = { search_details: { from_expr: '*', time_range: 'Last 1 day' }, compression: 'gzip' }
  const { export_id } = await ask<Export>(service, 'POST', '/exports', JSON.stringify(order))
  const seen: number[] = []
  const look = async (): Promise<Export> => {
    const now = await ask<Export>(service, 'GET', `/exports/${export_id}`)
    seen.push(now.progress)
    return now
  }
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const before = seen.at(-1) ?? 0
    await until(async () => (await look()).progress > before)
    await stop(service.child, signal)
    service = await start()
  }
  await until(async () => ['COMPLETE', 'FAILED'].includes((await look()).status))
  const done = await look()
  expect(done).toMatchObject({ status: 'COMPLETE', progress: 100, events: EVENTS })
  expect(seen, 'progress fell').toEqual(seen.toSorted((a, b) => a - b))
  const bytes = Buffer.from(await (await fetch(done.location)).arrayBuffer())
  expect(bytes.length).toBe(done.bytes)
  const counts = new Uint8Array(EVENTS)
  for (const line of gunzipSync(bytes).toString().split('\n').slice(0, -1)) {
    const raw: string = JSON.parse(line)['@raw']
    const n = numberOf(raw)
    expect(raw === lineOf(n)).toBe(true)
    counts[n] = (counts[n] ?? 0) + 1
  }
  expect(counts.every((count) => count === 1)).toBe(true)
})
