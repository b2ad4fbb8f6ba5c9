import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextHour, openSenders, type Senders, type Taken } from '../../../test/support/senders.ts'
import type { Reply } from '../../../test/support/world.ts'

let senders: Senders
let ingestKey: string
beforeAll(async () => {
  senders = await openSenders({ DENDRO_EXTRA_KEY_HEADERS: 'x-acme-key' })
  ingestKey = await senders.org.newKey(['IngestionApi'])
})
afterAll(() => senders?.close())

/** Sends a line with only the given headers. */
const bare = (headers: Record<string, string>, path = '/'): Promise<Reply<Taken>> => senders.app.ask('POST', path, { raw: 'line', headers })

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('a key is accepted in every place where a client can put it', () => {
  const places: Record<string, (key: string) => Record<string, string>> = {
    'its own header': (key) => ({ 'X-SERVICE-API-KEY': key }),
    'a header of the deployment': (key) => ({ 'x-acme-key': key }),
    Bearer: (key) => ({ authorization: `Bearer ${key}` }),
    'the password of Basic': (key) => ({ authorization: `Basic ${base64(`anyone:${key}`)}` }),
    'the user of Basic': (key) => ({ authorization: `Basic ${base64(`${key}:`)}` }),
    'the user of Basic, beside some password': (key) => ({ authorization: `basic ${base64(`${key}:x`)}` }),
    'ApiKey with an id': (key) => ({ authorization: `ApiKey ${base64(`id:${key}`)}` }),
    'ApiKey without an id': (key) => ({ authorization: `ApiKey ${base64(key)}` }),
    'ApiKey not encoded': (key) => ({ authorization: `ApiKey ${key}` }),
    Splunk: (key) => ({ authorization: `Splunk ${key}` }),
    'DD-API-KEY': (key) => ({ 'DD-API-KEY': key }),
    'X-Amz-Firehose-Access-Key': (key) => ({ 'X-Amz-Firehose-Access-Key': key }),
  }
  test.each(Object.entries(places))('%s', async (_, headersFor) => {
    expect(await bare(headersFor(ingestKey))).toMatchObject({ status: 200, body: { accepted: 1 } })
    expect(await bare(headersFor('dk_wrong'))).toMatchObject({ status: 401, body: { code: 401, type: 'Unauthorized' } })
  })

  test('but not in the address, unless the key allows it', async () => {
    for (const name of ['api_key', 'token']) expect((await bare({}, `/?${name}=${ingestKey}`)).status).toBe(403)
    for (const name of ['api_key', 'token']) expect((await bare({}, `/?${name}=dk_wrong`)).status).toBe(401)
    expect((await bare({}, `/?dd-api-key=${ingestKey}`)).status).toBe(401)
  })

  test('and only for sending', async () => {
    const reply = await senders.app.ask('GET', '/datasets', { headers: { authorization: `Basic ${base64(`x:${senders.org.key}`)}` } })
    expect(reply.status).toBe(401)
  })
})

test('without permission it is 403, without credential 401, and nothing is stored', async () => {
  const searcher = await senders.org.newKey(['SearchApi'])
  const reply = await senders.post('x', { key: searcher, headers: { 'x-service-dataset': 'denied' } })
  expect([reply.status, reply.body.code]).toEqual([403, 403])
  expect((await bare({})).status).toBe(401)
  expect(await senders.found('default', 'denied')).toBeUndefined()
  const { token } = await senders.org.newUser(['Admin'])
  expect((await senders.post('x', { token })).status).toBe(200)
  const reader = await senders.org.newUser(['Standard'])
  expect((await senders.post('x', { token: reader.token })).status).toBe(403)
})

describe('the path may have any prefix and repeated slashes', () => {
  test.each([
    '/',
    '//',
    '/ingest',
    '/ingest/',
    '/some/prefix/ingest',
    '/some//prefix/ingest//',
    '/a/ingest/shop/web',
    '/ingest//shop/web/',
  ])('%s', async (path) => {
    const dataset = 'paths'
    const before = (await senders.eventsIn('web', 'shop')).length + (await senders.eventsIn(dataset)).length
    const headers: Record<string, string> = path.includes('web') ? {} : { 'x-service-dataset': dataset }
    expect((await senders.post('x', { path, headers })).status).toBe(200)
    expect((await senders.eventsIn('web', 'shop')).length + (await senders.eventsIn(dataset)).length).toBe(before + 1)
  })

  test.each(['/some/prefix', '/ingest/one', '/ingest/a/b/c', '/ingestion'])('%s is not an ingestion path', async (path) => {
    expect((await senders.post('x', { path })).status).toBe(404)
  })
})

test('probes by GET and HEAD succeed', async () => {
  for (const method of ['GET', 'HEAD']) expect((await senders.app.ask(method, '/')).status).toBe(200)
  expect((await senders.org.ask('GET', '/ingest')).status).toBe(405)
})

test('sending is rate limited separately, and every response has the count', async () => {
  const few = await openSenders({ DENDRO_RATE_LIMIT: '4/1h' })
  try {
    nextHour(few.app)
    const key = await few.org.newKey(['AdminApi'])
    for (let n = 0; n < 4; n += 1) expect((await few.app.ask('GET', '/datasets', { key })).status).toBe(200)
    expect((await few.app.ask('GET', '/datasets', { key })).status).toBe(429)
    const sent = await few.post('x', { key })
    expect([sent.status, sent.headers.get('ratelimit-limit'), sent.headers.get('ratelimit-remaining')]).toEqual([200, '40', '39'])
    for (let n = 1; n < 40; n += 1) expect((await few.post('x', { key })).status).toBe(200)
    const refused = await few.post('x', { key })
    expect([refused.status, refused.body.code]).toEqual([429, 429])
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  } finally {
    await few.close()
  }
})

describe('the ways of HTTP', () => {
  const port = () => Number(new URL(senders.app.url).port)

  test('a client that waits for 100 Continue gets it', async () => {
    const answer = await new Promise<{ continued: boolean; status: number | undefined }>((resolve, reject) => {
      let continued = false
      const ask = httpRequest({
        port: port(),
        method: 'POST',
        path: '/',
        headers: { 'x-service-api-key': ingestKey, expect: '100-continue' },
      })
      ask.on('continue', () => {
        continued = true
        ask.end('line')
      })
      ask.on('response', (response) => {
        response.resume()
        resolve({ continued, status: response.statusCode })
      })
      ask.on('error', reject)
      ask.flushHeaders()
    })
    expect(answer).toEqual({ continued: true, status: 200 })
  })

  test('a chunked body is accepted', async () => {
    const status = await new Promise((resolve, reject) => {
      const ask = httpRequest({
        port: port(),
        method: 'POST',
        path: '/',
        headers: { 'x-service-api-key': ingestKey, 'x-service-dataset': 'chunked', 'transfer-encoding': 'chunked' },
      })
      ask.on('response', (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      ask.on('error', reject)
      for (const part of ['{"a":', '1}\n{"b', '":2}']) ask.write(part)
      ask.end()
    })
    expect(status).toBe(200)
    expect((await senders.eventsIn('chunked')).map(({ line }) => line)).toEqual(['{"a":1}', '{"b":2}'])
  })

  /** Writes raw bytes and returns the response until the server closes the connection or `isEnough` is true. */
  const converse = (parts: readonly (string | Buffer)[], isEnough: (text: string) => boolean): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(port(), '127.0.0.1')
      let text = ''
      const end = () => {
        socket.destroy()
        resolve(text)
      }
      socket.on('data', (bytes) => {
        text += bytes
        if (isEnough(text)) end()
      })
      socket.on('error', end)
      socket.on('close', end)
      for (const part of parts) socket.write(part)
    })

  const head = (extra: string) =>
    `POST / HTTP/1.1\r\nhost: a\r\nx-service-api-key: ${ingestKey}\r\nx-service-dataset: halves\r\n${extra}\r\n\r\n`

  test('a body that is cut off is not stored, not even the lines that arrived', async () => {
    for (const extra of ['content-length: 1000', 'transfer-encoding: chunked']) {
      const body = extra.startsWith('content') ? '{"a":1}\n{"b":' : '10\r\n{"a":1}\n{"b":2}\n\r\n10\r\n{"c"'
      const socket = connect(port(), '127.0.0.1')
      await new Promise<void>((resolve) => socket.write(head(extra) + body, () => resolve()))
      socket.destroy()
    }
    await senders.post('{"whole":1}', { headers: { 'x-service-dataset': 'halves' } })
    expect((await senders.eventsIn('halves')).map(({ line }) => line)).toEqual(['{"whole":1}'])
  })

  test('a connection stays usable after a refusal whose body was not read', async () => {
    const refused = `POST / HTTP/1.1\r\nhost: a\r\nx-service-api-key: dk_wrong\r\ncontent-length: 5\r\n\r\nline\n`
    const text = await converse([refused, `${head('content-length: 5')}line\n`], (seen) => seen.includes('"accepted":1'))
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200'])
  })

  test('a body that is too large gets its answer although its sender goes on sending, and then the connection ends', async () => {
    const megabyte = Buffer.alloc(2 ** 20, 'x')
    const parts = [head('content-length: 60000000'), ...Array.from({ length: 40 }, () => megabyte)]
    const text = await converse(parts, () => false)
    expect(text).toContain('HTTP/1.1 413')
    expect(text).toContain('"code":413')
  })

  test('answers are small, plain and carry their length', async () => {
    const response = await fetch(`${senders.app.url}/`, { method: 'POST', headers: { 'x-service-api-key': ingestKey }, body: 'x' })
    expect(response.headers.get('content-length')).toBe('27')
    expect(await response.text()).toBe('{"accepted":1,"rejected":0}')
  })
})
