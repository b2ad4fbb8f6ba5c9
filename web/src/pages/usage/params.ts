import { type RangeParams, readRangeParams } from '../../parts/range-params.ts'

export const kinds = ['ingestion', 'search', 'export'] as const
export type UsageKind = (typeof kinds)[number]

/** UsageParams are the range, the kind of usage (ingestion by default), and the selected dataset or user. */
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
