import type { RecordRoute } from '../batches.ts'

/** The members that describe where an event comes from. */
export const METADATA = ['host', 'source', 'sourcetype', 'index'] as const
export const METADATA_ATTRIBUTES = { host: '$host', source: '$source', sourcetype: '$sourcetype', index: '$index' } as const
export type HecMetadata = Record<(typeof METADATA)[number], string | undefined>

/** The metadata in a query describe all events of a post. */
export const metadataOf = ({ host, source, sourcetype, index }: Readonly<Record<string, string>>): HecMetadata => ({
  host,
  source,
  sourcetype,
  index,
})

/** The source type of JSON says nothing about the sender. */
const JSON_TYPE = /^_json[-_:]?/

/** The dataset is the source type, else the source; the collection is the index. */
export const routeOf = (index: string | undefined, sourcetype: string | undefined, source: string | undefined): RecordRoute => ({
  collection: index || undefined,
  dataset: (sourcetype?.startsWith('_') ? sourcetype.replace(JSON_TYPE, '') : sourcetype) || source || undefined,
})
