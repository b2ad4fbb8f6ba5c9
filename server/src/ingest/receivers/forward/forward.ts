import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { badRequest, Failure } from '../../../kernel/errors.ts'
import type { IngestRequest, MessageParser, Pair, ParsedBody, RejectedRecord } from '../../batch.ts'
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
  /** All messages of a body share the texts and names of their records. */
  readonly #reader: MsgpackReader
  readonly #records: ForwardRecords
  readonly #batches = new Batches()
  readonly #rejected: RejectedRecord[] = []
  #bytesLeft = POST_BYTES_MAX

  constructor(body: Uint8Array) {
    this.#reader = new MsgpackReader(body)
    this.#records = new ForwardRecords(this.#reader)
  }

  parsed(): ParsedBody {
    return { ...this.#batches.parsed(), rejected: this.#rejected, total: this.#batches.total + this.#rejected.length }
  }

  /** Reads a message. Its entries before an unreadable one are kept. */
  add(start: number, end: number, source: MessageSource): void {
    try {
      this.#reader.at = start
      this.#reader.end = end
      this.#message(this.#reader, source)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status !== 400) throw thrown
      this.#rejected.push({ index: this.#batches.total + this.#rejected.length, reason: thrown.message })
    }
  }

  #message(reader: MsgpackReader, source: MessageSource): void {
    if (reader.next() !== ARRAY || reader.length < 2) throw reader.fail('a message is not a tag and entries')
    reader.next()
    const tag = msgpackText(reader)
    const shared: readonly Pair[] = [['$fluent.tag', tag], ...source.attributes]
    const named = datasetOf(tag)
    const isFile = tag.startsWith('kube.')
    const take = ({ record, container }: ForwardRecord): void => {
      record.origin = source.address
      this.#batches.add(this.#batches.of({ collection: undefined, dataset: isFile && container ? container : named }), record, shared)
    }
    switch (reader.next()) {
      case ARRAY:
        entriesOf(this.#records, reader, reader.length, take)
        return
      case TEXT:
      case BINARY:
        this.#packed(reader, take)
        return
      default:
        take(this.#records.record(this.#records.time(), []))
    }
  }

  #packed(reader: MsgpackReader, take: (found: ForwardRecord) => void): void {
    const inflated = this.#inflate(reader.bytes.subarray(reader.start, reader.stop))
    if (inflated) {
      const entries = new MsgpackReader(inflated)
      entriesOf(new ForwardRecords(entries), entries, Number.POSITIVE_INFINITY, take)
      return
    }
    reader.at = reader.start
    reader.end = reader.stop
    entriesOf(this.#records, reader, Number.POSITIVE_INFINITY, take)
  }

  /** The decompressed entries; undefined if they are not compressed. The first bytes decide, since senders name other compressions than they use. */
  #inflate(bytes: Uint8Array): Uint8Array | undefined {
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
    const isZstd = bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd
    if (!isGzip && !isZstd) return undefined
    try {
      const inflated = (isGzip ? gunzipSync : zstdDecompressSync)(bytes, { maxOutputLength: this.#bytesLeft })
      this.#bytesLeft = Math.max(1, this.#bytesLeft - inflated.length)
      return inflated
    } catch (cause) {
      throw badRequest(`the entries cannot be decompressed: ${cause instanceof Error ? cause.message : 'unreadable'}`, { cause })
    }
  }
}

function entriesOf(records: ForwardRecords, reader: MsgpackReader, count: number, take: (found: ForwardRecord) => void): void {
  for (let left = count; left > 0 && !reader.isAtEnd; left -= 1) {
    reader.next()
    take(records.entry())
  }
}

/** The part of a tag up to its second dot. Tags of containers name files, so the container's name is better. */
const datasetOf = (tag: string): string | undefined => tag.split('.', 2).join('.') || undefined
