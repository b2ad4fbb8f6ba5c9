import { readParams, type SearchParamsOf, text } from '../../parts/shell/search-params.ts'

const schema = { edit: text, of: text }

/** DowntimeParams select the downtime to edit, or `new`, optionally copied from another. */
export type DowntimeParams = SearchParamsOf<typeof schema>
export const readDowntimeParams = (search: Record<string, unknown>): DowntimeParams => readParams(schema, search)
