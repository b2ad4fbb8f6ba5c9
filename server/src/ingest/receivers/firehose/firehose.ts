import { badRequest } from '../../../kernel/errors.ts'
import type {
  IngestOutcome,
  IngestRequest,
  IngestRequestHead,
  Pair,
  ParsedBody,
  ParsedSummary,
  Receiver,
  ReceiverReply,
  ReplyContext,
} from '../../batch.ts'
import { DeliveryRecords, type DeliverySource } from './records.ts'

const MIB = 2 ** 20
const BODY_BYTES_MAX = 64 * MIB
const REQUEST_ID = 'x-amz-firehose-request-id'
/** The name of the stream is the last part of its identifier. */
const STREAM = /[:/]deliverystream\/([^/]+)$/

type FirehoseNotes = { requestId: string }

/** Accepts deliveries of Firehose to an HTTP endpoint, on any path. */
export const firehose: Receiver = {
  name: 'firehose',
  routes: [{ methods: ['POST'], tail: /\/firehose$/ }],
  limits: { wireBytes: 10 * MIB, bodyBytes: BODY_BYTES_MAX },
  claims: ({ headers }) => headers[REQUEST_ID] !== undefined,
  parse,
  reply: answer,
}

function parse({ body, headers }: IngestRequest): ParsedBody {
  const records = new DeliveryRecords(body, sourceOf(headers), BODY_BYTES_MAX)
  const { requestId, ...parsed } = records.read()
  const id = headers[REQUEST_ID] || requestId
  const notes: FirehoseNotes = { requestId: id }
  return { ...parsed, notes, ...(id !== '' && { idempotencyKey: id }) }
}

/** Reads the common attributes of a stream: two of them choose the dataset, the others describe its events. */
function sourceOf(headers: Readonly<Record<string, string>>): DeliverySource {
  const stream = STREAM.exec(headers['x-amz-firehose-source-arn'] ?? '')?.[1]
  const { collection, dataset, ...others } = commonAttributes(headers['x-amz-firehose-common-attributes'])
  return { stream, collection, dataset, attributes: Object.entries(others).map(([name, text]): Pair => [`$${name}`, text]) }
}

function commonAttributes(header: string | undefined): Record<string, string> {
  if (!header) return {}
  try {
    const written = JSON.parse(header) as { commonAttributes?: unknown } | null
    const attributes = written?.commonAttributes ?? {}
    if (typeof attributes === 'object' && !Array.isArray(attributes)) {
      return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)]))
    }
  } catch (cause) {
    throw badRequest('the header X-Amz-Firehose-Common-Attributes is not valid JSON', { cause })
  }
  throw badRequest('the header X-Amz-Firehose-Common-Attributes must have an object as commonAttributes')
}

/** Only 200 with the id of the request is a success. */
function answer(
  request: IngestRequestHead,
  outcome: IngestOutcome,
  parsed: ParsedSummary | undefined,
  context?: ReplyContext,
): ReceiverReply {
  const requestId = request.headers[REQUEST_ID] || (parsed?.notes as FirehoseNotes | undefined)?.requestId || ''
  const body = { requestId, timestamp: context?.nowMs ?? 0 }
  const headers = { 'content-type': 'application/json' }
  if (outcome.kind === 'stored') return { status: 200, headers, body: JSON.stringify(body) }
  const { status, message, headers: more } = outcome.failure
  return { status, headers: { ...more, ...headers }, body: JSON.stringify({ ...body, errorMessage: message }) }
}
