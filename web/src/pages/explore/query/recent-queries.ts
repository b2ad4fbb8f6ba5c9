/** A query that was run in this browser. */
export type RecentQuery = {
  q: string
  /** d are dataset ids; absent means all datasets. */
  d?: string[]
  /** A relative range; f and t are the start and end of a fixed one. */
  r?: string
  f?: number
  t?: number
  atMs: number
  /** The number of results of the last run. */
  events?: number
}

const KEY = 'dendro.queries'
const STORED_MAX = 100

/** The last queries run in this browser, newest first. */
export function recentQueries(): RecentQuery[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.flatMap(readRecentQuery) : []
  } catch {
    return []
  }
}

/** readRecentQuery also reads the older format, which was the text of the query alone. */
function readRecentQuery(stored: unknown): RecentQuery[] {
  if (typeof stored === 'string') return [{ q: stored, atMs: 0 }]
  if (typeof stored !== 'object' || stored === null || !('q' in stored) || typeof stored.q !== 'string') return []
  return [stored as RecentQuery]
}

/** Stores a query at the front, and replaces an earlier run of it. */
export function rememberQuery(one: RecentQuery): void {
  const others = recentQueries().filter((other) => recentQueryKey(other) !== recentQueryKey(one))
  localStorage.setItem(KEY, JSON.stringify([one, ...others].slice(0, STORED_MAX)))
}

export const clearRecentQueries = (): void => localStorage.removeItem(KEY)

/** Identifies a query by its text and datasets, whatever its range. */
export const recentQueryKey = ({ q, d = [] }: Pick<RecentQuery, 'q' | 'd'>): string => JSON.stringify([q, d.toSorted()])

/** The distinct texts of the recent queries. */
export const recentQueryTexts = (): string[] => [
  ...new Set(
    recentQueries()
      .map(({ q }) => q)
      .filter((q) => q !== ''),
  ),
]
