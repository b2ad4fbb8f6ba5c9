/** An IndexName is how shippers that write to an index name a dataset. */
export type IndexName = { readonly name: string; readonly warning?: string }

/** TAIL is what the service takes for a date behind a name. */
const TAIL = /[-_.](\d{6}|(19|20)\d\d[.-]\d\d([.-]\d\d)*)$/

/** indexNameFor is the name under which events reach a dataset; not every name can be written so. */
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

/** collectionOfIndex is the collection that an index names, if any. */
export const collectionOfIndex = (index: string): string | undefined => /^logs-[^-]+-(.+)$/.exec(index)?.[1]
