import { Failure } from '../../../kernel/errors.ts'
import type { IngestOutcome, IngestRequest, IngestRequestHead, ParsedBody, Receiver, ReceiverReply } from '../../batch.ts'
import { readJsonPush } from './json.ts'
import { readProtobufPush } from './protobuf.ts'
import { PushRequest } from './push-request.ts'
import { decompressSnappy } from './snappy.ts'

const MIB = 2 ** 20
const BODY_BYTES_MAX = 64 * MIB
const GET = ['GET', 'HEAD']

/** Accepts pushes in protobuf with snappy, and in JSON, and replies to the probe of its senders. */
export const loki: Receiver = {
  name: 'loki',
  routes: [
    { methods: ['POST'], tail: /\/(?:loki\/api\/v1|api\/prom)\/push$/ },
    { methods: GET, tail: /(?:^|\/loki)\/ready$/, isPublic: true, probe: () => textReply(200, 'ready') },
  ],
  limits: { wireBytes: 10 * MIB, bodyBytes: BODY_BYTES_MAX },
  ownEncodings: ['snappy'],
  parse,
  reply: answer,
}

function parse({ body, headers, contentType }: IngestRequest): ParsedBody {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? ''
  const tenant = headers['x-scope-orgid'] || undefined
  if (type === 'application/json') {
    const isSnappy = headers['content-encoding']?.trim().toLowerCase() === 'snappy'
    const json = isSnappy ? decompressSnappy(body, BODY_BYTES_MAX) : body
    const push = new PushRequest(tenant, json, true)
    readJsonPush(json, push)
    return push.parsed()
  }
  if (type !== '' && type !== 'application/x-protobuf') {
    throw new Failure(415, 'the content type must be application/x-protobuf or application/json')
  }
  const protobuf = decompressSnappy(body, BODY_BYTES_MAX)
  const push = new PushRequest(tenant, protobuf, false)
  readProtobufPush(protobuf, push)
  return push.parsed()
}

function answer(_request: IngestRequestHead, outcome: IngestOutcome): ReceiverReply {
  if (outcome.kind === 'stored') return { status: 204, headers: {}, body: '' }
  const { status, message, headers } = outcome.failure
  return textReply(status, message, headers)
}

const textReply = (status: number, text: string, headers: Readonly<Record<string, string>> = {}): ReceiverReply => ({
  status,
  headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
  body: `${text}\n`,
})
