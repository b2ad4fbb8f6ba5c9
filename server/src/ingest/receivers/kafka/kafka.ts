import { isUtf8 } from 'node:buffer'
import { Failure } from '../../../kernel/errors.ts'
import type { DatasetBatch, IngestRequest, MessageParser, ParsedBody, ReceivedRecord, RejectedRecord } from '../../batch.ts'
import { isObject, LINE_BYTES_MAX } from '../../intake/arrivals.ts'
import { RECORDS_MAX } from '../batches.ts'
import { splitObjects } from '../native/objects.ts'
import { otlp } from '../otlp/otlp.ts'
import { describesSource } from '../source-attributes.ts'
import { type TopicMessage, unpackMessages } from './messages.ts'

/** Accepts messages of a topic. The query names the form of their values: TEXT, JSON or OTLP. A message that cannot be read is rejected alone. */
export const kafka: MessageParser = {
  name: 'kafka',
  parse,
  isLabel: (attribute) => attribute === '$kafka.topic' || describesSource(attribute),
}

function parse({ body, query }: IngestRequest): ParsedBody {
  const records: ReceivedRecord[] = []
  const batches: DatasetBatch[] = []
  const rejected: RejectedRecord[] = []
  let total = 0
  for (const message of unpackMessages(body)) {
    try {
      const read = query.format === 'OTLP' ? readOtlp(message) : recordsOfMessage(message, query.format === 'JSON')
      batches.push(...read.batches)
      for (const record of read.records) records.push(record)
      total += read.total
    } catch (thrown) {
      if (!(thrown instanceof Failure)) throw thrown
      rejected.push({ index: total, reason: thrown.message })
      total += 1
    }
    if (total > RECORDS_MAX) throw new Failure(413, `more than ${RECORDS_MAX} events in one post`)
  }
  const own: DatasetBatch[] =
    records.length === 0 ? [] : [{ collection: undefined, dataset: undefined, attributes: [], events: { kind: 'records', records } }]
  return { batches: [...own, ...batches], rejected, total }
}

type ReadMessage = { readonly batches: readonly DatasetBatch[]; readonly records: readonly ReceivedRecord[]; readonly total: number }

function bytesOfValue({ value }: TopicMessage): Uint8Array {
  if (value === undefined) throw new Failure(400, 'the message has no value')
  if (value.length > LINE_BYTES_MAX) throw new Failure(400, `the message has more than ${LINE_BYTES_MAX} bytes`)
  return value
}

function recordsOfMessage(message: TopicMessage, isJson: boolean): ReadMessage {
  const value = bytesOfValue(message)
  if (!isUtf8(value)) throw new Failure(400, 'the message is not UTF-8')
  const lines = isJson ? splitObjects(value) : [value]
  if (lines.length === 0 || (isJson && !lines.every(isObject))) throw new Failure(400, 'the message has no JSON objects')
  const records = lines.map((raw): ReceivedRecord => ({ raw, time: undefined, level: undefined, keys: [], attributes: message.attributes }))
  return { records, batches: [], total: records.length }
}

function readOtlp(message: TopicMessage): ReadMessage {
  const value = bytesOfValue(message)
  const contentType = isObject(value) ? 'application/json' : 'application/x-protobuf'
  // The reader keeps positions within a body of its own.
  const request = { path: '/v1/logs', query: {}, headers: {}, contentType, body: Uint8Array.from(value) }
  const { batches, total } = otlp.parse(request)
  return {
    batches: batches.map((batch) => ({ ...batch, attributes: [...message.attributes, ...batch.attributes] })),
    records: [],
    total,
  }
}
