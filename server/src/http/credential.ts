import type { IncomingHttpHeaders } from 'node:http'
import { Secret } from '../kernel/secret.ts'

/**
 * `inAddress` is set for a parameter of the address that only some keys may be in; `isConfigured` for the key of a listener, which its senders do not
 * send.
 */
export type CallerCredential = { kind: 'key'; key: Secret; inAddress?: true; isConfigured?: true } | { kind: 'token'; token: Secret }

const KEY_HEADER = 'x-service-api-key'
const KEY_LENGTH_MAX = 4096

/** Finds the credentials of a request, of which the first valid one counts: the bearer value, then the API key in a header. */
export function readCredentials(headers: IncomingHttpHeaders, extraKeyHeaders: readonly string[]): CallerCredential[] {
  return [readBearer(headers), readKey(headers, extraKeyHeaders)].filter((credential) => credential !== undefined)
}

/** Three dot-separated parts are a token, with or without the word Bearer; anything else after Bearer is an API key. */
function readBearer({ authorization = '' }: IncomingHttpHeaders): CallerCredential | undefined {
  const written = authorization.trim()
  const bearer = /^bearer\s+(.+)$/i.exec(written)?.[1]
  const value = (bearer ?? written).slice(0, KEY_LENGTH_MAX)
  if (hasTokenForm(value)) return { kind: 'token', token: new Secret(value) }
  return bearer ? { kind: 'key', key: new Secret(value) } : undefined
}

function readKey(headers: IncomingHttpHeaders, extraKeyHeaders: readonly string[]): CallerCredential | undefined {
  for (const name of [KEY_HEADER, ...extraKeyHeaders]) {
    const value = headers[name]
    const key = Array.isArray(value) ? value[0] : value
    if (key) return { kind: 'key', key: new Secret(key.slice(0, KEY_LENGTH_MAX)) }
  }
  return undefined
}

/**
 * Finds the credentials of an event sender in all headers that ingestion protocols use. For Basic, the password is tried before the user
 * name. Headers of a protocol come last.
 */
export function readSenderCredentials(
  headers: IncomingHttpHeaders,
  extraKeyHeaders: readonly string[],
  head?: { path: string; query: Readonly<Record<string, string>> },
): CallerCredential[] {
  const authorization = headers.authorization?.trim() ?? ''
  const [, scheme = '', value = ''] = /^(basic|apikey|splunk)\s+(.+)$/i.exec(authorization) ?? []
  const texts = scheme === '' ? [] : textsOf(scheme.toLowerCase(), value.trim())
  const usual = [...texts.map((text) => credentialOf(text)), ...readCredentials(headers, [...extraKeyHeaders, ...SENDER_KEY_HEADERS])]
  if (usual.length > 0 || !head) return usual
  const inAddress = keyInAddress(head.path, head.query)
  if (inAddress) return [credentialOf(inAddress)]
  const parameter = keyParameters.map((name) => head.query[name]).find((text) => text)
  return parameter ? [{ kind: 'key', key: new Secret(parameter.slice(0, KEY_LENGTH_MAX)), inAddress: true }] : []
}

/** The protocol of one sender has the key in its address. */
const KEY_PARAMETER = 'dd-api-key'
/** For senders that can set only an address, if the key allows it. */
const keyParameters: readonly string[] = ['token', 'api_key', 'apikey', 'api-key', 'Api-Key']
/** Receivers never see these parameters. */
export const credentialParameters: ReadonlySet<string> = new Set([KEY_PARAMETER, ...keyParameters])
const KEY_IN_PATH = /\/v1\/input\/([^/]+)$/

/** Only this protocol has its key there: an address ends up in many logs. */
const KEY_PATHS = /\/(?:v1\/input|api\/v2\/logs|api\/v1\/validate)$/
const keyInAddress = (path: string, query: Readonly<Record<string, string>>): string | undefined =>
  (KEY_PATHS.test(path) ? query[KEY_PARAMETER] : undefined) ?? KEY_IN_PATH.exec(path)?.[1]

/** A path as it may be stored and shown: without a key. */
export const withoutKey = (path: string): string => path.replace(KEY_IN_PATH, '/v1/input/…')

/** Whether a sender has a credential at all, and in a form that some protocol uses. */
export function credentialStateOf(
  headers: IncomingHttpHeaders,
  query: Readonly<Record<string, string>>,
  path: string,
): 'absent' | 'malformed' | 'present' {
  const authorization = headers.authorization?.trim() ?? ''
  if (/^(?:basic|apikey|splunk|bearer)\s+\S/i.test(authorization) || hasTokenForm(authorization)) return 'present'
  if (authorization !== '') return 'malformed'
  const others = [KEY_HEADER, ...SENDER_KEY_HEADERS].some((name) => headers[name])
  return others || keyInAddress(path, query) || keyParameters.some((name) => query[name]) ? 'present' : 'absent'
}

export const SENDER_KEY_HEADERS = ['dd-api-key', 'x-license-key', 'api-key', 'apikey', 'x-amz-firehose-access-key']

/** Decodes ApiKey and Basic values. Clients that were configured with the key alone send it without encoding. */
function textsOf(scheme: string, value: string): string[] {
  if (scheme === 'splunk') return [value]
  const text = Buffer.from(value, 'base64').toString('utf8')
  if (scheme === 'apikey' && !PRINTABLE.test(text)) return [value]
  const colon = text.indexOf(':')
  const [before, after] = colon < 0 ? ['', text] : [text.slice(0, colon), text.slice(colon + 1)]
  return (scheme === 'basic' ? [after, before] : [after]).filter((part) => part !== '')
}

const PRINTABLE = /^[\x20-\x7e]+$/

function credentialOf(text: string): CallerCredential {
  const value = new Secret(text.slice(0, KEY_LENGTH_MAX))
  return hasTokenForm(text) ? { kind: 'token', token: value } : { kind: 'key', key: value }
}

const hasTokenForm = (value: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(value)
