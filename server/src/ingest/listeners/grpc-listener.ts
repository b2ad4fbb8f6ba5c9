import { createSecureServer, createServer, type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import type { Actor } from '../../http/actor.ts'
import { readSenderCredentials } from '../../http/credential.ts'
import type { Quota } from '../../http/rate-limit.ts'
import { Failure, unavailable } from '../../kernel/errors.ts'
import type { Logger } from '../../kernel/log.ts'
import { plainAddress } from '../../kernel/networks.ts'
import type { IngestRequestHead } from '../batch.ts'
import { busy, type MemoryReservation } from '../intake/budget.ts'
import type { Intake } from '../intake/intake.ts'
import { type RoutingRequest, readRouting } from '../intake/routing.ts'
import { GRPC_ENCODINGS, GrpcFailure, GrpcMessage, grpcFrame, grpcMethods, grpcTrailers, UNIMPLEMENTED } from '../receivers/otlp/grpc.ts'
import { otlp } from '../receivers/otlp/otlp.ts'
import type { SenderAccess } from './access.ts'
import type { ListenerCounters } from './counters.ts'
import { senderCheck } from './senders-allowed.ts'
import type { ListenerSetting } from './setting.ts'
import { listen, type OpenListener } from './stream-listener.ts'

export type GrpcListenerOptions = {
  setting: ListenerSetting
  tls: SecureContextOptions | undefined
  counters: ListenerCounters
  log: Logger
  intake: Pick<Intake, 'reserve' | 'storeMessages' | 'noteRefused'>
  access: SenderAccess
  /** Counts a call against the rate limit. */
  count(actor: Actor): Quota | Promise<Quota>
  extraPrefixes: readonly string[]
  extraKeyHeaders: readonly string[]
  bounds?: Partial<CallBounds>
}
export type CallBounds = { sessionsMax: number; streamsMax: number; callMs: number; idleMs: number; ageMs: number; closeMs: number }
/** Connections end after a while, so that senders spread over the processes behind a load balancer. */
const BOUNDS: CallBounds = { sessionsMax: 2_048, streamsMax: 64, callMs: 60_000, idleMs: 30 * 60_000, ageMs: 10 * 60_000, closeMs: 5_000 }
const AGE_SPREAD = 0.2
const WINDOW_BYTES = 2 ** 20
const HEADERS = { ':status': 200, 'content-type': 'application/grpc', 'grpc-accept-encoding': GRPC_ENCODINGS }
const PROTOBUF = 'application/x-protobuf'

/** Serves exports of OpenTelemetry over gRPC. */
export async function openGrpcListener(options: GrpcListenerOptions): Promise<OpenListener> {
  const { setting, tls, counters, log } = options
  const bounds = { ...BOUNDS, ...options.bounds }
  const isAllowed = senderCheck(setting.networks)
  const sessions = new Set<ServerHttp2Session>()
  const sockets = new Set<Socket>()
  const calls = new Set<Promise<void>>()
  const settings = { maxConcurrentStreams: bounds.streamsMax, initialWindowSize: WINDOW_BYTES }
  const secure = tls
    ? createSecureServer({ ...tls, requestCert: tls.ca !== undefined, rejectUnauthorized: true, handshakeTimeout: bounds.callMs, settings })
    : undefined
  const server = secure ?? createServer({ settings })

  server.on('connection', (socket: Socket) => {
    const reason = !isAllowed(plainAddress(socket.remoteAddress ?? ''))
      ? 'network'
      : sockets.size >= bounds.sessionsMax
        ? 'too_many'
        : undefined
    if (reason !== undefined) {
      counters.close(reason)
      socket.destroy()
      return
    }
    sockets.add(socket)
    counters.connections = sockets.size
    socket.setTimeout(bounds.idleMs, () => {
      counters.close('idle')
      socket.destroy()
    })
    socket.once('close', () => {
      sockets.delete(socket)
      counters.connections = sockets.size
    })
  })
  server.on('tlsClientError', (cause) => {
    counters.close('handshake')
    log.debug({ err: cause, listener: setting.name }, 'a TLS handshake of a sender failed')
  })
  server.on('session', (session) => {
    sessions.add(session)
    // The window of a connection would otherwise be that of a single small message.
    session.setLocalWindowSize(WINDOW_BYTES)
    // Open calls end first.
    const age = setTimeout(() => session.close(), bounds.ageMs * (1 + Math.random() * AGE_SPREAD)).unref()
    session.once('close', () => {
      clearTimeout(age)
      sessions.delete(session)
    })
    session.on('error', (cause) => log.debug({ err: cause, listener: setting.name }, 'a connection of a sender failed'))
  })
  server.on('stream', (stream, headers) => {
    const call = serve(options, bounds, stream, headers).finally(() => calls.delete(call))
    calls.add(call)
  })
  server.on('sessionError', (cause) => log.debug({ err: cause, listener: setting.name }, 'a connection of a sender failed'))
  await listen(server, setting)
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : setting.port,
    renew: (changed) => secure?.setSecureContext(changed),
    close: async () => {
      const closed = new Promise<void>((done) => server.close(() => done()))
      for (const session of sessions) session.close()
      const late = setTimeout(() => {
        for (const socket of sockets) socket.destroy()
      }, bounds.closeMs)
      await Promise.all(calls)
      // Senders that keep an idle connection do not hold up the stop.
      setImmediate(() => {
        for (const session of sessions) session.destroy()
        for (const socket of sockets) socket.destroy()
      })
      await closed
      clearTimeout(late)
    },
  }
}

/** Answers one call, whatever happens. */
async function serve(
  options: GrpcListenerOptions,
  bounds: CallBounds,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): Promise<void> {
  stream.on('error', (cause) => options.log.debug({ err: cause, listener: options.setting.name }, 'a call of a sender failed'))
  const held: { reservation?: MemoryReservation; actor?: Actor } = {}
  try {
    reply(stream, await handle(options, bounds, stream, headers, held))
  } catch (thrown) {
    const failure = thrown instanceof Failure || thrown instanceof GrpcFailure ? thrown : unexpected(options, thrown)
    options.counters.drop('refused')
    if (held.actor && failure instanceof Failure) options.intake.noteRefused({ actor: held.actor, parser: otlp }, failure)
    refuse(stream, failure)
  } finally {
    held.reservation?.release()
  }
}

function unexpected({ log, setting }: GrpcListenerOptions, thrown: unknown): Failure {
  log.error({ err: thrown, listener: setting.name }, 'unexpected error in a call')
  return busy('the service failed unexpectedly')
}

async function handle(
  { setting, counters, intake, access, count, extraPrefixes, extraKeyHeaders }: GrpcListenerOptions,
  bounds: CallBounds,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  held: { reservation?: MemoryReservation; actor?: Actor },
): Promise<Uint8Array> {
  const path = grpcMethods.get(String(headers[':path']))
  if (headers[':method'] !== 'POST' || !headers['content-type']?.startsWith('application/grpc') || path === undefined) {
    throw new GrpcFailure(UNIMPLEMENTED, 'there is no such method')
  }
  const shown = readSenderCredentials(headers, extraKeyHeaders)
  const credentials = shown.length === 0 && setting.key ? [{ kind: 'key' as const, key: setting.key }] : shown
  const address = plainAddress(stream.session?.socket.remoteAddress ?? '')
  const actor = await access.actorOfFirst(credentials, address, 'ingestion.otlpGrpc')
  held.actor = actor
  const quota = await count(actor)
  if (!quota.granted) {
    throw new Failure(429, `more than ${quota.limit} requests in this window`, { headers: { 'retry-after': String(quota.resetS) } })
  }
  const texts = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
  const routing = withDefaults(readRouting({ headers: texts, query: {} }, extraPrefixes), setting)
  const reservation = intake.reserve(actor)
  held.reservation = reservation
  const message = await receive(stream, reservation, bounds)
  const request: IngestRequestHead = { path, query: {}, headers: {}, contentType: PROTOBUF }
  const body = await message.bytes(texts['grpc-encoding'] ?? '', { bytesMax: otlp.limits.bodyBytes, reservation })
  if (body.length === 0) return new Uint8Array()
  // What the message took is released: storing it reserves its own memory.
  reservation.release()
  delete held.actor
  const batch = { actor, parser: otlp, routing, request: { ...request, body }, wireBytes: message.wireBytes, isLost: () => true }
  const { outcome, parsed } = await intake.storeMessages(batch)
  if (outcome.kind === 'stored') counters.messages += outcome.accepted
  const { body: answer } = otlp.reply(request, outcome, parsed)
  return typeof answer === 'string' ? Buffer.from(answer) : answer
}

const withDefaults = (routing: RoutingRequest, { collection, dataset }: ListenerSetting): RoutingRequest => ({
  ...routing,
  collection: routing.collection ?? collection,
  dataset: routing.dataset ?? dataset,
})

/** Reads the message. Nothing is read before the caller is known, and a slow one does not keep its memory for long. */
function receive(stream: ServerHttp2Stream, reservation: MemoryReservation, { callMs }: CallBounds): Promise<GrpcMessage> {
  const message = new GrpcMessage(otlp.limits.wireBytes)
  return new Promise((done, failed) => {
    const late = setTimeout(() => failed(unavailable('the message arrived too slowly')), callMs)
    const end = (finish: () => void) => {
      clearTimeout(late)
      stream.removeAllListeners('data')
      finish()
    }
    stream.on('data', (part: Uint8Array) => {
      try {
        message.add(part, reservation)
      } catch (thrown) {
        end(() => failed(thrown))
      }
    })
    stream.once('end', () => end(() => done(message)))
    stream.once('close', () => end(() => failed(unavailable('the call ended before its message'))))
    stream.once('error', (cause) => end(() => failed(unavailable('the call ended before its message', { cause }))))
  })
}

function reply(stream: ServerHttp2Stream, message: Uint8Array): void {
  if (stream.destroyed) return
  stream.respond(HEADERS, { waitForTrailers: true })
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.end(grpcFrame(message))
}

/** A failure has trailers only. The rest of the message is dropped. */
function refuse(stream: ServerHttp2Stream, failure: Failure | GrpcFailure): void {
  if (stream.destroyed) return
  stream.resume()
  stream.respond({ ...HEADERS, ...grpcTrailers(failure) }, { endStream: true })
}
