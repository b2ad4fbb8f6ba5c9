import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { openWire, repliesIn, request } from '../support/http-raw.ts'
import {
  commandOf,
  complaintsOf,
  copyMadeStores,
  killServices,
  processesOf,
  type Service,
  startService,
  statusOf,
  stop,
  until,
  untilUp,
} from '../support/service.ts'

const root = resolve(import.meta.dirname, '../..')

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'dendro-journey-'))
})
afterEach(killServices)
afterAll(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }))

const startUntilUp = async (env: Record<string, string> = {}): Promise<Service> => untilUp(startService(dataDir, env))

let key = ''

test('the first start prints the address and a key that works, and Ctrl-C leaves nothing behind', async () => {
  const service = await startUntilUp()
  key = /dk_[\w-]+/.exec(service.said())?.[0] ?? ''
  expect(service.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/)
  expect(service.said()).toContain(dataDir)
  expect(await statusOf(`${service.url}/datasets`, { 'x-service-api-key': key })).toBe(200)
  expect(await stop(service.child, 'SIGINT')).toBe(0)
  await until(() => processesOf(dataDir).length === 0)
  expect(complaintsOf(service)).toEqual([])
})

test('a later start shows no key, and the first one still works', async () => {
  const service = await startUntilUp()
  expect(service.said()).not.toContain('dk_')
  expect(await statusOf(`${service.url}/datasets`, { 'x-service-api-key': key })).toBe(200)
})

test('a second start on the same directory is refused with a sentence that names the first', async () => {
  const first = await startUntilUp()
  const second = startService(dataDir)
  await once(second.child, 'exit')
  expect(second.child.exitCode).toBe(1)
  expect(second.complained()).toMatch(/^dendro: the data directory .* is in use by process \d+.*\n$/)
  expect(second.complained()).toContain(String(first.child.pid))
  expect(await statusOf(`${first.url}/health`)).toBe(200)
})

test('a service that is killed takes its stores with it, and the next start finds everything', async () => {
  const first = await startUntilUp()
  await fetch(`${first.url}/datasets`, {
    method: 'POST',
    headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ collection: 'journey', dataset: 'survivor' }),
  })
  await stop(first.child, 'SIGKILL')
  await until(() => processesOf(dataDir).length === 0)
  const second = await startUntilUp()
  const answer = await fetch(`${second.url}/datasets?from_expr=${encodeURIComponent("dataset = 'survivor'")}`, {
    headers: { 'x-service-api-key': key },
  })
  expect(((await answer.json()) as { datasets: unknown[] }).datasets).toHaveLength(1)
})

const stopEnv = { DENDRO_BOOTSTRAP_API_KEY: 'dk_two-herons-and-a-bucket-of-blue-paint' }
const stopAdmin = { 'x-service-api-key': stopEnv.DENDRO_BOOTSTRAP_API_KEY }
const STOP_EVENT = '{"message": "sent while the door closes"}'
/** A stop waits five seconds for running requests. */
const STOP_WAIT_MS = 5_000

test('a stop completes running requests, and stores the counters', async () => {
  let dir = await stoppedWithin()
  while (dir === undefined) dir = await stoppedWithin()
  const next = await untilUp(startService(dir, stopEnv))
  const read = async (path: string) =>
    (await (await fetch(next.url + path, { headers: stopAdmin })).json()) as { is_recount_pending?: boolean }
  // Until the recount of this start, no count claims to be exact. Counts that it had to add would not be exact after it either.
  await until(async () => (await read('/ledger')).is_recount_pending === false)
  expect(await read('/usage?usage_type=ingestion')).toMatchObject({ is_exact: true, total_count: 1, total_value: STOP_EVENT.length })
  await stop(next.child, 'SIGKILL')
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

/**
 * Starts a service, stops it while a request runs, and sends the rest of the request after it accepts no more. Returns its directory; nothing where the
 * machine was so slow that the service may have given up waiting.
 */
async function stoppedWithin(): Promise<string | undefined> {
  const dir = await mkdtemp(join(tmpdir(), 'dendro-stop-'))
  await copyMadeStores(dir)
  const service = await untilUp(startService(dir, stopEnv))
  const { socket, text } = openWire(service.url)
  const replies = text.then((whole) => repliesIn(whole).map(({ status }) => status)).catch(String)
  socket.write(request('POST /', { ...stopAdmin, 'content-length': String(STOP_EVENT.length), expect: '100-continue' }))
  // The service asks for the body once it has started the request.
  await once(socket, 'data')
  const left = once(service.child, 'exit')
  const stoppedMs = performance.now()
  service.child.kill('SIGTERM')
  await until(async () => (await statusOf(`${service.url}/health`)) === 0)
  socket.write(STOP_EVENT)
  const given = await replies
  // A service that gives up waiting closes the connection no earlier.
  const isInTime = performance.now() - stoppedMs < STOP_WAIT_MS
  const [status] = await left
  if (isInTime) expect([given, status]).toEqual([[100, 200], 0])
  await until(() => processesOf(dir).length === 0)
  if (isInTime) return dir
  await rm(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  return undefined
}

/** A process may have ended since it was listed. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH')) throw cause
  }
}

test('when a store dies the service reports it and recovers', async () => {
  const service = await startUntilUp()
  for (const name of ['engine-child', 'postgres']) {
    const victims = () => processesOf(dataDir).filter((pid) => commandOf(pid).includes(name))
    expect(victims().length).toBeGreaterThan(0)
    // It may be back before a slow machine asks: then it dies once more.
    await until(async () => {
      for (const pid of victims()) killIfThere(pid)
      return (await statusOf(`${service.url}/health`)) === 503
    })
    await until(async () => (await statusOf(`${service.url}/health`)) === 200)
    expect(await statusOf(`${service.url}/api-keys`, { 'x-service-api-key': key })).toBe(200)
  }
})

test('no key, password, token or link is written to the log, however much it writes', async () => {
  const service = await startUntilUp({ DENDRO_LOG_LEVEL: 'trace' })
  const password = 'a sentence nobody says twice'
  const ask = async (method: string, path: string, body: object, headers: Record<string, string> = {}): Promise<Record<string, string>> => {
    const answer = await fetch(service.url + path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return (await answer.json()) as Record<string, string>
  }
  const admin = { 'x-service-api-key': key }
  const made = await ask('POST', '/api-keys', { name: 'spy', roles: ['SearchApi'] }, admin)
  const person = { first_name: 'A', last_name: 'B', email: 'spy@example.com', roles: ['ReadOnly'] }
  const invited = await ask('POST', '/users', person, admin)
  const invitation = new URL(invited.invitation_url ?? '').searchParams.get('token') ?? ''
  const wrongToken = 'not-the-token-of-anybody'
  await ask('POST', '/auth/accept-invite', { token: wrongToken, password })
  const login = await ask('POST', '/auth/accept-invite', { token: invitation, password })
  await ask('POST', '/auth/login', { email: person.email, password: `${password}?` })
  await ask('POST', '/datasets', { collection: 'x' }, { authorization: `Bearer ${login.token}` })
  await ask('POST', '/datasets', {}, { 'x-service-api-key': 'dk_wrong-but-perhaps-nearly-right' })
  expect(await stop(service.child, 'SIGTERM')).toBe(0)
  expect(service.complained()).toContain('datasets.create')
  const secrets = [key, made.key, invitation, password, login.token, wrongToken, 'dk_wrong-but-perhaps-nearly-right']
  expect(secrets.every((secret) => secret !== undefined && secret.length > 10)).toBe(true)
  expect(secrets.filter((secret) => service.complained().includes(secret ?? ''))).toEqual([])
})

test('a setting that cannot be read stops the start with a sentence that names it', async () => {
  const child = spawn(process.execPath, [join(root, 'server/src/main.ts'), 'start'], {
    env: { ...process.env, DENDRO_DATA_DIR: dataDir, DENDRO_PORT: 'eighty' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complained = ''
  child.stderr.on('data', (chunk) => {
    complained += chunk
  })
  const [code] = await once(child, 'exit')
  expect(code).toBe(1)
  expect(complained).toBe('dendro: DENDRO_PORT must be a port number from 0 to 65535\n')
})

test('a taken port ends the start with a sentence and leaves no store behind', async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const address = holder.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const child = spawn(process.execPath, [join(root, 'server/src/main.ts'), 'start'], {
    env: { ...process.env, DENDRO_DATA_DIR: dataDir, DENDRO_PORT: String(port), DENDRO_LOG_LEVEL: 'silent' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let complained = ''
  child.stderr.on('data', (chunk) => {
    complained += chunk
  })
  const [code] = await once(child, 'exit')
  holder.close()
  expect([code, complained]).toEqual([1, 'dendro: another program uses the port; set DENDRO_PORT to a free one\n'])
  await until(() => processesOf(dataDir).length === 0)
})
