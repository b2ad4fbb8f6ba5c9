import { readParams, type SearchParamsOf, text } from '../../parts/shell/search-params.ts'

const schema = { id: text }

/** The search parameters of the page: the list, or one notebook. */
export type NotebookParams = SearchParamsOf<typeof schema>
export const readNotebookParams = (search: Record<string, unknown>): NotebookParams => readParams(schema, search)
