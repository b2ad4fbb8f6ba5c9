import type { IncomingHttpHeaders } from 'node:http'
import { type BodyOf, type ContractGroup, type Endpoint, type ParamsOf, pathNames, type QueryOf, type ReplyOf, statusOf } from '@dendro/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { badRequest, callerGone } from '../kernel/errors.ts'
import type { Actor, RequestFacts } from './actor.ts'
import { JsonStream, jsonBody, StreamedJson } from './json-stream.ts'
import type { ServedBy } from './process-roles.ts'
import type { FindRawHandler, RawHandler, RequestHead } from './raw-handler.ts'
import { SerializedJson } from './serialized-json.ts'
import { check } from './validation.ts'

type ActorOf<E extends Endpoint> = E['permission'] extends 'public' ? undefined : Actor

/** The caller and the record in the path, which are known before the body is read. */
export type EndpointTarget<E extends Endpoint> = { actor: ActorOf<E>; params: ParamsOf<E>; facts: RequestFacts }
export type EndpointCall<E extends Endpoint> = EndpointTarget<E> & {
  query: QueryOf<E>
  body: BodyOf<E>
  /** Aborts when the client disconnects before the response. */
  readonly signal: AbortSignal
  /** Identifies the caller again; it throws once the caller has lost access. */
  readonly currentActor: () => Promise<Actor>
  readonly headers: IncomingHttpHeaders
}

/** An HTTP response with another status or other headers than the declared ones. */
export class Answer<T> {
  readonly status: number
  readonly body: T
  readonly headers: Record<string, string>

  constructor(status: number, body: T, headers: Record<string, string> = {}) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

type Reply<E extends Endpoint> = ReplyOf<E> | SerializedJson<ReplyOf<E>> | StreamedJson<ReplyOf<E>>
type Run<E extends Endpoint, C> = (call: C) => Promise<Reply<E> | Answer<Reply<E>>>

/** Serves one endpoint; endpoints with other bodies than our JSON have a RawHandler. */
export type EndpointHandler<E extends Endpoint> = E['takes'] extends readonly string[] ? RawHandler : JsonHandler<E>

/** With `find` the record of the path is looked up before the body is checked, so that 404 comes before 400. */
type JsonHandler<E extends Endpoint> =
  | Run<E, EndpointCall<E>>
  | { find: (at: EndpointTarget<E>) => Promise<unknown>; run: Run<E, EndpointCall<E> & { record: never }> }

export type EndpointHandlers<G extends ContractGroup> = { [Name in keyof G]: EndpointHandler<G[Name]> }

/** Makes a handler for an endpoint whose path names a record. */
export const onRecord = <E extends Endpoint, R>(
  find: (at: EndpointTarget<E>) => Promise<R>,
  run: Run<E, EndpointCall<E> & { record: R }>,
): JsonHandler<E> => ({
  find,
  run: run as Run<E, EndpointCall<E> & { record: never }>,
})

/** One group of the contract with its handlers; routes.ts lists them. */
export type Routes = {
  name: string
  group: ContractGroup
  handlers: EndpointHandlers<ContractGroup>
  /** Finds the handler for paths that a contract cannot list. */
  findRawHandler?: FindRawHandler
  /** The role of the processes that serve it; `api` when absent. */
  servedBy?: ServedBy
}

/** Connects a group of the contract with its handlers; a missing handler is a type error. */
export const routes = <G extends ContractGroup>(name: string, group: G, handlers: EndpointHandlers<G>): Routes => ({
  name,
  group,
  handlers: handlers as unknown as EndpointHandlers<ContractGroup>,
})

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Endpoint
    action?: string
    servedBy?: ServedBy
    /** Serves the request instead of the handler, before any body is read. */
    rawHandler?: RawHandler
    /** Set on the routes that reply 405. */
    allow?: string
  }
  interface FastifyRequest {
    facts: RequestFacts
    actor: Actor | undefined
    /** Set on requests for a RawHandler, which also formats their failures. */
    rawRequest: { rawHandler: RawHandler; servedBy: ServedBy; head: RequestHead } | undefined
    /** Identifies the caller again. */
    currentActor(): Promise<Actor>
  }
}

/** Knows the allowed methods of a path, for requests with unknown methods. */
export type MountedRoutes = { allowedMethods(path: string): string | undefined }

/** Adds a route for every endpoint of the contract, and replies 405 to the other methods of its path. */
export function mount(app: FastifyInstance, all: readonly Routes[]): MountedRoutes {
  const methods = new Map<string, Set<string>>()
  for (const { name, group, handlers, servedBy = 'api' } of all) {
    for (const [verb, endpoint] of Object.entries(group)) {
      const handler = handlers[verb]
      if (!handler) throw new Error(`the endpoint ${name}.${verb} has no handler`)
      const rawHandler = endpoint.takes && (handler as unknown as RawHandler)
      // A raw handler replies before the router calls a handler.
      const handle = rawHandler ? async () => undefined : answering(endpoint, handler)
      for (const path of [endpoint.path, ...(endpoint.aliases ?? [])]) {
        const url = path.replaceAll(/\{(\w+)\}/g, ':$1')
        app.route({
          method: endpoint.method,
          url,
          config: { endpoint, action: `${name}.${verb}`, servedBy, ...(rawHandler ? { rawHandler: rawHandler } : {}) },
          handler: handle,
        })
        const shape = url.replaceAll(/:\w+/g, ':id')
        methods.set(shape, (methods.get(shape) ?? new Set()).add(endpoint.method))
        if (endpoint.method === 'GET') methods.get(shape)?.add('HEAD')
      }
    }
  }
  for (const [url, allowed] of methods) refuseOtherMethods(app, url, allowed)
  return {
    allowedMethods: (path) => {
      const found = [...methods].find(([url]) => new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(':id', '[^/]+')}/?$`).test(path))
      return found && allowOf(found[1])
    },
  }
}

const allowOf = (allowed: Set<string>): string => [...allowed].sort().join(', ')

function refuseOtherMethods(app: FastifyInstance, url: string, allowed: Set<string>): void {
  const allow = allowOf(allowed)
  const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !allowed.has(method))
  app.route({ method: others, url, config: { allow }, handler: async () => undefined })
}

const paramsSchemas = new WeakMap<Endpoint, z.ZodType>()

function paramsOf(endpoint: Endpoint): z.ZodType {
  const known = paramsSchemas.get(endpoint)
  if (known) return known
  const shape = Object.fromEntries(pathNames(endpoint.path).map((name) => [name, z.guid({ error: 'must be a UUID' }).toLowerCase()]))
  const schema = endpoint.params ?? z.object(shape)
  paramsSchemas.set(endpoint, schema)
  return schema
}

function answering(endpoint: Endpoint, handler: JsonHandler<Endpoint>) {
  const execute = executing(endpoint, handler)
  const success = statusOf(endpoint)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const answer = await execute(request, (at, checked) => new HandlerCall(at, checked, reply))
    return answer instanceof Answer
      ? send(reply.headers(answer.headers), answer.status, answer.body, endpoint)
      : send(reply, success, answer, endpoint)
  }
}

/** A request to an endpoint before validation. */
export type UncheckedRequest = { actor: Actor | undefined; facts: RequestFacts; params: unknown; query: unknown; body: unknown }
export type CheckedTarget = { actor: Actor | undefined; params: unknown; facts: RequestFacts }
export type CheckedParts = { query: unknown; body: unknown; record: unknown }

/** Looks up the record in the path, validates the rest of a request, and calls the handler with what `callOf` makes of it. */
export function executing(endpoint: Endpoint, handler: JsonHandler<Endpoint>) {
  const params = paramsOf(endpoint)
  const { find, run } = typeof handler === 'function' ? { find: undefined, run: handler } : handler
  return async (request: UncheckedRequest, callOf: (at: CheckedTarget, checked: CheckedParts) => object) => {
    const at = { actor: request.actor, params: check(params, request.params, 'path'), facts: request.facts }
    const record = find ? await find(at as EndpointTarget<Endpoint>) : undefined
    const query = endpoint.query ? check(endpoint.query, withoutReplaced(endpoint, request.query), 'query') : {}
    const body = endpoint.body ? check(endpoint.body, withoutReplaced(endpoint, bodyOf(request, endpoint.body)), 'body') : undefined
    return run(callOf(at, { query, body, record }) as never)
  }
}

/** The argument of a handler. */
class HandlerCall {
  readonly actor: Actor | undefined
  readonly params: unknown
  readonly facts: RequestFacts
  readonly query: unknown
  readonly body: unknown
  readonly record: unknown
  readonly #reply: FastifyReply
  #signal: AbortSignal | undefined

  constructor(at: CheckedTarget, checked: CheckedParts, reply: FastifyReply) {
    this.actor = at.actor
    this.params = at.params
    this.facts = at.facts
    this.query = checked.query
    this.body = checked.body
    this.record = checked.record
    this.#reply = reply
  }

  get headers(): IncomingHttpHeaders {
    return this.#reply.request.headers
  }

  get currentActor(): () => Promise<Actor> {
    return () => this.#reply.request.currentActor()
  }

  /** Created on first use, since most handlers never need it. */
  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#reply)
    return this.#signal
  }
}

/** Aborts when the client disconnects before the response. */
export function signalOf({ raw }: FastifyReply): AbortSignal {
  const leaving = new AbortController()
  const leave = () => leaving.abort(callerGone)
  if (raw.destroyed) leave()
  else raw.once('close', () => raw.writableFinished || leave())
  return leaving.signal
}

function bodyOf(request: Pick<UncheckedRequest, 'body'>, schema: z.ZodType): unknown {
  if (request.body === undefined && !schema.safeParse(undefined).success) throw badRequest('a JSON body is required')
  return request.body
}

/** Leaves out the members that another one replaces. */
function withoutReplaced({ instead }: Endpoint, given: unknown): unknown {
  if (!instead || typeof given !== 'object' || given === null || Array.isArray(given)) return given
  const members = Object.entries(given)
  const isReplaced = members.some(([name, value]) => name === instead.member && value !== null && value !== '')
  return isReplaced ? Object.fromEntries(members.filter(([name]) => name === instead.member || instead.besides.includes(name))) : given
}

const JSON_TYPE = 'application/json; charset=utf-8'

function send(reply: FastifyReply, status: number, body: unknown, endpoint: Endpoint): FastifyReply {
  reply.code(status)
  if (body === undefined) return reply.send()
  if (body instanceof SerializedJson) return reply.header('content-type', JSON_TYPE).send(body.json)
  if (body instanceof StreamedJson) return reply.header('content-type', JSON_TYPE).send(new JsonStream(body.pieces))
  if (endpoint.media) return (reply.hasHeader('content-type') ? reply : reply.type(inUtf8(endpoint.media))).send(body)
  return reply.header('content-type', JSON_TYPE).send(jsonBody(body))
}

const inUtf8 = (media: string): string => (media.includes('charset=') ? media : `${media}; charset=utf-8`)
