import { expect, test } from 'vitest'
import { readBaseUrl } from './base-url.ts'

test.each([
  [{ host: 'logs.example.org' }, 'http://logs.example.org'],
  [{ host: '127.0.0.1:8080' }, 'http://127.0.0.1:8080'],
  [{ host: '[::1]:8080' }, 'http://[::1]:8080'],
  [{ host: 'inside:8080', 'x-forwarded-host': 'logs.example.org, other', 'x-forwarded-proto': 'https, http' }, 'https://logs.example.org'],
  [{ host: 'inside', 'x-forwarded-proto': 'javascript' }, 'http://inside'],
  [{ host: "evil'><script>" }, 'http://localhost'],
  [{ host: 'user@evil' }, 'http://localhost'],
  [{ host: 'evil/path' }, 'http://localhost'],
  [{}, 'http://localhost'],
])('headers %j mean the base %s', (headers, base) => {
  expect(readBaseUrl(headers)).toBe(base)
})
