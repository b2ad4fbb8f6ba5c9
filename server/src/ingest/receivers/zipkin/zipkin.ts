import { Failure } from '../../../kernel/errors.ts'
import type { IngestOutcome, IngestRequest, IngestRequestHead, ParsedBody, ParsedSummary, Receiver, ReceiverReply } from '../../batch.ts'
import { TRACES } from '../otlp/export-request.ts'
import { describesSource } from '../source-attributes.ts'
import { readSpans } from './spans.ts'

const MIB = 2 ** 20
const JSON_TYPES: ReadonlySet<string> = new Set(['', 'application/json', 'text/plain'])

/** Accepts the spans of Zipkin's reporters in the second version of their JSON. */
export const zipkin: Receiver = {
  name: 'zipkin',
  routes: [{ methods: ['POST'], tail: /\/api\/v2\/spans$/ }],
  limits: { wireBytes: 10 * MIB, bodyBytes: 32 * MIB },
  systemCollections: [TRACES],
  parse,
  // The attributes of spans lie beside those of their endpoint.
  isLabel: (attribute) => describesSource(attribute),
  reply: answer,
}

function parse({ body, contentType }: IngestRequest): ParsedBody {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!JSON_TYPES.has(type)) throw new Failure(415, 'the content type must be application/json')
  return readSpans(body)
}

const SHOWN_MAX = 3

/** The protocol has no reply for a part of a post: the spans that were stored are accepted, and a text names the others. */
function answer(_head: IngestRequestHead, outcome: IngestOutcome, parsed: ParsedSummary | undefined): ReceiverReply {
  if (outcome.kind === 'refused') {
    const { status, message, headers } = outcome.failure
    return { status, headers: { ...headers, ...TEXT }, body: `${message}\n` }
  }
  const rejected = [...(parsed?.rejected ?? []), ...outcome.rejected]
  if (rejected.length === 0) return { status: 202, headers: {}, body: '' }
  const reasons = rejected.slice(0, SHOWN_MAX).map(({ index, reason }) => `span ${index}: ${reason}`)
  return { status: 202, headers: TEXT, body: `${rejected.length} of ${outcome.total} spans were rejected; ${reasons.join('; ')}\n` }
}

const TEXT = { 'content-type': 'text/plain; charset=utf-8' }
