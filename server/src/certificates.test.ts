import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { openTestApp, type TestApp, type TestOrganization } from '../../test/support/world.ts'
import { asListeners } from './ingest/listeners/setting.ts'
import { CERTIFICATE, PRIVATE_KEY, RENEWED_CERTIFICATE, RENEWED_PRIVATE_KEY } from './kernel/certificates.fixture.ts'

let dir = ''
let app: TestApp
let org: TestOrganization
const cert = (): string => join(dir, 'tls.crt')
const key = (): string => join(dir, 'tls.key')

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'dendro-tls-'))
  writeFileSync(cert(), CERTIFICATE)
  writeFileSync(key(), PRIVATE_KEY)
  app = await openTestApp({ DENDRO_TLS_CERT: cert(), DENDRO_TLS_KEY: key() })
  org = await app.newOrganization()
})
afterAll(async () => {
  await app?.close()
  rmSync(dir, { recursive: true })
})

type Sent = { path: string; method?: string; body?: string; headers?: Record<string, string> }

/** Sends a request on a connection of its own. The certificate of these tests names no host. */
async function send({ path, method = 'GET', body, headers }: Sent): Promise<IncomingMessage> {
  const sending = request(app.url + path, {
    method,
    headers: { 'x-service-api-key': org.key, ...headers },
    rejectUnauthorized: false,
    agent: false,
  })
  sending.end(body)
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  return response
}

const portOf = (url: string): number => Number(new URL(url).port)

/** The name in the certificate that a port shows. */
async function shownBy(port: number): Promise<string | undefined> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { CN } = socket.getPeerCertificate().subject
  socket.destroy()
  return String(CN)
}

test('events are sent and read over TLS, and links begin with https', async () => {
  expect(app.url).toMatch(/^https:/)
  const sent = await send({
    path: '/ingest',
    method: 'POST',
    body: '{"message":"over tls"}',
    headers: { 'x-service-collection': 'raw', 'x-service-dataset': 'tls', 'content-type': 'application/json' },
  })
  expect(sent.statusCode).toBe(200)
  await json(sent)
  const found = await send({ path: '/search?from_expr=*' })
  expect(JSON.stringify(await json(found))).toContain('over tls')
  expect(await json(await send({ path: '/', headers: { accept: 'application/json' } }))).toMatchObject({ docs: `${app.url}/docs` })
})

test('a live tail runs over a WebSocket with TLS', async () => {
  const socket = new WebSocket(`${app.url.replace('https', 'wss')}/loki/api/v1/tail?query=${encodeURIComponent('{dataset=~".+"}')}`, {
    rejectUnauthorized: false,
    headers: { 'x-service-api-key': org.key },
  })
  await once(socket, 'open')
  socket.close()
  await once(socket, 'close')
})

test('a caller without TLS is disconnected, and one with an old version is refused', async () => {
  const plain = connectPlain(portOf(app.url), '127.0.0.1')
  plain.on('error', () => undefined)
  plain.write('GET /health HTTP/1.1\r\nhost: a\r\n\r\n')
  const [read] = await Promise.all([Array.fromAsync(plain).catch(() => []), once(plain, 'close')])
  expect(Buffer.concat(read).toString()).not.toContain('HTTP/1.1 200')
  const old = connect({ port: portOf(app.url), host: '127.0.0.1', rejectUnauthorized: false, maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' })
  await expect(once(old, 'secureConnect')).rejects.toThrow()
})

test('a replaced certificate is in use without a restart, on the HTTP port and on listeners; open connections go on', async () => {
  const listeners = asListeners(`syslog+tls://127.0.0.1:0?key=${org.key}&dataset=tls`)
  const [bound] = await app.app.listeners.open(listeners, app.app.certificates.ofListeners)
  const ports = [portOf(app.url), bound?.port ?? 0]
  const open = connect({ port: portOf(app.url), host: '127.0.0.1', rejectUnauthorized: false })
  await once(open, 'secureConnect')
  const certificate = app.app.certificates.ofHttp
  if (!certificate) throw new Error('the service has no certificate')
  expect(app.app.certificates.ofListeners).toBe(certificate)
  expect(await Promise.all(ports.map(shownBy))).toEqual(['sender-a', 'sender-a'])
  expect(certificate.renew()).toBe(false)

  // The key comes a moment later.
  writeFileSync(cert(), RENEWED_CERTIFICATE)
  expect(() => certificate.renew()).toThrow(/DENDRO_TLS_CERT .*DENDRO_TLS_KEY .* are not valid/)
  expect(certificate.renew()).toBe(false)
  expect(await Promise.all(ports.map(shownBy))).toEqual(['sender-a', 'sender-a'])

  writeFileSync(key(), RENEWED_PRIVATE_KEY)
  expect(certificate.renew()).toBe(true)
  expect(await Promise.all(ports.map(shownBy))).toEqual(['renewed', 'renewed'])
  open.write('GET /live HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  expect(Buffer.concat(await Array.fromAsync(open)).toString()).toMatch(/^HTTP\/1\.1 200/)
})

test.each([
  [{ DENDRO_TLS_CERT: 'tls.crt' }, 'DENDRO_TLS_CERT needs DENDRO_TLS_KEY'],
  [{ DENDRO_TLS_KEY_FILE: 'tls.key' }, 'DENDRO_TLS_KEY_FILE needs DENDRO_TLS_CERT_FILE'],
  [{ DENDRO_TLS_CERT: 'missing', DENDRO_TLS_KEY: 'missing' }, 'DENDRO_TLS_CERT names a file that cannot be read'],
])('a start with %j fails and names the setting', async (env, sentence) => {
  await expect(openTestApp(env)).rejects.toThrow(sentence)
})
