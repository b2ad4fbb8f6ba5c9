import { datasetFlows } from '@dendro/api/dataset-flow'
import { except, flag, object, oneOf, readParams, type SearchParamsOf, text } from '../../parts/shell/search-params.ts'

const sorts = ['name', 'last', 'today', 'week'] as const
export type Sort = (typeof sorts)[number]

export const datasetParts = ['overview', 'keys', 'parser', 'care', 'sending'] as const
export type DatasetPart = (typeof datasetParts)[number]

const schema = {
  find: text,
  /** Shows only the datasets that receive events, are quiet, silent, or wait for their first. */
  flow: oneOf(datasetFlows),
  sort: except(oneOf(sorts), 'name'),
  /** Includes the datasets of the service itself. */
  all: flag,
  /** Shows the retention page instead of the list. */
  keep: flag,
  /** Shows the ingest rules; rule is the id of the edited one or `new`, draft the first values of a new one. */
  rules: flag,
  rule: text,
  draft: object,
  /** Shows where events are forwarded to, where they are fetched from, or what is read back; edit is the id of the edited record or `new`. */
  forwarding: flag,
  sources: flag,
  rehydrations: flag,
  edit: text,
  /** The selected dataset, and part its tab. */
  id: text,
  part: except(oneOf(datasetParts), 'overview'),
}

/** The search parameters that differ from the default. */
export type DataParams = SearchParamsOf<typeof schema>
export const readDataParams = (search: Record<string, unknown>): DataParams => readParams(schema, search)
