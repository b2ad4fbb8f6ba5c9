import type { IngestOutcome, IngestRequest, IngestRequestHead, ParsedBody, Receiver, ReceiverReply } from '../../batch.ts'
import { LogEntries } from './entries.ts'

const MIB = 2 ** 20
const V2 = /\/api\/v2\/logs$/
/** The key at the end of the older path is no part of what the receiver sees. */
const V1 = /\/v1\/input(?=(?:\/[^/]+)?$)/

/** Accepts the logs of Datadog's agent and libraries, and replies to the check of their key. */
export const datadog: Receiver = {
  name: 'datadog',
  routes: [
    { methods: ['POST'], tail: V2 },
    { methods: ['POST'], tail: V1 },
    { methods: ['GET', 'HEAD'], tail: /\/api\/v1\/validate$/, probe: () => reply(200, { valid: true }) },
  ],
  limits: { wireBytes: 10 * MIB, bodyBytes: 64 * MIB },
  parse,
  reply: answer,
}

function parse({ body, query, contentType }: IngestRequest): ParsedBody {
  const entries = new LogEntries(body, query)
  return /^text\//i.test(contentType.trim()) ? entries.readLines() : entries.readObjects()
}

/** An unknown key is 403 with the text that senders look for. */
function answer(request: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  if (outcome.kind === 'stored') return reply(V2.test(request.path) ? 202 : 200, {})
  const { status, message, headers } = outcome.failure
  if (status === 401 || status === 403) return reply(403, { errors: ['Forbidden'] })
  // Statuses that this protocol does not know would be repeated without end.
  const known = status === 415 || status === 422 ? 400 : status === 409 ? 503 : status
  return reply(known, { errors: [message] }, headers)
}

const reply = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): ReceiverReply => ({
  status,
  headers: { ...headers, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
