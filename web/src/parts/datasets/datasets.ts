import type { Dataset } from '@dendro/api'
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { DendroClient } from '../../session/session.ts'
import { readerById } from '../records/by-id.ts'
import { recordsOf, searchedText, searchOf, usePages, useSearched } from '../records/pages.tsx'
import { useClient } from '../shell/client.ts'

/** The key of the lists that datasets are chosen from. */
export const DATASET_CHOICES = ['datasets', 'choices'] as const
const STALE_MS = 60_000
const NONE: readonly never[] = []

const keyOf = (id: string) => ['datasets', 'by id', id] as const

const readDataset = readerById(
  async (client: DendroClient, ids) => (await client.datasets.list({ query: { from: [...ids], limit: ids.length } })).datasets,
)

/** Which datasets can be chosen: all, or only those that the service does not write itself. */
type Offer = 'all' | 'own'
const offers = {
  all: { key: DATASET_CHOICES, filter: {} },
  own: { key: [...DATASET_CHOICES, 'own'], filter: { is_system_generated: false } },
} as const satisfies Record<Offer, unknown>

/** Loads the datasets that the service finds by words, sorted by name, page by page. Each of them is then known by its id. */
function useFoundDatasets(words: string, offer: Offer) {
  const client = useClient()
  const queries = useQueryClient()
  const { key, filter } = offers[offer]
  const search = searchOf(words)
  const list = usePages({
    queryKey: [...key, search],
    staleMs: STALE_MS,
    read: async (page, signal) => {
      const query = { sort: 'name' as const, ...filter, ...search, ...page, totals: page.cursor === undefined }
      const found = await client.datasets.list({ query, signal })
      for (const dataset of found.datasets) queries.setQueryData(keyOf(dataset.id), dataset)
      return found
    },
  })
  const records = useMemo(() => recordsOf((list.data?.pages ?? []).map(({ datasets }) => datasets)), [list.data])
  return { ...list, records, totals: list.data?.pages[0]?.totals, isWhole: list.data !== undefined && !list.hasNextPage }
}

const useAllDatasets = (words: string) => useFoundDatasets(words, 'all')
const useOwnDatasets = (words: string) => useFoundDatasets(words, 'own')

/** Loads the first page of the datasets that the caller may see; `isWhole` means that these are all. */
export const useFirstDatasets = () => useAllDatasets('')

/** The datasets that contain the typed words. */
export const useDatasetSearch = (words: string, offer: Offer = 'all') =>
  useSearched(words, offer === 'all' ? useAllDatasets : useOwnDatasets, ({ collection, dataset, tags }: Dataset) =>
    searchedText([`${collection}/${dataset}`], tags),
  )

/** How a dataset is named beside others. */
export const fullName = ({ collection, dataset }: Pick<Dataset, 'collection' | 'dataset'>): string => `${collection} / ${dataset}`
/** How it is named where its collection is known or of no interest. */
export const shortName = ({ dataset }: Pick<Dataset, 'dataset'>): string => dataset
/** How it is named in a sentence. */
export const dottedName = ({ collection, dataset }: Pick<Dataset, 'collection' | 'dataset'>): string => `${collection}.${dataset}`

/** The collections of datasets, by name. */
export const collectionsOf = (datasets: readonly Dataset[]): string[] => [...new Set(datasets.map(({ collection }) => collection))].sort()

type NamedDatasets = {
  readonly byId: ReadonlyMap<string, Dataset>
  /** Names a dataset; only an answer of the service proves that it is gone. */
  nameOf(id: string, form: (dataset: Dataset) => string): string
  /** True while some are not known yet. */
  readonly isLoading: boolean
}

/** Knows datasets by their ids: those of the first page, and of all others only these. */
export function useDatasetsById(ids: readonly string[]): NamedDatasets {
  const client = useClient()
  const queries = useQueryClient()
  const { data, records, isWhole, isPending } = useFirstDatasets()
  const first = useMemo(() => new Map(records.map((dataset) => [dataset.id, dataset])), [records])
  const wanted = [...new Set(ids)].sort().join()
  const others = useMemo(
    () => (data === undefined ? NONE : wanted.split(',').filter((id) => id !== '' && !first.has(id))),
    [data, wanted, first],
  )
  const read = useQuery({
    queryKey: ['datasets', 'named', others],
    enabled: others.length > 0,
    staleTime: STALE_MS,
    // Those of fewer ids are shown until the others are read.
    placeholderData: keepPreviousData,
    queryFn: async () => {
      const readOne = (id: string) =>
        queries.fetchQuery({ queryKey: keyOf(id), queryFn: () => readDataset(queries, client, id), staleTime: STALE_MS })
      return new Map(await Promise.all(others.map(async (id) => [id, await readOne(id)] as const)))
    },
  })
  return useMemo(() => {
    const known = new Map(others.map((id) => [id, read.data?.get(id) ?? queries.getQueryData<Dataset | null>(keyOf(id))]))
    const byId = new Map([...first, ...[...known].flatMap(([id, dataset]) => (dataset ? [[id, dataset] as const] : []))])
    return {
      byId,
      nameOf: (id, form) => {
        const dataset = byId.get(id)
        return dataset ? form(dataset) : isWhole || known.get(id) === null ? 'a deleted or hidden dataset' : 'a dataset'
      },
      isLoading: isPending || read.isLoading,
    }
  }, [first, others, read.data, read.isLoading, isPending, isWhole, queries])
}
