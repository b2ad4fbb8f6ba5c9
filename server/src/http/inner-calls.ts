import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { BodyInput, Endpoint, ParamsOf, QueryInput, ReplyOutput } from '@dendro/api'
import { forbidden } from '../kernel/errors.ts'
import { readJson, toJson } from '../kernel/exact-json.ts'
import type { Actor } from './actor.ts'
import { StreamedJson } from './json-stream.ts'
import { type Exceptions, mayCall } from './may-call.ts'
import { Answer, executing, type Routes } from './mount.ts'
import { quotaExceeded, type RateLimiter } from './rate-limit.ts'
import { SerializedJson } from './serialized-json.ts'

/** A request to an endpoint from within the service. */
export type InnerRequest<E extends Endpoint> = { params?: ParamsOf<E>; query?: QueryInput<E>; body?: BodyInput<E> }

/** Calls an endpoint of the contract as its caller would; a failure is thrown. */
export type CallEndpoint = <E extends Endpoint>(endpoint: E, request?: InnerRequest<E>) => Promise<ReplyOutput<E>>

/** The request on whose behalf endpoints are called. */
export type OuterCall = { actor: Actor; signal: AbortSignal; currentActor: () => Promise<Actor> }

export type InnerCalls = (outer: OuterCall) => CallEndpoint

type InnerCallOptions = { routes: () => readonly Routes[]; exceptions: Exceptions; limiter: RateLimiter }

/**
 * Calls endpoints for a caller who is identified already: the same rate limit, permission, validation and handler as a request of theirs, without
 * a connection.
 */
export function openInnerCalls({ routes, exceptions, limiter }: InnerCallOptions): InnerCalls {
  let known: ReturnType<typeof handlersOf> | undefined
  return ({ actor, signal, currentActor }) =>
    async <E extends Endpoint>(endpoint: E, request: InnerRequest<E> = {}) => {
      const { params = {}, query = {}, body } = request as { params?: object; query?: object; body?: unknown }
      known ??= handlersOf(routes())
      const found = known.get(endpoint)
      if (!found) throw new Error(`${endpoint.method} ${endpoint.path} has no handler`)
      signal.throwIfAborted()
      const quota = await limiter.take(`${actor.orgId}/${actor.identity.id}`)
      if (!quota.granted) throw quotaExceeded(quota)
      if (!(await mayCall(exceptions, endpoint, actor, params)))
        throw forbidden(`this needs the permission ${endpoint.permission}, which the caller does not hold`)
      const facts = { ...actor.facts, action: found.action }
      const inner = { ...actor, facts }
      const headers: IncomingHttpHeaders = {}
      const reply = await found.execute({ actor: inner, facts, params, query, body }, (at, checked) => ({
        ...at,
        ...checked,
        signal,
        currentActor,
        headers,
      }))
      return (await received(reply, endpoint)) as ReplyOutput<E>
    }
}

function handlersOf(routes: readonly Routes[]) {
  const named = routes.flatMap(({ name, group, handlers }) =>
    Object.entries(group).flatMap(([verb, endpoint]) => {
      const handler = handlers[verb]
      return handler && !endpoint.takes ? [[endpoint, { action: `${name}.${verb}`, execute: executing(endpoint, handler) }] as const] : []
    }),
  )
  return new Map<Endpoint, (typeof named)[number][1]>(named)
}

/** The reply as a client reads it: serialized values may exist only as JSON, and streams are read to their end. */
async function received(reply: unknown, { media }: Endpoint): Promise<unknown> {
  const body = reply instanceof Answer ? reply.body : reply
  if (body instanceof SerializedJson) return readJson(body.json)
  if (body instanceof StreamedJson) return readJson(await text(body.pieces))
  if (body instanceof Readable) return text(body)
  return body === undefined || media !== undefined ? body : readJson(toJson(body))
}
