import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { parseAllowList } from './addresses.ts'
import { DeliveryError, type OutgoingRequest, openOutgoing, refusedHeader } from './outgoing.ts'

const open: { close(): unknown }[] = []
afterEach(() => {
  for (const server of open.splice(0)) server.close()
})

const loopback = parseAllowList('127.0.0.1, ::1')
const outgoing = openOutgoing({ allowed: loopback, ownPorts: () => [] })
const requestTo = (url: string, more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({ url, headers: {}, body: '{}', ...more })

async function receiver(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server: Server = createServer(answer)
  open.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const failureOf = async (work: Promise<unknown>): Promise<DeliveryError> => {
  const thrown = await work.then(() => undefined).catch((cause: unknown) => cause)
  expect(thrown).toBeInstanceOf(DeliveryError)
  return thrown as DeliveryError
}

describe('an outgoing request', () => {
  test('arrives with its headers and its body, byte for byte', async () => {
    const got: { headers: IncomingMessage['headers']; body: string }[] = []
    const url = await receiver(async (request, response) => {
      got.push({ headers: request.headers, body: Buffer.concat(await request.toArray()).toString() })
      response.writeHead(202, { 'retry-after': '7' }).end('thanks')
    })
    const reply = await outgoing.post(requestTo(`${url}/hook?x=1`, { headers: { 'X-Team': 'ops' }, body: '{"a":"ü\\n"}' }))
    expect(reply).toEqual({ status: 202, body: 'thanks', retryAfter: '7', contentType: '' })
    expect(got).toMatchObject([
      { headers: { 'x-team': 'ops', 'content-type': 'application/json', 'content-length': '12' }, body: '{"a":"ü\\n"}' },
    ])
  })

  test('follows no redirect', async () => {
    let hits = 0
    const url = await receiver((_request, response) => {
      hits += 1
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect((await outgoing.post(requestTo(url))).status).toBe(302)
    expect(hits).toBe(1)
  })

  test('reads the beginning of an endless answer and goes', async () => {
    const url = await receiver((_request, response) => {
      const chunk = 'x'.repeat(16_384)
      const more = (): void => {
        while (!response.destroyed && response.write(chunk));
      }
      response.on('drain', more)
      more()
    })
    expect((await outgoing.post(requestTo(url))).body.length).toBe(65_536)
  })

  test('a closed port and a broken connection can be tried again', async () => {
    const server = createTcpServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect((await failureOf(outgoing.post(requestTo(url)))).isRetryable).toBe(true)
    await new Promise((resolve) => server.close(resolve))
    expect(await failureOf(outgoing.post(requestTo(url)))).toMatchObject({
      isRetryable: true,
      message: 'the target could not be reached (ECONNREFUSED)',
    })
  })

  test('ends when it is aborted', async () => {
    const url = await receiver(() => undefined)
    const stop = new AbortController()
    const sent = outgoing.post(requestTo(url), stop.signal)
    stop.abort(new Error('stopping'))
    await expect(sent).rejects.toThrow('stopping')
  })
})

describe('out of reach', () => {
  const closed = openOutgoing({ allowed: parseAllowList(''), ownPorts: () => [] })

  test.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.localhost/',
    'http://10.0.0.1:9/',
    'http://0/',
  ])('%s is refused before anything is sent', async (url) => {
    expect(() => closed.check(url, 'url')).toThrow(/url is not a public address/)
    expect(await failureOf(closed.post(requestTo(url)))).toMatchObject({ isRetryable: false })
  })

  test.each([
    ['ftp://example.com/', 'must begin with http:// or https://'],
    ['file:///etc/passwd', 'must begin with http:// or https://'],
    ['http://user:pass@example.com/', 'must not carry a user name or password; use a header'],
    ['example.com', 'is not a URL'],
    ['http://', 'is not a URL'],
  ])('%s %s', (url, problem) => {
    expect(() => closed.check(url, 'url')).toThrow(`url ${problem}`)
  })

  test('a name that resolves to this machine is refused after resolution, unless the operator allows it', async () => {
    let hits = 0
    const url = await receiver((_request, response) => {
      hits += 1
      response.end()
    })
    const named = url.replace('127.0.0.1', 'localhost.localdomain')
    const failure = await failureOf(closed.post(requestTo(named)))
    expect(failure.message).toMatch(/not a public address|host name of the target cannot be resolved/)
    expect(hits).toBe(0)
    const byName = openOutgoing({ allowed: parseAllowList('localhost'), ownPorts: () => [] })
    expect((await byName.post(requestTo(url.replace('127.0.0.1', 'localhost')))).status).toBe(200)
  })

  test("the service's own ports are rejected even when private addresses are allowed", async () => {
    const url = await receiver((_request, response) => response.end())
    const own = openOutgoing({ allowed: loopback, ownPorts: () => [Number(new URL(url).port)] })
    expect(await failureOf(own.post(requestTo(url)))).toMatchObject({ isRetryable: false, message: 'the target is this service itself' })
  })
})

test.each([
  ['Host', 'x', 'is set by the service itself'],
  ['content-length', '5', 'is set by the service itself'],
  ['Transfer-Encoding', 'chunked', 'is set by the service itself'],
  ['x y', '1', 'is not a valid header name'],
  ['', '1', 'is not a valid header name'],
  ['x-a', '1\r\nx-b: 2', 'has a value with characters that a header cannot carry'],
  ['x-a', 'ü', undefined],
  ['Authorization', 'Bearer x', undefined],
])('header %s: %s %s', (name, value, problem) => {
  expect(refusedHeader(name, value)).toBe(problem)
})
