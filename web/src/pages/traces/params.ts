import { number, readParams, type SearchParamsOf, text } from '../../parts/search-params.ts'

const schema = {
  id: text,
  /** at is a rough time, which makes the search for the trace short. */
  at: number,
  /** span is the id of the selected span. */
  span: text,
  find: text,
}

/** TraceParams are the search parameters that differ from the default. */
export type TraceParams = SearchParamsOf<typeof schema>
export const readTraceParams = (search: Record<string, unknown>): TraceParams => readParams(schema, search)
