import type { Failure } from '../../../kernel/errors.ts'
import type { IngestOutcome, IngestRequestHead, ParsedSummary, ReceiverReply, RejectedRecord } from '../../batch.ts'

export type OtlpEncoding = 'protobuf' | 'json'

const contentTypes: Readonly<Record<OtlpEncoding, string>> = { protobuf: 'application/x-protobuf', json: 'application/json' }

/** The encoding of a body; undefined for unsupported ones. */
export function encodingOf(contentType: string): OtlpEncoding | undefined {
  const type = contentType.split(';')[0]?.trim().toLowerCase()
  if (type === 'application/json') return 'json'
  return type === 'application/x-protobuf' || type === 'application/protobuf' ? 'protobuf' : undefined
}

/** The fields of rejected counts, by the end of the path. */
const rejectedNames = { logs: 'rejectedLogRecords', traces: 'rejectedSpans', metrics: 'rejectedDataPoints' } as const
export type SignalName = keyof typeof rejectedNames

export function otlpReply(
  signal: SignalName,
  request: IngestRequestHead,
  outcome: IngestOutcome,
  parsed: ParsedSummary | undefined,
): ReceiverReply {
  const encoding = encodingOf(request.contentType) ?? 'json'
  if (outcome.kind === 'refused') return refused(encoding, outcome.failure)
  if (signal === 'metrics') return metricsStored(encoding, Number(parsed?.notes ?? 0))
  const rejected = new Map([...(parsed?.rejected ?? []), ...outcome.rejected].map((one) => [one.index, one]))
  const all = [...rejected.values()]
  return stored(encoding, signal, all.length, quoted(all, outcome.total))
}

/** The reply to metrics, of which no data point is stored. */
const metricsStored = (encoding: OtlpEncoding, points: number): ReceiverReply =>
  stored(encoding, 'metrics', points, `metrics are not stored: ${points} data points were rejected`)

function stored(encoding: OtlpEncoding, signal: SignalName, rejected: number, message: string): ReceiverReply {
  const headers = { 'content-type': contentTypes[encoding] }
  if (rejected === 0) return { status: 200, headers, body: encoding === 'json' ? '{}' : new Uint8Array() }
  const partialSuccess = { [rejectedNames[signal]]: String(rejected), errorMessage: message }
  const body = encoding === 'json' ? JSON.stringify({ partialSuccess }) : bytesField(1, numberAndText(rejected, message))
  return { status: 200, headers, body }
}

const QUOTED_MAX = 3

function quoted(rejected: readonly RejectedRecord[], total: number): string {
  const reasons = rejected.slice(0, QUOTED_MAX).map(({ index, reason }) => `record ${index}: ${reason}`)
  const more = rejected.length > QUOTED_MAX ? '; …' : ''
  return `${rejected.length} of ${total} records were rejected; ${reasons.join('; ')}${more}`
}

/** gRPC codes. Other statuses below 500 are the sender's fault, and those from 500 on are temporary. */
const codes: Readonly<Record<number, number>> = { 401: 16, 403: 7, 404: 5, 413: 8, 429: 8 }
const INVALID_ARGUMENT = 3
const UNAVAILABLE = 14

/** The gRPC code of a failure. A conflict is temporary, as over HTTP. */
export const grpcCode = ({ status }: Pick<Failure, 'status'>): number =>
  status === 409 ? UNAVAILABLE : (codes[status] ?? (status < 500 ? INVALID_ARGUMENT : UNAVAILABLE))

const RETRY_INFO = 'type.googleapis.com/google.rpc.RetryInfo'

/** The details of a failure over gRPC: google.rpc.Status, with a RetryInfo when the sender may try again after a number of seconds. */
export function grpcStatusDetails(code: number, message: string, retryAfterS: number | undefined): Uint8Array {
  const status = numberAndText(code, message)
  if (retryAfterS === undefined) return status
  const delay = Buffer.concat([Uint8Array.of(0x08), varint(retryAfterS)])
  const any = Buffer.concat([bytesField(1, Buffer.from(RETRY_INFO)), bytesField(2, bytesField(1, delay))])
  return Buffer.concat([status, bytesField(3, any)])
}

/** The reply for a failure. Senders retry only after 429, 502, 503 and 504, so a temporary 409 must become one of these. */
function refused(encoding: OtlpEncoding, { status: found, message, headers }: Failure): ReceiverReply {
  const status = found === 409 ? 503 : found
  const code = codes[status] ?? (status < 500 ? INVALID_ARGUMENT : UNAVAILABLE)
  const body = encoding === 'json' ? JSON.stringify({ code, message }) : numberAndText(code, message)
  return { status, headers: { ...headers, 'content-type': contentTypes[encoding] }, body }
}

/** A protobuf message with a number as field 1 and a text as field 2, as all our replies are. */
function numberAndText(number: number, text: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(0x08), varint(number), bytesField(2, Buffer.from(text))])
}

const BYTES = 2
const bytesField = (field: number, bytes: Uint8Array): Uint8Array =>
  Buffer.concat([Uint8Array.of((field << 3) | BYTES), varint(bytes.length), bytes])

function varint(number: number): Uint8Array {
  const bytes: number[] = []
  let rest = number
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Uint8Array.from([...bytes, rest])
}
