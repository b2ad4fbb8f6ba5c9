/** An AskedBefore is a question as it was asked in this browser. */
export type AskedBefore = {
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
const KEPT_MAX = 100

/** askedBefore are the last questions that were asked in this browser, the newest first. */
export function askedBefore(): AskedBefore[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.flatMap(readAskedBefore) : []
  } catch {
    return []
  }
}

/** readAskedBefore takes what was kept, also in the form of before, which was the text of the query alone. */
function readAskedBefore(kept: unknown): AskedBefore[] {
  if (typeof kept === 'string') return [{ q: kept, atMs: 0 }]
  if (typeof kept !== 'object' || kept === null || !('q' in kept) || typeof kept.q !== 'string') return []
  return [kept as AskedBefore]
}

/** keepAsked remembers a question; asked again it moves to the front. */
export function keepAsked(one: AskedBefore): void {
  const others = askedBefore().filter((other) => placeOf(other) !== placeOf(one))
  localStorage.setItem(KEY, JSON.stringify([one, ...others].slice(0, KEPT_MAX)))
}

export const forgetAsked = (): void => localStorage.removeItem(KEY)

/** placeOf is what makes two questions the same: what is asked of which datasets, not when. */
export const placeOf = ({ q, d = [] }: Pick<AskedBefore, 'q' | 'd'>): string => JSON.stringify([q, d.toSorted()])

/** recentQueries are the texts of the last questions. */
export const recentQueries = (): string[] => [
  ...new Set(
    askedBefore()
      .map(({ q }) => q)
      .filter((q) => q !== ''),
  ),
]
