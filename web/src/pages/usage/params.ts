import { oneOf, readParams, type SearchParamsOf, text } from '../../parts/shell/search-params.ts'
import { type RangeParams, readRangeParams } from '../../parts/time/range-params.ts'

export const kinds = ['ingestion', 'search', 'export'] as const
export type UsageKind = (typeof kinds)[number]

const schema = { kind: oneOf(kinds), dataset: text, user: text }

/** The range, the kind of usage (ingestion by default), and the selected dataset or user. */
export type UsageParams = RangeParams & SearchParamsOf<typeof schema>
export const readUsageParams = (search: Record<string, unknown>): UsageParams => ({
  ...readRangeParams(search),
  ...readParams(schema, search),
})
