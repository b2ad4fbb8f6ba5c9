import { lookup } from 'node:dns'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { badRequest } from '../kernel/errors.ts'
import { type AllowList, isPublic, mayReach } from './addresses.ts'

/** A Letter is a request of ours to a place that a caller named. */
export type Letter = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }

/** A Reply is what came back; `body` is its beginning and for our own eyes: a caller learns the status only. */
export type Reply = { readonly status: number; readonly body: string; readonly retryAfter: string | undefined }

/** An Undelivered letter says in words that may be shown why no answer came. */
export class Undelivered extends Error {
  /** again is false when trying again cannot help. */
  readonly again: boolean
  constructor(message: string, options: { again: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.again = options.again
  }
}

export type Outgoing = {
  /** check refuses a URL that no letter could go to, as far as can be told without resolving its host. */
  check(url: string, field: string): void
  /** post sends one letter and never follows a redirect. */
  post(letter: Letter, signal?: AbortSignal): Promise<Reply>
}

const BOUND_MS = 10_000
const REPLY_BYTES_MAX = 65_536

/** steering are the headers that decide how a request travels; what a caller puts into them could make another request of it. */
const steering = new Set(
  'connection content-encoding content-length expect host http2-settings keep-alive proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** refusedHeader says what is wrong with a header that a caller wants to be sent; undefined when nothing is. */
export function refusedHeader(name: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'is not the name of a header'
  if (steering.has(name.toLowerCase())) return 'is set by the service itself'
  return /[^\t\x20-\x7e\x80-\xff]/.test(value) ? 'has a value with characters that a header cannot carry' : undefined
}

/**
 * openOutgoing makes the one way by which requests leave for places that callers name. Their host is resolved once, every address is judged
 * before the connection is made to exactly that, and the peer is compared again; ports of our own are out of reach whatever is allowed.
 */
export function openOutgoing(options: Reach & { boundMs?: number; replyBytesMax?: number }): Outgoing {
  const { allowed, ownPorts, boundMs = BOUND_MS, replyBytesMax = REPLY_BYTES_MAX } = options
  return {
    check: (url, field) => {
      const problem = problemOf(url, allowed)
      if (problem !== undefined) throw badRequest(`${field} ${problem}`, { errors: [{ field, code: 'BAD_TARGET', message: problem }] })
    },
    post: async (letter, signal) => {
      const problem = problemOf(letter.url, allowed)
      if (problem !== undefined) throw new Undelivered(`the target ${problem}`, { again: false })
      const bound = AbortSignal.timeout(boundMs)
      return send(letter, { allowed, ownPorts, boundMs, replyBytesMax, signal: signal ? AbortSignal.any([signal, bound]) : bound, bound })
    },
  }
}

function problemOf(text: string, allowed: AllowList): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL'
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must begin with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'must not carry a user name or password; use a header'
  const host = hostOf(url)
  if (isIP(host) !== 0 && !mayReach(host, allowed)) return NOT_PUBLIC
  if (isLocalName(host) && !allowed.hosts.has(host)) return NOT_PUBLIC
  return undefined
}

const NOT_PUBLIC = 'is not a public address, and the operator has not opened it (DENDRO_WEBHOOK_ALLOW)'

const hostOf = (url: URL): string =>
  url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
const isLocalName = (host: string): boolean => host === 'localhost' || host.endsWith('.localhost')

/** Reach is where letters may go: what is opened besides public addresses, and never to ports of our own. */
type Reach = { allowed: AllowList; ownPorts: () => readonly number[] }

type Way = Reach & { boundMs: number; replyBytesMax: number; signal: AbortSignal; bound: AbortSignal }

async function send(letter: Letter, way: Way): Promise<Reply> {
  const url = new URL(letter.url)
  const judged = new Set<string>()
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest
  const body = Buffer.from(letter.body, 'utf8')
  try {
    way.signal.throwIfAborted()
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = start(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'dendro', ...letter.headers, 'content-length': body.length },
        // A connection that is kept could be used again for a host that has moved meanwhile.
        agent: false,
        signal: way.signal,
        lookup: judging(hostOf(url), way.allowed, judged),
      })
      sent.on('error', reject)
      sent.on('socket', (socket) => {
        socket.on('connect', () => {
          const refused = refusedPeer(socket.remoteAddress ?? '', socket.remotePort ?? 0, hostOf(url), way, judged)
          if (refused) sent.destroy(refused)
        })
      })
      sent.on('response', resolve)
      sent.end(body)
    })
    return { status: answer.statusCode ?? 0, body: await beginningOf(answer, way.replyBytesMax), retryAfter: answer.headers['retry-after'] }
  } catch (cause) {
    if (cause instanceof Undelivered) throw cause
    if (way.bound.aborted) throw new Undelivered(`the target did not answer within ${way.boundMs / 1_000} s`, { again: true, cause })
    if (way.signal.aborted) throw way.signal.reason
    throw new Undelivered(`the target could not be reached (${(cause as NodeJS.ErrnoException).code ?? 'connection failed'})`, {
      again: true,
      cause,
    })
  }
}

/** judging resolves a name and lets a connection be made only when every address of it may be reached. */
function judging(host: string, allowed: AllowList, judged: Set<string>): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (failure, addresses) => {
      if (failure) return done(new Undelivered('the host of the target is unknown', { again: true, cause: failure }), [])
      const refused = addresses.some(({ address }) => !allowed.hosts.has(host) && !mayReach(address, allowed))
      if (refused || addresses.length === 0) return done(new Undelivered(`the target ${NOT_PUBLIC}`, { again: false }), [])
      for (const { address } of addresses) judged.add(address)
      const [first] = addresses
      if (options.all || !first) done(null, addresses)
      else done(null, first.address, first.family)
    })
  }
}

function refusedPeer(
  address: string,
  port: number,
  host: string,
  { allowed, ownPorts }: Way,
  judged: ReadonlySet<string>,
): Undelivered | undefined {
  if (ownPorts().includes(port) && !isPublic(address)) return new Undelivered('the target is this service itself', { again: false })
  if (judged.has(address) || isIP(host) !== 0) return undefined
  return mayReach(address, allowed) ? undefined : new Undelivered(`the target ${NOT_PUBLIC}`, { again: false })
}

async function beginningOf(answer: IncomingMessage, bytesMax: number): Promise<string> {
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
