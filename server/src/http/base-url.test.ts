import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { openBaseUrl } from './base-url.ts'

const socket = { remoteAddress: '192.0.2.9', localAddress: '::ffff:192.0.2.1', localPort: 8080 }
const base = openBaseUrl({ publicUrl: undefined, host: '127.0.0.1', proxies: [] })

test.each([
  ['localhost:8080', 'http://localhost:8080'],
  ['127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['[::1]:8080', 'http://[::1]:8080'],
  ['192.0.2.1:8080', 'http://192.0.2.1:8080'],
  [`${hostname()}:8080`, `http://${hostname()}:8080`],
  ['192.0.2.2:8080', 'http://127.0.0.1:8080'],
  ['localhost:9999', 'http://127.0.0.1:8080'],
  ['localhost', 'http://127.0.0.1:8080'],
  ['logs.example.org', 'http://127.0.0.1:8080'],
  ['localhost.example.org:8080', 'http://127.0.0.1:8080'],
  ["evil'><script>", 'http://127.0.0.1:8080'],
  ['user@localhost:8080', 'http://127.0.0.1:8080'],
  [undefined, 'http://127.0.0.1:8080'],
])('a request to host %s gets links to %s', (host, expected) => {
  expect(base({ headers: { host }, socket })).toBe(expected)
  const forged = { host, 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }
  expect(base({ headers: forged, socket })).toBe(expected)
})

test.each([
  [{ host: 'logs.example.org' }, 'http://logs.example.org'],
  [{ host: 'inside:8080', 'x-forwarded-host': 'logs.example.org', 'x-forwarded-proto': 'https' }, 'https://logs.example.org'],
  [
    { host: 'inside', 'x-forwarded-host': 'evil.example, logs.example.org', 'x-forwarded-proto': 'http, https' },
    'https://logs.example.org',
  ],
  [{ host: 'inside', 'x-forwarded-proto': 'javascript' }, 'http://inside'],
  [{ host: 'inside', 'x-forwarded-host': "evil'><script>" }, 'http://127.0.0.1:8080'],
  [{}, 'http://127.0.0.1:8080'],
])('headers of a trusted proxy, %j, make links to %s', (headers, expected) => {
  for (const [proxies, remoteAddress] of [
    [['192.0.2.0/24'], '192.0.2.9'],
    [['192.0.2.9'], '::ffff:192.0.2.9'],
    [['loopback'], '::1'],
    [['uniquelocal'], 'fd00::7'],
  ] as const) {
    const proxied = openBaseUrl({ publicUrl: undefined, host: '127.0.0.1', proxies })
    expect(proxied({ headers, socket: { ...socket, remoteAddress } })).toBe(expected)
    expect(proxied({ headers, socket: { ...socket, remoteAddress: '198.51.100.1' } })).toBe('http://127.0.0.1:8080')
  }
})

test.each([
  ['0.0.0.0', 8080, 'http://127.0.0.1:8080'],
  ['::', 8080, 'http://[::1]:8080'],
  ['192.0.2.1', 80, 'http://192.0.2.1'],
  ['logs.internal', 8080, 'http://logs.internal:8080'],
])('a server that listens at %s has its own address', (host, localPort, expected) => {
  const own = openBaseUrl({ publicUrl: undefined, host, proxies: [] })
  expect(own({ headers: { host: 'evil.example' }, socket: { ...socket, localPort } })).toBe(expected)
})

test('the configured public URL takes precedence', () => {
  const named = openBaseUrl({ publicUrl: 'https://logs.example.org', host: '0.0.0.0', proxies: ['loopback'] })
  expect(named({ headers: { host: 'localhost:8080' }, socket })).toBe('https://logs.example.org')
})
