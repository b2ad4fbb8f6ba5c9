import { type AskedRange, readAskedRange } from '../../parts/asked-range.ts'

export const kinds = ['ingestion', 'search', 'export'] as const
export type Kind = (typeof kinds)[number]

/** Asked is what of the page stands in the address: the range, and what is counted; ingestion when nothing is said. */
export type Asked = AskedRange & { kind?: Kind }

export function readAsked(search: Record<string, unknown>): Asked {
  const kind = kinds.find((one) => one === search.kind)
  return { ...readAskedRange(search), ...(kind ? { kind } : {}) }
}
