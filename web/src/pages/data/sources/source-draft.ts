import type { DirectoryOrigin, KafkaOrigin, S3Origin, Source, SourceOrigin } from '@dendro/api'
import { type BucketDraft, bucketBody, bucketDraftOf, newBucket } from '../bucket-access.ts'
import { filled } from '../filled.ts'
import { type KafkaDraft, kafkaBody, kafkaDraftOf, missingInKafka, newKafka } from '../kafka-access.ts'

type Start = SourceOrigin['start']

/** An origin while it is edited: what was typed for one kind stays while another one is looked at. */
export type OriginDraft = {
  readonly kind: SourceOrigin['kind']
  readonly start: Start
  readonly directory: Pick<DirectoryOrigin, 'directory' | 'files'>
  readonly kafka: KafkaDraft & { readonly group: string; readonly format: KafkaOrigin['format'] }
  readonly bucket: BucketDraft & { readonly format: S3Origin['format'] }
}

export type SourceDraft = {
  readonly name: string
  readonly description: string
  /** The dataset; empty while none is chosen. */
  readonly dataset: string
  readonly paused: boolean
  readonly origin: OriginDraft
}

export const newOrigin: OriginDraft = {
  kind: 'DIRECTORY',
  start: 'BEGINNING',
  directory: { directory: '', files: '**' },
  kafka: { ...newKafka, group: '', format: 'TEXT' },
  bucket: { ...newBucket, format: 'LINES' },
}

export const newSource: SourceDraft = { name: '', description: '', dataset: '', paused: false, origin: newOrigin }

export const sourceDraftOf = ({ name, description, log_id, paused, origin }: Source): SourceDraft => ({
  name,
  description: description ?? '',
  dataset: log_id,
  paused,
  origin: originDraftOf(origin),
})

function originDraftOf(origin: SourceOrigin): OriginDraft {
  const first = { ...newOrigin, kind: origin.kind, start: origin.start }
  if (origin.kind === 'DIRECTORY') return { ...first, directory: { directory: origin.directory, files: origin.files } }
  if (origin.kind === 'KAFKA') return { ...first, kafka: { ...kafkaDraftOf(origin), group: origin.group ?? '', format: origin.format } }
  return { ...first, bucket: { ...bucketDraftOf(origin), format: origin.format } }
}

/** The origin in the form of the API. */
export function originBody({ kind, start, kafka, ...files }: OriginDraft) {
  if (kind === 'KAFKA') return { kind, start, ...kafkaBody(kafka), format: kafka.format, ...filled({ group: kafka.group }) }
  return { start, ...filesBody({ ...files, kind }) }
}

/** The files of a directory or the objects of a bucket in the form of the API. */
export function filesBody({ kind, directory, bucket }: Pick<OriginDraft, 'directory' | 'bucket'> & { readonly kind: 'DIRECTORY' | 'S3' }) {
  if (kind === 'DIRECTORY') return { kind, directory: directory.directory.trim(), ...filled({ files: directory.files }) }
  const { access_key_id, secret_access_key } = bucket
  return { kind, ...bucketBody(bucket), format: bucket.format, access_key_id: access_key_id.trim(), secret_access_key }
}

export const sourceBody = ({ name, description, dataset, paused, origin }: SourceDraft) => ({
  name: name.trim(),
  ...filled({ description }),
  log_id: dataset,
  paused,
  origin: originBody(origin),
})

/** What prevents a source from being saved; undefined when it is complete. */
export const missingInSource = ({ name, dataset, origin }: SourceDraft): string | undefined =>
  missingInOrigin(origin) ?? (dataset === '' ? 'a dataset' : name.trim() === '' ? 'a name' : undefined)

/** What an origin lacks to be tested. */
export function missingInOrigin({ kind, directory, kafka, bucket }: OriginDraft): string | undefined {
  if (kind === 'DIRECTORY') return directory.directory.trim() === '' ? 'a directory' : undefined
  if (kind === 'KAFKA') return missingInKafka(kafka)
  if (bucket.bucket.trim() === '') return 'a bucket'
  return bucket.access_key_id.trim() === '' || bucket.secret_access_key === '' ? 'an access key' : undefined
}
