import type { ForwardConfig, ForwardDestination } from '@dendro/api'
import { type BucketDraft, bucketBody, bucketDraftOf, newBucket } from '../bucket-access.ts'
import { filled } from '../filled.ts'
import { type KafkaDraft, kafkaBody, kafkaDraftOf, missingInKafka, newKafka } from '../kafka-access.ts'

type DestinationType = ForwardDestination['destination_type']
export type StorageClass = Extract<ForwardDestination, { destination_type: 'S3' }>['storage_class']

/** A destination while it is edited: what was typed for one kind stays while another one is looked at. */
export type DestinationDraft = {
  readonly type: DestinationType
  readonly bucket: BucketDraft & { readonly path_template: string; readonly storage_class: StorageClass }
  readonly url: string
  /** One header in each line, as `name: value`. */
  readonly headers: string
  readonly kafka: KafkaDraft
}

/** A forward config while it is edited; without datasets it forwards all. */
export type ForwardDraft = {
  readonly name: string
  readonly description: string
  readonly datasets: readonly string[] | undefined
  readonly filter: string
  readonly format: ForwardConfig['format']
  readonly compression: ForwardConfig['compression']
  readonly megabytes: string
  readonly events: string
  readonly minutes: string
  readonly destination: DestinationDraft
}

const BYTES_PER_MB = 1_000_000
const MS_PER_MINUTE = 60_000
const PATH = '{yyyy}/{mm}/{dd}/{hh}'

const newDestination: DestinationDraft = {
  type: 'S3',
  bucket: { ...newBucket, path_template: PATH, storage_class: 'STANDARD' },
  url: '',
  headers: '',
  kafka: newKafka,
}

export const newForward: ForwardDraft = {
  name: '',
  description: '',
  datasets: undefined,
  filter: '',
  format: 'RAW',
  compression: 'ZSTD',
  megabytes: '10',
  events: '1000000',
  minutes: '5',
  destination: newDestination,
}

export const forwardDraftOf = (config: ForwardConfig): ForwardDraft => ({
  name: config.name,
  description: config.description ?? '',
  datasets: config.all_logs ? undefined : (config.log_ids ?? []),
  filter: config.filter ?? '',
  format: config.format,
  compression: config.compression,
  megabytes: String(config.max_payload_size_bytes / BYTES_PER_MB),
  events: String(config.max_payload_size_events),
  minutes: String(config.max_buffer_time_ms / MS_PER_MINUTE),
  destination: destinationDraftOf(config.destination),
})

function destinationDraftOf(destination: ForwardDestination): DestinationDraft {
  const { destination_type: type } = destination
  if (destination.destination_type === 'KAFKA') return { ...newDestination, type, kafka: kafkaDraftOf(destination) }
  if (destination.destination_type === 'HTTP') {
    const headers = Object.entries(destination.headers ?? {}).map(([name, value]) => `${name}: ${value}`)
    return { ...newDestination, type, url: destination.url, headers: headers.join('\n') }
  }
  const { path_template, storage_class } = destination
  return { ...newDestination, type, bucket: { ...bucketDraftOf(destination), path_template, storage_class } }
}

/** The destination in the form of the API. */
export function destinationBody({ type, bucket, url, headers, kafka }: DestinationDraft) {
  if (type === 'KAFKA') return { destination_type: type, ...kafkaBody(kafka) }
  if (type === 'HTTP') return { destination_type: type, url: url.trim(), headers: headersOf(headers) }
  const { path_template, storage_class } = bucket
  return { destination_type: type, ...bucketBody(bucket), path_template: path_template.trim(), storage_class }
}

export const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const at = line.indexOf(':')
      return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []
    }),
  )

/** The lines that name no header with its value. */
export const brokenHeaders = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.trim() !== '' && !/^\s*[^:\s]+\s*:/.test(line))

export const forwardBody = (draft: ForwardDraft) => ({
  name: draft.name.trim(),
  ...filled({ description: draft.description, filter: draft.filter }),
  ...(draft.datasets === undefined ? { all_logs: true } : { all_logs: false, log_ids: [...draft.datasets] }),
  format: formatOf(draft),
  compression: draft.compression,
  max_payload_size_bytes: Math.round(Number(draft.megabytes) * BYTES_PER_MB),
  max_payload_size_events: Number(draft.events),
  max_buffer_time_ms: Math.round(Number(draft.minutes) * MS_PER_MINUTE),
  destination: destinationBody(draft.destination),
})

/** Parquet is for buckets only. */
export const formatOf = ({ format, destination }: Pick<ForwardDraft, 'format' | 'destination'>): ForwardConfig['format'] =>
  format === 'PARQUET' && destination.type !== 'S3' ? 'RAW' : format

/** What prevents a config from being saved; undefined when it is complete. */
export const missingInForward = ({ name, megabytes, events, minutes, destination }: ForwardDraft): string | undefined =>
  missingInDestination(destination) ??
  (isCount(megabytes) ? undefined : 'a size in MB') ??
  (isCount(events) ? undefined : 'a number of events') ??
  (isCount(minutes) ? undefined : 'a time in minutes') ??
  (name.trim() === '' ? 'a name' : undefined)

const isCount = (text: string): boolean => text.trim() !== '' && Number(text) > 0

/** What a destination lacks to be tested. */
export function missingInDestination({ type, bucket, url, headers, kafka }: DestinationDraft): string | undefined {
  if (type === 'KAFKA') return missingInKafka(kafka)
  if (type === 'S3') return bucket.bucket.trim() === '' ? 'a bucket' : undefined
  if (url.trim() === '') return 'a URL'
  return brokenHeaders(headers).length > 0 ? 'a colon in each header' : undefined
}
