import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exporting } from '../../../server/src/resources/queries/exports/run.ts'
import { openTestApp, type TestApp, type TestOrganization } from '../../../test/support/world.ts'
import { type Ran, runCaptured } from '../command-runner.fixture.ts'

let app: TestApp
let org: TestOrganization
let folder: string
beforeAll(async () => {
  app = await openTestApp({}, (world) => [exporting(world)])
  org = await app.newOrganization()
  folder = await mkdtemp(join(tmpdir(), 'dendro-cli-'))
})
afterAll(async () => {
  await app?.close()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
})

const env = (url = app.url) => ({ DENDRO_URL: url, DENDRO_API_KEY: org.key, XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder })
const dendro = (words: string[], given: Parameters<typeof runCaptured>[1] = {}): Promise<Ran> =>
  runCaptured(words, { env: env(), ...given })

/** Messages of a dataset, oldest first. */
async function stored(dataset: string): Promise<string[]> {
  const { out } = await dendro(['search', '-d', dataset, '-n', '20000', '--columns', 'message', '--output', 'ndjson', '-t', '1d', '-q'])
  return out === '' ? [] : out.split('\n').map((line) => JSON.parse(line).message)
}
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`)
const asNdjson = (messages: readonly string[]) => messages.map((message) => `${JSON.stringify({ message })}\n`).join('')

type Fate = 'pass' | 'lose answer' | 'cut answer' | { status: number; body?: string }

/** A proxy in front of the service that decides the fate of each request by its number and path. */
async function startGate(fateOf: (path: string, at: number) => Fate): Promise<{ url: string; seen: string[]; close(): Promise<void> }> {
  const seen: string[] = []
  const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ''
    const fate = fateOf(path, seen.push(`${request.method} ${path.split('?')[0]}`) - 1)
    const body = Buffer.concat(await Array.fromAsync(request))
    if (typeof fate === 'object') {
      response.writeHead(fate.status, { 'retry-after': '0', 'content-type': 'application/json' }).end(fate.body)
      return
    }
    const headers = new Headers(
      Object.entries(request.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
    )
    for (const name of ['host', 'connection', 'content-length']) headers.delete(name)
    const method = request.method ?? 'GET'
    const reply = await fetch(app.url + path, { method, headers, ...(method === 'GET' ? {} : { body }) })
    const isJson = reply.headers.get('content-type')?.startsWith('application/json')
    // Links of the service lead through the gate too.
    const bytes = isJson ? Buffer.from((await reply.text()).replaceAll(app.url, url())) : Buffer.from(await reply.arrayBuffer())
    if (fate === 'lose answer') return void response.destroy()
    const passed = [...reply.headers].filter(
      ([name]) => !['connection', 'transfer-encoding', 'content-encoding', ...(isJson ? ['content-length'] : [])].includes(name),
    )
    response.writeHead(reply.status, Object.fromEntries(passed))
    if (fate === 'pass') return void response.end(bytes)
    response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy())
  }
  const server: Server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: url(),
    seen,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

describe('dendro ingest', () => {
  test('sends a file in batches and reports the counts', async () => {
    const messages = numbered(500)
    const file = join(folder, 'app.ndjson')
    await writeFile(file, asNdjson(messages))
    const sent = await dendro(['ingest', '-f', file, '--dataset', 'plain', '--batch-bytes', '2000', '--gzip', '--output', 'json'])
    expect(sent).toMatchObject({ status: 0, err: expect.stringContaining('500 events accepted · 0 rejected') })
    expect(JSON.parse(sent.out)).toMatchObject({ accepted: 500, rejected: 0 })
    expect((await stored('plain')).sort()).toEqual(messages.sort())
  })

  test('stores a file once that is sent twice, with what was added to it in full batches, and again with --restart', async () => {
    const messages = numbered(300)
    const file = join(folder, 'twice.ndjson')
    await writeFile(file, asNdjson(messages))
    const words = ['ingest', '-f', file, '--dataset', 'twice', '--batch-bytes', '1500']
    expect(await dendro(words)).toMatchObject({ status: 0, err: expect.not.stringContaining('before') })
    const again = await dendro([...words, '--gzip', '--output', 'json'])
    expect(again).toMatchObject({
      status: 0,
      err: expect.stringContaining('all 300 events were stored before; --restart sends them again'),
    })
    expect(JSON.parse(again.out)).toMatchObject({ accepted: 300, duplicates: 300 })
    expect((await stored('twice')).sort()).toEqual(messages.sort())
    expect((await dendro(['ingest', '-f', file, '--dataset', 'other', '--batch-bytes', '1500'])).err).not.toContain('before')
    expect(await stored('other')).toHaveLength(300)
    expect((await dendro([...words, '--restart'])).err).not.toContain('before')
    expect(await stored('twice')).toHaveLength(600)
  })

  test('standard input is sent as often as it is given', async () => {
    const words = ['ingest', '-f', '-', '--dataset', 'repeated']
    for (const _ of [1, 2]) {
      const input = async function* () {
        yield Buffer.from('deployed\n')
      }
      expect((await dendro(words, { input: input() })).status).toBe(0)
    }
    expect(await stored('repeated')).toHaveLength(2)
  })

  test('repeats refused and unanswered requests, and stores each line once', async () => {
    const fates: Fate[] = ['pass', { status: 429 }, 'lose answer', { status: 503 }, 'pass', { status: 502 }]
    const gate = await startGate((_, at) => fates[at] ?? 'pass')
    try {
      const messages = numbered(200)
      const file = join(folder, 'refused.ndjson')
      await writeFile(file, asNdjson(messages))
      const sent = await dendro(['ingest', '-f', file, '--dataset', 'refused', '--batch-bytes', '1500'], { env: env(gate.url) })
      expect(sent).toMatchObject({ status: 0, err: expect.stringContaining('waiting for the service') })
      expect((await stored('refused')).sort()).toEqual(messages.sort())
    } finally {
      await gate.close()
    }
  })

  test('continues a file after an interruption, and stores each line once', async () => {
    const interruption = new AbortController()
    const gate = await startGate((_, at) => {
      if (at !== 3) return 'pass'
      interruption.abort()
      return 'lose answer'
    })
    try {
      const messages = numbered(300)
      const file = join(folder, 'long.ndjson')
      await writeFile(file, asNdjson(messages))
      const words = ['ingest', '-f', file, '--dataset', 'long', '--batch-bytes', '1500', '--url', gate.url]
      expect((await dendro(words, { signal: interruption.signal })).status).toBe(130)
      const states = join(folder, 'dendro', 'ingest')
      const [state = ''] = await readdir(states)
      expect((await stat(join(states, state))).mode & 0o777).toBe(0o600)
      // The file grew in between; the batch without an answer is sent as it was.
      await writeFile(file, asNdjson([...messages, 'added later']))
      expect(await dendro(words)).toMatchObject({ status: 0, err: expect.stringMatching(/^Continuing at 4\.5 kB of/) })
      expect((await stored('long')).sort()).toEqual([...messages, 'added later'].sort())
      expect(await readdir(states)).toEqual([])
    } finally {
      await gate.close()
    }
  })

  test('sends text from standard input, also what a slow sender wrote so far', async () => {
    const waiting = Promise.withResolvers<void>()
    async function* input(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('first line\nsecond')
      await waiting.promise
      yield Buffer.from(' line\nlast line without an end')
    }
    const sending = dendro(['ingest', '-f', '-', '--dataset', 'text'], { input: input() })
    await expect.poll(() => stored('text')).toEqual(['first line'])
    waiting.resolve()
    expect(await sending).toMatchObject({ status: 0, err: expect.stringContaining('3 events accepted') })
    expect((await stored('text')).sort()).toEqual(['first line', 'last line without an end', 'second line'])
  })

  test.each([
    [['-f', '/does/not/exist'], 2, /--file: ENOENT/],
    [['-f', '-', '--batch-bytes', '0'], 2, /whole number from 1/],
    [[], 2, /required option '-f, --file <path>'/],
    [['-f', '-', '--tags', 'env'], 2, /takes key=value, not env/],
    [['-f', '-', '--tags', 'env=prod,team'], 2, /takes key=value, not team/],
  ])('%j is refused', async (words, status, err) => {
    expect(await dendro(['ingest', ...words])).toMatchObject({ status, err: expect.stringMatching(err) })
  })

  test('a JSON array, a missing permission and rejected events are failures', async () => {
    expect(await dendro(['ingest', '-f', '-'], { input: '[{"a": 1}]' })).toMatchObject({
      status: 2,
      err: expect.stringContaining('JSON array'),
    })
    const reader = await org.newKey(['SearchApi'])
    const refused = await dendro(['ingest', '-f', '-'], { input: 'x', env: { ...env(), DENDRO_API_KEY: reader } })
    expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('403') })
    const gate = await startGate(() => ({ status: 200, body: '{"accepted": 1, "rejected": 1}' }))
    const rejected = await dendro(['ingest', '-f', '-'], { input: 'x', env: env(gate.url) }).finally(gate.close)
    expect(rejected).toMatchObject({ status: 1, err: expect.stringContaining('1 event rejected; dendro ledger list has the reasons') })
  })
})

describe('dendro export', () => {
  const messages = numbered(2_000)
  const ndjsonOf = async (file: string) =>
    (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).message)
  beforeAll(async () => {
    const sent = await dendro(['ingest', '-f', '-', '--dataset', 'exported'], { input: asNdjson(messages) })
    expect(sent.status).toBe(0)
  })

  test('downloads all matching events', async () => {
    const file = join(folder, 'all.ndjson')
    const words = ['export', '-d', 'exported', '-t', '1d']
    expect(await dendro([...words, '-o', file])).toMatchObject({
      status: 0,
      out: '',
      err: expect.stringMatching(/^2,000 events · .* · .*all\.ndjson$/),
    })
    expect((await ndjsonOf(file)).sort()).toEqual([...messages].sort())
    const printed = await dendro([...words, "message = 'line 7'", '-o', '-'])
    expect(JSON.parse(printed.out)).toMatchObject({ message: 'line 7' })
  })

  test('continues an interrupted download, in the same run and in a later one', async () => {
    const fates: Fate[] = ['cut answer', 'cut answer', 'pass']
    let downloads = 0
    const gate = await startGate((path) => (path.includes('/download') ? (fates[downloads++] ?? 'pass') : 'pass'))
    try {
      const complete = await dendro(['export', '-d', 'exported', '-t', '1d', '--wait', '--output', 'json'])
      const { export_id, location, bytes } = JSON.parse(complete.out)
      expect(location).toContain('/download?')
      const file = join(folder, 'cut.ndjson')
      const part = `${file}.${export_id}.part`
      const whole = Buffer.from(await (await fetch(location)).arrayBuffer())
      await writeFile(part, whole.subarray(0, 1_000))
      const continued = await dendro(['export', '--id', export_id, '-o', file], { env: env(gate.url) })
      expect(continued).toMatchObject({ status: 0, err: expect.stringContaining('the download was interrupted after') })
      expect((await stat(file)).size).toBe(bytes)
      expect((await ndjsonOf(file)).sort()).toEqual([...messages].sort())
      expect(await readdir(folder)).not.toContain(part)
    } finally {
      await gate.close()
    }
  })

  test('a wrong query, and --id with a query, are refused', async () => {
    expect(await dendro(['export', 'a =', '-o', 'x'])).toMatchObject({ status: 1, err: expect.stringContaining('\n  a =') })
    expect(await dendro(['export', 'a', '--id', 'x'])).toMatchObject({ status: 2, err: expect.stringContaining('--id excludes a query') })
  })

  test('nothing is exported for a file in a folder that does not exist', async () => {
    const before = (await org.ask<{ exports: unknown[] }>('GET', '/exports')).body.exports.length
    const refused = { status: 2, err: expect.stringContaining('--file: there is no directory') }
    expect(await dendro(['export', '-o', join(folder, 'nowhere', 'x.ndjson')])).toMatchObject(refused)
    expect((await org.ask<{ exports: unknown[] }>('GET', '/exports')).body.exports).toHaveLength(before)
  })
})

describe('dendro login', () => {
  const home = (name: string) => ({ XDG_CONFIG_HOME: join(folder, name) })

  test('stores an API key in a file of mode 0600, which later commands use', async () => {
    const own = home('by-key')
    const made = await dendro(['login', '--url', app.url], { env: own, input: `${org.key}\n` })
    expect(made).toMatchObject({ status: 0, err: '', out: expect.stringContaining(`Logged in to ${app.url} as the API key`) })
    const file = join(folder, 'by-key', 'dendro', 'config.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect((await dendro(['datasets', 'list'], { env: own })).status).toBe(0)
    expect((await dendro(['whoami'], { env: own })).out).toMatch(/^credential +the profile default$/m)
    // The credential of a profile never goes to another service.
    expect(await dendro(['datasets', 'list', '--url', 'http://127.0.0.1:9'], { env: own })).toMatchObject({ status: 2 })
    expect((await dendro(['logout'], { env: own })).status).toBe(0)
    expect((await dendro(['whoami'], { env: own })).status).toBe(2)
    expect(await readFile(file, 'utf8')).not.toContain(org.key)
  })

  test('a login with a password ends at the service with the logout, and profiles are independent', async () => {
    const own = home('by-password')
    const user = await org.newUser(['ReadOnly'])
    await dendro(['login', '--url', app.url, '--profile', 'key'], { env: own, input: org.key })
    const made = await dendro(['login', '--url', app.url, '--profile', 'person', '--email', user.email], { env: own, input: user.password })
    expect(made.out).toContain(`as ${user.email}`)
    expect((await dendro(['whoami', '--profile', 'key', '--output', 'json'], { env: own })).out).toContain('the profile key')
    const { profiles } = JSON.parse(await readFile(join(folder, 'by-password', 'dendro', 'config.json'), 'utf8'))
    expect((await dendro(['profiles'], { env: own })).out).toMatch(/^\* +person +http.*login$/m)
    expect((await dendro(['logout'], { env: own })).out).toBe('Removed profile person')
    expect((await app.ask('GET', '/auth/me', { token: profiles.person.token })).status).toBe(401)
    expect((await dendro(['profiles', 'key'], { env: own })).out).toBe('Using profile key')
    expect((await dendro(['datasets', 'list'], { env: own })).status).toBe(0)
  })

  test('a wrong key is not stored, and an unknown profile is refused', async () => {
    const own = home('wrong')
    expect(await dendro(['login', '--url', app.url], { env: own, input: 'dk_wrong' })).toMatchObject({
      status: 1,
      err: expect.stringContaining('401'),
    })
    expect(await dendro(['whoami', '--profile', 'none'], { env: own })).toMatchObject({
      status: 2,
      err: expect.stringContaining('no profile none'),
    })
  })
})

describe('dendro completion', () => {
  const completed = async (...words: string[]) =>
    (await dendro(['__complete', '--', ...words])).out.split('\n').map((line) => line.split('\t')[0])

  test('completes commands, options, values and dataset names', async () => {
    await org.ask('POST', '/datasets', { body: { collection: 'with space', dataset: '$(touch x)' } })
    expect(await completed('se')).toEqual(['search', 'seed', 'second-factor', 'sessions'])
    expect(await completed('datasets', 'c')).toEqual(['create'])
    expect(await completed('tail', '--fo')).toEqual(['--follow'])
    expect(await completed('search', '--output', '')).toEqual(['table', 'json', 'ndjson', 'csv'])
    expect(await completed('search', '--output=n')).toEqual(['--output=ndjson'])
    expect(await completed('search', '-d', 'with')).toEqual(['with space.$(touch x)'])
    expect(await completed('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  })
})
