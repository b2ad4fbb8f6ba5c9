import type { IncomingMessage } from 'node:http'
import type { Server as TlsServer } from 'node:tls'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Certificate } from '../kernel/certificate.ts'
import { badRequest, Failure, forbidden, notFound, reasonPhrase, unauthenticated, unavailable } from '../kernel/errors.ts'
import { toJson } from '../kernel/exact-json.ts'
import type { Ids } from '../kernel/ids.ts'
import type { Logger } from '../kernel/log.ts'
import type { Actor, Principal, RequestFacts } from './actor.ts'
import type { BaseUrl } from './base-url.ts'
import { compress } from './compress.ts'
import { type CallerCredential, readCredentials, readSenderCredentials, withoutKey } from './credential.ts'
import { endConnections } from './end-connections.ts'
import { failureBody, toFailure, unexpected } from './failure-body.ts'
import { FailureLog } from './failure-log.ts'
import { parseJson } from './json.ts'
import { dropRest } from './linger.ts'
import { boundLongAnswers } from './long-answers.ts'
import { type Exceptions, mayCall } from './may-call.ts'
import type { Meter } from './measure.ts'
import { mount, type Routes, signalOf } from './mount.ts'
import { type ProcessRole, refuseOtherRoles, type ServedBy } from './process-roles.ts'
import { type Quota, quotaExceeded, type RateLimiter } from './rate-limit.ts'
import { type FindRawHandler, headOf, type RawHandler, sendRawReply } from './raw-handler.ts'
import { addRequestSpans, type RequestSpans } from './request-spans.ts'
import { isWebSocketRequest, openUpgrades, type Upgrades } from './upgrade.ts'

export type HttpOptions = {
  routes: readonly Routes[]
  /**
   * Finds the principal of a credential, without a promise if it is cached; undefined if it is unknown, expired or revoked. Failures may be
   * delayed.
   */
  identify(credential: CallerCredential, facts: RequestFacts): Principal | Promise<Principal | undefined>
  exceptions: Exceptions
  /** Records a refused change in the audit trail. */
  denied(actor: Actor, path: string): Promise<void>
  limiter: RateLimiter
  /** Counts requests that send events separately. */
  senderLimiter: RateLimiter
  meter: Meter
  spans?: RequestSpans | undefined
  extraKeyHeaders: readonly string[]
  /** The base of links in responses. */
  baseUrl: BaseUrl
  /** The proxies whose X-Forwarded-For is trusted; none when absent. */
  trustedProxies?: readonly string[]
  /** With a certificate, the port speaks TLS only. */
  certificate?: Certificate | undefined
  /** timeouts can be shortened by tests. */
  timeouts?: Partial<ConnectionTimeouts>
  /** What this process does; requests for others are refused. */
  roles: readonly ProcessRole[]
  ids: Ids
  log: Logger
}

const ACCEPT_LENGTH_MAX = 1_000
/** Bounds the request line and the headers together, so that a search by GET can name 1,000 datasets. */
const HEADER_BYTES_MAX = 64 * 1024
/** A parameter may be as long as the headers; its schema checks it. */
const PARAM_LENGTH_MAX = HEADER_BYTES_MAX
const BODY_BYTES_MAX = 4 * 1024 * 1024
/** During the close, requests have this long to end. An upload that stalls, and a response that nobody reads, would never do so. */
const CLOSE_BUSY_MS = 5_000

export type ConnectionTimeouts = { headersMs: number; requestMs: number; idleMs: number; checkEveryMs: number; closeMs: number }
const TLS = { minVersion: 'TLSv1.2' } as const
const TIMEOUTS: ConnectionTimeouts = {
  headersMs: 10_000,
  requestMs: 120_000,
  idleMs: 72_000,
  checkEveryMs: 1_000,
  closeMs: CLOSE_BUSY_MS,
}

/** Creates the HTTP server. Every request passes authentication, rate limit and permission checks before its body is read. */
export function openHttp(options: HttpOptions): FastifyInstance {
  const { log, certificate } = options
  const bounds = { ...TIMEOUTS, ...options.timeouts }
  const failureLog = new FailureLog()
  const connections = {
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: bounds.headersMs,
    connectionsCheckingInterval: bounds.checkEveryMs,
    requireHostHeader: false,
    shouldUpgradeCallback: (request: IncomingMessage) => isWebSocketRequest(request) && isUpgradable(options, request),
  }
  // Not in the type: an application with TLS has another type, though nothing here differs.
  const secured: object = certificate ? { https: { ...connections, ...certificate.pair, ...TLS, handshakeTimeout: bounds.headersMs } } : {}
  const app = Fastify({
    logger: false,
    bodyLimit: BODY_BYTES_MAX,
    // An empty list would also trust no proxy, but check every request.
    trustProxy: options.trustedProxies?.length ? [...options.trustedProxies] : false,
    requestTimeout: bounds.requestMs,
    keepAliveTimeout: bounds.idleMs,
    http: connections,
    ...secured,
    routerOptions: { ignoreTrailingSlash: true, ignoreDuplicateSlashes: true, maxParamLength: PARAM_LENGTH_MAX },
    forceCloseConnections: 'idle',
    // Requests on open connections are served until all have ended.
    return503OnClosing: false,
    frameworkErrors: (thrown, request, reply) =>
      replyWithFailure(options, failureLog, thrown, request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: (thrown, socket) => replyToClientError(options, thrown, socket),
  })
  certificate?.onChange((pair) => (app.server as unknown as TlsServer).setSecureContext({ ...pair, ...TLS }))
  app.decorateRequest('actor', undefined)
  app.decorateRequest('facts', null as unknown as RequestFacts)
  app.decorateRequest('rawRequest', undefined)
  app.decorateRequest('currentActor', function currentActor(this: FastifyRequest) {
    return currentActorOf(options, this)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    const encoding = request.headers['content-encoding']
    if (encoding && encoding !== 'identity') throw new Failure(415, 'compressed bodies are supported for ingestion only')
    return bytes.length === 0 ? undefined : parseJson(bytes)
  })
  if (options.spans) addRequestSpans(app, options.spans)
  app.addHook('onRequest', async (request, reply) => {
    const answered = await admit(options, request, reply, () => upgrades.accept(reply))
    // Unknown paths are 404 before the body is checked.
    if (answered === undefined && request.is404) throw unknownPath(request)
    return answered
  })
  app.setErrorHandler((thrown, request, reply) => replyWithFailure(options, failureLog, thrown, request, reply))
  const { allowedMethods: allowOn } = mount(app, options.routes)
  const unknownPath = (request: FastifyRequest): Failure => {
    const path = request.url.split('?')[0] ?? ''
    const allow = allowOn(path)
    return allow === undefined ? notFound(`path as ${path.slice(0, 200)}`) : methodRefused(request.method, allow)
  }
  app.setNotFoundHandler(async (request) => {
    throw unknownPath(request)
  })
  app.server.on('checkExpectation', (_request, response) => refuseExpectation(options, response))
  app.addHook('onSend', boundLongAnswers())
  app.addHook('onSend', compress)
  const upgrades = openUpgrades(app)
  endConnections(app, { log, busyMs: bounds.closeMs })
  app.addHook('onResponse', async (request, reply) => {
    const action = request.facts?.action ?? 'unknown'
    const { statusCode: status, elapsedTime: ms } = reply
    options.meter.countRequest(action, status, ms / 1000)
    log.debug({ action, status, ms: Math.round(ms), correlation_id: request.facts?.correlationId }, 'request')
  })
  return app
}

/** Checks credential, route, rate limit and permission, in this order. It also runs raw handlers. */
async function admit(
  options: HttpOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  acceptUpgrade: () => ReturnType<Upgrades['accept']>,
): Promise<unknown> {
  const { endpoint, action, allow, servedBy = 'any' } = request.routeOptions.config
  const rawRequest = rawRequestOf(options, request)
  request.rawRequest = rawRequest
  const facts = factsOf(options, request, rawRequest?.rawHandler.action ?? action ?? 'unknown')
  request.facts = facts
  reply.header('x-correlation-id', facts.correlationId)
  reply.header('x-content-type-options', 'nosniff')
  reply.header('cache-control', 'no-store')
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') throw badRequest('the header Host is missing')
  refuseRepeatedAuthorization(request)
  refuseOtherRoles(options.roles, rawRequest?.servedBy ?? servedBy)
  if (endpoint?.permission === 'public' && !rawRequest) return undefined
  const publicReply = rawRequest?.rawHandler.publicReply?.(rawRequest.head)
  if (publicReply) return sendRawReply(reply, publicReply)
  if (rawRequest?.rawHandler.handleOpen)
    return sendRawReply(reply, await rawRequest.rawHandler.handleOpen({ facts, head: rawRequest.head, body: request.raw }))
  if (request.method === 'OPTIONS' && allow) {
    return reply.code(204).header('allow', `${allow}, OPTIONS`).send()
  }
  // Cached results need no await: a promise per step would cost as much as the steps.
  const found = identifyFirst(options, request, facts)
  const identified = found instanceof Promise ? await found : found
  if (!identified) throw unauthenticated()
  const actor: Actor = { ...identified, facts }
  request.actor = actor
  if (actor.expiresAtS !== undefined) reply.header('api-key-expires-at', new Date(actor.expiresAtS * 1000).toISOString())
  const counted = (rawRequest && !rawRequest.rawHandler.countsAs ? options.senderLimiter : options.limiter).take(
    `${actor.orgId}/${actor.identity.id}`,
  )
  showQuota(counted instanceof Promise ? await counted : counted, reply)
  if (rawRequest) return handleRaw(options, { actor, ...rawRequest }, request, reply, acceptUpgrade)
  if (allow) throw methodRefused(request.method, allow)
  if (!endpoint) return undefined
  const allowed = mayCall(options.exceptions, endpoint, actor, request.params)
  if (allowed === true || (await allowed)) return undefined
  throw await refusal(options, actor, request, endpoint.permission)
}

/** Refuses a second Authorization header: Node keeps the first, and a proxy may have checked the other. */
function refuseRepeatedAuthorization({ headers, raw: { rawHeaders } }: FastifyRequest): void {
  if (headers.authorization === undefined) return
  let times = 0
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'authorization') times += 1
  if (times > 1) throw badRequest('the header Authorization must occur only once')
}

/**
 * Finds the raw handler of the contract, or one by the end of the path. Endpoints take precedence, except for the root, which protocols
 * probe.
 */
function rawRequestOf(options: HttpOptions, request: FastifyRequest): FastifyRequest['rawRequest'] {
  const { endpoint, rawHandler: named, allow, servedBy = 'api' } = request.routeOptions.config
  if (endpoint && !named && endpoint.path !== '/') return undefined
  const head = headOf(request)
  const known = endpoint !== undefined || allow !== undefined
  const found = named ? { rawHandler: named, servedBy } : findRawHandler(options, head, known)
  return found && { ...found, head }
}

type FoundRawHandler = { rawHandler: RawHandler; servedBy: ServedBy }

function findRawHandler({ routes }: HttpOptions, ...request: Parameters<FindRawHandler>): FoundRawHandler | undefined {
  for (const { findRawHandler: find, servedBy = 'api' } of routes) {
    const rawHandler = find?.(...request)
    if (rawHandler) return { rawHandler, servedBy }
  }
  return undefined
}

/** Whether the path of a request serves WebSockets. */
const isUpgradable = (options: HttpOptions, { method = 'GET', headers, url }: IncomingMessage): boolean =>
  findRawHandler(options, headOf({ method, headers, raw: { url } }), false)?.rawHandler.upgrade !== undefined

/** Returns the principal of the first valid credential, without a promise if the first one is cached. */
function identifyFirst(
  options: HttpOptions,
  request: FastifyRequest,
  facts: RequestFacts,
): Principal | undefined | Promise<Principal | undefined> {
  if (request.rawRequest) return identifySender(options, request, facts)
  const [credential, ...others] = readCredentials(request.headers, options.extraKeyHeaders)
  const found = credential && options.identify(credential, facts)
  return found instanceof Promise && others.length > 0 ? orIdentify(options, found, others, facts) : found
}

async function orIdentify(
  options: HttpOptions,
  found: Promise<Principal | undefined>,
  others: readonly CallerCredential[],
  facts: RequestFacts,
): Promise<Principal | undefined> {
  let principal = await found
  for (const credential of principal ? [] : others) principal ??= await options.identify(credential, facts)
  return principal
}

const isSame = (one: Principal, other: Principal): boolean =>
  one.orgId === other.orgId && one.identity.type === other.identity.type && one.identity.id === other.identity.id

/** Identifies the caller again, for long-running responses. It throws once the caller has lost access. */
async function currentActorOf(options: HttpOptions, request: FastifyRequest): Promise<Actor> {
  const identified = await identifyFirst(options, request, request.facts)
  // A second credential must not continue what another caller has begun.
  if (!identified || (request.actor && !isSame(identified, request.actor))) throw unauthenticated()
  const actor: Actor = { ...identified, facts: request.facts }
  const { endpoint } = request.routeOptions.config
  if (!endpoint || (await mayCall(options.exceptions, endpoint, actor, request.params))) return actor
  throw forbidden(`this needs the permission ${endpoint.permission}, which the caller no longer holds`)
}

async function identifySender(options: HttpOptions, request: FastifyRequest, facts: RequestFacts): Promise<Principal | undefined> {
  const { rawHandler, head } = request.rawRequest ?? {}
  const ofEvents = rawHandler?.permission === 'events_write' ? head : undefined
  for (const credential of readSenderCredentials(request.headers, options.extraKeyHeaders, ofEvents)) {
    const identified = await options.identify(credential, facts)
    if (!identified) continue
    if (credential.kind === 'key' && credential.inAddress && !identified.allowedInAddress) {
      throw forbidden('this API key must be sent in a header; allowed_in_address would allow it in the address')
    }
    return identified
  }
  return undefined
}

type IdentifiedRawRequest = { actor: Actor } & NonNullable<FastifyRequest['rawRequest']>

async function handleRaw(
  options: HttpOptions,
  { actor, rawHandler, head }: IdentifiedRawRequest,
  request: FastifyRequest,
  reply: FastifyReply,
  acceptUpgrade: () => ReturnType<Upgrades['accept']>,
): Promise<unknown> {
  const { permission } = rawHandler
  if (permission !== 'any' && !actor.permissions.has(permission)) throw await refusal(options, actor, request, permission)
  const call = {
    actor,
    head,
    body: request.raw,
    get signal() {
      return signalOf(reply)
    },
    currentActor: () => request.currentActor(),
  }
  if (rawHandler.upgrade && isWebSocketRequest(request)) {
    const serve = await rawHandler.upgrade(call)
    const socket = await acceptUpgrade()
    if (!socket) throw badRequest('a WebSocket cannot be opened on this connection')
    reply.hijack()
    serve(socket)
    return reply
  }
  return sendRawReply(reply, await rawHandler.handle(call))
}

async function refusal(options: HttpOptions, actor: Actor, request: FastifyRequest, permission: string): Promise<Failure> {
  if (request.method !== 'GET' && request.method !== 'HEAD') await options.denied(actor, withoutKey(request.url.split('?')[0] ?? ''))
  return forbidden(`this needs the permission ${permission}, which the caller does not hold`)
}

const methodRefused = (method: string, allow: string): Failure =>
  new Failure(405, `${method} is not available on this path; use ${allow}`, { headers: { allow } })

function showQuota(quota: Quota, reply: FastifyReply): void {
  reply.header('ratelimit-limit', quota.limit)
  reply.header('ratelimit-remaining', quota.remaining)
  reply.header('ratelimit-reset', quota.resetS)
  if (!quota.granted) throw quotaExceeded(quota)
}

function factsOf(options: HttpOptions, request: FastifyRequest, action: string): RequestFacts {
  return {
    correlationId: options.ids.correlation(),
    action,
    address: request.ip,
    userAgent: (request.headers['user-agent'] ?? '').slice(0, 200),
    accept: (request.headers.accept ?? '').slice(0, ACCEPT_LENGTH_MAX),
    ...(typeof request.headers['accept-encoding'] === 'string' ? { acceptEncoding: request.headers['accept-encoding'] } : {}),
    ...(request.headers.range === undefined ? {} : { range: request.headers.range }),
    ...(request.method === 'HEAD' ? { isHead: true as const } : {}),
    baseUrl: options.baseUrl({ headers: request.headers, socket: request.raw.socket }),
  }
}

function replyWithFailure(
  options: HttpOptions,
  failureLog: FailureLog,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const correlationId = request.facts?.correlationId ?? options.ids.correlation()
  const known = toFailure(thrown)
  failureLog.note(options.log, thrown, known, { correlation_id: correlationId, action: request.facts?.action })
  reply.header('x-correlation-id', correlationId)
  if (request.rawRequest) {
    const { rawHandler, head } = request.rawRequest
    return void sendRawReply(reply, rawHandler.replyToFailure(head, known ?? retryLater(thrown), correlationId, request.actor))
  }
  const failure = known ?? unexpected
  reply.code(failure.status).headers(failure.headers)
  reply.header('content-type', 'application/json; charset=utf-8').send(toJson(failureBody(failure, correlationId)))
}

/** Turns a bug into a 503: at a 500, many event senders drop their data. */
const retryLater = (cause: unknown): Failure => unavailable(unexpected.message, { cause })

/** Replies to an Expect header other than 100-continue, which Node would refuse without a body. */
function refuseExpectation(options: HttpOptions, response: import('node:http').ServerResponse): void {
  const correlationId = options.ids.correlation()
  const body = toJson(failureBody(new Failure(417, 'the only supported expectation is 100-continue'), correlationId))
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'x-correlation-id': correlationId,
    connection: 'close',
  }
  response.writeHead(417, headers).end(body)
}

/** The text also names the path, since the parser does not distinguish it from the headers. */
const TOO_LARGE = `the path, the query and the headers are larger than ${HEADER_BYTES_MAX / 1024} KiB together; send a long query by POST, such as POST /search`

/** Replies to bytes that are not HTTP, or to headers that are too large or too slow. */
function replyToClientError(options: HttpOptions, thrown: Error & { code?: string }, socket: import('node:net').Socket): void {
  if (thrown.code === 'ECONNRESET') return void socket.destroy()
  // The rest of a request that was answered; each piece of it is reported again.
  if (!socket.writable) return
  const status = thrown.code === 'HPE_HEADER_OVERFLOW' ? 431 : thrown.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  const details = status === 431 ? TOO_LARGE : status === 408 ? 'the request took too long to arrive' : 'this is not an HTTP request'
  const correlationId = options.ids.correlation()
  const body = toJson(failureBody(new Failure(status, details), correlationId))
  const head = [
    `HTTP/1.1 ${status} ${reasonPhrase(status)}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-correlation-id: ${correlationId}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  void dropRest(socket, () => socket.readableEnded).then(() => socket.destroy())
}
