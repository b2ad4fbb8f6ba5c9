import { randomBytes, randomUUID } from 'node:crypto'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBaseUrl } from '../server/src/http/base-url.ts'
import { type HttpOptions, openHttp } from '../server/src/http/http.ts'
import { openMeter } from '../server/src/http/measure.ts'
import { RateLimiter } from '../server/src/http/rate-limit.ts'
import type { RawHandler } from '../server/src/http/raw-handler.ts'
import { systemIds } from '../server/src/kernel/ids.ts'
import { openLogger } from '../server/src/kernel/log.ts'
import { mustBeCounted, mustFail } from './contract/failure.ts'
import { exchange, openWire, repliesIn, request } from './support/http-raw.ts'
import { openTestApp, type Reply, type TestApp, type TestOrganization } from './support/world.ts'

let app: TestApp
let org: TestOrganization
let auth: { 'x-service-api-key': string }
beforeAll(async () => {
  app = await openTestApp()
  org = await app.newOrganization()
  auth = { 'x-service-api-key': org.key }
})
afterAll(() => app?.close())

const MIB = 2 ** 20
const NEW_DATASET = (name: string) => JSON.stringify({ collection: 'raw', dataset: name })

async function one(...bytes: (string | Uint8Array)[]): Promise<Reply> {
  const replies = await exchange(app.url, ...bytes)
  expect(replies).toHaveLength(1)
  return replies[0] as Reply
}

/** Checks a failure that precedes request parsing: it has the body, but no correlation header. */
function mustRefuse(reply: Reply, status: number): void {
  expect(reply.status).toBe(status)
  expect(reply.body).toEqual({
    code: status,
    type: expect.any(String),
    correlation_id: expect.stringMatching(/^[\da-f]{32}$/),
    details: expect.any(String),
  })
  expect(reply.headers.get('x-correlation-id')).toBe((reply.body as { correlation_id: string }).correlation_id)
}

describe('input that is not a request', () => {
  test.each<[string, string | Uint8Array]>([
    ['noise', new Uint8Array(randomBytes(400)).map((byte) => byte | 0x80)],
    ['words', 'hello, is anybody there?\r\n\r\n'],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a TLS greeting', new Uint8Array([0x16, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3])],
    ['an unknown method', request('FROBNICATE /datasets', {})],
    ['a name with a space', 'GET /datasets HTTP/1.1\r\nhost: a\r\nbad name: 1\r\n\r\n'],
    ['a folded header', 'GET /datasets HTTP/1.1\r\nhost: a\r\n folded: 1\r\n\r\n'],
    ['a NUL in a header', 'GET /datasets HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n'],
    ['two lengths', request('POST /datasets', { 'content-length': '5\r\ncontent-length: 6' }, '{"a":1}')],
    ['a length and chunks', request('POST /datasets', { 'transfer-encoding': 'chunked' }, '0\r\n\r\n')],
    ['a negative length', request('POST /datasets', { 'content-length': '-1' })],
    ['a chunk without a size', request('POST /datasets', { 'transfer-encoding': 'chunked' }).concat('zz\r\n{}\r\n0\r\n\r\n')],
  ])('%s is answered with 400 and the connection is closed', async (_kind, bytes) => {
    mustRefuse(await one(bytes), 400)
  })

  test('headers of 64 KiB are read: a search by GET may name 1,000 datasets or have a filter of 20,000 characters', async () => {
    const from = Array.from({ length: 1_000 }, () => `from=${randomUUID()}`).join('&')
    expect((await one(request(`GET /search?${from}`, auth))).status).toBe(404)
    const where = `a=${'1'.repeat(20_000)}`
    expect((await one(request(`GET /search?from_expr=*&where=${encodeURIComponent(where)}`, auth))).status).not.toBe(431)
  })

  test('headers beyond 64 KiB are 431', async () => {
    mustRefuse(await one(request('GET /datasets', { ...auth, 'x-long': 'a'.repeat(70_000) })), 431)
  })

  test('a path beyond what headers may be is 431, too', async () => {
    const reply = await one(request(`GET /datasets?from=${'a'.repeat(70_000)}`, auth))
    mustRefuse(reply, 431)
    expect(reply.body).toMatchObject({ details: expect.stringContaining('POST') })
  })

  test('a request without a host is 400 in HTTP/1.1 and served in HTTP/1.0', async () => {
    mustFail(await one('GET /health HTTP/1.1\r\nconnection: close\r\n\r\n'), 400)
    expect((await one('GET /health HTTP/1.0\r\n\r\n')).status).toBe(200)
  })
})

describe('paths', () => {
  test.each(['/%zz', '/datasets/%', '/datasets/%C3%28', '/%00%'])('%s cannot be decoded: 400', async (path) => {
    mustRefuse(await one(request(`GET ${path}`, auth)), 400)
  })

  test.each(['/datasets/%00', '/datasets/%2e%2e%2fapi-keys', `/datasets/${'a'.repeat(900)}`, '/datasets/%F0%9F%8C%B3', '/datasets/..'])(
    '%s names no dataset',
    async (path) => {
      const reply = await one(request(`GET ${path}`, auth))
      expect([400, 404]).toContain(reply.status)
      mustFail(reply, reply.status, { counted: true })
    },
  )

  test('two Authorization headers are 400, also at public endpoints', async () => {
    const twice = `authorization: Bearer ${org.key}\r\nAuthorization: Bearer another`
    for (const path of ['/datasets', '/openapi.json']) {
      const reply = await one(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${twice}\r\n\r\n`)
      expect([path, reply.status]).toEqual([path, 400])
    }
  })

  test('a parameter longer than any id is just malformed', async () => {
    mustFail(await one(request(`GET /datasets/${'a'.repeat(5_000)}`, auth)), 400, { counted: true })
  })

  test.each(['http://elsewhere.example/datasets', '//datasets', '/datasets?', '/datasets//', '/datasets?a&&b==&=c&%zz'])(
    '%s is /datasets',
    async (target) => {
      expect((await one(request(`GET ${target}`, auth))).status).toBe(200)
    },
  )

  test('any method that the path does not support is 405', async () => {
    for (const method of ['PROPFIND', 'TRACE', 'LOCK']) {
      const reply = await one(request(`${method} /datasets`, auth))
      mustFail(reply, 405, { counted: true })
      expect(reply.headers.get('allow')).toBe('GET, HEAD, POST')
      mustFail(await one(request(`${method} /nowhere`, auth)), 404, { counted: true })
      mustFail(await one(request(`${method} /datasets`, {})), 401)
    }
  })
})

describe('bodies', () => {
  test('a body beyond the limit is 413, with its length said or not, and nothing is made', async () => {
    const long = NEW_DATASET('x'.repeat(5 * MIB))
    mustFail(await one(request('POST /datasets', auth, long)), 413, { counted: true })
    const chunked = `${Buffer.byteLength(long).toString(16)}\r\n${long}\r\n0\r\n\r\n`
    mustFail(await one(request('POST /datasets', { ...auth, 'transfer-encoding': 'chunked' }).concat(chunked)), 413, { counted: true })
  })

  test('a compressed body is 415 outside ingestion, and a bomb is never unpacked', async () => {
    for (const encoding of ['gzip', 'br', 'zstd', 'gzip, gzip']) {
      const packed = gzipSync(Buffer.alloc(50 * MIB))
      const head = request('POST /datasets', { ...auth, 'content-encoding': encoding, 'content-length': String(packed.length) })
      mustFail(await one(head, packed), 415, { counted: true })
    }
    const plain = await one(request('POST /datasets', { ...auth, 'content-encoding': 'identity' }, NEW_DATASET('identity')))
    expect(plain.status).toBe(201)
  })

  test('a body in chunks is read whole', async () => {
    const body = NEW_DATASET('in chunks ä')
    const chunks = [...Buffer.from(body)].map((byte) => Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]))
    const reply = await one(request('POST /datasets', { ...auth, 'transfer-encoding': 'chunked' }), ...chunks, '0\r\n\r\n')
    expect(reply).toMatchObject({ status: 201, body: { dataset: 'in chunks ä' } })
  })

  test('Expect: 100-continue gets 100; any other expectation is 417', async () => {
    const body = NEW_DATASET('expected')
    const { socket, text } = openWire(app.url)
    socket.write(request('POST /datasets', { ...auth, expect: '100-continue', 'content-length': String(body.length) }))
    const first = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())))
    expect(first).toMatch(/^HTTP\/1\.1 100 Continue\r\n/)
    socket.write(body)
    expect(repliesIn(await text).map((reply) => reply.status)).toEqual([100, 201])
    mustRefuse(await one(request('POST /datasets', { ...auth, expect: 'a miracle' }, body)), 417)
  })

  test('a body is parsed as JSON with any content type', async () => {
    for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream', undefined]) {
      const headers = type === undefined ? auth : { ...auth, 'content-type': type }
      const reply = await one(request('POST /datasets', headers, NEW_DATASET(`type ${type}`)))
      expect(reply.status, type).toBe(201)
    }
    mustFail(await one(request('POST /datasets', { ...auth, 'content-type': 'multipart/form-data; boundary=x' }, '--x--')), 400)
    mustFail(await one(request('POST /datasets', { ...auth, 'content-type': 'no type at all' }, NEW_DATASET('odd'))), 415)
  })

  test('a missing body is 400', async () => {
    for (const headers of [auth, { ...auth, 'content-length': '0' }, { ...auth, 'content-type': 'application/json' }]) {
      const failure = mustFail(await one(request('POST /datasets', headers)), 400, { counted: true })
      expect(failure.details).toBe('a JSON body is required')
    }
  })

  test.each(['[', '{"a":'])('%s a hundred thousand times over is 400, not a bug', async (opening) => {
    mustFail(await one(request('POST /datasets', auth, opening.repeat(100_000))), 400, { counted: true })
    const closed = '['.repeat(5_000) + ']'.repeat(5_000)
    mustFail(await one(request('POST /datasets', auth, `{"collection": "x", "dataset": "y", "more": ${closed}}`)), 400, { counted: true })
  })

  test.each(['\\u0000', '\\u0007', '\\u001b[31m', '\\u009f'])(
    'a control character %s in a name is 400 and names the field',
    async (character) => {
      const failure = mustFail(await one(request('POST /datasets', auth, `{"collection": "a${character}b", "dataset": "d"}`)), 400)
      expect(failure.errors?.[0]?.field).toBe('collection')
      const key = mustFail(await one(request('POST /api-keys', auth, `{"name": "a\\u0000b", "roles": ["SearchApi"]}`)), 400)
      expect(key.errors?.[0]?.field).toBe('name')
    },
  )

  test('half a surrogate pair, emoji and 255 characters of anything else survive', async () => {
    for (const name of ['🌳'.repeat(127), 'é'.repeat(255), '\u202eback', "'; drop table datasets; --", '%s%n', '{{x}}', 'a/../../etc']) {
      const reply = await org.ask<{ dataset: string }>('POST', '/datasets', { body: { collection: 'odd', dataset: name } })
      expect(reply, name).toMatchObject({ status: 201, body: { dataset: name } })
    }
    const lone = await one(request('POST /datasets', auth, '{"collection": "odd", "dataset": "\\ud83c"}'))
    expect([201, 400]).toContain(lone.status)
  })

  test('whole numbers too large for a field are 400 by its bound, not rounded into it', async () => {
    for (const ttl of ['70000001', '9007199254740993', '99999999999999999999999', '1e400', '-1', '1.5', 'true', '"7"']) {
      const failure = mustFail(await one(request('POST /api-keys', auth, `{"name": "n", "roles": ["SearchApi"], "ttl": ${ttl}}`)), 400)
      expect(failure.errors?.[0]?.field, ttl).toBe('ttl')
    }
  })
})

describe('connections', () => {
  test('pipelined requests are answered one after the other', async () => {
    const keep = { ...auth, connection: 'keep-alive' }
    const replies = await exchange(
      app.url,
      request('GET /collections', keep) + request('POST /datasets', keep, '{}') + request('GET /datasets', auth),
    )
    expect(replies.map((reply) => reply.status)).toEqual([200, 400, 200])
    expect(new Set(replies.map((reply) => reply.headers.get('x-correlation-id'))).size).toBe(3)
  })

  test('a body on GET is passed over and does not become the next request', async () => {
    const inner = request('DELETE /api-keys/x', auth)
    const replies = await exchange(
      app.url,
      request('GET /collections', { ...auth, connection: 'keep-alive' }, inner) + request('GET /datasets', auth),
    )
    expect(replies.map((reply) => reply.status)).toEqual([200, 200])
  })

  test('a caller who disconnects mid-request does no harm', async () => {
    for (const piece of ['POST /datasets HTTP/1.1\r\nhost: a\r\n', request('POST /datasets', { ...auth, 'content-length': '100' })]) {
      const { socket, text } = openWire(app.url)
      socket.write(piece, () => socket.destroy())
      await text
    }
    await expect.poll(async () => (await app.ask('GET', '/health')).status).toBe(200)
  })

  test('headers and bodies that never end are cut off with 408', async () => {
    const http = openOwnHttp({ timeouts: { headersMs: 100, requestMs: 200, checkEveryMs: 20 } })
    const url = await http.listen({ host: '127.0.0.1', port: 0 })
    const late = await Promise.all([
      exchange(url, 'GET /health HTTP/1.1\r\nhost: a\r\n'),
      exchange(url, 'G'),
      exchange(url, request('POST /datasets', { 'content-length': '100', connection: 'keep-alive' }), '{'),
    ])
    for (const [reply] of late.slice(0, 2)) mustRefuse(reply as Reply, 408)
    expect([401, 408]).toContain(late[2]?.[0]?.status)
    await http.close()
  })

  test('an internal error is a retryable status for senders of events', async () => {
    const handler: RawHandler = {
      action: 'sending',
      permission: 'events_write',
      handle: async () => ({ status: 200, headers: {}, body: '' }),
      replyToFailure: (_, { status, headers }) => ({ status, headers, body: '' }),
    }
    const http = openOwnHttp({
      routes: [{ name: 'sending', group: {}, handlers: {}, findRawHandler: ({ path }) => (path === '/send' ? handler : undefined) }],
      identify: () => {
        throw new TypeError('a bug')
      },
    })
    const url = await http.listen({ host: '127.0.0.1', port: 0 })
    const [sent] = await exchange(url, request('POST /send', auth, 'an event'))
    expect([sent?.status, sent?.headers.get('retry-after')]).toEqual([503, '2'])
    expect((await exchange(url, request('GET /datasets', auth)))[0]?.status).toBe(500)
    await http.close()
  })

  test.each([
    ['Host', { host: 'a.example' }],
    ['X-Forwarded-Host', { host: '127.0.0.1', 'x-forwarded-host': 'a.example', 'x-forwarded-proto': 'https' }],
  ])('no link leads where the header %s of a caller says', async (_name, headers) => {
    const reply = await one(request('GET /', { accept: 'application/json', ...headers }))
    expect(reply.body).toMatchObject({ docs: `${app.url}/docs` })
  })
})

/** Opens an HTTP server without the service, for what the real one cannot be made to do. */
function openOwnHttp(given: Partial<HttpOptions>): ReturnType<typeof openHttp> {
  const limiter = new RateLimiter({ requests: 1, windowMs: 1, enforced: false }, app.app.world.meta as never, app.clock)
  return openHttp({
    routes: [],
    identify: async () => undefined,
    exceptions: { self: async () => false, member: async () => false },
    denied: async () => undefined,
    limiter,
    senderLimiter: limiter,
    extraKeyHeaders: [],
    baseUrl: openBaseUrl({ publicUrl: undefined, host: '127.0.0.1', proxies: [] }),
    ids: systemIds,
    log: openLogger('silent'),
    meter: openMeter(),
    roles: ['api'],
    ...given,
  })
}

describe('compressed answers', () => {
  test('an answer is packed when the caller takes it and it is worth it', async () => {
    const plain = await fetch(`${app.url}/openapi.json`, { headers: { 'accept-encoding': 'identity' } })
    expect(plain.headers.get('content-encoding')).toBeNull()
    expect(plain.headers.get('vary')).toContain('accept-encoding')
    const packed = await packedBytes('br')
    expect(JSON.parse(brotliDecompressSync(packed).toString())).toEqual(await plain.json())
    for (const [accept, encoding] of [
      ['gzip, deflate', 'gzip'],
      ['gzip, br', 'br'],
      ['br;q=0, *', 'gzip'],
      ['deflate', null],
      ['gzip;q=0', null],
    ] as const) {
      const reply = await fetch(`${app.url}/openapi.json`, { headers: { 'accept-encoding': accept } })
      expect(reply.headers.get('content-encoding'), accept).toBe(encoding)
      expect(await reply.json()).toMatchObject({ openapi: '3.1.0' })
    }
    const small = await fetch(`${app.url}/health`, { headers: { 'accept-encoding': 'br' } })
    expect(small.headers.get('content-encoding')).toBeNull()
  })

  /** Reads the compressed bytes of a response, which fetch would decompress. */
  async function packedBytes(encoding: string): Promise<Buffer> {
    const { request: ask } = await import('node:http')
    return new Promise((resolve, reject) => {
      ask(`${app.url}/openapi.json`, { headers: { 'accept-encoding': encoding } }, async (answer) => {
        resolve(Buffer.concat(await Array.fromAsync(answer)))
      })
        .on('error', reject)
        .end()
    })
  }
})

describe('the rate limit', () => {
  const WINDOW_MS = 300_000

  /** Opens a process of its own on the shared stores; its clock stays at the start of the rate limit window. */
  async function limited(rule: string, others?: TestApp): Promise<TestApp> {
    const opened = await openTestApp({ DENDRO_RATE_LIMIT: rule })
    const nowMs = opened.clock.nowMs()
    const atMs = others?.clock.nowMs() ?? nowMs - (nowMs % WINDOW_MS) + WINDOW_MS + 1_000
    opened.clock.advance(atMs - nowMs)
    return opened
  }

  test('two processes together grant exactly the limit, and report the remainder and the reset time', async () => {
    const fresh = await app.newOrganization()
    const left = await limited('100/5m')
    const right = await limited('100/5m', left)
    const replies = await Promise.all(
      Array.from({ length: 150 }, (_, index) => (index % 2 === 0 ? left : right).ask('GET', '/collections', { key: fresh.key })),
    )
    for (const reply of replies) {
      mustBeCounted(reply)
      expect(reply.headers.get('ratelimit-limit')).toBe('100')
      expect(Number(reply.headers.get('ratelimit-reset'))).toBeLessThanOrEqual(WINDOW_MS / 1000)
    }
    const refused = replies.filter((reply) => reply.status === 429)
    expect(replies.filter((reply) => reply.status === 200)).toHaveLength(100)
    expect(refused).toHaveLength(50)
    for (const reply of refused) {
      mustFail(reply, 429, { counted: true })
      expect(reply.headers.get('ratelimit-remaining')).toBe('0')
      expect(reply.headers.get('retry-after')).toBe(reply.headers.get('ratelimit-reset'))
    }
    const other = await app.newOrganization()
    expect((await left.ask('GET', '/collections', { key: other.key })).status).toBe(200)
    left.clock.advance(WINDOW_MS)
    expect((await left.ask('GET', '/collections', { key: fresh.key })).status).toBe(200)
    await Promise.all([left.close(), right.close()])
  })

  test('rejected requests count too: 404, 403 and 400 use up the window', async () => {
    const fresh = await app.newOrganization()
    const limitedApp = await limited('4/5m')
    const ask = (method: string, path: string) => limitedApp.ask(method, path, { key: fresh.key })
    const statuses = [
      await ask('GET', '/nowhere'),
      await ask('PUT', '/collections'),
      await ask('GET', '/datasets/x'),
      await ask('GET', '/collections'),
    ]
    expect(statuses.map((reply) => reply.status)).toEqual([404, 405, 400, 200])
    expect(statuses.map((reply) => reply.headers.get('ratelimit-remaining'))).toEqual(['3', '2', '1', '0'])
    expect((await ask('GET', '/collections')).status).toBe(429)
    await expect.poll(async () => (await limitedApp.ask('GET', '/health')).status).toBe(200)
    await limitedApp.close()
  })
})
