import { type RangeParams, readRangeParams } from '../../parts/range-params.ts'

export const kinds = ['ingestion', 'search', 'export'] as const
export type UsageKind = (typeof kinds)[number]

/** Asked is what of the page stands in the address: the range, what is counted (ingestion when nothing is said), and the one dataset or user that is looked into. */
export type UsageParams = RangeParams & { kind?: UsageKind; dataset?: string; user?: string }

export function readUsageParams(search: Record<string, unknown>): UsageParams {
  const params: UsageParams = readRangeParams(search)
  const kind = kinds.find((one) => one === search.kind)
  if (kind) params.kind = kind
  for (const name of ['dataset', 'user'] as const) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') params[name] = value
  }
  return params
}
