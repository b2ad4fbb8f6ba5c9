/** An AskedBefore is a question as it was asked in this browser. */
export type RecentQuery = {
  q: string
  /** d are datasets by id; all when absent. */
  d?: string[]
  /** r is a range in words; f and t are moments. */
  r?: string
  f?: number
  t?: number
  atMs: number
  /** events is what was counted the last time. */
  events?: number
}

const KEY = 'dendro.queries'
const STORED_MAX = 100

/** askedBefore are the last questions that were asked in this browser, the newest first. */
export function recentQueries(): RecentQuery[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(stored) ? stored.flatMap(readRecentQuery) : []
  } catch {
    return []
  }
}

/** readAskedBefore takes what was kept, also in the form of before, which was the text of the query alone. */
function readRecentQuery(stored: unknown): RecentQuery[] {
  if (typeof stored === 'string') return [{ q: stored, atMs: 0 }]
  if (typeof stored !== 'object' || stored === null || !('q' in stored) || typeof stored.q !== 'string') return []
  return [stored as RecentQuery]
}

/** keepAsked remembers a question; asked again it moves to the front. */
export function rememberQuery(one: RecentQuery): void {
  const others = recentQueries().filter((other) => recentQueryKey(other) !== recentQueryKey(one))
  localStorage.setItem(KEY, JSON.stringify([one, ...others].slice(0, STORED_MAX)))
}

export const clearRecentQueries = (): void => localStorage.removeItem(KEY)

/** placeOf is what makes two questions the same: what is asked of which datasets, not when. */
export const recentQueryKey = ({ q, d = [] }: Pick<RecentQuery, 'q' | 'd'>): string => JSON.stringify([q, d.toSorted()])

/** recentQueries are the texts of the last questions. */
export const recentQueryTexts = (): string[] => [
  ...new Set(
    recentQueries()
      .map(({ q }) => q)
      .filter((q) => q !== ''),
  ),
]
