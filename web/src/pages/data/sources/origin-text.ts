import type { NewRehydration, SourceOrigin } from '@dendro/api'

export const originKinds: Readonly<Record<SourceOrigin['kind'], string>> = { DIRECTORY: 'Files', KAFKA: 'Kafka', S3: 'Bucket' }

/** Where events come from, in a line. */
export function originText(origin: SourceOrigin | NewRehydration['origin']): string {
  if (origin.kind === 'DIRECTORY') return `${origin.directory.replace(/\/+$/, '')}/${origin.files}`
  if (origin.kind === 'KAFKA') return `${origin.topic} at ${origin.brokers.join(', ')}`
  return `${origin.bucket}${origin.prefix === '' ? '' : `/${origin.prefix}`}${origin.endpoint === undefined ? '' : ` at ${origin.endpoint}`}`
}
