import type { IncomingHttpHeaders } from 'node:http'
import { Secret } from '../secret.ts'

export type Credential = { kind: 'key'; key: Secret } | { kind: 'token'; token: Secret }

const KEY_HEADER = 'x-service-api-key'
const KEY_LENGTH_MAX = 4096

/**
 * readCredential finds what the caller shows. A bearer value decides alone; three dot-separated parts make it a token,
 * with or without the word Bearer, and anything else after Bearer is an API key.
 */
export function readCredential(headers: IncomingHttpHeaders, extraKeyHeaders: readonly string[]): Credential | undefined {
  const authorization = headers.authorization?.trim()
  if (authorization) {
    const bearer = /^bearer\s+(.+)$/i.exec(authorization)?.[1]
    const value = (bearer ?? authorization).slice(0, KEY_LENGTH_MAX)
    if (looksLikeToken(value)) return { kind: 'token', token: new Secret(value) }
    if (bearer) return { kind: 'key', key: new Secret(value) }
  }
  for (const name of [KEY_HEADER, ...extraKeyHeaders]) {
    const value = headers[name]
    const key = Array.isArray(value) ? value[0] : value
    if (key) return { kind: 'key', key: new Secret(key.slice(0, KEY_LENGTH_MAX)) }
  }
  return undefined
}

const looksLikeToken = (value: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value)
