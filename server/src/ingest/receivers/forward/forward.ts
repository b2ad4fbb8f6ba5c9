import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { badRequest, Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, MessageParser, ParsedBody, RejectedRecord } from '../../batch.ts'
import { Batches } from '../batches.ts'
import { type MessageSource, messagesOf } from '../messages.ts'
import { ARRAY, BINARY, MsgpackReader, msgpackText, TEXT } from './msgpack.ts'
import { type ForwardRecord, ForwardRecords } from './record.ts'

/** Accepts the Forward protocol of Fluentd and Fluent Bit. */
export const forward: MessageParser = { name: 'forward', parse }

/** Bounds what the entries of a post become when they are decompressed. */
const POST_BYTES_MAX = 64 * 2 ** 20

function parse({ body }: IngestRequest): ParsedBody {
  const post = new ForwardPost(body)
  for (const { start, end, source } of messagesOf(body)) post.add(start, end, source)
  return post.parsed()
}

class ForwardPost {
  readonly #body: Uint8Array
  readonly #batches = new Batches()
  readonly #rejected: RejectedRecord[] = []
  #bytesLeft = POST_BYTES_MAX

  constructor(body: Uint8Array) {
    this.#body = body
  }

  parsed(): ParsedBody {
    return { ...this.#batches.parsed(), rejected: this.#rejected, total: this.#batches.total + this.#rejected.length }
  }

  /** Reads a message. Its entries before an unreadable one are kept. */
  add(start: number, end: number, source: MessageSource): void {
    try {
      this.#message(new MsgpackReader(this.#body, start, end), source)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status !== 400) throw thrown
      this.#rejected.push({ index: this.#batches.total + this.#rejected.length, reason: thrown.message })
    }
  }

  #message(reader: MsgpackReader, source: MessageSource): void {
    if (reader.next() !== ARRAY || reader.length < 2) throw reader.fail('a message is not a tag and entries')
    reader.next()
    const tag = msgpackText(reader)
    const take = (found: ForwardRecord) => this.#take(tag, found, source)
    switch (reader.next()) {
      case ARRAY:
        entriesOf(reader, reader.length, take)
        return
      case TEXT:
      case BINARY:
        this.#packed(reader.bytes.subarray(reader.start, reader.stop), take)
        return
      default: {
        const records = new ForwardRecords(reader)
        take(records.record(records.time(), []))
      }
    }
  }

  #packed(bytes: Uint8Array, take: (found: ForwardRecord) => void): void {
    const entries = new MsgpackReader(this.#inflate(bytes))
    entriesOf(entries, Number.POSITIVE_INFINITY, take)
  }

  /** The first bytes decide, since senders name other compressions than they use. */
  #inflate(bytes: Uint8Array): Uint8Array {
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
    const isZstd = bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd
    if (!isGzip && !isZstd) return bytes
    try {
      const inflated = (isGzip ? gunzipSync : zstdDecompressSync)(bytes, { maxOutputLength: this.#bytesLeft })
      this.#bytesLeft = Math.max(1, this.#bytesLeft - inflated.length)
      return inflated
    } catch (cause) {
      throw badRequest(`the entries cannot be decompressed: ${cause instanceof Error ? cause.message : 'unreadable'}`, { cause })
    }
  }

  #take(tag: string, { record, container }: ForwardRecord, { address, attributes }: MessageSource): void {
    record.origin = address
    record.attributes = [['$fluent.tag', tag], ...attributes, ...record.attributes]
    this.#batches.add(this.#batches.of({ collection: undefined, dataset: datasetOf(tag, container) }), record)
  }
}

function entriesOf(reader: MsgpackReader, count: number, take: (found: ForwardRecord) => void): void {
  const records = new ForwardRecords(reader)
  for (let left = count; left > 0 && !reader.isAtEnd; left -= 1) {
    reader.next()
    take(records.entry())
  }
}

/** The part of a tag up to its second dot. Tags of containers name files, so the container's name is better. */
function datasetOf(tag: string, container: string | undefined): string | undefined {
  if (container && tag.startsWith('kube.')) return container
  return tag.split('.', 2).join('.') || undefined
}
