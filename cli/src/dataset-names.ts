import { ApiFailure } from '@dendro/api'
import type { CliClient } from './connection.ts'

/** Finds the name of a dataset, or its id if the caller may not list datasets. */
export type DatasetNames = { nameOf(id: string): Promise<{ collection: string; dataset: string }> }

export function openDatasetNames(client: CliClient): DatasetNames {
  const known = new Map<string, { collection: string; dataset: string }>()
  let isForbidden = false
  return {
    nameOf: async (id) => {
      if (!known.has(id) && !isForbidden) {
        const listed = await client.datasets.list().catch((thrown: unknown) => {
          if (!(thrown instanceof ApiFailure) || thrown.status !== 403) throw thrown
          isForbidden = true
          return { datasets: [] }
        })
        for (const { id: own, collection, dataset } of listed.datasets) known.set(own, { collection, dataset })
      }
      const name = known.get(id) ?? { collection: '', dataset: id }
      known.set(id, name)
      return name
    },
  }
}

export const placeName = ({ collection, dataset }: { collection: string; dataset: string }): string =>
  collection === '' ? dataset : `${collection}.${dataset}`
