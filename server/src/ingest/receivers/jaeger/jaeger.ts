import { badRequest, Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, ParsedBody, Receiver } from '../../batch.ts'
import { bodyHash } from '../../body-hash.ts'
import { TRACES } from '../otlp/export-request.ts'
import { describesSource } from '../source-attributes.ts'
import { spanAnswer } from '../span-answer.ts'
import { batchToEvents } from './process-batch.ts'
import { readProtobufBatch } from './protobuf-batch.ts'
import { readThriftBatch } from './thrift-batch.ts'

const MIB = 2 ** 20
const THRIFT_TYPES: ReadonlySet<string> = new Set(['', 'application/x-thrift', 'application/vnd.apache.thrift.binary'])
const PROTOBUF_TYPES: ReadonlySet<string> = new Set(['application/x-protobuf', 'application/protobuf'])
const FORMAT = 'jaeger.thrift'

/** Accepts the spans that Jaeger's clients send to a collector over HTTP: Thrift in the binary protocol, or protobuf. */
export const jaeger: Receiver = {
  name: 'jaeger',
  routes: [{ methods: ['POST'], tail: /\/api\/traces$/ }],
  limits: { wireBytes: 10 * MIB, bodyBytes: 32 * MIB },
  systemCollections: [TRACES],
  parse,
  // The tags of spans lie beside those of their process.
  isLabel: (attribute) => describesSource(attribute),
  reply: spanAnswer,
}

function parse({ body, contentType, query }: IngestRequest): ParsedBody {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const isProtobuf = PROTOBUF_TYPES.has(type)
  if (!isProtobuf && !THRIFT_TYPES.has(type))
    throw new Failure(415, 'the content type must be application/x-thrift or application/x-protobuf')
  const { format = FORMAT } = query
  if (!isProtobuf && format !== FORMAT) throw badRequest(`format must be ${FORMAT}`)
  if (body.length === 0) return { batches: [], rejected: [], total: 0 }
  const { parsed, isTimed } = batchToEvents(isProtobuf ? readProtobufBatch(body) : readThriftBatch(body))
  return isTimed ? { ...parsed, idempotencyKey: bodyHash(body).toString('hex') } : parsed
}
