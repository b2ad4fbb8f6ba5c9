import { type AskedRange, readAskedRange } from '../../parts/asked-range.ts'

export const kinds = ['ingestion', 'search', 'export'] as const
export type Kind = (typeof kinds)[number]

/** Asked is what of the page stands in the address: the range, what is counted (ingestion when nothing is said), and the one dataset or user that is looked into. */
export type Asked = AskedRange & { kind?: Kind; dataset?: string; user?: string }

export function readAsked(search: Record<string, unknown>): Asked {
  const asked: Asked = readAskedRange(search)
  const kind = kinds.find((one) => one === search.kind)
  if (kind) asked.kind = kind
  for (const name of ['dataset', 'user'] as const) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') asked[name] = value
  }
  return asked
}
