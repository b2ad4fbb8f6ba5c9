export const sorts = ['name', 'last', 'today', 'week'] as const
export type Sort = (typeof sorts)[number]

export const datasetParts = ['overview', 'keys', 'parser', 'care', 'sending'] as const
export type DatasetPart = (typeof datasetParts)[number]

/** DataParams are the search parameters that differ from the default. */
export type DataParams = {
  find?: string
  sort?: Sort
  /** all includes the datasets of the service itself. */
  all?: boolean
  /** keep shows the retention page instead of the list. */
  keep?: boolean
  /** id is the selected dataset, and part its tab. */
  id?: string
  part?: DatasetPart
}

/** readDataParams drops invalid values. */
export function readDataParams({ find, sort, all, keep, id, part }: Record<string, unknown>): DataParams {
  const knownSort = sorts.find((one) => one === sort && one !== 'name')
  const knownPart = datasetParts.find((one) => one === part && one !== 'overview')
  return {
    ...(typeof find === 'string' && find !== '' ? { find } : {}),
    ...(knownSort ? { sort: knownSort } : {}),
    ...(all === true ? { all } : {}),
    ...(keep === true ? { keep } : {}),
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
    ...(knownPart ? { part: knownPart } : {}),
  }
}
