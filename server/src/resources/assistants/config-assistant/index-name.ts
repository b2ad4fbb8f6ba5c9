import type { DatasetTarget } from './operations.ts'

/** An index name for a dataset, for shippers that write to an index. */
export type IndexName = { readonly name: string; readonly warning?: string }

/** A suffix that the service takes for a date. */
const TAIL = /[-_.](\d{6}|(19|20)\d\d[.-]\d\d([.-]\d\d)*)$/

/** The index name that routes events to a dataset; not every dataset has one. */
export function indexNameFor({ collection, dataset }: { collection: string; dataset: string }): IndexName {
  const plain = collection === 'default' && !/^(logs|metrics|traces|synthetics|profiling)-/.test(dataset)
  const written = plain ? dataset : dataset.replaceAll('-', '_')
  const name = (plain ? written : `logs-${written}-${collection}`).toLowerCase()
  const becomes = written.toLowerCase()
  const isSame = becomes === dataset && (plain || collection === collection.toLowerCase()) && !TAIL.test(name)
  return isSame
    ? { name }
    : { name, warning: `an index cannot carry the names ${collection} and ${dataset} as they are: events go by the index ${name}` }
}

/** The collection and dataset that an index names. One with parts that the shipper fills in names none. */
export function placeOfIndex(index: string): DatasetTarget {
  if (index === '' || index.includes('%')) return { collection: undefined, dataset: undefined }
  const [, dataset = index, collection] = /^logs-([^-]+)-(.+)$/.exec(index) ?? []
  return { collection, dataset }
}
