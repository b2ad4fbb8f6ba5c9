import type { Readable } from 'node:stream'
import type { Permission } from '@dendro/api'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WebSocket } from 'ws'
import type { Failure } from '../kernel/errors.ts'
import type { Actor, RequestFacts } from './actor.ts'
import type { JsonStream } from './json-stream.ts'

/** A request without its body. Header names are in lower case; of a repeated query parameter, the last counts. */
export type RequestHead = {
  method: string
  /** Percent-encoded, with single slashes and none at the end. */
  path: string
  query: Readonly<Record<string, string>>
  /** The query as it was sent, for protocols with repeated parameters. */
  search?: string
  headers: Readonly<Record<string, string>>
}

/** A request of an identified caller. */
export type RawCall = {
  actor: Actor
  head: RequestHead
  body: Readable
  /** Aborts when the client disconnects before the response. */
  readonly signal: AbortSignal
  /** Identifies the caller again; it throws once the caller has lost access. */
  readonly currentActor: () => Promise<Actor>
}

/** A request to a handler that identifies its callers by what they send. */
export type OpenCall = { facts: RequestFacts; head: RequestHead; body: Readable }

/** Serves an open WebSocket until it is closed. */
export type ServeWebSocket = (socket: WebSocket) => void

export type RawReply<Body = string | Uint8Array> = { status: number; headers: Record<string, string>; body: Body }
/** A reply that may be long. */
export type LongRawReply = RawReply<string | Uint8Array | JsonStream>

/** Serves requests with bodies of another protocol. It reads the body itself and formats failures as the protocol requires. */
export type RawHandler = {
  /** Names it in metrics and in the audit trail. */
  action: string
  permission: Permission | 'any'
  /** Reads count against the rate limit of callers, not of senders. */
  countsAs?: 'reading'
  /** Replies to a probe that needs no credential; undefined for all other requests. */
  publicReply?(head: RequestHead): RawReply | undefined
  /** Serves requests instead of `handle`, without a credential of ours: for messages that are signed. It bounds its callers itself. */
  handleOpen?(call: OpenCall): Promise<RawReply>
  handle(call: RawCall): Promise<LongRawReply>
  /** Serves requests for a WebSocket instead of `handle`. What fails before it returns is a failure of the request. */
  upgrade?(call: RawCall): Promise<ServeWebSocket>
  /** Formats a failure from before `handle`; the actor is undefined if the caller was not identified. */
  replyToFailure(head: RequestHead, failure: Failure, correlationId: string, actor: Actor | undefined): RawReply
}

/** Finds the handler of a request; `known` is true when the contract has the path. */
export type FindRawHandler = (head: RequestHead, known: boolean) => RawHandler | undefined

export function headOf(request: Pick<FastifyRequest, 'method' | 'headers'> & { raw: { url?: string | undefined } }): RequestHead {
  const [path = '/', query = ''] = splitAt(request.raw.url ?? '/', '?')
  return {
    method: request.method,
    path: `/${path
      .split('/')
      .filter((part) => part !== '')
      .join('/')}`,
    query: Object.fromEntries(new URLSearchParams(query)),
    search: query,
    headers: Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
    ),
  }
}

function splitAt(text: string, mark: string): [string, string] {
  const at = text.indexOf(mark)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)]
}

export function sendRawReply(reply: FastifyReply, { status, headers, body }: LongRawReply): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .send(body instanceof Uint8Array ? Buffer.from(body) : body)
}
