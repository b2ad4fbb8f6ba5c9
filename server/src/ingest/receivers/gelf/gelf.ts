import { gunzipSync, inflateSync } from 'node:zlib'
import { Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, MessageParser, ParsedBody, RejectedRecord } from '../../batch.ts'
import { LINE_BYTES_MAX } from '../../intake/arrivals.ts'
import { joined } from '../../intake/bytes.ts'
import { Batches } from '../batches.ts'
import { JsonReader } from '../json/reader.ts'
import { messagesOf, type ReceivedMessage } from '../messages.ts'
import { GelfRecords } from './record.ts'

/** Accepts messages of Graylog's format from sockets: JSON, perhaps compressed with gzip or zlib. */
export const gelf: MessageParser = { name: 'gelf', parse }

/** Bounds what one message, and all messages of a post together, may become when they are decompressed. */
const MESSAGE_BYTES_MAX = 4 * LINE_BYTES_MAX
const POST_BYTES_MAX = 64 * LINE_BYTES_MAX
const SMALL_BYTES = 512
const SMALL_CHUNK_BYTES = 1_024
const LARGE_CHUNK_BYTES = 16 * 1_024

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

  /** All messages are read in one piece of memory, since messages of one body share their names; decompressed ones lie after the others. */
  parsed(): ParsedBody {
    const own = this.#body.length
    const body = this.#inflated.length === 0 ? this.#body : joined([this.#body, ...this.#inflated], own + this.#inflatedBytes)
    const batches = new Batches(body)
    const records = new GelfRecords(new JsonReader(body), batches)
    for (const { start, end, source, isInflated } of this.#messages) {
      const before = isInflated ? own : 0
      const dataset = readMessage(records, batches, before + start, before + end)
      batches.take(batches.of({ collection: undefined, dataset }), batches.sharedOf(source.attributes, undefined, source.address))
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

/** Reads a message into the draft and returns its dataset. */
function readMessage(records: GelfRecords, batches: Batches, start: number, end: number): string | undefined {
  try {
    return records.read(start, end)
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown
    batches.setOther(start, end, gelf.name)
    return undefined
  }
}
