import type { RecordRoute } from '../batches.ts'

/** The source type of JSON says nothing about the sender. */
const JSON_TYPE = /^_json[-_:]?/

/** The dataset is the source type, else the source; the collection is the index. */
export const routeOf = (metadata: Pick<ReadonlyMap<string, string>, 'get'>): RecordRoute => ({
  collection: metadata.get('index') || undefined,
  dataset: metadata.get('sourcetype')?.replace(JSON_TYPE, '') || metadata.get('source') || undefined,
})
