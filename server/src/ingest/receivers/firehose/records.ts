import { gunzipSync } from 'node:zlib'
import { Failure } from '../../../kernel/errors.ts'
import type { Pair, ParsedBody, ReceivedRecord } from '../../batch.ts'
import { Batches, RECORDS_MAX } from '../batches.ts'
import { BodyText } from '../body-text.ts'
import { JsonReader, OPEN_ARRAY, OPEN_OBJECT } from '../json/reader.ts'
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

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
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
      else if (name === 'records' && reader.peek() === OPEN_ARRAY) {
        reader.openArray()
        while (reader.element()) this.#record()
      } else reader.skip()
    }
    reader.finish()
    return { ...this.#batches.parsed(), requestId }
  }

  #record(): void {
    const reader = this.#reader
    this.#records += 1
    if (this.#records > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} records in one post`)
    reader.openObject()
    while (reader.key()) {
      if (this.#text.text(reader.start, reader.stop) === 'data') this.#data(readText(reader, this.#text))
      else reader.skip()
    }
  }

  /** A record that is not base64, or broken gzip, is kept as it came: the protocol cannot reject it alone. */
  #data(data: string): void {
    const bytes = BASE64.test(data) ? this.#decoded(Buffer.from(data, 'base64')) : undefined
    if (bytes === undefined) {
      this.#add(Buffer.from(data))
      return
    }
    for (const part of splitObjects(bytes)) this.#object(part)
  }

  #decoded(bytes: Buffer): Uint8Array | undefined {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes
    try {
      const unpacked = gunzipSync(bytes, { maxOutputLength: Math.max(1, this.#bytesLeft) })
      this.#bytesLeft -= unpacked.length
      return unpacked
    } catch (cause) {
      if (cause instanceof RangeError) throw new Failure(413, 'the records are too large after decompression', { cause })
      if (cause instanceof Error && 'code' in cause) return undefined
      throw cause
    }
  }

  #object(part: Uint8Array): void {
    const subscription = part[0] === OPEN_OBJECT ? readSubscription(part) : undefined
    if (subscription === undefined) {
      this.#add(part)
      return
    }
    const { collection = CLOUD, dataset = subscription.group, attributes } = this.#source
    const records = this.#batches.of({ collection, dataset })
    const shared = [...attributes, ...subscription.attributes]
    for (const event of subscription.events) this.#batches.add(records, event, shared)
  }

  #add(raw: Uint8Array): void {
    const { collection, dataset, stream, attributes } = this.#source
    const record: ReceivedRecord = { raw, time: undefined, level: undefined, keys: [], attributes: [] }
    this.#batches.add(this.#batches.of({ collection, dataset: dataset ?? stream }), record, attributes)
  }
}
