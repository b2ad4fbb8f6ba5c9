import { gunzipSync, inflateSync } from 'node:zlib'
import { Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, MessageParser, ParsedBody, ReceivedRecord, RejectedRecord } from '../../batch.ts'
import { LINE_BYTES_MAX } from '../../intake/arrivals.ts'
import { joined } from '../../intake/bytes.ts'
import { Batches } from '../batches.ts'
import { messagesOf, type ReceivedMessage } from '../messages.ts'
import { type GelfRecord, GelfRecords } from './record.ts'

/** Accepts messages of Graylog's format from sockets: JSON, perhaps compressed with gzip or zlib. */
export const gelf: MessageParser = { name: 'gelf', parse }

/** Bounds what one message, and all messages of a post together, may become when they are decompressed. */
const MESSAGE_BYTES_MAX = 4 * LINE_BYTES_MAX
const POST_BYTES_MAX = 64 * LINE_BYTES_MAX
const SMALL_BYTES = 512
const SMALL_CHUNK_BYTES = 1_024
const LARGE_CHUNK_BYTES = 16 * 1_024
/** Marks a message that is no JSON object. It is kept as text. */
const UNREADABLE: readonly [string, string] = ['$ingest.unreadable', 'gelf']

function parse({ body }: IngestRequest): ParsedBody {
  const post = new GelfPost(body)
  for (const message of messagesOf(body)) post.add(message)
  return post.parsed()
}

/** A message in the body, or in the memory of decompressed messages. */
type UnpackedMessage = ReceivedMessage & { isInflated: boolean }

class GelfPost {
  readonly #body: Uint8Array
  readonly #messages: UnpackedMessage[] = []
  readonly #inflated: Uint8Array[] = []
  #inflatedBytes = 0
  readonly #rejected: RejectedRecord[] = []

  constructor(body: Uint8Array) {
    this.#body = body
  }

  add(message: ReceivedMessage): void {
    const inflated = this.#inflate(this.#body.subarray(message.start, message.end))
    if (inflated === undefined) this.#messages.push({ ...message, isInflated: false })
    else if (typeof inflated === 'string') {
      this.#rejected.push({ index: this.#messages.length + this.#rejected.length, reason: inflated })
    } else {
      const start = this.#inflatedBytes
      this.#inflated.push(inflated)
      this.#inflatedBytes += inflated.length
      this.#messages.push({ source: message.source, start, end: this.#inflatedBytes, isInflated: true })
    }
  }

  /** Decompressed messages are read in one piece of memory, since messages of one body share their names. */
  parsed(): ParsedBody {
    const bodies = [this.#body, joined(this.#inflated, this.#inflatedBytes)] as const
    const [plain, inflated] = bodies.map((bytes) => new GelfRecords(bytes)) as [GelfRecords, GelfRecords]
    const batches = new Batches()
    for (const { start, end, source, isInflated } of this.#messages) {
      const { record, dataset } = readMessage(isInflated ? inflated : plain, bodies[isInflated ? 1 : 0], start, end)
      record.origin = source.address
      if (source.attributes.length > 0) record.attributes = [...source.attributes, ...record.attributes]
      batches.add(batches.of({ collection: undefined, dataset }), record)
    }
    return { ...batches.parsed(), rejected: this.#rejected, total: this.#messages.length + this.#rejected.length }
  }

  /** The decompressed message; undefined if it is not compressed, and the reason if it cannot be read. */
  #inflate(message: Uint8Array): Uint8Array | undefined | string {
    const read = message[0] === 0x1f && message[1] === 0x8b ? gunzipSync : isZlib(message) ? inflateSync : undefined
    if (!read) return undefined
    try {
      const maxOutputLength = Math.max(1, Math.min(MESSAGE_BYTES_MAX, POST_BYTES_MAX - this.#inflatedBytes))
      // The default reserves 16 KiB for each message, which takes longer than decompressing a small one.
      return read(message, { maxOutputLength, chunkSize: message.length < SMALL_BYTES ? SMALL_CHUNK_BYTES : LARGE_CHUNK_BYTES })
    } catch (cause) {
      return `the message cannot be decompressed: ${cause instanceof Error ? cause.message : 'unreadable'}`
    }
  }
}

const isZlib = ([first = 0, second = 0]: Uint8Array): boolean =>
  (first & 0x0f) === 8 && first >> 4 <= 7 && ((first << 8) | second) % 31 === 0

function readMessage(records: GelfRecords, bytes: Uint8Array, start: number, end: number): GelfRecord {
  try {
    return records.read(start, end)
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    const record: ReceivedRecord = {
      raw: bytes.subarray(start, end),
      time: undefined,
      level: undefined,
      keys: [],
      attributes: [UNREADABLE],
    }
    return { record, dataset: undefined }
  }
}
