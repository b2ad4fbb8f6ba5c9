import { Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, IngestRequestHead, ParsedBody, Receiver } from '../../batch.ts'
import { bodyHash } from '../../body-hash.ts'
import { describesSource } from '../source-attributes.ts'
import { encodingOf, otlpReply, type SignalName } from './answer.ts'
import { countDataPoints } from './data-points.ts'
import { ExportRequest, logsRequest, TRACES as TRACES_COLLECTION, tracesRequest } from './export-request.ts'
import { readJson } from './json.ts'
import { readProtobuf } from './protobuf.ts'

const MIB = 2 ** 20

const LOGS = /\/{1,3}v1\/{1,3}logs\/{0,3}$/
const TRACES = /\/{1,3}v1\/{1,3}traces\/{0,3}$/
const METRICS = /\/{1,3}v1\/{1,3}metrics\/{0,3}$/

/**
 * Accepts logs and spans of OpenTelemetry over HTTP. Metrics are not stored: their data points are counted and rejected in a reply of 200, since many
 * senders send all three to one address.
 */
export const otlp: Receiver = {
  name: 'otlp',
  routes: [
    { methods: ['POST'], tail: LOGS },
    { methods: ['POST'], tail: TRACES },
    { methods: ['POST'], tail: METRICS },
  ],
  limits: { wireBytes: 20 * MIB, bodyBytes: 64 * MIB },
  systemCollections: [TRACES_COLLECTION],
  parse,
  // The attributes of spans lie beside those of their resource.
  isLabel: (attribute, request) => signalOf(request) === 'logs' || describesSource(attribute),
  reply: (request, outcome, parsed) => otlpReply(signalOf(request), request, outcome, parsed),
}

const signalOf = ({ path }: Pick<IngestRequestHead, 'path'>): SignalName =>
  TRACES.test(path) ? 'traces' : METRICS.test(path) ? 'metrics' : 'logs'

const rejectedMetrics = (points: number): ParsedBody => ({ batches: [], rejected: [], unsupported: points, notes: points, total: 0 })

function parse(request: IngestRequest): ParsedBody {
  const encoding = encodingOf(request.contentType)
  if (encoding === undefined) throw new Failure(415, 'the content type must be application/x-protobuf or application/json')
  const { body } = request
  if (body.length === 0) return { batches: [], rejected: [], total: 0 }
  if (signalOf(request) === 'metrics') return rejectedMetrics(countDataPoints(body, encoding === 'json'))
  const type = signalOf(request) === 'traces' ? tracesRequest : logsRequest
  const post = new ExportRequest(type.collection, body, encoding === 'json')
  if (encoding === 'json') readJson(body, type.request, post)
  else readProtobuf(body, type.request, post)
  const parsed = post.parsed()
  return post.isTimed ? { ...parsed, idempotencyKey: bodyHash(body).toString('hex') } : parsed
}
