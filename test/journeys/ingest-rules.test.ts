import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, expect, test, vi } from 'vitest'
import { copyMadeStores, killServices, type Service, startService, stop, untilUp } from '../support/service.ts'

/** Ingest rules in the real program: a redacted value is nowhere, and a kill between arrival and acknowledgment brings nothing to light. */
const KEY = `dk_${randomBytes(32).toString('hex')}`
const SECRET = 'ann.secret@example.org'
const headers = { 'x-service-api-key': KEY }

let dir = ''
afterAll(async () => {
  await killServices()
  if (dir !== '') await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

async function ask(service: Service, method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
  const given = body === undefined ? {} : { body: JSON.stringify(body) }
  const reply = await fetch(`${service.url}${path}`, { method, headers: { ...headers, 'content-type': 'application/json' }, ...given })
  return { status: reply.status, text: await reply.text() }
}

const answered = async (...given: Parameters<typeof ask>): Promise<string> => {
  const { status, text } = await ask(...given)
  expect(status, text).toBeLessThan(300)
  return text
}

const post = (service: Service, body: string, key: string): Promise<number> =>
  fetch(`${service.url}/ingest`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-ndjson', 'idempotency-key': key },
    body,
  }).then(
    ({ status }) => status,
    () => 0,
  )

const lines = Array.from({ length: 200 }, (_, n) =>
  n % 4 === 0 ? `{"level":"debug","n":${n}}` : `{"message":"login of ${SECRET} failed","user":"${SECRET}","n":${n}}`,
)
const body = `${lines.join('\n')}\ntext by ${SECRET} a=1 b=${SECRET}`

test('a redacted value is in no answer and not in the log, also after a kill, and the ledger balances', async () => {
  dir = await mkdtemp(join(tmpdir(), 'dendro-rules-'))
  await copyMadeStores(dir)
  const env = { DENDRO_BOOTSTRAP_API_KEY: KEY, DENDRO_LOG_LEVEL: 'trace', DENDRO_MEMORY: '1G' }
  let service = await untilUp(startService(dir, env))
  await answered(service, 'POST', '/ingest-rules', { name: 'addresses', from_expr: '*', action: { type: 'REDACT', kinds: ['EMAIL'] } })
  await answered(service, 'POST', '/ingest-rules', { name: 'noise', from_expr: '*', where: "level = 'debug'", action: { type: 'DROP' } })
  const { job_id } = JSON.parse(await answered(service, 'POST', '/live-tail', { from_expr: '*' }))
  expect(await post(service, body, 'first')).toBe(200)
  await vi.waitFor(async () => {
    const tail = await answered(service, 'GET', `/live-tail?job_id=${job_id}&limit=1000`)
    expect(tail).toContain('[REDACTED]')
    expect(tail).not.toContain(SECRET)
  }, 240_000)
  // A refused post is logged without its content.
  expect(
    await fetch(`${service.url}/v1/logs`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: `{"${SECRET}`,
    }).then((r) => r.status),
  ).toBe(400)

  const [running, killed] = [post(service, body.replaceAll('login', 'again'), 'second'), service]
  await new Promise((done) => setTimeout(done, 30))
  await stop(killed.child, 'SIGKILL')
  await running
  service = await untilUp(startService(dir, env))
  for (const _ of [1, 2]) expect(await post(service, body.replaceAll('login', 'again'), 'second')).toBe(200)
  expect(await post(service, body, 'first')).toBe(200)
  // A killed process loses its counts, and the second post may have been stored before.
  expect(await post(service, body.replaceAll('login', 'third'), 'third')).toBe(200)

  const search = { from_expr: '*', time_range: 'Last 1 hour' }
  const found = JSON.parse(await answered(service, 'POST', '/search', { ...search, select: ['count(*)'] }))
  expect(JSON.stringify(found)).toContain(String(3 * 151))
  for (const [path, request] of [
    ['/search', { ...search, select: ['*', '@raw'], limit: 1_000 }],
    ['/patterns', { search_details: search }],
    ['/top-keys', search],
    ['/search', { ...search, select: ['count(*)'], groups: ['user'] }],
  ] as const) {
    const text = await answered(service, 'POST', path, request)
    expect(text, path).toMatch(/REDACTED|user|\d/)
    expect(text, path).not.toContain(SECRET)
  }
  const none = JSON.parse(await answered(service, 'POST', '/search', { ...search, where: `'${SECRET}'`, select: ['*'] }))
  expect(none.events).toEqual([])
  const { export_id } = JSON.parse(await answered(service, 'POST', '/exports', { search_details: search }))
  const location = await vi.waitFor(async () => {
    const { status, location } = JSON.parse(await answered(service, 'GET', `/exports/${export_id}`))
    expect(status).toBe('COMPLETE')
    return location as string
  }, 240_000)
  const exported = gunzipped(Buffer.from(await (await fetch(location)).arrayBuffer()))
  expect(exported).toContain('[REDACTED]')
  expect(exported).not.toContain(SECRET)

  await vi.waitFor(async () => {
    const { totals } = JSON.parse(await answered(service, 'GET', '/ledger'))
    expect(totals).toMatchObject({ balances: true })
    expect(totals.dropped).toBeGreaterThan(0)
  }, 240_000)
  for (const { said, complained } of [killed, service]) expect(said() + complained()).not.toContain(SECRET)
  expect(killed.complained()).toContain('a post was refused')
  await stop(service.child, 'SIGTERM')
})

const gunzipped = (bytes: Buffer): string => (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('utf8')
