import type { BodyInput, ContractGroup, Endpoint, ParamsOf, QueryInput, ReplyOutput } from './endpoint.ts'
import type { FailureBody } from './values.ts'

/**
 * Creates the typed client of a contract: `client.datasets.create({ body })`. It needs only method and path of each endpoint, so a web page
 * can use `clientRoutes(contract)` as plain data without the schemas.
 */
export function makeClient<C extends Described>(routes: C | RoutesOf<C>, options: ClientOptions): Client<C> {
  const groups = Object.entries<Readonly<Record<string, ClientRoute>>>(routes).map(([noun, group]) => {
    const verbs = Object.entries(group).map(([verb, route]) => [verb, (call?: RawCall) => send(route, call ?? {}, options)])
    return [noun, Object.fromEntries(verbs)]
  })
  return Object.fromEntries(groups) as Client<C>
}

/** Reduces a contract to the parts that a client needs. */
export const clientRoutes = <C extends Described>(contract: C): RoutesOf<C> =>
  Object.fromEntries(
    Object.entries(contract).map(([noun, group]) => [
      noun,
      Object.fromEntries(
        Object.entries(group).map(([verb, { method, path, media, takes }]) => [
          verb,
          { method, path, ...(media ? { media } : {}), ...(takes ? { takes } : {}) },
        ]),
      ),
    ]),
  ) as RoutesOf<C>

export type ClientOptions = {
  /** The URL of the service; '' for a page that the service itself serves. */
  baseUrl: string
  /** `key` is an API key, `token` the token of a login. Omit both for public endpoints or with a session cookie. */
  key?: string | undefined
  token?: string | undefined
  fetch?: typeof fetch | undefined
  /** The maximum number of attempts of a refused call, and the maximum wait before each; false disables retries. */
  retry?: Retry | false | undefined
  /** Bounds one attempt. */
  timeoutMs?: number | undefined
  /** Headers of every call. */
  headers?: Readonly<Record<string, string>> | undefined
}

export type Retry = { attemptsMax: number; waitMsMax: number }

const RETRY: Retry = { attemptsMax: 4, waitMsMax: 30_000 }
const TIMEOUT_MS = 120_000
const RETRY_AFTER_S = 1

type Described = Readonly<Record<string, ContractGroup>>
export type ClientRoute = Pick<Endpoint, 'method' | 'path' | 'media' | 'takes'>
export type RoutesOf<C extends Described> = { readonly [Noun in keyof C]: { readonly [Verb in keyof C[Noun]]: ClientRoute } }

type Optional<T, Name extends string> = [T] extends [undefined]
  ? { [N in Name]?: undefined }
  : Record<never, never> extends T
    ? { [N in Name]?: T }
    : { [N in Name]: T }
type CallParts<E extends Endpoint> = Optional<ParamsOf<E>, 'params'> & Optional<QueryInput<E>, 'query'> & Optional<BodyInput<E>, 'body'>
type CallControl = {
  signal?: AbortSignal
  headers?: Readonly<Record<string, string>>
  /** True for a POST or PATCH that may be sent twice without harm, such as a search. For other methods the method decides. */
  repeatable?: boolean
}
export type ClientCall<E extends Endpoint> = CallParts<E> & CallControl
export type ClientVerb<E extends Endpoint> =
  Record<never, never> extends CallParts<E>
    ? (call?: ClientCall<E>) => Promise<ReplyOutput<E>>
    : (call: ClientCall<E>) => Promise<ReplyOutput<E>>
export type Client<C extends Described> = { readonly [Noun in keyof C]: { readonly [Verb in keyof C[Noun]]: ClientVerb<C[Noun][Verb]> } }

type RawCall = CallControl & { params?: Readonly<Record<string, unknown>>; query?: Readonly<Record<string, unknown>>; body?: unknown }

/** An error response of the service: the error body, and when to retry. */
export class ApiFailure extends Error {
  readonly status: number
  readonly details: string
  readonly type: string
  readonly correlation_id: string | undefined
  readonly errors: FailureBody['errors']
  readonly retryAfterS: number | undefined

  constructor(status: number, body: Partial<FailureBody>, facts: { retryAfterS?: number | undefined } = {}) {
    const details = body.details ?? `the response was ${status} without an error message`
    super(details)
    this.name = 'ApiFailure'
    this.status = status
    this.details = details
    this.type = body.type ?? ''
    this.correlation_id = body.correlation_id
    this.errors = body.errors
    this.retryAfterS = facts.retryAfterS
  }
}

/** No response arrived, so it is unknown whether the service executed the call. */
export class NoResponse extends Error {
  constructor(url: string, cause: unknown) {
    super(`no answer from ${url}: ${reasonOf(cause)}`, { cause })
    this.name = 'NoResponse'
  }
}

async function send(route: ClientRoute, call: RawCall, options: ClientOptions): Promise<unknown> {
  const retry = options.retry ?? RETRY
  const repeatable = call.repeatable ?? (route.method !== 'POST' && route.method !== 'PATCH')
  for (let attempt = 1; ; attempt += 1) {
    const failure = await attemptOnce(route, call, options).then(
      (reply) => ({ reply }),
      (thrown: unknown) => ({ thrown }),
    )
    if ('reply' in failure) return failure.reply
    const { thrown } = failure
    const again = retry !== false && repeatable && attempt < retry.attemptsMax && isPassing(thrown)
    const waitMs = again ? (thrown.retryAfterS ?? RETRY_AFTER_S) * 1000 : 0
    if (!again || waitMs > retry.waitMsMax) throw thrown
    await pause(waitMs, call.signal)
  }
}

const isPassing = (thrown: unknown): thrown is ApiFailure =>
  thrown instanceof ApiFailure && (thrown.status === 429 || thrown.status === 503)

async function attemptOnce(route: ClientRoute, call: RawCall, options: ClientOptions): Promise<unknown> {
  const url = options.baseUrl.replace(/\/+$/, '') + pathOf(route.path, call.params) + queryOf(call.query)
  const limit = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS)
  const signal = call.signal ? AbortSignal.any([call.signal, limit]) : limit
  const ask = options.fetch ?? fetch
  try {
    const response = await ask(url, {
      method: route.method,
      headers: headersOf(route, call, options),
      redirect: 'error',
      signal,
      ...(call.body === undefined ? {} : { body: route.takes ? (call.body as string | Uint8Array<ArrayBuffer>) : toText(call.body) }),
    })
    return await readAnswer(response)
  } catch (cause) {
    if (cause instanceof ApiFailure) throw cause
    call.signal?.throwIfAborted()
    throw new NoResponse(url, cause)
  }
}

async function readAnswer(response: Response): Promise<unknown> {
  const text = await response.text()
  if (response.ok) return text === '' ? undefined : isJson(response) ? fromText(text) : text
  throw failureOf(response, text)
}

const isJson = ({ headers }: Response): boolean => /^application\/([\w.-]+\+)?json\b/.test(headers.get('content-type') ?? '')

const failureOf = (response: Response, text: string): ApiFailure =>
  new ApiFailure(response.status, isJson(response) ? failureBodyOf(text) : {}, {
    retryAfterS: secondsOf(response.headers.get('retry-after')),
  })

/**
 * Sends one GET request and returns the response with its body unread, for streams and downloads. `path` is a path of the service or a complete URL. Only
 * a path gets the credential.
 */
export async function openResponse(
  options: ClientOptions,
  path: string,
  call: { query?: Readonly<Record<string, unknown>>; headers?: Readonly<Record<string, string>>; signal?: AbortSignal } = {},
): Promise<Response> {
  const isPath = path.startsWith('/')
  const url = (isPath ? options.baseUrl.replace(/\/+$/, '') + path : path) + queryOf(call.query)
  const route = { method: 'GET', path: '/', media: '*/*' } as const
  const headers = headersOf(route, { headers: call.headers ?? {} }, isPath ? options : { baseUrl: '', headers: options.headers })
  const ask = options.fetch ?? fetch
  const response = await ask(url, { headers, redirect: 'error', ...(call.signal ? { signal: call.signal } : {}) }).catch(
    (cause: unknown) => {
      call.signal?.throwIfAborted()
      throw new NoResponse(url, cause)
    },
  )
  if (response.ok) return response
  throw failureOf(response, await response.text())
}

/** Parses server-sent events: the data and the id of each, and comments. */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null,
): AsyncGenerator<{ data?: string; id?: string; comment?: string }> {
  const decoder = new TextDecoder()
  let buffer = ''
  for await (const piece of piecesOf(body)) {
    const messages = (buffer + decoder.decode(piece, { stream: true })).split('\n\n')
    buffer = messages.pop() ?? ''
    for (const message of messages) {
      const lines = message.split('\n')
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).replace(/^ /, ''))
      const id = lines
        .find((line) => line.startsWith('id:'))
        ?.slice(3)
        .trim()
      if (data.length > 0) yield { data: data.join('\n'), ...(id === undefined ? {} : { id }) }
      else if (message.startsWith(':')) yield { comment: message.slice(1).trim() }
    }
  }
}

/** Reads a stream piece by piece. Not every browser can iterate a stream. */
async function* piecesOf(body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return
  if (!('getReader' in body)) return yield* body
  const reader = body.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel()
  }
}

function failureBodyOf(text: string): Partial<FailureBody> {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}

const secondsOf = (text: string | null): number | undefined => (text !== null && /^\d+$/.test(text.trim()) ? Number(text) : undefined)

function headersOf(route: ClientRoute, call: RawCall, options: ClientOptions): Record<string, string> {
  return {
    accept: route.media ?? 'application/json',
    ...(call.body === undefined ? {} : { 'content-type': route.takes?.[0] ?? 'application/json' }),
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
    ...(options.key === undefined ? {} : { 'x-service-api-key': options.key }),
    ...options.headers,
    ...call.headers,
  }
}

function pathOf(path: string, params: RawCall['params']): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = params?.[name]
    if (value === undefined || value === '') throw new TypeError(`the path needs ${name}`)
    return encodeURIComponent(String(value))
  })
}

/** Repeats the name for each item of a list and omits undefined members. */
function queryOf(query: RawCall['query']): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined && one !== null)
      .map((one): [string, string] => [name, String(one)]),
  )
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`
}

type JsonSource = { rawJSON?(text: string): unknown }
type ReviverContext = { source?: string }

/** Writes JSON with bigint as an exact integer. */
export function toText(value: unknown, indent?: number): string {
  const { rawJSON } = JSON as JsonSource
  if (rawJSON) return JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'bigint' ? rawJSON(String(inner)) : inner), indent)
  const mark = newMark()
  const text = JSON.stringify(value, (_name, inner: unknown) => (typeof inner === 'bigint' ? `${mark}${inner}` : inner), indent)
  return text?.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1')
}

/** Parses integers beyond 2^53 exactly, as bigint. Only texts with a number of that many digits pay for it. */
export function fromText(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text)
  return hasSources() ? JSON.parse(text, exactly) : parseMarked(text)
}

function exactly(_name: string, value: unknown, context?: ReviverContext): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value) || !context?.source) return value
  return /^-?\d+$/.test(context.source) ? BigInt(context.source) : value
}

/** True when the platform gives a reviver the source text of numbers: Node 21 and newer. */
const hasSources = (): boolean => JSON.parse('1', (_name, _value, context?: ReviverContext) => context?.source === '1') as boolean

/** On older platforms, writes large integers as marked texts before parsing. The mark is random, so no text of the data can have it. */
function parseMarked(text: string): unknown {
  const mark = newMark()
  const marked = text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${mark}${token}"` : token,
  )
  return JSON.parse(marked, (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  )
}

/** Not `crypto.randomUUID`: Node 18 and pages without TLS do not have it. */
const newMark = (): string => `int-${Math.random()}-${Math.random()}-`

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    signal?.addEventListener('abort', end, { once: true })
    if (signal?.aborted) end()
  })
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  if (cause.name === 'TimeoutError') return 'timeout'
  return cause.cause instanceof Error && cause.cause.message ? cause.cause.message : cause.message
}
