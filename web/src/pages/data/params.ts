import { except, flag, oneOf, readParams, type SearchParamsOf, text } from '../../parts/search-params.ts'

const sorts = ['name', 'last', 'today', 'week'] as const
export type Sort = (typeof sorts)[number]

export const datasetParts = ['overview', 'keys', 'parser', 'care', 'sending'] as const
export type DatasetPart = (typeof datasetParts)[number]

const schema = {
  find: text,
  sort: except(oneOf(sorts), 'name'),
  /** all includes the datasets of the service itself. */
  all: flag,
  /** keep shows the retention page instead of the list. */
  keep: flag,
  /** id is the selected dataset, and part its tab. */
  id: text,
  part: except(oneOf(datasetParts), 'overview'),
}

/** DataParams are the search parameters that differ from the default. */
export type DataParams = SearchParamsOf<typeof schema>
export const readDataParams = (search: Record<string, unknown>): DataParams => readParams(schema, search)
