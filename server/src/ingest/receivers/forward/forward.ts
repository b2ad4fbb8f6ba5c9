import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { badRequest, Failure } from '../../../kernel/errors.ts'
import type { RecordTable, SharedFields } from '../../../lines/shredder/record-table.ts'
import type { IngestRequest, MessageParser, ParsedBody, RejectedRecord } from '../../batch.ts'
import { Batches, RECORDS_MAX } from '../batches.ts'
import { type MessageSource, messagesOf } from '../messages.ts'
import { describesSource } from '../source-attributes.ts'
import { ARRAY, BINARY, MsgpackReader, msgpackText, TEXT } from './msgpack.ts'
import { type ForwardRecord, ForwardRecords } from './record.ts'
import { UsualEntries } from './usual-entry.ts'

/** Accepts the Forward protocol of Fluentd and Fluent Bit. */
export const forward: MessageParser = {
  name: 'forward',
  parse,
  isLabel: (attribute) => attribute === TAG || describesSource(attribute),
}

const TAG = '$fluent.tag'

/** Bounds what the entries of a post become when they are decompressed. */
const POST_BYTES_MAX = 64 * 2 ** 20
/** Entries become large when they are decompressed. The default of 16 KiB makes many buffers of them. */
const CHUNK_BYTES = 2 ** 18

function parse({ body }: IngestRequest): ParsedBody {
  const post = new ForwardPost(body)
  for (const { start, end, source } of messagesOf(body)) post.add(start, end, source)
  return post.parsed()
}

/** Where the records of a tag go, and what they share. */
type TagRoute = { tag: string; source: MessageSource; shared: SharedFields; dataset: string | undefined; isFile: boolean }

/** What a record says about its place. */
type NamedPlace = Pick<ForwardRecord, 'container' | 'service'>

/** The readers of the entries that lie in some bytes. All messages of a body share the texts and names of their records. */
type EntryReaders = { reader: MsgpackReader; records: ForwardRecords; usual: UsualEntries }

class ForwardPost {
  readonly #batches: Batches
  readonly #whole: EntryReaders
  readonly #rejected: RejectedRecord[] = []
  #route: TagRoute | undefined
  #bytesLeft = POST_BYTES_MAX

  constructor(body: Uint8Array) {
    this.#batches = new Batches(body, false)
    this.#whole = this.#readersOf(body, 0)
  }

  parsed(): ParsedBody {
    return { ...this.#batches.parsed(), rejected: this.#rejected, total: this.#batches.total + this.#rejected.length }
  }

  /** Reads a message. Its entries before the place where it breaks off are kept. */
  add(start: number, end: number, source: MessageSource): void {
    const { reader } = this.#whole
    try {
      reader.at = start
      reader.end = end
      this.#message(reader, source)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status !== 400) throw thrown
      this.#reject(thrown)
    }
  }

  #readersOf(bytes: Uint8Array, base: number): EntryReaders {
    const reader = new MsgpackReader(bytes)
    const records = new ForwardRecords(reader)
    return { reader, records, usual: new UsualEntries({ bytes: reader.bytes, base }, records.names, this.#batches.draft) }
  }

  #message(reader: MsgpackReader, source: MessageSource): void {
    if (reader.next() !== ARRAY || reader.length < 2) throw reader.fail('a message is not a tag and entries')
    reader.next()
    const route = this.#routeOf(msgpackText(reader), source)
    const { at, end } = reader
    switch (reader.next()) {
      case ARRAY:
        this.#entries(this.#whole, reader.length, route)
        return
      case TEXT:
      case BINARY:
        this.#packed(reader, route)
        return
      default: {
        const { records, usual } = this.#whole
        if (usual.readRecord(at, end)) this.#take(usual, route)
        else this.#add(records.record(records.time(), []), route)
      }
    }
  }

  #packed(reader: MsgpackReader, route: TagRoute): void {
    const inflated = this.#inflate(reader.bytes.subarray(reader.start, reader.stop))
    if (inflated) {
      const base = this.#batches.memory.putBytes(inflated)
      this.#entries(this.#readersOf(inflated, base), Number.POSITIVE_INFINITY, route)
      return
    }
    reader.at = reader.start
    reader.end = reader.stop
    this.#entries(this.#whole, Number.POSITIVE_INFINITY, route)
  }

  #entries({ reader, records, usual }: EntryReaders, count: number, route: TagRoute): void {
    for (let left = count; left > 0 && !reader.isAtEnd; left -= 1) {
      if (usual.readEntry(reader.at, reader.end)) {
        reader.at = usual.at
        this.#take(usual, route)
      } else this.#rareEntry(reader, records, route)
    }
  }

  /** Reads an entry that is not of the usual form. One that is no time and record is rejected; the next one begins where it ends. */
  #rareEntry(reader: MsgpackReader, records: ForwardRecords, route: TagRoute): void {
    const { at } = reader
    try {
      reader.next()
      this.#add(records.entry(), route)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.status !== 400) throw thrown
      reader.at = at
      reader.next()
      reader.skipRest()
      this.#reject(thrown)
    }
  }

  #reject(failure: Failure): void {
    if (this.#rejected.length === RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} unreadable entries in one post`)
    this.#rejected.push({ index: this.#batches.total + this.#rejected.length, reason: failure.message })
  }

  /** Adds the record that is in the draft. */
  #take(named: NamedPlace, route: TagRoute): void {
    this.#batches.take(this.#tableOf(named, route), route.shared)
  }

  #add(entry: ForwardRecord, route: TagRoute): void {
    this.#batches.draft.copy(entry.record)
    this.#take(entry, route)
  }

  #tableOf({ container, service }: NamedPlace, { isFile, dataset }: TagRoute): RecordTable {
    return this.#batches.of(service.before({ collection: undefined, dataset: isFile && container ? container : dataset }))
  }

  #routeOf(tag: string, source: MessageSource): TagRoute {
    if (this.#route?.tag === tag && this.#route.source === source) return this.#route
    const shared = this.#batches.sharedOf([[TAG, tag], ...source.attributes], undefined, source.address)
    this.#route = { tag, source, shared, dataset: datasetOf(tag), isFile: tag.startsWith('kube.') }
    return this.#route
  }

  /** The decompressed entries; undefined if they are not compressed. The first bytes decide, since senders name other compressions than they use. */
  #inflate(bytes: Uint8Array): Uint8Array | undefined {
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
    const isZstd = bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd
    if (!isGzip && !isZstd) return undefined
    try {
      const inflated = (isGzip ? gunzipSync : zstdDecompressSync)(bytes, { maxOutputLength: this.#bytesLeft, chunkSize: CHUNK_BYTES })
      this.#bytesLeft = Math.max(1, this.#bytesLeft - inflated.length)
      return inflated
    } catch (cause) {
      throw badRequest(`the entries cannot be decompressed: ${cause instanceof Error ? cause.message : 'unreadable'}`, { cause })
    }
  }
}

/** The part of a tag up to its second dot. Tags of containers name files, so the container's name is better. */
const datasetOf = (tag: string): string | undefined => tag.split('.', 2).join('.') || undefined
