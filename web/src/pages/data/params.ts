export const sorts = ['name', 'last', 'today', 'week'] as const
export type Sort = (typeof sorts)[number]

export const datasetParts = ['overview', 'keys', 'parser', 'care', 'sending'] as const
export type DatasetPart = (typeof datasetParts)[number]

/** Asked is the state of the page as it stands in the address: what is not the default. */
export type DataParams = {
  find?: string
  sort?: Sort
  /** all shows the datasets of the service itself too. */
  all?: boolean
  /** keep shows for how long everything is kept, in place of the list. */
  keep?: boolean
  /** id is the one dataset that is shown, and part which of its sides. */
  id?: string
  part?: DatasetPart
}

/** readAsked takes an address as it comes; what makes no sense is left out. */
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
