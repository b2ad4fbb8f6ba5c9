import type { Failure } from '../../../kernel/errors.ts'
import type { IngestOutcome, IngestRequestHead, ParsedSummary, Receiver, ReceiverReply } from '../../batch.ts'
import { BULK, parseBulk } from './bulk.ts'
import { type BulkNotes, bulkReply } from './bulk-answer.ts'
import { probeRoutes, protocolReply } from './probes.ts'
import { parseSingle, SINGLE, type SingleNotes, singleReply } from './single.ts'

const MIB = 2 ** 20

/** Accepts bulk requests and single documents, and replies to the probes of its senders. */
export const elasticsearch: Receiver = {
  name: 'elasticsearch',
  routes: [{ methods: ['POST', 'PUT'], tail: BULK }, { methods: ['POST', 'PUT'], tail: SINGLE }, ...probeRoutes],
  limits: { wireBytes: 50 * MIB, bodyBytes: 100 * MIB },
  parse: (request) => (isSingle(request) ? parseSingle(request) : parseBulk(request)),
  reply: answer,
}

const isSingle = ({ path }: Pick<IngestRequestHead, 'path'>): boolean => !BULK.test(path) && SINGLE.test(path)

function answer(request: IngestRequestHead, outcome: IngestOutcome, parsed: ParsedSummary | undefined): ReceiverReply {
  if (outcome.kind === 'refused') return refused(request, outcome.failure)
  if (isSingle(request))
    return protocolReply(request, 201, singleReply((parsed?.notes as SingleNotes | undefined) ?? { index: '', id: '' }))
  const notes = (parsed?.notes as BulkNotes | undefined) ?? nothing
  const rejected = new Map([...(parsed?.rejected ?? []), ...outcome.rejected].map(({ index, reason }) => [index, reason]))
  return protocolReply(request, 200, bulkReply(notes, rejected, request.query.filter_path))
}

const nothing: BulkNotes = { verbs: new Uint8Array(), indexes: [], indexNumbers: new Uint32Array(), ids: [] }

/** Error types of this protocol, except those that make some senders give up. */
const errorTypes: Readonly<Record<number, string>> = {
  400: 'illegal_argument_exception',
  401: 'security_exception',
  403: 'security_exception',
  404: 'resource_not_found_exception',
  413: 'content_too_long_exception',
  415: 'media_type_header_exception',
  429: 'too_many_requests_exception',
  503: 'service_unavailable_exception',
}

function refused(request: IngestRequestHead, failure: Failure): ReceiverReply {
  const { status, message: reason } = failure
  const type = errorTypes[status] ?? 'illegal_state_exception'
  const challenge: Record<string, string> = status === 401 ? { 'www-authenticate': 'Basic realm="dendro"' } : {}
  return protocolReply(request, status, { error: { type, reason }, status }, { ...failure.headers, ...challenge })
}
