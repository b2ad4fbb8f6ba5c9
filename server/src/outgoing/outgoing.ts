import { lookup } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import { badRequest } from '../kernel/errors.ts'
import { type AllowList, isAllowedAddress, isPublic } from './addresses.ts'

/** A request to a URL that a caller chose; a POST unless it says otherwise. */
export type OutgoingRequest = {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** How long the response may take; a large body takes longer than the default. */
  readonly boundMs?: number
}

/** The response to an outgoing request. `body` is truncated and for internal use: callers see only the status. */
export type OutgoingResponse = {
  readonly status: number
  readonly body: string
  readonly retryAfter: string | undefined
  readonly contentType: string
}

/** The request failed without a response. The message is safe to show to callers. */
export class DeliveryError extends Error {
  /** False when retrying cannot help. */
  readonly isRetryable: boolean
  constructor(message: string, options: { isRetryable: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.isRetryable = options.isRetryable
  }
}

export type Outgoing = {
  /** Throws a 400 for a URL that can never be requested. Does not resolve the host. */
  check(url: string, field: string): void
  /** Sends one request, which is a POST unless it says otherwise. Redirects are not followed. */
  post(request: OutgoingRequest, signal?: AbortSignal): Promise<OutgoingResponse>
  /** Sends one request like `post`, and gives the body of the response as it arrives; `boundMs` bounds that too. */
  open(
    request: OutgoingRequest,
    signal?: AbortSignal,
  ): Promise<{ status: number; headers: Readonly<Record<string, string>>; body: Readable }>
  /** Throws a 400 for a host and port, of a protocol other than HTTP, that can never be connected to. Does not resolve the host. */
  checkPeer(peer: Omit<Peer, 'address'>, field: string): void
  /** Resolves a host for a protocol other than HTTP, and throws a DeliveryError unless every address of it is allowed. */
  checkHost(host: string): Promise<void>
  /** Why such a protocol must not connect to a peer, or must end the connection before it sends anything; undefined when it may go on. */
  refusalOf(peer: Peer): DeliveryError | undefined
}

/** Whom to connect to. `address` is known once the connection is there. */
type Peer = { readonly host: string; readonly address: string | undefined; readonly port: number }

const BOUND_MS = 10_000
const REPLY_BYTES_MAX = 65_536

/** Headers that control how a request is transmitted. A caller could smuggle a different request with them. */
const reservedHeaders = new Set(
  'connection content-encoding content-length expect host http2-settings keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Returns why a caller may not set this header, or undefined when they may. */
export function refusedHeader(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not a valid header name'
  if (reservedHeaders.has(name.toLowerCase())) return 'is set by the service itself'
  return /[^\t\x20-\x7e\x80-\xff]/.test(value) ? 'has a value with characters that a header cannot carry' : undefined
}

/**
 * Opens the only way for requests to URLs that callers choose (SSRF protection). The host is resolved once, every address is checked before
 * the connection is made to exactly that address, and the connected peer is checked again. Ports of the service and its stores are never
 * reachable.
 */
export function openOutgoing(options: NetworkPolicy & { boundMs?: number; replyBytesMax?: number }): Outgoing {
  const { allowed, ownPorts, boundMs = BOUND_MS, replyBytesMax = REPLY_BYTES_MAX } = options
  const sendOptions = (request: OutgoingRequest, signal: AbortSignal | undefined): SendOptions => {
    const problem = problemOf(request.url, allowed)
    if (problem !== undefined) throw new DeliveryError(`the target ${problem}`, { isRetryable: false })
    const longestMs = request.boundMs ?? boundMs
    const bound = AbortSignal.timeout(longestMs)
    return { allowed, ownPorts, boundMs: longestMs, signal: signal ? AbortSignal.any([signal, bound]) : bound, bound }
  }
  const refuse = (field: string, message: string): never => {
    throw badRequest(`${field} ${message}`, { errors: [{ field, code: 'BAD_TARGET', message }] })
  }
  return {
    check: (url, field) => {
      const problem = problemOf(url, allowed)
      if (problem !== undefined) refuse(field, problem)
    },
    checkPeer: (peer, field) => {
      const problem = problemOfPeer({ ...peer, host: peer.host.toLowerCase(), address: undefined }, options)
      if (problem !== undefined) refuse(field, problem)
    },
    post: async (request, signal) => {
      return send(request, sendOptions(request, signal), async (answer) => ({
        status: answer.statusCode ?? 0,
        body: await readLimited(answer, replyBytesMax),
        retryAfter: answer.headers['retry-after'],
        contentType: answer.headers['content-type'] ?? '',
      }))
    },
    open: async (request, signal) => {
      return send(request, sendOptions(request, signal), async (answer) => ({
        status: answer.statusCode ?? 0,
        headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)])),
        body: answer,
      }))
    },
    checkHost: async (host) => {
      const name = host.toLowerCase()
      const refused = refusalOf({ host: name, address: undefined, port: 0 }, options)
      if (refused) throw refused
      if (isIP(name) !== 0) return
      await new Promise<void>((resolve, reject) => {
        checkedLookup(name, allowed, new Set())(name, { all: true }, (failure) => (failure ? reject(failure) : resolve()))
      })
    },
    refusalOf: (peer) => refusalOf({ ...peer, host: peer.host.toLowerCase() }, options),
  }
}

function refusalOf(peer: Peer, policy: NetworkPolicy): DeliveryError | undefined {
  const problem = problemOfPeer(peer, policy)
  return problem === undefined ? undefined : new DeliveryError(`the target ${problem}`, { isRetryable: false })
}

function problemOfPeer({ host, address, port }: Peer, { allowed, ownPorts }: NetworkPolicy): string | undefined {
  const known = address ?? (isIP(host) === 0 ? undefined : host)
  const isRefused =
    known === undefined ? isLocalName(host) && !allowed.hosts.has(host) : !allowed.hosts.has(host) && !isAllowedAddress(known, allowed)
  if (isRefused) return NOT_PUBLIC
  return known !== undefined && ownPorts().includes(port) && !isPublic(known) ? 'is this service itself' : undefined
}

function problemOf(text: string, allowed: AllowList): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL'
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password; use a header'
  const host = hostOf(url)
  if (isIP(host) !== 0 && !isAllowedAddress(host, allowed)) return NOT_PUBLIC
  if (isLocalName(host) && !allowed.hosts.has(host)) return NOT_PUBLIC
  return undefined
}

const NOT_PUBLIC = 'is not a public address, and the operator has not allowed it (DENDRO_WEBHOOK_ALLOW)'

const hostOf = (url: URL): string =>
  url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
const isLocalName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

/**
 * The allowed targets besides public addresses. `ownPorts` are the ports of the service and its stores, which are never allowed on local
 * addresses.
 */
type NetworkPolicy = { allowed: AllowList; ownPorts: () => readonly number[] }

type SendOptions = NetworkPolicy & { boundMs: number; signal: AbortSignal; bound: AbortSignal }

async function send<T>(request: OutgoingRequest, options: SendOptions, read: (answer: IncomingMessage) => Promise<T>): Promise<T> {
  const url = new URL(request.url)
  const checked = new Set<string>()
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest
  const body = typeof request.body === 'string' ? Buffer.from(request.body, 'utf8') : request.body
  try {
    options.signal.throwIfAborted()
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = start(url, {
        method: request.method ?? 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'dendro', ...request.headers, 'content-length': body.length },
        // A kept-alive connection could be reused for a host whose address has changed.
        agent: false,
        signal: options.signal,
        lookup: checkedLookup(hostOf(url), options.allowed, checked),
      })
      sent.on('error', reject)
      sent.on('socket', (socket) => {
        socket.on('connect', () => {
          const refused = peerError(socket.remoteAddress ?? '', socket.remotePort ?? 0, hostOf(url), options, checked)
          if (refused) sent.destroy(refused)
        })
      })
      sent.on('response', resolve)
      sent.end(body)
    })
    return await read(answer)
  } catch (cause) {
    if (cause instanceof DeliveryError) throw cause
    if (options.bound.aborted)
      throw new DeliveryError(`the target did not answer within ${options.boundMs / 1_000} s`, { isRetryable: true, cause })
    if (options.signal.aborted) throw options.signal.reason
    throw new DeliveryError(`the target could not be reached (${(cause as NodeJS.ErrnoException).code ?? 'connection failed'})`, {
      isRetryable: true,
      cause,
    })
  }
}

/** Resolves a host and fails unless every address of it is allowed. */
function checkedLookup(host: string, allowed: AllowList, checked: Set<string>): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (failure, addresses) => {
      if (failure)
        return done(new DeliveryError('the host name of the target cannot be resolved', { isRetryable: true, cause: failure }), [])
      const refused = addresses.some(({ address }) => !allowed.hosts.has(host) && !isAllowedAddress(address, allowed))
      if (refused || addresses.length === 0) return done(new DeliveryError(`the target ${NOT_PUBLIC}`, { isRetryable: false }), [])
      for (const { address } of addresses) checked.add(address)
      const [first] = addresses
      if (options.all || !first) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}

function peerError(
  address: string,
  port: number,
  host: string,
  { allowed, ownPorts }: SendOptions,
  checked: ReadonlySet<string>,
): DeliveryError | undefined {
  if (ownPorts().includes(port) && !isPublic(address)) return new DeliveryError('the target is this service itself', { isRetryable: false })
  if (checked.has(address) || isIP(host) !== 0) return undefined
  return isAllowedAddress(address, allowed) ? undefined : new DeliveryError(`the target ${NOT_PUBLIC}`, { isRetryable: false })
}

async function readLimited(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of answer) {
    parts.push(part)
    bytes += part.length
    if (bytes >= bytesMax) break
  }
  answer.destroy()
  return Buffer.concat(parts).subarray(0, bytesMax).toString('utf8')
}
