import { Failure } from '../../../kernel/errors.ts'
import type { MemoryReservation } from '../../intake/budget.ts'
import { joined } from '../../intake/bytes.ts'
import { type BodyEncoding, decode } from '../../intake/decode.ts'
import { grpcCode, grpcStatusDetails } from './answer.ts'

/** The path over HTTP of each method, for the parser and the reply. */
export const grpcMethods: ReadonlyMap<string, string> = new Map([
  ['/opentelemetry.proto.collector.logs.v1.LogsService/Export', '/v1/logs'],
  ['/opentelemetry.proto.collector.trace.v1.TraceService/Export', '/v1/traces'],
  ['/opentelemetry.proto.collector.metrics.v1.MetricsService/Export', '/v1/metrics'],
])

const PREFIX_BYTES = 5
const COMPRESSED = 1
const encodings: ReadonlyMap<string, BodyEncoding | undefined> = new Map<string, BodyEncoding | undefined>([
  ['', undefined],
  ['identity', undefined],
  ['gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['zstd', 'zstd'],
])
export const GRPC_ENCODINGS = 'identity,gzip,deflate,zstd'

/** A failure that HTTP has no status for. */
export class GrpcFailure extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
export const UNIMPLEMENTED = 12

/** Collects the one message of a call within its limit. */
export class GrpcMessage {
  readonly #parts: Uint8Array[] = []
  readonly #bytesMax: number
  #length = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get wireBytes(): number {
    return this.#length
  }

  add(part: Uint8Array, reservation: MemoryReservation): void {
    this.#length += part.length
    if (this.#length > this.#bytesMax + PREFIX_BYTES)
      throw new Failure(413, `the message is larger than ${this.#bytesMax} bytes on the wire`)
    reservation.reserve(part.length)
    this.#parts.push(part)
  }

  /** The message, decompressed. */
  async bytes(encodingName: string, bound: { bytesMax: number; reservation: MemoryReservation }): Promise<Uint8Array> {
    const whole = joined(this.#parts, this.#length)
    const view = new DataView(whole.buffer)
    if (whole.length < PREFIX_BYTES || view.getUint32(1) !== whole.length - PREFIX_BYTES) {
      throw new Failure(400, 'the call does not consist of one message')
    }
    const message = whole.slice(PREFIX_BYTES)
    if (whole[0] !== COMPRESSED) return message
    if (!encodings.has(encodingName))
      throw new GrpcFailure(UNIMPLEMENTED, `the encoding ${encodingName.slice(0, 50)} is not supported; use ${GRPC_ENCODINGS}`)
    const encoding = encodings.get(encodingName)
    if (encoding === undefined) throw new Failure(400, 'the message is compressed, but the call names no encoding')
    return decode(message, encoding, bound)
  }
}

export const grpcFrame = (message: Uint8Array): Uint8Array => {
  const head = Buffer.alloc(PREFIX_BYTES)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

export type GrpcTrailers = { 'grpc-status': string; 'grpc-message'?: string; 'grpc-status-details-bin'?: string }

/** The trailers of a failure. A sender may try again only where they say so. */
export function grpcTrailers(failure: Failure | GrpcFailure): GrpcTrailers {
  const code = failure instanceof GrpcFailure ? failure.code : grpcCode(failure)
  const isPassing = failure instanceof Failure && (failure.status === 429 || failure.status >= 500 || failure.status === 409)
  const retryAfterS = isPassing ? Math.max(1, Number(failure.headers['retry-after'] ?? 1)) : undefined
  const details = grpcStatusDetails(code, failure.message, retryAfterS)
  return {
    'grpc-status': String(code),
    'grpc-message': percentEncoded(failure.message),
    'grpc-status-details-bin': Buffer.from(details).toString('base64').replace(/=+$/, ''),
  }
}

/** Bytes outside printable ASCII, and the percent sign, are escaped. */
const percentEncoded = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25 ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0').toUpperCase()}`,
    )
    .join('')
