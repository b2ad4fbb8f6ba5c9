import type { Failure } from '../kernel/errors.ts'
import { badField, badRequest, notFound } from '../kernel/errors.ts'
import type { Actor } from './actor.ts'
import { jsonBody } from './json-stream.ts'
import type { FindRawHandler, LongRawReply, RawHandler, RawReply, RequestHead } from './raw-handler.ts'

/** A request for a read of another program's protocol. `segments` are the variable parts of the path. */
export type ReadCall = {
  readonly actor: Actor
  readonly signal: AbortSignal
  readonly parameters: URLSearchParams
  readonly segments: readonly string[]
  readonly head: RequestHead
}

/** One read. `path` is a regular expression for what follows the prefix of the protocol. Probes need no permission. */
export type ProtocolRead = {
  readonly name: string
  readonly path: string
  readonly isProbe?: true
  readonly run: (call: ReadCall) => Promise<LongRawReply>
}

type Protocol = {
  readonly name: string
  /** A regular expression for the beginning of its paths. */
  readonly prefix: string
  readonly reads: readonly ProtocolRead[]
  readonly failureBody: (failure: Failure) => Omit<RawReply, 'status'>
}

/** Finds the handler of a read by GET. Other paths below the prefix of the protocol are not found, in the words of the protocol. */
export function protocolReads({ name: protocol, prefix, reads, failureBody }: Protocol): FindRawHandler {
  const handlerOf = ({ name, isProbe, run }: ProtocolRead, path: RegExp): RawHandler => ({
    action: `${protocol}.${name}`,
    permission: isProbe ? 'any' : 'search_read',
    countsAs: 'reading',
    handle: ({ actor, head, signal }) => {
      const segments = (path.exec(head.path) ?? []).slice(1).map(decodeSegment)
      return run({ actor, head, signal, segments, parameters: new URLSearchParams(head.search) })
    },
    replyToFailure: (_head, failure) => {
      const { headers, body } = failureBody(failure)
      return { status: failure.status, headers: { ...failure.headers, ...headers }, body }
    },
  })
  const unknown: ProtocolRead = {
    name: 'unknown',
    path: '.+',
    isProbe: true,
    run: async () => {
      throw notFound(`endpoint of the protocol ${protocol}`)
    },
  }
  const handlers = [...reads, unknown].map((read) => {
    const path = new RegExp(`^${prefix}${read.path}$`)
    return { path, handler: handlerOf(read, path) }
  })
  return ({ method, path }) => (method === 'GET' || method === 'HEAD' ? handlers.find((one) => one.path.test(path))?.handler : undefined)
}

/** Finds the handler of the first protocol that has one. */
export const eitherOf =
  (...protocols: readonly FindRawHandler[]): FindRawHandler =>
  (head, known) =>
    protocols.map((find) => find(head, known)).find((found) => found !== undefined)

/** Reads a whole number from 1 to `most`. */
export function wholeParameter(
  parameters: URLSearchParams,
  name: string,
  { otherwise, most }: { otherwise: number; most: number },
): number {
  const text = parameters.get(name)?.trim()
  if (!text) return otherwise
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > most) throw badField(name, `must be a whole number from 1 to ${most}`)
  return value
}

export function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw badRequest('the path is not valid percent-encoding', { cause })
  }
}

export const jsonReply = (body: unknown): LongRawReply => ({
  status: 200,
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: jsonBody(body),
})
