import { gunzipSync, inflateSync } from 'node:zlib'
import { Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, MessageParser, ParsedBody, ReceivedRecord, RejectedRecord } from '../../batch.ts'
import { LINE_BYTES_MAX } from '../../intake/arrivals.ts'
import { Batches } from '../batches.ts'
import { messagesOf, type ReceivedMessage } from '../messages.ts'
import { type GelfRecord, GelfRecords } from './record.ts'

/** Accepts messages of Graylog's format from sockets: JSON, perhaps compressed with gzip or zlib. */
export const gelf: MessageParser = { name: 'gelf', parse }

/** Bounds what one message, and all messages of a post together, may become when they are decompressed. */
const MESSAGE_BYTES_MAX = 4 * LINE_BYTES_MAX
const POST_BYTES_MAX = 64 * LINE_BYTES_MAX
/** Marks a message that is no JSON object. It is kept as text. */
const UNREADABLE: readonly [string, string] = ['$ingest.unreadable', 'gelf']

function parse({ body }: IngestRequest): ParsedBody {
  const post = new GelfPost(body)
  for (const message of messagesOf(body)) post.add(message)
  return post.parsed()
}

class GelfPost {
  readonly #body: Uint8Array
  readonly #plain: GelfRecords
  readonly #records = new Batches()
  readonly #rejected: RejectedRecord[] = []
  #bytesLeft = POST_BYTES_MAX

  constructor(body: Uint8Array) {
    this.#body = body
    this.#plain = new GelfRecords(body)
  }

  add({ start, end, source }: ReceivedMessage): void {
    const inflated = this.#inflate(this.#body.subarray(start, end))
    if (typeof inflated === 'string') {
      this.#rejected.push({ index: this.#records.total + this.#rejected.length, reason: inflated })
      return
    }
    const { record, dataset } = inflated
      ? readMessage(new GelfRecords(inflated), inflated, 0, inflated.length)
      : readMessage(this.#plain, this.#body, start, end)
    record.origin = source.address
    if (source.attributes.length > 0) record.attributes = [...source.attributes, ...record.attributes]
    this.#records.add(this.#records.of({ collection: undefined, dataset }), record)
  }

  parsed(): ParsedBody {
    return { ...this.#records.parsed(), rejected: this.#rejected, total: this.#records.total + this.#rejected.length }
  }

  /** The decompressed message; undefined if it is not compressed, and the reason if it cannot be read. */
  #inflate(message: Uint8Array): Uint8Array | undefined | string {
    const read = message[0] === 0x1f && message[1] === 0x8b ? gunzipSync : isZlib(message) ? inflateSync : undefined
    if (!read) return undefined
    try {
      const inflated = read(message, { maxOutputLength: Math.min(MESSAGE_BYTES_MAX, this.#bytesLeft) })
      this.#bytesLeft = Math.max(1, this.#bytesLeft - inflated.length)
      return inflated
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
