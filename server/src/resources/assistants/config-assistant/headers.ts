import type { DatasetTarget } from './operations.ts'

/** Headers that choose the dataset, in addition to the credential. */
export const routingHeaders = ({ collection, dataset }: DatasetTarget, tags: Readonly<Record<string, string>>): Record<string, string> => ({
  ...(collection === undefined ? {} : { 'x-service-collection': collection }),
  ...(dataset === undefined ? {} : { 'x-service-dataset': dataset }),
  ...(Object.keys(tags).length === 0
    ? {}
    : {
        'x-service-tags': Object.entries(tags)
          .map(([name, value]) => `${name}=${value}`)
          .join(','),
      }),
})

export const KEY_HEADER = 'x-service-api-key'
