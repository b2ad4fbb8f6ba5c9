import { Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, ParsedBody, Receiver } from '../../batch.ts'
import { TRACES } from '../otlp/export-request.ts'
import { describesSource } from '../source-attributes.ts'
import { spanAnswer } from '../span-answer.ts'
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
  reply: spanAnswer,
}

function parse({ body, contentType }: IngestRequest): ParsedBody {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  if (!JSON_TYPES.has(type)) throw new Failure(415, 'the content type must be application/json')
  return readSpans(body)
}
