import type { Event } from '@dendro/api'
import { type DatasetNames, placeName } from './dataset-names.ts'

/** An event as a flat record, in the format of exports: fields of the service win over fields of the sender. */
export type EventRecord = Readonly<Record<string, unknown>> & {
  '@time': string
  '@timestamp': number
  '@sequence': number | bigint
  '@status': string
  collection: string
  dataset: string
  log_id: string
}

export async function recordOf({ message_kvs, attributes, metadata, ...event }: Event, names: DatasetNames): Promise<EventRecord> {
  const { collection, dataset } = await names.nameOf(metadata.service_id)
  return {
    '@time': event['@time'],
    '@timestamp': metadata.timestamp,
    '@sequence': metadata.sequence,
    '@status': event['@status'],
    collection,
    dataset,
    log_id: metadata.service_id,
    ...without(message_kvs),
    ...without(attributes),
    ...(event['@raw'] === null ? {} : { '@raw': event['@raw'] }),
  }
}

const OWN = new Set(['@time', '@timestamp', '@sequence', '@status', 'collection', 'dataset', 'log_id', '@raw'])
const without = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !OWN.has(name)))

/** The severity as the sender wrote it, else the status. */
export function levelOf(record: EventRecord): string {
  const name = ['level', 'severity', 'lvl', 'severity_text', 'log.level'].find((one) => typeof record[one] === 'string')
  return (name === undefined ? record['@status'] : String(record[name])).toUpperCase()
}

const MESSAGE_FIELDS = ['message', 'msg', 'log', 'body']
const SHOWN_ELSEWHERE = /^(?:@.*|collection|dataset|log_id|timestamp|time|ts|level|lvl|severity|severity_text|log\.level)$/i

/** The message of a line of fields, followed by its other fields; a line of plain text as it is. */
export function messageOf(record: EventRecord): { message: string; pairs: [string, string][] } {
  const raw = typeof record['@raw'] === 'string' ? record['@raw'] : ''
  const name = MESSAGE_FIELDS.find((one) => typeof record[one] === 'string' && record[one] !== '')
  const isFields = raw === '' || raw.startsWith('{') || /^[\w.@-]+=/.test(raw)
  if (!isFields || (name === undefined && raw !== '')) return { message: raw, pairs: [] }
  const pairs = Object.entries(record).flatMap(([key, value]): [string, string][] =>
    key === name || key.startsWith('$') || SHOWN_ELSEWHERE.test(key) || typeof value !== 'string' || value === '' ? [] : [[key, value]],
  )
  return { message: name === undefined ? '' : String(record[name]), pairs }
}

/** The value of a column: `time`, `level`, `message`, `dataset`, `ref`, or any field. */
export function columnOf(record: EventRecord, column: string): string {
  switch (column) {
    case 'time':
      return record['@time']
    case 'level':
      return levelOf(record)
    case 'message':
      return typeof record.message === 'string' ? record.message : messageOf(record).message
    case 'dataset':
      return placeName(record)
    case 'ref':
      return refOf(record)
    default:
      return textOf(record[column])
  }
}

const textOf = (value: unknown): string => (value === undefined || value === null ? '' : String(value))

/** The reference of an event, which `dendro context` and `dendro explain error` take. */
export const refOf = (record: EventRecord): string => `${record.log_id}/${record['@timestamp']}/${record['@sequence']}`
