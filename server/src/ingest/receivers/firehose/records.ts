import { gunzipSync } from 'node:zlib'
import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { afterBlank, endOfLine } from '../../intake/lines.ts'
import { Batches, RECORDS_MAX, UNREADABLE } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader, OPEN_OBJECT } from '../json/reader.ts'
import { readText } from '../json/texts.ts'
import { splitObjects } from '../native/objects.ts'
import { readSubscription } from './subscription.ts'

/** Where a delivery comes from. */
export type DeliverySource = {
  stream: string | undefined
  collection: string | undefined
  dataset: string | undefined
  attributes: readonly Pair[]
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const isBase64Byte = new Uint8Array(256)
for (const char of BASE64) isBase64Byte[char.charCodeAt(0)] = 1
const EQUALS_SIGN = 0x3d
const MIN_CHUNK_BYTES = 16 * 2 ** 10
const MAX_CHUNK_BYTES = 2 ** 20
/** Logs become several times shorter when they are compressed. */
const USUAL_GROWTH = 8
/** The collection of logs that a cloud service forwards. */
const CLOUD = 'aws'

/** Reads `{"requestId": …, "records": [{"data": "<base64>"}]}`. */
export class DeliveryRecords {
  readonly #reader: JsonReader
  readonly #text: BodyText
  readonly #source: DeliverySource
  readonly #batches = new Batches()
  #bytesLeft: number
  #records = 0

  constructor(body: Uint8Array, source: DeliverySource, bytesMax: number) {
    this.#reader = new JsonReader(body)
    this.#text = new BodyText(body)
    this.#source = source
    this.#bytesLeft = bytesMax
  }

  read(): ParsedBody & { requestId: string } {
    const reader = this.#reader
    let requestId = ''
    reader.openObject()
    while (reader.key()) {
      const name = this.#text.text(reader.start, reader.stop)
      if (name === 'requestId') requestId = readText(reader, this.#text)
      else if (name !== 'records') reader.skip()
      else if (reader.openList()) while (reader.element()) this.#record()
    }
    reader.finish()
    return { ...this.#batches.parsed(), requestId }
  }

  #record(): void {
    const reader = this.#reader
    this.#records += 1
    if (this.#records > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} records in one post`)
    if (reader.peek() !== OPEN_OBJECT) {
      this.#add(Buffer.from(readText(reader, this.#text)), [[UNREADABLE, 'firehose']])
      return
    }
    reader.openObject()
    while (reader.key()) {
      if (this.#text.text(reader.start, reader.stop) === 'data') this.#data(readText(reader, this.#text))
      else reader.skip()
    }
  }

  /** A record that is not base64, or broken gzip, is kept as it came: the protocol cannot reject it alone. */
  #data(data: string): void {
    const bytes = isBase64(data) ? this.#decoded(Buffer.from(data, 'base64')) : undefined
    if (bytes === undefined) this.#add(Buffer.from(data))
    else if (!isOneLine(bytes) || !this.#subscription(bytes)) {
      for (const part of splitObjects(bytes)) if (!this.#subscription(part)) this.#add(part)
    }
  }

  #decoded(bytes: Buffer): Uint8Array | undefined {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
    try {
      // Otherwise the output would be put together from many small parts.
      const chunkSize = Math.min(Math.max(MIN_CHUNK_BYTES, bytes.length * USUAL_GROWTH), MAX_CHUNK_BYTES)
      const unpacked = gunzipSync(bytes, { chunkSize, maxOutputLength: Math.max(1, this.#bytesLeft) })
      this.#bytesLeft -= unpacked.length
      return unpacked
    } catch (cause) {
      if (cause instanceof RangeError) throw new Failure(413, 'the records are too large after decompression', { cause })
      if (cause instanceof Error && 'code' in cause) return undefined
      throw cause
    }
  }

  /** Adds the events of a subscription; false for any other object. */
  #subscription(part: Uint8Array): boolean {
    const batches = this.#batches
    const subscription = part[0] === OPEN_OBJECT ? readSubscription(part, batches) : undefined
    if (subscription === undefined) return false
    const { collection = CLOUD, dataset = subscription.group, attributes } = this.#source
    subscription.events.addTo(batches.of({ collection, dataset }), batches.sharedOf([...attributes, ...subscription.attributes]))
    return true
  }

  #add(raw: Uint8Array, own: readonly Pair[] = []): void {
    const { collection, dataset, stream, attributes } = this.#source
    const record: ReceivedRecord = { raw, time: undefined, level: undefined, keys: [], attributes: own }
    this.#batches.add(this.#batches.of({ collection, dataset: dataset ?? stream }), record, attributes)
  }
}

/** True for a text of base64, with padding or without. */
function isBase64(text: string): boolean {
  let end = text.length
  for (let padding = 0; padding < 2 && end > 0 && text.charCodeAt(end - 1) === EQUALS_SIGN; padding += 1) end -= 1
  for (let at = 0; at < end; at += 1) {
    const char = text.charCodeAt(at)
    if (char >= isBase64Byte.length || isBase64Byte[char] === 0) return false
  }
  return true
}

/** True when everything is in the first line. An object there that can be read to its end is the only part then. */
const isOneLine = (bytes: Uint8Array): boolean => afterBlank(bytes, endOfLine(bytes, 0)) === bytes.length
